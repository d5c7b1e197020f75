"""``check_for``: from the words of a rule to its check.

A sentence is cut into clauses. The longest run of clauses that's understood and asks for a check is
the rule; what is left over is a reason, unless it speaks of a condition: then there's no check.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from brim.record import PlainData
from brim.rules.checks.call import CallPlace, CheckedCall, ShellCommand
from brim.rules.checks.check import RuleCheck
from brim.rules.checks.clauses import read_clauses
from brim.rules.checks.constructions import with_constructions
from brim.rules.checks.deciding import breach_of
from brim.rules.checks.everyday import everyday_checks
from brim.rules.checks.general import general_checks
from brim.rules.checks.lexicon import LANGUAGES
from brim.rules.checks.merging import declared_checks, merged, waiting_for
from brim.rules.checks.names import subcommands_of
from brim.rules.checks.stance import NO, stance_of
from brim.rules.checks.tokens import (
    COMMAND,
    PATH,
    UNKNOWN,
    RuleClause,
    Statement,
    Token,
    joined,
)

LONGEST = 1_000
"""Characters of a rule that are read."""
_MOST_CLAUSES = 12

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-ZÀ-Ý¿¡`*])|\n+")
_BULLET = re.compile(r"^\s*(?:(?:[>#*+-]+|\d+[.)])\s+)+")
_EMPHASIS = re.compile(
    r"[\u2600-\u27bf\ufe0f\U0001f000-\U0001faff]"
    r"|\*\*|(?<![\w/])__(?=\S)|(?<=\S)__(?![\w/.])|</?\w+>|\(\)"
)
_TAG_QUESTION = re.compile(
    r"(?i)[,;]?\s*(?:ok|okay|right|please|ja|oder|oui|d'accord|vale|sí|sim|certo|tá|né)\s*\?+$"
)
_ADD_ALL = re.compile(r"\bgit add \.(?![\w/])")
"""Its dot is no end of a sentence."""
_MODULE = re.compile(r"\bpython3? -m (\w+)")
_YES = re.compile(r"(?i)\bsí\b")
"""Spanish *yes*, which is *if* without its accent."""
_CONDITIONS = ("IF", "WHEN", "UNLESS", "EXCEPT", "UNTIL")
_PURPOSES = (
    "INSTALL",
    "PACKAGE",
    "DEPENDENCY",
    "TESTS",
    "LANGPY",
    "TYPESCRIPT",
    "FILES",
    "DELETE",
    "COMMIT",
    "PUSH",
    "NEW",
    "BEFORE",
    PATH,
)
"""What a clause before a rule may name without limiting it: *for new packages, use …*"""
_PERSON = ("ME", "ASKING", "ASK")
_MOMENTS = ("DONE", "BEFORECOMMIT", "BEFOREPUSH")


def check_for(text: str, block: Iterable[str] = (), before_done: str = "") -> RuleCheck | None:
    """Return the check of a rule; None if no call shows whether it's kept.

    *block* and *before_done* are what a person has declared.

    >>> check_for("Never use sudo").promise
    'sudo is stopped once, with this rule as the reason'
    >>> check_for("Prefer small functions") is None
    True
    """
    checks = declared_checks(block, before_done)
    checks += [check for check in _recognised(text[:LONGEST]) if not _is_one_for_two(check, text)]
    if not checks:
        return None
    return merged(checks)


def _is_one_for_two(check: RuleCheck, text: str) -> bool:
    """Whether *check* stops both of two ways to run a program, of which *text* wants one:
    ``docker-compose`` and ``docker compose``."""
    ways = _ways_in(text)
    return any(_stops(check, command) and _stops(check, other) for command, other in ways)


def _ways_in(text: str) -> list[tuple[str, str]]:
    """Return two ways to run the same program, for each that *text* names in both."""
    ways: list[tuple[str, str]] = []
    if "docker-compose" in text and "docker compose" in text:
        ways.append(("docker-compose up", "docker compose up"))
    for module in _MODULE.findall(text):
        if re.search(rf"(?<!-m )\b{module}\b", text):
            ways.append((module, f"python -m {module}"))
    return ways


def _stops(check: RuleCheck, command: str) -> bool:
    return breach_of(check, CheckedCall(ShellCommand(command), CallPlace())) is not None


# Sentences ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reading(PlainData):
    """What a sentence was understood as."""

    checks: tuple[RuleCheck, ...] = ()
    is_limited: bool = False
    """Whether it speaks of a condition that no call shows."""
    subject: Token | None = None
    """What it speaks of, for *it* in the next sentence."""


def _recognised(text: str) -> list[RuleCheck]:
    """Return the checks that the sentences of *text* ask for; none if one limits the others."""
    checks: list[RuleCheck] = []
    subject: Token | None = None
    for part in _SENTENCE_END.split(text):
        sentence = _EMPHASIS.sub("", _BULLET.sub("", part))
        sentence = _TAG_QUESTION.sub("", _YES.sub("", sentence.strip()))
        sentence = _ADD_ALL.sub("git add -A", sentence)
        reading = _read_sentence(sentence, subject)
        if reading.is_limited:
            return []
        checks += reading.checks
        subject = reading.subject
    return checks


def _read_sentence(sentence: str, subject: Token | None) -> Reading:
    """Return the first reading with a check, in the languages that know most of its words.

    *subject* is what the sentence before spoke of.
    """
    if not sentence or sentence.endswith("?"):
        return Reading()
    is_limited = False
    best = _best_readings(sentence)
    for clauses in best:
        checks = _checks_of_clauses(clauses, subject)
        if checks:
            return Reading(tuple(checks))
        is_limited = is_limited or _any_limits(clauses, Statement(()))
    return Reading(is_limited=is_limited, subject=_subject_of(best[0]))


def _best_readings(sentence: str) -> list[list[RuleClause]]:
    """Return the clauses of *sentence* in the languages that know most of its words."""
    best: list[list[RuleClause]] = []
    fewest = len(sentence)
    for language in LANGUAGES:
        clauses = read_clauses(sentence, language)[:_MOST_CLAUSES]
        unknown = sum([clause.unknown_words for clause in clauses])
        if unknown < fewest:
            best = []
            fewest = unknown
        if unknown == fewest:
            best.append(clauses)
    return best


# Runs of clauses ----------------------------------------------------------------------------------


def _checks_of_clauses(clauses: list[RuleClause], subject: Token | None = None) -> list[RuleCheck]:
    """Return the checks of the longest runs of *clauses* that ask for some.

    There are none if what stands beside a run limits it.
    """
    for start, end, statement in _runs(clauses):
        checks = checks_of(statement)
        if not checks:
            antecedent = _subject_of(clauses[:start]) or subject
            checks = _checks_of_pronoun(statement, antecedent)
        if not checks:
            continue
        before = clauses[:start]
        after = clauses[end:]
        inserted = [clause for clause in clauses[start:end] if clause.in_parentheses]
        if _any_limits(inserted, statement) or _any_scopes(before):
            return []
        for beside in (before, after):
            other_checks = _checks_of_clauses(beside)
            if not other_checks and _any_limits(beside, statement):
                return []
            checks += other_checks
        return checks
    return []


def _runs(clauses: list[RuleClause]) -> Iterator[tuple[int, int, Statement]]:
    """Yield each understood run of *clauses* as a statement, the longest first.

    What stands in parentheses within a run is left out if nothing is understood with it.
    """
    for length in range(len(clauses), 0, -1):
        for start in range(len(clauses) - length + 1):
            run = clauses[start : start + length]
            outside = [clause for clause in run if not clause.in_parentheses]
            if length > 1 and _is_scope(run[0]):
                continue
            if _is_understood(run):
                yield start, start + length, with_constructions(joined(run))
            if outside != run and _is_understood(outside):
                yield start, start + length, with_constructions(joined(outside))


def _is_scope(clause: RuleClause) -> bool:
    """Whether *clause*, with a rule after it, says where that holds: *on release branches, …*"""
    if not clause.statement.tokens[0].says("PREPOSITION"):
        return False
    return not with_constructions(clause.statement).consists_of(*_PURPOSES)


def _is_understood(clauses: list[RuleClause]) -> bool:
    """Whether each word of *clauses* means something."""
    return bool(clauses) and all(clause.is_understood for clause in clauses)


def checks_of(statement: Statement) -> list[RuleCheck]:
    """Return the checks that *statement* asks for: those of the table, or general ones."""
    stance = stance_of(statement)
    if not stance:
        return []
    if stance == NO:  # "ask before a push" is about a push
        statement = statement.replacing(("BEFORECOMMIT",), "COMMIT")
        statement = statement.replacing(("BEFOREPUSH",), "PUSH")
    checks = everyday_checks(statement, stance) or general_checks(statement, stance)
    if stance.startswith("git "):
        return waiting_for(stance, checks)
    return checks


def _subject_of(clauses: list[RuleClause]) -> Token | None:
    """Return what the last of *clauses* speaks of: the command or path that it begins with."""
    if not clauses:
        return None
    for token in clauses[-1].statement.tokens:
        if token.says(COMMAND, PATH):
            return token
        if token.is_object:
            return None
    return None


def _checks_of_pronoun(statement: Statement, antecedent: Token | None) -> list[RuleCheck]:
    """Return the checks of *don't use it*, where *antecedent* is what *it* stands for."""
    if antecedent is None or statement.says(COMMAND, PATH) or not statement.says("PRONOUN"):
        return []
    if stance_of(statement) != NO:
        return []
    return checks_of(Statement((*statement.tokens, antecedent)))


# Clauses beside a rule ----------------------------------------------------------------------------


def _any_limits(clauses: list[RuleClause], rule: Statement) -> bool:
    """Whether one of *clauses* says when *rule* doesn't hold."""
    return any(_limits(clause, rule) for clause in clauses)


def _limits(clause: RuleClause, rule: Statement) -> bool:
    """Whether *clause* says when *rule* doesn't hold."""
    statement = with_constructions(clause.statement)
    if _says_only_where(statement):
        return True
    may_be_done = statement.says("CAN") and statement.says("YOU")
    if may_be_done or statement.says("ALLOW"):
        return not _is_about_something_else(clause.statement, rule)
    if rule.says(*_MOMENTS):
        return statement.says(*_CONDITIONS, "UNASKED", "PERMITTED")
    # "If you need it, ask me" doesn't lift a ban: a call that is stopped is a question.
    return statement.says(*_CONDITIONS) and not statement.says(*_PERSON)


def _says_only_where(statement: Statement) -> bool:
    """Whether it says *only in* or *only for*."""
    pairs = pairwise(statement.tokens)
    return any(token.says("ONLY") and following.says("PREPOSITION") for token, following in pairs)


def _is_about_something_else(statement: Statement, rule: Statement) -> bool:
    """Whether *statement* permits something that *rule* isn't about."""
    if statement.says("PRONOUN", "PLACE"):
        return False
    siblings: set[str] = set()
    for command in rule.values(COMMAND):
        siblings |= subcommands_of(command.split()[0])
    forbidden = {token.value for token in rule.objects}
    permitted = statement.without("ALLOW", "CAN", "YOU").objects
    for token in permitted:
        is_unknown = token.says(UNKNOWN) and token.value not in siblings
        if is_unknown or token.value in forbidden:
            return False
    return bool(permitted)


def _any_scopes(clauses: list[RuleClause]) -> bool:
    """Whether one of the *clauses* before a rule says where or when it holds."""
    for clause in clauses:
        first = clause.statement.tokens[0]
        if first.says("PREPOSITION", *_CONDITIONS):
            return True
        if clause.before_colon and clause.statement.says("PLACE", PATH):
            return True
    return False
