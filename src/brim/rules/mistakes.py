"""What is wrong in the rules files, and what a person may want to look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from brim.masking import masked
from brim.record import PlainData
from brim.rules.delivery import DID_NOT_FIT, NO_WORD
from brim.rules.outlook import RuleOutlook
from brim.rules.rule import WrittenRule
from brim.rules.rulebook import Rulebook, RuleEntry, same_words
from brim.rules.source import NATIVE
from brim.rules.stems import stems_of

PROBLEM = "problem"
HINT = "hint"
_TURNS = frozenset(("not", "never", "no", "don", "without", "instead", "avoid"))


@dataclass(frozen=True)
class RuleMistake(PlainData):
    """Something about the rules, with what to do."""

    kind: str
    """``problem`` or ``hint``."""
    text: str
    fix: str
    rules: tuple[str, ...] = ()


def find_mistakes(book: Rulebook, forecast: RuleOutlook) -> list[RuleMistake]:
    """Return the problems first: mistakes, edges that lead nowhere. Then hints: secrets, rules that
    don't fit, and pairs that say the same or the opposite."""
    findings: list[RuleMistake] = []
    for path, text in book.texts():
        for mistake in text.mistakes:
            fix = "correct it in the file: the rule as it was goes on applying"
            findings.append(RuleMistake(PROBLEM, f"{path}, {mistake}", fix))
    entries = book.entries()
    findings += _edge_findings(entries)
    findings += _secret_findings(entries)
    findings += _fit_findings(forecast)
    findings += _pair_findings(entries)
    return findings


def _edge_findings(entries: list[RuleEntry]) -> Iterator[RuleMistake]:
    names = {entry.name for entry in entries}
    for entry in entries:
        for edge in entry.rule.edges:
            if edge.target not in names:
                text = f"{entry.name} {edge.kind} {edge.target}, which isn't a rule"
                fix = f"brim rules edit {entry.name}"
                yield RuleMistake(PROBLEM, text, fix, (entry.name,))


def _secret_findings(entries: list[RuleEntry]) -> Iterator[RuleMistake]:
    for entry in entries:
        if entry.place != NATIVE and masked(entry.rule.text)[1]:
            text = f"{entry.name} has a secret in it ({entry.path}, line {entry.rule.line})"
            yield RuleMistake(HINT, text, "take it out: agents and others read it", (entry.name,))


def _fit_findings(forecast: RuleOutlook) -> Iterator[RuleMistake]:
    for choice in forecast.start.choices:
        if choice.reason in (DID_NOT_FIT, NO_WORD):
            text = f"{choice.rule.name} doesn't fit at the start of a session"
            fix = "say it shorter, or when it matters: brim rules edit"
            yield RuleMistake(HINT, text, fix, (choice.rule.name,))


def _pair_findings(entries: list[RuleEntry]) -> Iterator[RuleMistake]:
    """Yield the pairs of rules whose words are the same, with or without a *not*."""
    groups: dict[tuple[str, ...], list[RuleEntry]] = {}
    for entry in entries:
        words = tuple(sorted(set(stems_of(entry.rule.text)) - _TURNS))
        if words:
            groups.setdefault(words, []).append(entry)
    for group in groups.values():
        for entry in group[1:]:
            yield _pair_finding(group[0], entry)


def _pair_finding(first: RuleEntry, second: RuleEntry) -> RuleMistake:
    names = (first.name, second.name)
    fix = f"keep one: brim rules remove {second.name}"
    if second.place == NATIVE:
        fix = f"keep one: {second.path}, line {second.rule.line}"
    verb = "and {} say the same"
    if _order(first.rule) != _order(second.rule):
        verb = "and {} use the same words: do they contradict each other?"
    return RuleMistake(HINT, f"{first.name} {verb.format(second.name)}", fix, names)


def _order(rule: WrittenRule) -> list[str]:
    """Return the stems of *rule* in their order, with its negations."""
    words: list[str] = []
    for word in same_words(rule.text).replace("'", " ").replace("’", " ").split():
        plain = word.strip('.,;:!?`"()')
        if plain in _TURNS:
            words.append("not")
        words += stems_of(plain)
    return words


def problems_in(findings: Iterable[RuleMistake]) -> list[RuleMistake]:
    """Return those of *findings* that are problems."""
    return [finding for finding in findings if finding.kind == PROBLEM]
