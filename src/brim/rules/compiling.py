"""Compiles rules into the rows of the index: their lines, what these cost, and their stems.

This is what a hook doesn't do: it needs a tokenizer and the word lists. A command that changes a
rule does it, or the first hook after a change by hand.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from brim.record import PlainData
from brim.rules.compiled import checksum_of
from brim.rules.keeping import check_of
from brim.rules.kinds import infer_kind
from brim.rules.prose import inferred_condition
from brim.rules.rule import EVERY_BREACH, WrittenRule
from brim.rules.stems import stems_of
from brim.rules.stored import ENCODINGS
from brim.rules.stored_checks import filed_keys
from brim.rules.summary import summarize
from brim.rules.text import clean_lines, listed, name_line
from brim.rules.when import filed_terms
from brim.tokens.engines import encoding_counter

Counting = Callable[[str], tuple[int, ...]]
"""Counts a text in each of ``ENCODINGS``."""


@dataclass(frozen=True)
class RuleRow(PlainData):
    """A rule as the index has it."""

    name: str
    digest: str
    learned: str
    must: bool
    kind: str
    protected: bool
    """Whether it's cut below a summary only when nothing else is left."""
    condition: str
    """Its cases as JSON."""
    waits: bool
    blocks: str
    agreed: bool
    """Whether calls are compared with its words: a person may not have said so yet."""
    scope: str
    """The condition that was declared, as JSON: a check holds only there."""
    check_text: str
    """What breaks it, as ``RuleCheck.to_text`` has it; empty if no call shows that."""
    closing: bool
    """Whether something must have run before a turn is over."""
    section: str
    text: str
    full: str
    """Its lines in a list; so are the next two, with less detail."""
    summary: str
    short: str
    costs: str
    """Tokens in each encoding and characters of full, summary and short, as JSON."""
    length: int
    """How many stems it has."""
    terms: tuple[tuple[str, int], ...]
    """Its stems and the terms of its condition, each with how often."""
    edges: tuple[tuple[str, str, float], ...]
    """Kind, target and weight."""
    check_keys: tuple[str, ...]
    """What a call must have for the check to be about it."""
    line: int
    paragraph: str
    """The digest of the paragraph that it was read from; empty if it wasn't read from one."""
    written: str
    """The rule as ``WrittenRule.to_text`` has it."""
    checksum: int
    """Of what was written."""
    unread: bool
    """Whether its words weren't read yet for when it's told and what breaks it."""


def compile_rule(
    rule: WrittenRule, counting: Counting, *, is_agreed: bool = True, reads_words: bool = True
) -> RuleRow:
    """Return the row of *rule*; *is_agreed* says whether calls are compared with its words.

    To read the words of a rule for its moment and its check takes longer than everything else
    together. Without *reads_words* that is left for later, unless the rule refuses what breaks its
    words: until then it's told as a rule without a when.
    """
    reads_words = reads_words or EVERY_BREACH in rule.block
    condition = rule.when
    if reads_words and not condition:
        condition = inferred_condition(rule.text, rule.section)
    kind = rule.kind or str(infer_kind(rule.text))
    full = listed(clean_lines(rule.text))
    summary = listed(clean_lines(rule.summary or summarize(rule.text)))
    if len(summary) >= len(full):
        summary = full
    short = name_line(rule.name, kind, rule.tags)
    costs = [[*counting(line), len(line)] for line in (full, summary, short)]
    stems = Counter(stems_of(" ".join([rule.text, rule.section, *rule.tags])))
    terms = dict(stems)
    terms.update(dict.fromkeys(filed_terms(condition), 1))
    written = ""
    if rule.paragraph:
        written = rule.to_text()
    check = check_of(rule, is_agreed=is_agreed and reads_words)
    return RuleRow(
        name=rule.name,
        digest=rule.digest,
        learned=rule.learned,
        must=rule.is_must,
        kind=kind,
        protected=rule.kind == "constraint" or (rule.is_must and not rule.kind),
        condition=condition.to_text(),
        waits=bool(condition),
        blocks=json.dumps(rule.block),
        agreed=is_agreed,
        scope=rule.when.to_text(),
        check_text=check.to_text() if check else "",
        closing=bool(check and check.is_before_done),
        section=rule.section,
        text=rule.text,
        full=full,
        summary=summary,
        short=short,
        costs=json.dumps(costs),
        length=sum(stems.values()),
        terms=tuple(sorted(terms.items())),
        edges=tuple([(edge.kind, edge.target, edge.weight) for edge in rule.edges]),
        check_keys=filed_keys(check) if check else (),
        line=rule.line,
        paragraph=rule.paragraph,
        written=written,
        checksum=checksum_of(written),
        unread=not reads_words,
    )


def count_exactly(line: str) -> tuple[int, ...]:
    """Count *line* in each encoding."""
    counts = []
    for encoding in ENCODINGS:
        counter = encoding_counter(encoding)
        counts.append(len(line.encode()) if counter is None else counter(line))
    return tuple(counts)


def count_bytes(line: str) -> tuple[int, ...]:
    """Charge *line* its bytes: no text has more tokens. No tokenizer is loaded."""
    return (len(line.encode("utf-8", "replace")),) * len(ENCODINGS)
