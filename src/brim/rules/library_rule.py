"""Rules as values of the library (``Rule``), how they relate (``Edge``), and the words for both."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TypeVar

from brim.errors import InputError
from brim.record import PlainData, set_fields
from brim.rules.conditions import When
from brim.rules.stems import stems_of

LARGEST_TEXT = 1_000_000
"""Characters of one text of a rule. More is a document, not a rule."""
LONGEST_ID = 200
LONGEST_NAME = 80
_TAG = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")

Member = TypeVar("Member", bound=StrEnum)


class BehaviorKind(StrEnum):
    """What sort of thing a rule is. Constraints are protected: they are never cut below a
    summary."""

    CONSTRAINT = "constraint"
    """Never do this, or only so."""
    DIRECTIVE = "directive"
    """Do this."""
    PROCEDURE = "procedure"
    """Do this in these steps."""
    PREFERENCE = "preference"
    """Rather this than that."""
    WORKFLOW = "workflow"
    """What follows on what, and what to do when it fails."""
    EPISODIC = "episodic"
    """What happened once, and how it ended."""


class Status(StrEnum):
    """Where a rule is in its life. Only active and pending ones are ever told or spread to."""

    ACTIVE = "active"
    PENDING = "pending"
    """An agent's own note: at most a summary, apart from the user's rules, until a person accepts
    it."""
    SUPERSEDED = "superseded"
    """Another rule took its place."""
    FORGOTTEN = "forgotten"
    """Put away by a person; it can come back."""


class EdgeKind(StrEnum):
    """How one rule is related to another."""

    REQUIRES = "requires"
    OVERRIDES = "overrides"
    """The source weakens the target."""
    CONFLICTS = "conflicts"
    """Each weakens the other."""
    SIMILAR_TO = "similar-to"
    LEARNED_FROM = "learned-from"
    CO_ACTIVATED = "co-activated"
    """They came up together, again and again."""


LIVE = frozenset({Status.ACTIVE, Status.PENDING})
"""The states in which a rule takes part in anything."""


@dataclass(frozen=True)
class RuleUsage(PlainData):
    """How often a rule was of use."""

    injected: int = 0
    """How often it went into a prompt."""
    confirmed: int = 0
    """How often a person or an agent said that it was right."""
    overridden: int = 0
    """How often a person or an agent did otherwise on purpose."""
    last_used: float | None = None
    """When it was last injected or confirmed, in seconds since 1970; None if never."""

    @property
    def count(self) -> int:
        """The uses that activation goes by: those for it less those against it, at least 0."""
        return max(0, self.injected + self.confirmed - self.overridden)


@dataclass(frozen=True)
class Rule(PlainData):
    """One rule. Immutable: ``replace(rule, summary=...)`` makes another one.

    >>> Rule(id="b1", name="use-uv", kind="directive", canonical="Use uv.", tags=("python",)).kind
    <BehaviorKind.DIRECTIVE: 'directive'>
    """

    id: str
    name: str
    kind: BehaviorKind
    canonical: str
    """The whole text, injected at the Full tier."""
    summary: str
    """One line that keeps the sense; empty if it has to be made from the canonical text."""
    tags: tuple[str, ...]
    when: When
    """The conditions under which it matters; none is always."""
    scope: str
    """``project`` or ``user``."""
    status: Status
    usage: RuleUsage

    def __init__(
        self,
        id: str,
        name: str,
        kind: BehaviorKind | str,
        canonical: str,
        *,
        summary: str = "",
        tags: Iterable[str] = (),
        when: When | Mapping[str, object] | None = None,
        scope: str = "user",
        status: Status | str = Status.ACTIVE,
        usage: RuleUsage | None = None,
    ) -> None:
        if scope not in ("project", "user"):
            raise InputError(f"unknown scope {scope!r}: it is one of project, user")
        if usage is not None and not isinstance(usage, RuleUsage):
            raise InputError(f"a rule's usage must be a RuleUsage, not {usage!r}")
        line = ""
        if summary != "":
            line = " ".join(_checked_text(summary, "summary").split())
        set_fields(
            self,
            _checked_id(id),
            _checked_name(name),
            _member(BehaviorKind, kind, "kind"),
            _checked_text(canonical, "canonical text"),
            line,
            _checked_tags(tags),
            when if isinstance(when, When) else When.of(when or {}),
            scope,
            _member(Status, status, "status"),
            usage or RuleUsage(),
        )

    @property
    def live(self) -> bool:
        """Whether it takes part in anything: active or pending."""
        return self.status in LIVE

    @cached_property
    def words(self) -> frozenset[str]:
        """The stems of its name and tags."""
        return frozenset(stems_of(" ".join((self.name, *self.tags))))

    def __str__(self) -> str:
        return f"{self.name} [{self.kind}] {self.summary or self.canonical}"


@dataclass(frozen=True)
class Edge(PlainData):
    """*source* has the relation *kind* to *target*."""

    source: str
    target: str
    kind: EdgeKind
    weight: float
    """How strongly, from just above 0 to 1."""
    last_activated: float | None
    """When energy last flowed over it, in seconds since 1970; None if it never did, and then it
    does not fade."""

    def __init__(
        self,
        source: str,
        target: str,
        kind: EdgeKind | str,
        weight: float = 1.0,
        *,
        last_activated: float | None = None,
    ) -> None:
        member = _member(EdgeKind, kind, "edge kind")
        if not (isinstance(weight, (int, float)) and math.isfinite(weight) and 0 < weight <= 1):
            raise InputError(f"the weight of an edge is above 0 and at most 1, not {weight!r}")
        if source == target:
            raise InputError(f"an edge leads from one rule to another, not {source!r} to itself")
        set_fields(self, source, target, member, float(weight), last_activated)

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes two edges the same one: source, target and kind."""
        return self.source, self.target, self.kind.value

    def __str__(self) -> str:
        return f"{self.source} {self.kind} {self.target} ({self.weight:g})"


def _checked_id(id: str) -> str:
    is_text = isinstance(id, str) and 0 < len(id) <= LONGEST_ID
    if not is_text or not id.isprintable() or id != id.strip():
        problem = f"must be a printable text of 1 to {LONGEST_ID} characters"
        raise InputError(f"a rule's id {problem}, not {str(id)[:80]!r}")
    return id


def _checked_name(name: str) -> str:
    is_text = isinstance(name, str) and 0 < len(name) <= LONGEST_NAME
    if not is_text or not all(map(_may_be_in_name, name)):
        problem = f"a name has 1 to {LONGEST_NAME} letters, digits and . _ / -"
        raise InputError(f"{problem}, not {str(name)[:LONGEST_NAME]!r}")
    return name


def _may_be_in_name(character: str) -> bool:
    """Whether *character* is a letter, a digit or an accent of any script, or one of ``._/-``."""
    return character in "./-" or f"a{character}".isidentifier()


def _checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return *tags*, each once, in their order, if all of them are tags."""
    if isinstance(tags, str) or not hasattr(tags, "__iter__"):
        raise InputError(f"tags are a list of texts, not {str(tags)[:LONGEST_NAME]!r}")
    unique_tags = tuple(dict.fromkeys(tags))
    for tag in unique_tags:
        if not isinstance(tag, str) or not 0 < len(tag) <= LONGEST_NAME or not _TAG.issuperset(tag):
            problem = f"a tag has 1 to {LONGEST_NAME} of A-Z a-z 0-9 . _ -"
            raise InputError(f"{problem}, not {str(tag)[:LONGEST_NAME]!r}")
    return unique_tags


def _checked_text(text: str, label: str) -> str:
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"the {label} of a rule is empty: say what to do")
    if len(text) > LARGEST_TEXT:
        problem = f"has {len(text):,} characters, more than {LARGEST_TEXT:,}"
        raise InputError(f"the {label} of a rule {problem}")
    return text


def _member(kinds: type[Member], value: str, label: str) -> Member:
    try:
        return kinds(value)
    except ValueError:
        names = ", ".join(map(str, kinds))
        raise InputError(f"unknown {label} {value!r}: it is one of {names}") from None
