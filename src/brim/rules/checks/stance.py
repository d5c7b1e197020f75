"""What a sentence wants: something not done, something done, or something done before the end.

And of its objects, which it's for and which it's against: *use pnpm, not npm*.
"""

from __future__ import annotations

from itertools import pairwise

from brim.rules.checks.sentence import COMMA, COMMAND, Token

NO = "no"
DO = "do"
TURN_END = "done"
COMMITTING = "git commit"
PUSHING = "git push"

_MOMENTS = {"DONE": TURN_END, "BEFORECOMMIT": COMMITTING, "BEFOREPUSH": PUSHING}
_FORBIDDING = ("NEG", "BAN", "FROZEN")
_AGAINST = ("NEG", "BAN", "INSTEADOF")
_FOR_AGAIN = ("USE", "BUT", "MUST", "ONLY", "RUN")


def stance_of(tokens: list[Token]) -> str:
    """Return the stance of a sentence: ``no``, ``do``, ``done``, or the command that must wait;
    empty if it isn't clear.

    >>> from brim.rules.checks.sentence import read_clauses
    >>> stance_of(list(read_clauses("Never push to main", "en")[0].tokens))
    'no'
    """
    if _is_doubly_negated(tokens) or _is_rhetorical(tokens):
        return ""
    is_against = _has(tokens, *_FORBIDDING)
    if not _has(tokens, "ASK", "ASKED"):
        for concept, stance in _MOMENTS.items():
            if not _has(tokens, concept):
                continue
            if is_against or _has(tokens, "UNASKED"):
                return ""
            return stance
    return _stance_without_moment(tokens, is_against=is_against)


def _stance_without_moment(tokens: list[Token], *, is_against: bool) -> str:
    if _has(tokens, "ASK", "ASKED"):
        return NO
    if _has(tokens, "PERMITTED", "ASKING"):
        if _has(tokens, "ONLY"):
            return NO
        return ""
    if is_against:
        return NO
    if _has(tokens, "UNASKED"):
        return ""
    return DO


def _has(tokens: list[Token], *concepts: str) -> bool:
    return any(token.says(*concepts) for token in tokens)


def _is_doubly_negated(tokens: list[Token]) -> bool:
    """Whether a part of the sentence forbids to forbid: *sudo is not forbidden*."""
    for part in parts_of(tokens):
        bans = [token for token in part if token.says("BAN") and not token.says("NEG")]
        if bans and _has(part, "NEG"):
            return True
    return False


def _is_rhetorical(tokens: list[Token]) -> bool:
    """Whether it says *not only*."""
    for token, following in pairwise(tokens):
        if token.says("NEG") and following.says("ONLY"):
            return True
    return False


def parts_of(tokens: list[Token]) -> list[list[Token]]:
    """Return the tokens between commas, and before and after *but*."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.says(COMMA):
            parts.append([])
            continue
        if token.says("BUT"):
            parts.append([])
        parts[-1].append(token)
    return _with_openings(parts)


def _with_openings(parts: list[list[Token]]) -> list[list[Token]]:
    """Return *parts*, each with the words without an object before it: *never, ever, run C*."""
    joined: list[list[Token]] = []
    opening: list[Token] = []
    for part in parts:
        opening = [*opening, *part]
        if any(is_object(token) for token in part):
            joined.append(opening)
            opening = []
    if joined:
        joined[-1] += opening
    elif opening:
        joined.append(opening)
    return joined


def rejected_objects(tokens: list[Token]) -> list[Token]:
    """Return the objects that the sentence is against, in their order.

    >>> from brim.rules.checks.sentence import read_clauses
    >>> tokens = list(read_clauses("Don't use npm or yarn", "en")[0].tokens)
    >>> [token.value for token in rejected_objects(tokens)]
    ['npm', 'yarn']
    """
    rejected: list[Token] = []
    is_listing = False
    for part in parts_of(tokens):
        objects = _rejected_in(part)
        if is_listing and not objects and _is_bare_list(part):
            objects = [token for token in part if is_object(token)]
        is_listing = bool(objects) and is_object(part[-1])
        rejected += objects
    return rejected


def _is_bare_list(part: list[Token]) -> bool:
    """Whether *part* is only commands, and *or* between them."""
    return all(token.says(COMMAND) or token.text in ("or", "and", "oder") for token in part)


def _rejected_in(part: list[Token]) -> list[Token]:
    """Return the objects that one part is against: those after *not*, or all before it if none
    follow."""
    after: list[Token] = []
    before: list[Token] = []
    is_against = False
    was_against = False
    prefers = False
    for token in part:
        starts_against = token.says(*_AGAINST) or (prefers and before and token.says("OVER"))
        if starts_against and not is_object(token):
            is_against = True
            was_against = True
        elif is_object(token) and is_against:
            after.append(token)
        elif is_object(token):
            before.append(token)
        elif token.says(*_FOR_AGAIN) and after:
            is_against = False
        prefers = prefers or token.says("PREFER")
    if not was_against:
        return []
    if after:
        return after
    return before


def is_object(token: Token) -> bool:
    """Whether *token* is what a rule may be for or against."""
    return token.says(COMMAND) or not token.is_light
