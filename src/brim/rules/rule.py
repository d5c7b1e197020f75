"""``WrittenRule``: what a person wants agents to do, with when it's told and what it refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property

from brim.files import data_rows, sha256_hex
from brim.record import PlainData
from brim.rules.when import ALWAYS, Condition, condition_in

KINDS = ("constraint", "directive", "procedure", "preference", "workflow", "episodic")
EDGE_KINDS = ("related", "requires", "conflicts", "overrides")
EVERY_BREACH = "check"
"""The block that ``block = true`` is: every call that breaks the rule, as its words say."""
OFF = "off"
PROPOSED = "proposed"
CHECK_STATES = (OFF, PROPOSED)
"""What a person may have said about the check that brim reads from a rule's words: no, or not yet
anything."""


@dataclass(frozen=True)
class RuleEdge(PlainData):
    """One rule's relation to another rule, which it names."""

    kind: str
    """One of ``EDGE_KINDS``."""
    target: str
    weight: float = 1.0


@dataclass(frozen=True)
class WrittenRule(PlainData):
    """A rule. Its name is its id within the file that it stands in."""

    name: str
    text: str
    when: Condition = ALWAYS
    """When it's told, as a person declared it."""
    block: tuple[str, ...] = ()
    """The calls that it refuses: see ``brim.rules.blocks``."""
    before_done: str = ""
    """The command that must have succeeded before a turn is over."""
    passes: tuple[str, ...] = ()
    """Calls that its words would forbid, and that pass: commands and edits, as in ``block``."""
    checks: str = ""
    """One of ``CHECK_STATES``; empty if calls are compared with the words of the rule."""
    kind: str = ""
    """One of ``KINDS``; empty if the file doesn't say."""
    must: bool | None = None
    """Whether it's a must; None if the file doesn't say."""
    tags: tuple[str, ...] = ()
    summary: str = ""
    section: str = ""
    """The heading that it stands under."""
    edges: tuple[RuleEdge, ...] = ()
    learned: str = ""
    """The day on which it was learned."""
    instead_of: str = ""
    """The wrong command or text that it corrects."""
    off: bool = False
    """Whether a person has switched it off."""
    line: int = 0
    """The line in its file where it begins."""
    paragraph: str = ""
    """A digest of the paragraph that it was read from."""

    @property
    def is_must(self) -> bool:
        """Whether it comes before rules that only advise."""
        if self.must is not None:
            return self.must
        return self.kind == "constraint" or bool(self.block) or contains_must(self.text)

    @cached_property
    def digest(self) -> str:
        """A digest of what the rule says. Its name, place and history don't count, nor the comments
        in its file."""
        content: dict[str, object] = {
            "text": self.text,
            "when": _plain_cases(self.when),
            "block": sorted(self.block),
            "before_done": self.before_done,
            "passes": sorted(self.passes),
            "checks": self.checks,
            "kind": self.kind,
            "must": self.must,
            "tags": sorted(self.tags),
            "summary": self.summary,
            "section": self.section,
            "edges": [edge.to_dict() for edge in self.edges],
            "off": self.off,
        }
        # Without empty values, a key that a later brim knows doesn't change the digest.
        plain = {key: value for key, value in content.items() if value not in (None, "", [], False)}
        return sha256_hex(json.dumps(plain, sort_keys=True).encode())[:24]

    def to_text(self) -> str:
        """Return the rule as the index has it."""
        fields = {**self.to_dict(), "when": self.when.to_text(), "digest": self.digest}
        return json.dumps(fields, ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> WrittenRule:
        """Return the rule that ``to_text`` has written."""
        fields = json.loads(text)
        fields["when"] = condition_in(fields["when"])
        fields["edges"] = tuple([RuleEdge(**edge) for edge in fields["edges"]])
        for key in ("block", "passes", "tags"):
            fields[key] = tuple(fields[key])
        digest = fields.pop("digest")
        rule = cls(**fields)
        rule.__dict__["digest"] = digest  # to compute it takes longer than all the rest
        return rule


def _plain_cases(condition: Condition) -> list[list[dict[str, object]]]:
    """Return the cases of *condition* as JSON has them. Every rule of a file is asked for them."""
    cases: list[list[dict[str, object]]] = []
    for case in condition.cases:
        cases.append([{"key": clause.key, "values": list(clause.values)} for clause in case])
    return cases


def contains_must(text: str) -> bool:
    """Whether the words of *text* leave no choice: *must*, *never*, *only*, in several languages.

    >>> contains_must("Never push to main"), contains_must("Prefer small functions")
    (True, False)
    """
    lower = text.lower()
    if _must_words().search(lower):
        return True
    return any(phrase in lower for phrase in _must_phrases("anywhere"))


@cache
def _must_words() -> re.Pattern[str]:
    escaped = [re.escape(phrase) for phrase in _must_phrases("word")]
    return re.compile(rf"(?<!\w)(?:{'|'.join(escaped)})(?!\w)")


@cache
def _must_phrases(place: str) -> tuple[str, ...]:
    phrases: list[str] = []
    for row_place, row in data_rows(__file__, "must_words.tsv"):
        if row_place == place:
            phrases += row.split(", ")
    return tuple(phrases)


def patterns_of(blocks: Iterable[str]) -> tuple[str, ...]:
    """Return those of *blocks* that name a call, and not every one that breaks the rule."""
    return tuple([block for block in blocks if block != EVERY_BREACH])
