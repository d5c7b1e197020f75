"""What a statement wants: something not done, something done, or something done before the end.

And of its objects, which it's for and which it's against: *use pnpm, not npm*.
"""

from __future__ import annotations

from itertools import pairwise

from brim.rules.checks.tokens import COMMA, COMMAND, Statement, Token

NO = "no"
DO = "do"
TURN_END = "done"
COMMITTING = "git commit"
PUSHING = "git push"

_MOMENTS = {"DONE": TURN_END, "BEFORECOMMIT": COMMITTING, "BEFOREPUSH": PUSHING}
_FORBIDDING = ("NEG", "BAN", "FROZEN")
_AGAINST = ("NEG", "BAN", "FROZEN", "INSTEADOF")
_FOR_AGAIN = ("USE", "BUT", "MUST", "ONLY", "RUN")


def stance_of(statement: Statement) -> str:
    """Return the stance of *statement*: ``no``, ``do``, ``done``, or the command that must wait;
    empty if it isn't clear.

    >>> from brim.rules.checks.clauses import read_clauses
    >>> stance_of(read_clauses("Never push to main", "en")[0].statement)
    'no'
    """
    if _is_doubly_negated(statement) or _is_rhetorical(statement) or is_unneeded(statement):
        return ""
    if statement.says("ASK"):
        return NO
    for concept, stance in _MOMENTS.items():
        if statement.says(concept):
            return _stance_at(stance, statement)
    if statement.says("PERMITTED", "ASKING"):
        is_unclear = not statement.says("ONLY")
        is_against = True
    else:
        is_against = statement.says(*_FORBIDDING)
        is_unclear = statement.says("UNASKED") and not is_against
    if is_unclear:
        return ""
    if is_against:
        return NO
    return DO


def _stance_at(moment: str, statement: Statement) -> str:
    """Return *moment*, unless *statement* is against something at that moment."""
    if statement.says(*_FORBIDDING, "UNASKED"):
        return ""
    return moment


def _is_doubly_negated(statement: Statement) -> bool:
    """Whether a part of the statement forbids to forbid: *sudo is not forbidden*."""
    is_negated = False
    is_ban = False
    for token in statement.tokens:
        if token.says(COMMA, "AND", "BUT"):
            is_negated = False
            is_ban = False
        is_negated = is_negated or token.says("NEG")
        is_ban = is_ban or (token.says("BAN") and not token.says("NEG"))
        if is_negated and is_ban:
            return True
    return False


def is_unneeded(statement: Statement) -> bool:
    """Whether it says that something needn't be done: *du musst `npm ci` nicht ausführen*."""
    is_necessity = False
    for token in statement.tokens:
        if is_necessity and token.says("NEG", "BAN"):
            return True
        is_necessity = is_necessity or token.says("NECESSITY")
    return False


def _is_rhetorical(statement: Statement) -> bool:
    """Whether it says *not only*."""
    pairs = pairwise(statement.tokens)
    return any(token.says("NEG") and following.says("ONLY") for token, following in pairs)


# For and against ----------------------------------------------------------------------------------


def parts_of(statement: Statement) -> list[Statement]:
    """Return what stands between commas, and before and after *but*.

    Words without an object belong to the part after them, or at the end to the one before: *never,
    ever, run C*.
    """
    parts: list[Statement] = []
    tokens: list[Token] = []
    for token in statement.tokens:
        begins_part = token.says(COMMA, "BUT")
        if begins_part and any(earlier.is_object for earlier in tokens):
            parts.append(Statement(tuple(tokens)))
            tokens = []
        if not token.says(COMMA):
            tokens.append(token)
    has_object = any(token.is_object for token in tokens)
    if parts and not has_object:
        tokens = [*parts.pop().tokens, *tokens]
    parts.append(Statement(tuple(tokens)))
    return parts


def rejected_objects(statement: Statement) -> list[Token]:
    """Return the objects that *statement* is against, in their order.

    >>> from brim.rules.checks.clauses import read_clauses
    >>> statement = read_clauses("Don't use npm or yarn", "en")[0].statement
    >>> [token.value for token in rejected_objects(statement)]
    ['npm', 'yarn']
    """
    rejected: list[Token] = []
    is_listing = False
    for part in parts_of(statement):
        objects = _rejected_in(part)
        if is_listing and not objects and _is_bare_list(part):
            objects = list(part.tokens)
        is_listing = bool(objects) and part.tokens[-1].is_object
        rejected += [token for token in objects if token.is_object]
    return rejected


def _is_bare_list(part: Statement) -> bool:
    """Whether *part* is only commands, and *or* between them."""
    return all(token.says(COMMAND, "AND") for token in part.tokens)


def _rejected_in(part: Statement) -> list[Token]:
    """Return the objects that one part is against: those after *not*, or all before it if none
    follow."""
    against = list(_AGAINST)
    if part.says("PREFER"):
        against.append("OVER")
    accepted: list[Token] = []
    rejected: list[Token] = []
    is_against = False
    marker: Token | None = None
    last: Token | None = None
    for token in part.tokens:
        if not token.is_object and token.says(*against):
            is_against = True
            marker = token
        elif marker is not None and rejected and _turns(token, marker, last):
            is_against = False
        if token.is_object and is_against:
            rejected.append(token)
        elif token.is_object:
            accepted.append(token)
        last = token
    if rejected or marker is None:
        return rejected
    return accepted


def _turns(token: Token, marker: Token, last: Token | None) -> bool:
    """Whether with *token*, after *last*, what a rule is for begins again.

    After *instead of* that is all but what is listed: *statt npm wird bun benutzt*.
    """
    if marker.says("INSTEADOF"):
        is_next_object = token.is_object and last is not None and last.is_object
        return is_next_object or not (token.is_object or token.says("AND"))
    return token.says(*_FOR_AGAIN) and not token.says("BY")
