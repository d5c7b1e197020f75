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

_AGAINST = ("NEG", "BAN", "INSTEAD")
_FOR_AGAIN = ("USE", "BUT", "ALWAYS", "ONLY", "RUN")


def stance_of(tokens: list[Token]) -> str:
    """Return the stance of a sentence: ``no``, ``do``, ``done``, or the command that must wait;
    empty if it isn't clear.

    >>> from brim.rules.checks.sentence import read_sentence
    >>> stance_of(read_sentence("Never push to main", "en"))
    'no'
    """
    is_against = _has(tokens, "NEG") or _has(tokens, "BAN")
    if _is_doubly_negated(tokens) or _is_rhetorical(tokens):
        return ""
    moments = {"DONE": TURN_END, "BEFORECOMMIT": COMMITTING, "BEFOREPUSH": PUSHING}
    for concept, stance in moments.items():
        if _has(tokens, concept) and not _has(tokens, "ASK") and not _has(tokens, "ASKED"):
            return "" if is_against or _has(tokens, "UNASKED") else stance
    return _stance_without_moment(tokens, is_against=is_against)


def _stance_without_moment(tokens: list[Token], *, is_against: bool) -> str:
    if _has(tokens, "ASK") or _has(tokens, "ASKED"):
        return NO
    if _has(tokens, "PERMITTED"):
        return NO if _has(tokens, "ONLY") else ""
    if is_against:
        return NO
    if _has(tokens, "UNASKED"):
        return ""
    return DO


def _has(tokens: list[Token], concept: str) -> bool:
    return any(token.says(concept) for token in tokens)


def _is_doubly_negated(tokens: list[Token]) -> bool:
    """Whether a part of the sentence forbids to forbid: *sudo is not forbidden*."""
    return any(_has(part, "NEG") and _has(part, "BAN") for part in _parts(tokens))


def _is_rhetorical(tokens: list[Token]) -> bool:
    """Whether it says *not only*."""
    pairs = pairwise(tokens)
    return any(token.says("NEG") and following.says("ONLY") for token, following in pairs)


def _parts(tokens: list[Token]) -> list[list[Token]]:
    """Return the tokens between commas, and before and after *but*."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.says(COMMA):
            parts.append([])
            continue
        if token.says("BUT"):
            parts.append([])
        parts[-1].append(token)
    return [part for part in parts if part]


def rejected_objects(tokens: list[Token]) -> list[Token]:
    """Return the objects that the sentence is against, in their order.

    >>> from brim.rules.checks.sentence import read_sentence
    >>> sentence = "Don't use npm or yarn, use pnpm instead"
    >>> [token.value for token in rejected_objects(read_sentence(sentence, "en"))]
    ['npm', 'yarn']
    """
    rejected: list[Token] = []
    is_listing = False
    for part in _parts(tokens):
        objects = _rejected_in(part)
        is_bare = all(token.says(COMMAND) or token.text in ("or", "and", "oder") for token in part)
        if is_listing and is_bare and not objects:
            objects = [token for token in part if is_object(token)]
        is_listing = bool(objects) and is_object(part[-1])
        rejected += objects
    return rejected


def _rejected_in(part: list[Token]) -> list[Token]:
    """Return the objects that one part is against: those after *not*, or all before it if none
    follow."""
    after: list[Token] = []
    before: list[Token] = []
    is_against = False
    was_against = False
    for token in part:
        if token.says(*_AGAINST) and not is_object(token):
            is_against = True
            was_against = True
        elif is_object(token):
            (after if is_against else before).append(token)
        elif token.says(*_FOR_AGAIN) and after:
            is_against = False
    if not was_against:
        return []
    return after or before


def is_object(token: Token) -> bool:
    """Whether *token* is what a rule may be for or against."""
    return token.says(COMMAND) or not token.is_light
