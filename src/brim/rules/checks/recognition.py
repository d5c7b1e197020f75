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
from brim.rules.checks.everyday import everyday_checks
from brim.rules.checks.general import general_checks
from brim.rules.checks.lexicon import LANGUAGES
from brim.rules.checks.merging import declared_checks, merged, waiting_for
from brim.rules.checks.names import subcommands_of
from brim.rules.checks.normal import is_code, normal_form
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
_WITH = re.compile(r"\bw/(?=\s)")
"""Short for *with*."""
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
    subjects: tuple[Token, ...] = ()
    """What it speaks of, for *it* in the next sentence."""
    accepted: tuple[Token, ...] = ()
    """The commands and options that it's for."""


def _recognised(text: str) -> list[RuleCheck]:
    """Return the checks that the sentences of *text* ask for; none if one limits the others."""
    checks: list[RuleCheck] = []
    accepted: list[Token] = []
    ruled: list[Statement] = []
    subjects: tuple[Token, ...] = ()
    for part in _SENTENCE_END.split(text):
        sentence = _EMPHASIS.sub("", _BULLET.sub("", part))
        sentence = _TAG_QUESTION.sub("", _YES.sub("", sentence.strip()))
        sentence = _WITH.sub("with", _ADD_ALL.sub("git add -A", sentence))
        reading = _read_sentence(sentence, subjects)
        if _lift(reading.limits, ruled):
            return []
        if reading.checks:
            ruled.append(reading.whole)
        checks += reading.checks
        accepted += reading.accepted
        subjects = reading.subjects
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


def _read_sentence(sentence: str, subjects: tuple[Token, ...]) -> Reading:
    """Return the first reading with a check, in the languages that know most of its words.

    *subjects* is what the sentence before spoke of.
    """
    if not sentence:
        return Reading()
    if sentence.endswith("?"):
        return Reading(subjects=_subject_of_question(sentence))
    limits: list[Statement] = []
    best = [_without_asides(normal_form(clauses)) for clauses in _best_readings(sentence)]
    accepted = tuple(accepted_names(best[0]))
    subjects_here = _subjects_of(best[0])
    for clauses in best:
        checks = _checks_of_clauses(clauses, subjects)
        if checks:
            whole = joined(clauses)
            return Reading(tuple(checks), (), whole, subjects_here, accepted)
        statements = [with_constructions(clause.statement) for clause in clauses]
        limits += [statement for statement in statements if _limits(statement, _NOTHING)]
    return Reading(subjects=subjects_here, accepted=accepted, limits=tuple(limits))


def _subject_of_question(sentence: str) -> tuple[Token, ...]:
    """Return what *sentence* asks about if it only names that: *`git stash`? Never.*"""
    clauses = read_clauses(sentence, LANGUAGES[0])
    if len(clauses) == 1 and all(map(is_code, clauses[0].statement.tokens)):
        return clauses[0].statement.tokens
    return ()


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


@dataclass(frozen=True)
class Run(PlainData):
    """Clauses that follow each other and are understood together."""

    statement: Statement
    sign: str
    """What stands before it."""
    before: list[RuleClause]
    inserted: list[RuleClause]
    """Those of its clauses that stand in parentheses."""
    after: list[RuleClause]

    @property
    def part_before(self) -> list[RuleClause]:
        """The clauses before it since the last semicolon."""
        if self.sign == ";":
            return []
        starts = [place for place, clause in enumerate(self.before) if clause.sign == ";"]
        return self.before[max(starts, default=0) :]


def _checks_of_clauses(
    clauses: list[RuleClause], subjects: tuple[Token, ...] = ()
) -> list[RuleCheck]:
    """Return the checks of the longest runs of *clauses* that ask for some.

    There are none if what stands beside a run limits it. *subjects* is what *it* may stand for.
    """
    for run in _runs(clauses):
        checks = checks_of(run.statement)
        if not checks:
            checks = _checks_of_pronoun(run.statement, _subjects_of(run.before) or subjects)
        if checks:
            return _with_checks_beside(run, checks)
    return []


def _with_checks_beside(run: Run, checks: list[RuleCheck]) -> list[RuleCheck]:
    """Return *checks* of *run* and those of the clauses beside it; none if one limits the run."""
    if _any_limits(run.inserted, run.statement) or _sets_scope(run):
        return []
    for beside, limiting in ((run.before, run.part_before), (run.after, run.after)):
        other_checks = _checks_of_clauses(_without_questions(beside))
        if not other_checks and _any_limits(_without_questions(limiting), run.statement):
            return []
        checks += other_checks
    return checks


def _runs(clauses: list[RuleClause]) -> Iterator[Run]:
    """Yield each understood run of *clauses*, the longest first.

    What stands in parentheses within a run is left out if nothing is understood with it.
    """
    for length in range(len(clauses), 0, -1):
        for start in range(len(clauses) - length + 1):
            end = start + length
            run = clauses[start:end]
            inserted = [clause for clause in run if clause.in_parentheses]
            outside = [clause for clause in run if not clause.in_parentheses]
            choices = [run]
            if inserted:
                choices.append(outside)
            for choice in choices:
                if _is_one_rule(choice):
                    statement = with_constructions(joined(choice))
                    yield Run(statement, run[0].sign, clauses[:start], inserted, clauses[end:])


def _is_one_rule(clauses: list[RuleClause]) -> bool:
    """Whether *clauses* are understood, and none of them says where another one holds."""
    if not clauses or not all(clause.is_understood for clause in clauses):
        return False
    if len(clauses) == 1:
        return True
    if _is_scope(clauses) or any(map(names_instead, clauses[1:])):
        return False
    return not clauses[-1].statement.says("NEG") or clauses[-1].sign != ";"


def _is_scope(clauses: list[RuleClause]) -> bool:
    """Whether the first of *clauses* says where the others hold: *on release branches, …*"""
    first = clauses[0].statement
    if not first.tokens[0].says("PREPOSITION") or joined(clauses[1:]).says("ASKING"):
        return False
    return not with_constructions(first).consists_of(*_PURPOSES)


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


# What *it* stands for -----------------------------------------------------------------------------


def _subjects_of(clauses: list[RuleClause]) -> tuple[Token, ...]:
    """Return what *clauses* speak of: the last commands or path that they name."""
    for clause in reversed(clauses):
        names = [token for token in clause.statement.tokens if token.says(*_NAMES)]
        if names and clause.in_parentheses:
            return tuple(names)
        if names:
            return (names[-1],)
    return ()


def _checks_of_pronoun(statement: Statement, subjects: tuple[Token, ...]) -> list[RuleCheck]:
    """Return the checks of *don't use it* and *do not modify*, where *subjects* are what they are
    about."""
    if not subjects or statement.says(*_NAMES) or stance_of(statement) != NO:
        return []
    if not statement.says("PRONOUN") and not _leaves_out_object(statement, subjects[0]):
        return []
    return checks_of(Statement((*statement.tokens, *subjects)))


def _leaves_out_object(statement: Statement, subject: Token) -> bool:
    """Whether *statement* has no object of its own: *please don't*, *do not modify*."""
    if subject.says(COMMAND):
        return statement.consists_of() and len(statement.tokens) < _SHORT
    return bool(acts_of_verbs(statement)) and statement.consists_of(*VERBS, "TASK")


# Clauses beside a rule ----------------------------------------------------------------------------


def _without_asides(clauses: list[RuleClause]) -> list[RuleClause]:
    """Return *clauses* without reasons within the sentence, and without questions."""
    clauses = [clause for clause in clauses if clause.sign != "because" or _may_limit(clause)]
    return _without_questions(clauses)


def _may_limit(clause: RuleClause) -> bool:
    return clause.is_understood or clause.statement.says(*_CONDITIONS, *_MOMENTS, "BAN", "NEG")


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


def _any_limits(clauses: list[RuleClause], rule: Statement) -> bool:
    """Whether one of *clauses* says when *rule* doesn't hold."""
    return any(_limits(with_constructions(clause.statement), rule) for clause in clauses)


def _limits(statement: Statement, rule: Statement) -> bool:
    """Whether *statement*, beside *rule*, says when that doesn't hold."""
    if _says_only_where(statement):
        return True
    if _permits(statement):
        return not _is_about_something_else(statement, rule)
    if rule.says(*_MOMENTS):
        return statement.says(*_CONDITIONS, "UNASKED", "PERMITTED")
    if _wants_another(statement, rule):
        return False  # "use B if you must": a condition of another command
    # "If you need it, ask me" doesn't lift a ban: a call that is stopped is a question.
    return statement.says(*_CONDITIONS) and not statement.says(*_PERSON)


def _permits(statement: Statement) -> bool:
    """Whether *statement* says that something may be done."""
    return statement.says("ALLOW") or (statement.says("CAN") and statement.says("YOU"))


def _wants_another(statement: Statement, rule: Statement) -> bool:
    """Whether *statement* wants something that's written as code, and isn't in *rule*."""
    ruled = {token.value for token in rule.tokens}
    names = {token.value for token in statement.tokens if token.is_quoted}
    is_other = bool(names) and names.isdisjoint(ruled)
    return is_other and statement.says("USE") and not statement.says("NEG", "BAN")


def _says_only_where(statement: Statement) -> bool:
    """Whether it says *only in* or *only for*."""
    pairs = pairwise(statement.tokens)
    return any(token.says("ONLY") and following.says("PREPOSITION") for token, following in pairs)


def _is_about_something_else(statement: Statement, rule: Statement) -> bool:
    """Whether *statement* permits something that *rule* isn't about."""
    if statement.says("PRONOUN", "PLACE"):
        return False
    forbidden = {token.value for token in rule.objects}
    permitted = statement.without("ALLOW", "CAN", "YOU", "WHEN").objects
    names = [token for token in permitted if token.says(COMMAND)]
    if names:
        return all(token.value not in forbidden for token in names)
    subcommands = _other_subcommands(rule)
    return bool(permitted) and all(
        token.value not in forbidden and _is_known(token, subcommands) for token in permitted
    )


def _other_subcommands(rule: Statement) -> set[str]:
    """Return what else the programs of *rule* can do."""
    subcommands: set[str] = set()
    for command in rule.values(COMMAND):
        subcommands |= subcommands_of(command.split()[0])
    return subcommands


def _is_known(token: Token, subcommands: set[str]) -> bool:
    """Whether *token* means something, or is one of *subcommands*: *plans are fine*."""
    return not token.says(UNKNOWN) or token.value.removesuffix("s") in subcommands


def _sets_scope(run: Run) -> bool:
    """Whether the clauses before *run* say where or when it holds.

    A condition belongs to what follows it up to a semicolon: *if a test fails, fix it; never …*.
    """
    if not run.part_before:
        return False
    first = run.part_before[0].statement
    if first.tokens[0].says("PREPOSITION", *_CONDITIONS):
        return not _permits(first)
    return any(map(_is_heading, run.part_before))


def _is_heading(clause: RuleClause) -> bool:
    """Whether *clause* says before a colon what the rule after it is about."""
    is_heading = clause.before_colon and clause.is_understood
    return is_heading and clause.statement.says("PLACE", PATH)
