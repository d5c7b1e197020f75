"""Rules as a hook reads them from the index: only those that a situation finds."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any

from brim.record import PlainData
from brim.rules.compiled import RuleIndex
from brim.rules.rule import patterns_of
from brim.rules.situation import Situation
from brim.rules.source import RuleSource
from brim.rules.spreading import Link
from brim.rules.tiers import Tier
from brim.rules.when import Condition, condition_in, situation_terms

K1 = 1.2
B = 0.75
"""The usual constants of BM25."""
NEVER_WAITS = "[]"
"""The condition of a rule without a when, as the index has it."""
MOST_CANDIDATES = 400
"""Rules that are looked at closely. A text of 3,000 tokens holds far fewer."""
MOST_UNDER_HEADING = 100
"""Rules under one heading that are looked at."""
_CHUNK = 500
_DETAIL = (Tier.FULL, Tier.SUMMARY, Tier.NAME_ONLY)
ENCODINGS = ("o200k_base", "cl100k_base")
"""The vocabularies that lines are counted in; others are a ratio of the first."""


@dataclass(frozen=True)
class StoredRule(PlainData):
    """A rule of the index."""

    number: int
    name: str
    digest: str
    must: bool
    kind: str
    protected: bool
    written_condition: str
    """When it's told, as the index has it: few rules are asked."""
    lines: tuple[str, str, str]
    """Its lines in full, as a summary, and its name."""
    costs: tuple[tuple[int, ...], ...]
    """Tokens in each encoding and characters of these lines."""
    age: tuple[int, str, int]
    """What sorts the user's rules before others, and older rules before newer ones."""
    source: str
    """The kind of its source."""
    path: str
    line: int
    written_blocks: str
    """What it refuses, as the index has it."""

    @property
    def id(self) -> str:
        """What a session knows it by: a rule with other words is another one."""
        return self.digest

    @property
    def waits(self) -> bool:
        """Whether it has a when."""
        return self.written_condition != NEVER_WAITS

    @property
    def condition(self) -> Condition:
        """When it's told."""
        return condition_in(self.written_condition)

    @property
    def blocks(self) -> tuple[str, ...]:
        """The calls that it refuses by name."""
        return patterns_of(json.loads(self.written_blocks))

    def text(self, tier: Tier) -> str:
        """Return its lines at *tier*."""
        if tier is Tier.OMITTED:
            return ""
        return self.lines[_DETAIL.index(tier)]

    def tokens(self, tier: Tier, encoding: str) -> int:
        """Return what its lines take at *tier*, in a vocabulary that the index knows."""
        if tier is Tier.OMITTED:
            return 0
        return self.costs[_DETAIL.index(tier)][ENCODINGS.index(encoding)]

    def characters(self, tier: Tier) -> int:
        """Return how long its lines are at *tier*."""
        if tier is Tier.OMITTED:
            return 0
        return self.costs[_DETAIL.index(tier)][-1]


@dataclass(frozen=True)
class BlockingRule(PlainData):
    """A rule that refuses calls."""

    name: str
    text: str
    condition: Condition
    blocks: tuple[str, ...]
    source: RuleSource


@dataclass(frozen=True)
class WordMatches(PlainData):
    """The rules that share stems with a situation, by their numbers."""

    scores: dict[int, float]
    """BM25's score."""
    stems: dict[int, str]
    """The shared stem that says most."""


class StoredRules:
    """The rules of an index that count here."""

    def __init__(self, index: RuleIndex) -> None:
        self._database = index.database
        self._sources = index.by_number
        self._numbers = index.numbers
        self._marks = ",".join("?" * len(self._numbers))
        self._order = {number: place for place, number in enumerate(self._numbers)}

    @cached_property
    def totals(self) -> tuple[int, list[int]]:
        """How many rules there are; tokens in each encoding, characters and stems of all."""
        count = 0
        sums = [0, 0, 0, 0]
        rows = self._rows("SELECT rules, tokens FROM sources WHERE number IN (:sources)")
        for rules, tokens in rows:
            count += rules
            for place, number in enumerate(json.loads(tokens)):
                sums[place] += number
        return count, sums

    @property
    def count(self) -> int:
        """How many rules there are."""
        return self.totals[0]

    def all(self) -> list[StoredRule]:
        """Return every rule: musts first, then older."""
        return self._read("1")

    def standing(self) -> list[StoredRule]:
        """Return the rules without a when, musts first, then older; of very many the first."""
        rules = self._read(
            "rules.waits = 0 ORDER BY rules.must DESC, sources.kind = 'user' DESC, rules.learned"
            f" LIMIT {MOST_CANDIDATES}",
            (),
        )
        return sorted(rules, key=_by_importance)

    def under_headings_of(self, numbers: list[int]) -> list[StoredRule]:
        """Return the rules without a when that stand under a heading of the rules *numbers*, in the
        order of these; of very many the first."""
        headings: dict[int, tuple[int, str]] = {}
        sql = (
            "SELECT number, source, section FROM rules"
            " WHERE +source IN (:sources) AND section <> '' AND number IN (:values)"
        )
        for chunk in _chunks(numbers):
            for number, source, section in self._rows(sql, chunk):
                headings[number] = (source, section)
        in_order = [headings[number] for number in numbers if number in headings]
        rules: list[StoredRule] = []
        for heading in dict.fromkeys(in_order):
            rules += self._read(
                "rules.waits = 0 AND rules.source = ? AND rules.section = ?"
                f" LIMIT {MOST_UNDER_HEADING}",
                heading,
            )
        return rules

    def musts(self) -> list[StoredRule]:
        """Return the musts, older first; of very many the first."""
        rules = self._read(
            "rules.must = 1 ORDER BY sources.kind = 'user' DESC, rules.learned"
            f" LIMIT {MOST_CANDIDATES}"
        )
        return sorted(rules, key=_by_importance)

    def numbered(self, numbers: Iterable[int]) -> dict[int, StoredRule]:
        """Return the rules with these numbers, by number."""
        rules: list[StoredRule] = []
        for chunk in _chunks(list(numbers)):
            rules += self._read("rules.number IN (:values)", chunk, by_source=False)
        return {rule.number: rule for rule in rules}

    def named(self, names: Iterable[str]) -> list[StoredRule]:
        """Return the rules with these names."""
        rules: list[StoredRule] = []
        for chunk in _chunks(sorted(names)):
            rules += self._read("rules.name IN (:values)", chunk, by_source=False)
        return rules

    def blocking(
        self, kinds: Collection[str], may_match: Callable[[str, str], bool]
    ) -> list[BlockingRule]:
        """Return the rules with blocks of *kinds* for which *may_match* is true of the kind and the
        pattern, each with these blocks."""
        marks = ",".join("?" * len(kinds))
        rows = self._database.execute(
            f"SELECT kind, pattern, rule FROM blocks WHERE kind IN ({marks})",  # noqa: S608
            [*kinds],
        )
        blocks: dict[int, list[str]] = {}
        for kind, pattern, number in rows:
            if may_match(kind, pattern):
                blocks.setdefault(number, []).append(f"{kind} {pattern}")
        rules: list[BlockingRule] = []
        for chunk in _chunks(sorted(blocks)):
            sql = (
                "SELECT number, name, text, condition, source FROM rules"
                " WHERE +source IN (:sources) AND number IN (:values) ORDER BY number"
            )
            for number, name, text, condition, source in self._rows(sql, chunk):
                rules.append(
                    BlockingRule(
                        name=name,
                        text=text,
                        condition=condition_in(condition),
                        blocks=tuple(blocks[number]),
                        source=self._sources[source],
                    )
                )
        return rules

    def meeting(self, situation: Situation) -> dict[int, str]:
        """Return the rules whose when *situation* meets: their ids by number."""
        sql = (
            "SELECT number, digest, condition FROM rules WHERE +source IN (:sources)"
            " AND number IN (SELECT rule FROM postings WHERE term IN (:values))"
        )
        is_met: dict[str, bool] = {}
        ids: dict[int, str] = {}
        for chunk in _chunks(situation_terms(situation)):
            for number, digest, condition in self._rows(sql, chunk):
                if condition not in is_met:  # many rules have the same one
                    is_met[condition] = condition_in(condition).is_met(situation)
                if is_met[condition]:
                    ids[number] = digest
        return ids

    def ranked(
        self,
        scores: dict[int, float],
        *,
        without: Collection[str] = (),
        with_waiting: bool = True,
    ) -> list[int]:
        """Return the numbers in *scores*: musts first, then those with a higher score, then older.

        Rules with an id in *without* are left out, and those with a when unless *with_waiting*.
        """
        sql = (
            "SELECT must, source, learned, position, number, digest FROM rules"
            " WHERE +source IN (:sources) AND number IN (:values)"
        )
        if not with_waiting:
            sql += " AND NOT waits"
        order: list[tuple[bool, float, int, str, int, int]] = []
        for chunk in _chunks(sorted(scores)):
            for must, source, learned, position, number, digest in self._rows(sql, chunk):
                if digest not in without:
                    place = self._order[source]
                    order.append((not must, -scores[number], place, learned, position, number))
        return [key[-1] for key in sorted(order)]

    def sharing_words(self, situation: Situation) -> WordMatches:
        """Return the rules that share a stem with *situation*."""
        query = situation.query
        count, sums = self.totals
        average = sums[-1] / count if count else 1.0
        scores: dict[int, float] = {}
        stems: dict[int, str] = {}
        highest: dict[int, float] = {}
        for term, postings in self._postings(query).items():
            rarity = log(1 + (count - len(postings) + 0.5) / (len(postings) + 0.5))
            factor = query[term] * rarity
            for number, frequency, length in postings:
                norm = K1 * (1 - B + B * length / (average or 1.0))
                score = factor * frequency * (K1 + 1) / (frequency + norm)
                scores[number] = scores.get(number, 0.0) + score
                if score > highest.get(number, 0.0):
                    highest[number] = score
                    stems[number] = term
        return WordMatches(scores, stems)

    def _postings(self, terms: Iterable[str]) -> dict[str, list[tuple[int, int, int]]]:
        """Return those of *terms* that rules have, in their order, each with these rules: number,
        how often, and length."""
        sql = (
            "SELECT postings.term, rules.number, postings.weight, rules.length FROM postings"
            " JOIN rules ON rules.number = postings.rule"
            " WHERE +rules.source IN (:sources) AND postings.term IN (:values)"
            " ORDER BY postings.term"
        )
        postings: dict[str, list[tuple[int, int, int]]] = {}
        for chunk in _chunks(sorted(terms)):
            for term, *posting in self._rows(sql, chunk):
                postings.setdefault(term, []).append(tuple(posting))
        return postings

    def links(self, numbers: list[int]) -> list[Link]:
        """Return the edges that touch the rules *numbers*, in one order."""
        edges: set[tuple[str, str, str, float, str]] = set()
        columns = (
            "SELECT rules.name, edges.kind, edges.target, edges.weight, sources.kind FROM edges"
            " JOIN rules ON rules.number = edges.rule JOIN sources ON sources.number = rules.source"
            " WHERE +rules.source IN (:sources) AND "
        )
        for chunk in _chunks(numbers):
            edges.update(self._rows(f"{columns} edges.rule IN (:values)", chunk))
            named = "SELECT name FROM rules WHERE number IN (:values)"
            edges.update(self._rows(f"{columns} edges.target IN ({named})", chunk))
        return [Link(*edge) for edge in sorted(edges)]

    def _rows(self, sql: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        """Ask the index; ``:sources`` are those that count here, ``:values`` are *values*.

        A plus before the source keeps SQLite from looking at all rules of a source, which are most.
        """
        sql = sql.replace(":sources", self._marks)
        sql = sql.replace(":values", ",".join("?" * len(values)))
        return self._database.execute(sql, [*self._numbers, *values])

    def _read(
        self, condition: str, values: Sequence[object] = (), *, by_source: bool = True
    ) -> list[StoredRule]:
        """Return the rules that meet *condition*, which are looked for *by_source* or by it."""
        sql = (
            "SELECT rules.number, rules.name, rules.digest, rules.must, rules.kind,"
            " rules.protected, rules.condition, rules.full, rules.summary, rules.short,"
            " rules.costs, rules.learned, rules.source, rules.position, sources.kind, sources.path,"
            " rules.line, rules.blocks"
            " FROM rules JOIN sources ON sources.number = rules.source WHERE "
        )
        sql += "rules.source" if by_source else "+rules.source"
        sql += " IN (:sources) AND "
        rules = []
        digests: set[str] = set()
        for row in self._rows(sql + condition, values):
            rule = _rule_of(row, self._order)
            if rule.digest not in digests:  # two files may have the same rule
                digests.add(rule.digest)
                rules.append(rule)
        return sorted(rules, key=_by_importance)


def _rule_of(row: tuple[Any, ...], order: dict[int, int]) -> StoredRule:
    (number, name, digest, must, kind, protected, condition, full, summary, short, costs) = row[:11]
    (learned, source, position, source_kind, path, line, blocks) = row[11:]
    return StoredRule(
        number=number,
        name=name,
        digest=digest,
        must=bool(must),
        kind=kind,
        protected=bool(protected),
        written_condition=condition,
        lines=(full, summary, short),
        costs=tuple([tuple(cost) for cost in json.loads(costs)]),
        age=(order[source], learned, position),
        source=source_kind,
        path=path,
        line=line,
        written_blocks=blocks,
    )


def _by_importance(rule: StoredRule) -> tuple[bool, tuple[int, str, int]]:
    return not rule.must, rule.age


def _chunks(values: list[object] | list[int] | list[str]) -> Iterator[list[object]]:
    for start in range(0, len(values), _CHUNK):
        yield list(values[start : start + _CHUNK])
