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
from brim.rules.checks.acceptance import accepted_names, accepting, names_instead
from brim.rules.checks.acts import VERBS, acts_of_verbs
from brim.rules.checks.check import RuleCheck
from brim.rules.checks.clauses import read_clauses
from brim.rules.checks.constructions import with_constructions
from brim.rules.checks.descriptions import described
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
_SHORT = 4
"""Words of *please don't*, which forbids what was spoken of."""

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
_YES = re.compile(r"(?i)\bsí\b")
"""Spanish *yes*, which is *if* without its accent."""
_CONDITIONS = ("IF", "WHEN", "UNLESS", "EXCEPT", "UNTIL")
_LIFTING = ("UNLESS", "EXCEPT", "UNTIL", "ONLY", "ALLOW", "CAN", "PRONOUN", "PLACE")
"""What a sentence with *if* may say that limits the rule before it."""
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
_NAMES = (COMMAND, PATH, "ENVFILE", "LOCKFILE", "DEVSERVER")
"""What *it* may stand for."""
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
    checks += _recognised(text[:LONGEST])
    if not checks:
        return None
    return merged(checks)


# Sentences ----------------------------------------------------------------------------------------


_NOTHING = Statement(())


@dataclass(frozen=True)
class Reading(PlainData):
    """What a sentence was understood as."""

    checks: tuple[RuleCheck, ...] = ()
    limits: tuple[Statement, ...] = ()
    """What in it speaks of a condition that no call shows."""
    whole: Statement = _NOTHING
    subject: Token | None = None
    """What it speaks of, for *it* in the next sentence."""
    accepted: tuple[Token, ...] = ()
    """The commands and options that it's for."""


def _recognised(text: str) -> list[RuleCheck]:
    """Return the checks that the sentences of *text* ask for; none if one limits the others."""
    checks: list[RuleCheck] = []
    accepted: list[Token] = []
    ruled: list[Statement] = []
    subject: Token | None = None
    for part in _SENTENCE_END.split(text):
        sentence = _EMPHASIS.sub("", _BULLET.sub("", part))
        sentence = _TAG_QUESTION.sub("", _YES.sub("", sentence.strip()))
        sentence = _ADD_ALL.sub("git add -A", sentence)
        reading = _read_sentence(sentence, subject)
        if _lift(reading.limits, ruled):
            return []
        if reading.checks:
            ruled.append(reading.whole)
        checks += reading.checks
        accepted += reading.accepted
        subject = reading.subject
    narrowed = [accepting(check, accepted) for check in checks]
    return [check for check in narrowed if check is not None]


def _lift(limits: Iterable[Statement], ruled: list[Statement]) -> bool:
    """Whether one of the *limits* says when a rule of another sentence doesn't hold.

    *If a hook fails, fix the cause* is an instruction of its own.
    """
    for statement in limits:
        if not statement.says("IF", "WHEN") or statement.says(*_LIFTING):
            return True
        if not ruled or any(_share_object(statement, rule) for rule in ruled):
            return True
    return False


def _share_object(statement: Statement, rule: Statement) -> bool:
    """Whether both speak of the same thing."""
    concepts = {concept for token in rule.objects for concept in token.concepts} - {UNKNOWN}
    return statement.says(*concepts)


def _read_sentence(sentence: str, subject: Token | None) -> Reading:
    """Return the first reading with a check, in the languages that know most of its words.

    *subject* is what the sentence before spoke of.
    """
    if not sentence or sentence.endswith("?"):
        return Reading()
    limits: list[Statement] = []
    best = _best_readings(sentence)
    accepted = tuple(accepted_names(best[0]))
    subject_here = _subject_of(best[0])
    for clauses in best:
        checks = _checks_of_clauses(clauses, subject)
        if not checks:
            checks = _checks_of_clauses(_without_questions(described(clauses)), subject)
        if checks:
            whole = joined(clauses)
            return Reading(tuple(checks), (), whole, subject_here, accepted)
        limits += [clause.statement for clause in clauses if _limits(clause, Statement(()))]
    return Reading(subject=subject_here, accepted=accepted, limits=tuple(limits))


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
        before = _without_questions(clauses[:start])
        after = _without_questions(clauses[end:])
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
            if length > 1 and (_is_scope(run[0]) or any(map(names_instead, run[1:]))):
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
    """Return what *clauses* speak of: the last command or path that they name."""
    for clause in reversed(clauses):
        names = [token for token in clause.statement.tokens if token.says(*_NAMES)]
        if names:
            return names[-1]
    return None


def _checks_of_pronoun(statement: Statement, antecedent: Token | None) -> list[RuleCheck]:
    """Return the checks of *don't use it* and *do not modify*, where *antecedent* is what they are
    about."""
    if antecedent is None or statement.says(*_NAMES) or stance_of(statement) != NO:
        return []
    is_elliptic = bool(acts_of_verbs(statement)) and statement.consists_of(*VERBS, "TASK")
    if antecedent.says(COMMAND):
        is_elliptic = statement.consists_of() and len(statement.tokens) < _SHORT
    if not statement.says("PRONOUN") and not is_elliptic:
        return []
    return checks_of(Statement((*statement.tokens, antecedent)))


def _without_questions(clauses: list[RuleClause]) -> list[RuleClause]:
    """Return *clauses* without *if you're stuck, tell me*, which says only whom to turn to."""
    remaining: list[RuleClause] = []
    for clause in clauses:
        is_question = clause.statement.says("ASKING") and not clause.statement.says(*_CONDITIONS)
        if is_question and remaining and remaining[-1].statement.says("IF", "WHEN"):
            remaining.pop()
        else:
            remaining.append(clause)
    return remaining


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
        return not _is_about_something_else(clause, rule)
    if rule.says(*_MOMENTS):
        return statement.says(*_CONDITIONS, "UNASKED", "PERMITTED")
    if _names_another(statement, rule):
        return False  # "use B if you must": a condition of another command
    # "If you need it, ask me" doesn't lift a ban: a call that is stopped is a question.
    return statement.says(*_CONDITIONS) and not statement.says(*_PERSON)


def _names_another(statement: Statement, rule: Statement) -> bool:
    """Whether *statement* wants something that's written as code, and isn't in *rule*."""
    ruled = {token.value for token in rule.tokens}
    names = [token for token in statement.tokens if token.is_quoted]
    is_other = bool(names) and all(token.value not in ruled for token in names)
    return is_other and statement.says("USE") and not statement.says("NEG", "BAN")


def _says_only_where(statement: Statement) -> bool:
    """Whether it says *only in* or *only for*."""
    pairs = pairwise(statement.tokens)
    return any(token.says("ONLY") and following.says("PREPOSITION") for token, following in pairs)


def _is_about_something_else(clause: RuleClause, rule: Statement) -> bool:
    """Whether *clause* permits something that *rule* isn't about."""
    statement = clause.statement
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
        is_heading = clause.before_colon and clause.is_understood
        if is_heading and clause.statement.says("PLACE", PATH):
            return True
    return False
