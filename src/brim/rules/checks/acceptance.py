"""What a rule is for is never stopped: *use `docker compose`, never `docker-compose`*."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from brim.rules.checks.call import CallPlace, CheckedCall, ShellCommand
from brim.rules.checks.check import RuleCheck
from brim.rules.checks.constructions import with_constructions
from brim.rules.checks.deciding import breach_of
from brim.rules.checks.managers import is_manager
from brim.rules.checks.stance import rejected_objects
from brim.rules.checks.tokens import COMMAND, FLAG, RuleClause, Statement, Token, joined

_WANTING = ("USE", "BUT", "ALLOW", "RUN", "MUST", "PREFER", "ONLY")
_UNDECIDED = ("ASK", "UNASKED", "PERMITTED", "PAST", "ME")


def accepted_names(clauses: list[RuleClause]) -> list[Token]:
    """Return the commands, options and texts that *clauses* are for.

    >>> from brim.rules.checks.clauses import read_clauses
    >>> clauses = read_clauses("Use `docker compose`, never `docker-compose`", "en")
    >>> [token.value for token in accepted_names(clauses)]
    ['docker compose']
    """
    whole = with_constructions(joined(clauses))
    if whole.says("ASK", "UNASKED", "PERMITTED"):
        return []  # what a person decides is neither for nor against
    # "never `a`; `b`": here b would look rejected too
    stating_clauses = [clause for clause in clauses if not names_instead(clause)]
    stated = with_constructions(joined(stating_clauses))
    rejected = {token.value for token in rejected_objects(stated)}
    accepted: list[Token] = []
    for clause in clauses:
        accepted += _wanted_in(with_constructions(clause.statement))
    return [token for token in accepted if token.value not in rejected]


def names_instead(clause: RuleClause) -> bool:
    """Whether *clause* only names, after a semicolon, what is wanted: *never `a`; `b`*."""
    tokens = clause.statement.tokens
    return clause.sign == ";" and all(token.says(COMMAND) for token in tokens)


def _wanted_in(statement: Statement) -> list[Token]:
    """Return the names that one clause is for: those before *not*, if it says that."""
    if statement.says(*_UNDECIDED):
        return []
    is_only_named = all(map(_is_name, statement.tokens))
    if not is_only_named and not statement.says(*_WANTING, "INSTEADOF"):
        return []
    wanted: list[Token] = []
    for token in statement.tokens:
        if token.says("NEG", "BAN"):
            break
        if _is_name(token):
            wanted.append(token)
    if statement.says("BAN") and not statement.says("NEG"):
        return []
    return wanted


def _is_name(token: Token) -> bool:
    return token.says(COMMAND, FLAG) or token.is_quoted


def accepting(check: RuleCheck, accepted: Iterable[Token]) -> RuleCheck | None:
    """Return *check* without the calls that the same rule wants; None if nothing is left of it."""
    if check.name == "command-with":
        return check
    for token in accepted:
        if token.says(FLAG):
            check = _passing_option(check, token.value)
        elif token.says(COMMAND) and is_manager(token.value) and stops(check, token.value):
            return None
        elif token.says(COMMAND):
            check = passing_command(check, token.value)
        elif check.written and re.search(check.written, token.value):
            check = replace(check, written=f"(?!{re.escape(token.value)})(?:{check.written})")
    return check


def passing_command(check: RuleCheck, command: str) -> RuleCheck:
    """Return *check*, with *command* and what it starts among what passes."""
    if any(call.startswith(f"{command} !^") for call in check.calls):
        return check  # it's stopped only where another program doesn't start it
    calls: list[str] = []
    for call in check.calls:
        condition = f"!^{command.split(maxsplit=1)[0]}"
        if starts(command, call) and condition not in call.split():
            calls.append(f"{call} {condition}")
        else:
            calls.append(call)
    check = replace(check, calls=tuple(calls))
    if stops(check, command):
        check = replace(check, passes=(*check.passes, command))
    return check


def starts(better: str, command: str) -> bool:
    """Whether *better* runs *command*: ``uv run`` does, and ``make pytest``."""
    arguments = better.split()[1:]
    return arguments[:1] == ["run"] or command.split(" ", maxsplit=1)[0] in arguments


def _passing_option(check: RuleCheck, option: str) -> RuleCheck:
    """Return *check*, where its commands pass with *option*."""
    passes = list(check.passes)
    for call in check.calls:
        words = [word for word in call.split() if word.isalpha()]
        passes.append(" ".join([*words, option]))
    return replace(check, passes=tuple(dict.fromkeys(passes)))


def stops(check: RuleCheck, command: str) -> bool:
    """Whether *check* stops *command*."""
    return breach_of(check, CheckedCall(ShellCommand(command), CallPlace())) is not None
