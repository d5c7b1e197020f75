"""``check_for``: from the words of a rule to its check.

A sentence is cut into clauses. The longest run of clauses that's understood and asks for a check is
the rule; what is left over is a reason, unless it speaks of a condition: then there's no check.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from brim.record import PlainData
from brim.rules.blocks import with_kind
from brim.rules.checks.check import TURN_END, RuleCheck
from brim.rules.checks.constructions import with_constructions
from brim.rules.checks.everyday import everyday_checks
from brim.rules.checks.general import general_checks
from brim.rules.checks.lexicon import LANGUAGES, plain
from brim.rules.checks.names import subcommands_of
from brim.rules.checks.sentence import (
    COMMA,
    COMMAND,
    PATH,
    UNKNOWN,
    Clause,
    Token,
    read_clauses,
)
from brim.rules.checks.stance import NO, stance_of
from brim.rules.shell import simple_commands

_LISTS = (
    "calls",
    "passes",
    "refused",
    "paths",
    "other_paths",
    "acts",
    "written_in",
    "written_not_in",
    "needs",
)
LONGEST = 1_000
"""Characters of a rule that are read."""
_MOST_CLAUSES = 12

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-ZÀ-Ý¿¡`*])|\n+")
_BULLET = re.compile(r"^\s*(?:(?:[>#*+-]+|\d+[.)])\s+)+")
_EMPHASIS = re.compile(r"\*\*|(?<![\w/])__(?=\S)|(?<=\S)__(?![\w/.])|</?\w+>|\(\)")
_TAG_QUESTION = re.compile(
    r"(?i)[,;]?\s*(?:ok|okay|right|please|ja|oder|oui|d'accord|vale|sí|sim|certo|tá|né)\s*\?+$"
)
_SCOPE = frozenset(
    "in for on with within inside during at after before under from bei beim im fur nach vor auf"
    " unter dans pour lors pendant apres avant sur en para durante tras al em no na ao apos antes"
    " nos nas aux chez".split()
)
"""How a clause begins that says where a rule holds, if it stands before the rule."""
_ONLY_WHERE = re.compile(
    r"\b(?:only|just|nur|seulement|uniquement|solo|so|apenas|somente)"
    r" (?:in|on|for|within|inside|during|im|fur|bei|beim|auf|dans|pour|sur|en|para|durante|em|na|no)"
    r"\b"
)
_LIMITS = ("IF", "WHEN", "UNLESS", "EXCEPT", "UNTIL")


def check_for(text: str, block: Iterable[str] = (), before_done: str = "") -> RuleCheck | None:
    """Return the check of a rule; None if no call shows whether it's kept.

    *block* and *before_done* are what a person has declared.

    >>> check_for("Never use sudo").promise
    'sudo is stopped once, with this rule as the reason'
    >>> check_for("Prefer small functions") is None
    True
    """
    checks = _declared(block, before_done)
    checks += _recognised(text[:LONGEST])
    if not checks:
        return None
    return _merged(checks)


def _declared(block: Iterable[str], before_done: str) -> list[RuleCheck]:
    """Return the checks for what a person has declared."""
    checks: list[RuleCheck] = []
    blocks = tuple([with_kind(pattern.strip()) for pattern in block])
    if blocks:
        wording = ", ".join([pattern.removeprefix("run ") for pattern in blocks])
        checks.append(RuleCheck(name="block", refused=blocks, wording=wording))
    if before_done:
        checks.append(
            RuleCheck(name="done", needs=_needs(before_done), before=TURN_END, wording=before_done)
        )
    return checks


def _needs(command: str) -> tuple[str, ...]:
    """Return each simple command in *command*: all of them must have run."""
    try:
        commands = simple_commands(command)
    except ValueError:
        return (command,)
    patterns = [" ".join(words) for words in commands if words[0] != "cd"]
    if not patterns:
        return (command,)
    return tuple(patterns)


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
        sentence = _BULLET.sub("", part)
        sentence = _TAG_QUESTION.sub("", _EMPHASIS.sub("", sentence).strip())
        if not sentence:
            continue
        reading = _read_sentence(sentence, subject)
        if reading.is_limited:
            return []
        checks += reading.checks
        subject = reading.subject
    return checks


def _read_sentence(sentence: str, subject: Token | None) -> Reading:
    """Return the first reading with a check, in the languages that know most of its words."""
    if sentence.endswith("?"):
        return Reading()
    readings: list[tuple[int, list[Clause]]] = []
    for language in LANGUAGES:
        clauses = read_clauses(sentence, language)[:_MOST_CLAUSES]
        unknown = 0
        for clause in clauses:
            unknown += len([token for token in clause.tokens if token.says("UNKNOWN")])
        readings.append((unknown, clauses))
    fewest = min(unknown for unknown, _ in readings)
    is_limited = False
    for unknown, clauses in sorted(readings, key=lambda reading: reading[0]):
        if unknown > fewest:
            break
        reading = read_rule(clauses, subject)
        if reading.checks:
            return reading
        is_limited = is_limited or (unknown == fewest and _any_limits(clauses))
    best = min(readings, key=lambda reading: reading[0])[1]
    return Reading(is_limited=is_limited, subject=_subject_of(best))


def read_rule(clauses: list[Clause], subject: Token | None = None) -> Reading:
    """Return the checks of the longest runs of *clauses* that ask for some.

    *subject* is what the sentence before spoke of.
    """
    for start, end, tokens in _runs(clauses):
        checks = checks_of(tokens)
        if not checks:
            antecedent = _subject_of(clauses[:start]) or subject
            checks = _checks_of_pronoun(tokens, antecedent)
        if not checks:
            continue
        before = clauses[:start]
        after = clauses[end:]
        others = [clause for clause in clauses[start:end] if clause.in_parentheses]
        if _any_limits(others, tokens) or _any_scopes(before):
            return Reading()
        for part in (before, after):
            reading = read_rule(part)
            if not reading.checks and _any_limits(part, tokens):
                return Reading()
            checks += reading.checks
        return Reading(tuple(checks))
    return Reading()


def _subject_of(clauses: list[Clause]) -> Token | None:
    """Return what the last of *clauses* speaks of: the name or verb that it begins with."""
    if not clauses:
        return None
    for token in clauses[-1].tokens:
        if token.says(COMMAND, PATH):
            return token
        if not token.is_light:
            return None
    return None


def _checks_of_pronoun(tokens: list[Token], antecedent: Token | None) -> list[RuleCheck]:
    """Return the checks of *don't use it*, where *antecedent* is what *it* stands for."""
    names_something = any(token.says(COMMAND, PATH) for token in tokens)
    has_pronoun = any(token.says("PRONOUN") for token in tokens)
    if antecedent is None or names_something or not has_pronoun or stance_of(tokens) != NO:
        return []
    return checks_of([*tokens, antecedent])


def _runs(clauses: list[Clause]) -> Iterator[tuple[int, int, list[Token]]]:
    """Yield the tokens of each understood run of *clauses*, the longest first.

    What stands in parentheses within a run is left out if nothing is understood with it.
    """
    for length in range(len(clauses), 0, -1):
        for start in range(len(clauses) - length + 1):
            run = clauses[start : start + length]
            outside = [clause for clause in run if not clause.in_parentheses]
            for chosen in (run, outside):
                is_understood = all(clause.is_understood for clause in chosen)
                if chosen and is_understood:
                    yield start, start + length, with_constructions(_joined_tokens(chosen))


def _joined_tokens(clauses: list[Clause]) -> list[Token]:
    """Return the tokens of *clauses*, with a comma between two of them."""
    tokens: list[Token] = []
    for clause in clauses:
        if tokens:
            tokens.append(Token(frozenset((COMMA,)), ","))
        tokens += clause.tokens
    return tokens


# Clauses that aren't the rule ---------------------------------------------------------------------


def _any_limits(clauses: list[Clause], rule: list[Token] | None = None) -> bool:
    """Whether one of *clauses* says when the rule doesn't hold."""
    return any(_limits(clause, rule or []) for clause in clauses)


def _limits(clause: Clause, rule: list[Token]) -> bool:
    tokens = with_constructions(list(clause.tokens))
    words = [token.text for token in tokens]
    if _ONLY_WHERE.search(plain(" ".join(words))):
        return True
    concepts: set[str] = set()
    for token in tokens:
        concepts |= token.concepts
    if "ALLOW" in concepts or {"CAN", "YOU"} <= concepts:
        return not _is_about_something_else(clause, rule)
    is_ban = not any(token.says("DONE", "BEFORECOMMIT", "BEFOREPUSH") for token in rule)
    if not is_ban and not concepts.isdisjoint(("UNASKED", "PERMITTED")):
        return True
    is_left_to_a_person = is_ban and not concepts.isdisjoint(("ME", "ASKING", "ASK"))
    return not concepts.isdisjoint(_LIMITS) and not is_left_to_a_person


def _is_about_something_else(clause: Clause, rule: list[Token]) -> bool:
    """Whether *clause* permits something that the rule isn't about."""
    programs = {token.value.split()[0] for token in rule if token.says(COMMAND)}
    values = {token.value for token in rule if not token.is_light}
    objects = 0
    for token in clause.tokens:
        if token.is_light or token.says("ALLOW", "CAN", "YOU"):
            continue
        is_subcommand = any(token.value in subcommands_of(program) for program in programs)
        if token.value in values or (token.says(UNKNOWN) and not is_subcommand):
            return False
        objects += 1
    return objects > 0


def _any_scopes(clauses: list[Clause]) -> bool:
    """Whether one of the *clauses* before a rule says where it holds."""
    for clause in clauses:
        first = clause.tokens[0]
        if first.text.split(" ")[0] in _SCOPE or first.says(*_LIMITS):
            return True
        if clause.before_colon and clause.says("PLACE", PATH):
            return True
    return False


# Checks -------------------------------------------------------------------------------------------


def checks_of(tokens: list[Token]) -> list[RuleCheck]:
    """Return the checks that *tokens* ask for: those of the table, or general ones."""
    stance = stance_of(tokens)
    if not stance:
        return []
    if stance == NO:
        tokens = [_with_verb(token) for token in tokens]
    checks = everyday_checks(tokens, stance) or general_checks(tokens, stance)
    if stance.startswith("git "):
        return [replace(check, before=stance) for check in checks if check.needs]
    return checks


def _with_verb(token: Token) -> Token:
    """Return *token*, where *before a push* is asked about as a push."""
    for moment, verb in (("BEFORECOMMIT", "COMMIT"), ("BEFOREPUSH", "PUSH")):
        if token.says(moment):
            return replace(token, concepts=token.concepts | {verb})
    return token


def _merged(checks: list[RuleCheck]) -> RuleCheck:
    """Return one check for all of *checks*."""
    merged = checks[0]
    for check in checks[1:]:
        written = dict.fromkeys([text for text in (merged.written, check.written) if text])
        values: dict[str, Any] = {}
        for name in _LISTS:
            values[name] = tuple(dict.fromkeys(getattr(merged, name) + getattr(check, name)))
        merged = replace(
            merged,
            **values,
            written="|".join(written),
            in_comments=merged.in_comments or check.in_comments,
            message=merged.message or check.message,
            subject=merged.subject or check.subject,
            before=merged.before or check.before,
            wording=_joined(merged.wording, check.wording),
        )
    return merged


def _joined(first: str, second: str) -> str:
    if second in first:
        return first
    return f"{first}; {second}"
