"""Rules that were learned (``Rule``), how they relate (``Edge``), and the words for both."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from brim.errors import InputError
from brim.record import PlainData, set_fields
from brim.rules.conditions import When

LARGEST_TEXT = 1_000_000
"""Characters of one text of a behavior. More is a document, not a rule."""

LARGEST_PRIORITY = 1_000_000_000
"""A priority beyond this is a mistake, and a file could not hold it."""

LONGEST_NAME = 80
_TAG = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_NAME = _TAG | {"/"}
"""What stands in most names."""


class BehaviorKind(StrEnum):
    """What sort of thing was learned. Constraints are protected: they are never cut below a
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
    """Where a behavior is in its life. Only active and pending ones are ever injected or spread
    to."""

    ACTIVE = "active"
    PENDING = "pending"
    """An agent's own note: at most a summary, apart from the user's rules, until a person accepts
    it."""
    SUPERSEDED = "superseded"
    """Another behavior took its place."""
    FORGOTTEN = "forgotten"
    """Put away by a person; it can come back."""


class EdgeKind(StrEnum):
    """How one behavior is related to another."""

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
"""The states in which a behavior takes part in anything."""

POSITIVE = frozenset(
    {EdgeKind.REQUIRES, EdgeKind.SIMILAR_TO, EdgeKind.LEARNED_FROM, EdgeKind.CO_ACTIVATED}
)
"""Edges that carry activation, both ways. The others take it away."""


@dataclass(frozen=True)
class Provenance(PlainData):
    """Where a behavior comes from. Times are seconds since 1970."""

    source: str = "human"
    """``human``, ``agent``, ``import``, ``floop`` or ``rules``."""
    at: float | None = None
    """When it was learned."""
    wrong: str = ""
    """What was done instead, when it was a correction."""
    file: str = ""
    task: str = ""
    session: str = ""
    note: str = ""


@dataclass(frozen=True)
class RuleUsage(PlainData):
    """How often a behavior was of use. Times are seconds since 1970."""

    injected: int = 0
    """How often it went into a prompt."""
    confirmed: int = 0
    """How often a person or an agent said that it was right."""
    overridden: int = 0
    """How often a person or an agent did otherwise on purpose."""
    last_used: float | None = None
    """When it was last injected or confirmed; None if never."""

    @property
    def count(self) -> int:
        """The uses that activation goes by: those for it less those against it, at least 0."""
        return max(0, self.injected + self.confirmed - self.overridden)


@dataclass(frozen=True)
class Rule(PlainData):
    """One thing that was learned. Immutable: ``behavior.replace(summary=...)`` makes another one.

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
    priority: int
    """Which of two survives when they are merged, and nothing else: activation decides what goes
    in."""
    confidence: float
    """0 to 1: grows with confirmations, falls with overrides; decides merges after priority."""
    provenance: Provenance
    usage: RuleUsage
    supersedes: tuple[str, ...]
    superseded_by: str | None
    variants: tuple[str, ...]
    """Other wordings that were merged into this one; never injected, never lost."""
    created_at: float | None
    updated_at: float | None
    extra: str
    """What an import could not map, as JSON text; kept so that nothing is lost."""
    blocks: tuple[str, ...]
    """What it refuses, such as ``run npm install``: see ``brim.rules.blocks``."""

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
        priority: int = 0,
        confidence: float = 0.6,
        provenance: Provenance | None = None,
        usage: RuleUsage | None = None,
        supersedes: Iterable[str] = (),
        superseded_by: str | None = None,
        variants: Iterable[str] = (),
        created_at: float | None = None,
        updated_at: float | None = None,
        extra: str = "",
        blocks: Iterable[str] = (),
    ) -> None:
        if (
            not isinstance(id, str)
            or not 0 < len(id) <= 200
            or not id.isprintable()
            or id != id.strip()
        ):
            raise InputError(
                f"a behavior's id must be a printable text of 1 to 200 characters, not {str(id)[:80]!r}"
            )
        if not isinstance(summary, str):
            raise InputError(f"a summary must be a text, not {type(summary).__name__}")
        if scope not in ("project", "user"):
            raise InputError(f"unknown scope {scope!r}: it is one of project, user")
        if abs(_typed(priority, int, "priority", "a whole number")) > LARGEST_PRIORITY:
            raise InputError(f"a priority is from -{LARGEST_PRIORITY:,} to {LARGEST_PRIORITY:,}")
        if not isinstance(confidence, (int, float)) or not 0 <= confidence <= 1:
            raise InputError(f"a confidence is from 0 to 1, not {confidence!r}")
        set_fields(
            self,
            id,
            checked_name(name),
            _member(BehaviorKind, kind, "kind"),
            _checked_text(canonical, "canonical text"),
            " ".join(_checked_text(summary, "summary").split()) if summary else "",
            checked_tags(tags),
            when if isinstance(when, When) else When.of(when or {}),
            scope,
            _member(Status, status, "status"),
            priority,
            float(confidence),
            _typed(provenance or Provenance(), Provenance, "provenance", "a Provenance"),
            _typed(usage or RuleUsage(), RuleUsage, "usage", "a Usage"),
            _texts(supersedes, "supersedes"),
            None if superseded_by is None else _typed(superseded_by, str, "superseded_by", "an id"),
            _texts(variants, "variants"),
            _time(created_at, "created_at"),
            _time(updated_at, "updated_at"),
            _typed(extra, str, "extra", "a text"),
            _texts(blocks, "blocks"),
        )

    @property
    def live(self) -> bool:
        """Whether it takes part in anything: active or pending."""
        return self.status in LIVE

    def __str__(self) -> str:
        return f"{self.name} [{self.kind}] {self.summary or self.canonical}"


@dataclass(frozen=True)
class Edge(PlainData):
    """*source* has the relation *kind* to *target*. Times are seconds since 1970."""

    source: str
    target: str
    kind: EdgeKind
    weight: float
    """How strongly, from just above 0 to 1."""
    created_at: float | None
    last_activated: float | None
    """When energy last flowed over it; None if it never did, and then it does not fade."""

    def __init__(
        self,
        source: str,
        target: str,
        kind: EdgeKind | str,
        weight: float = 1.0,
        *,
        created_at: float | None = None,
        last_activated: float | None = None,
    ) -> None:
        kind = _member(EdgeKind, kind, "edge kind")
        if not (isinstance(weight, (int, float)) and math.isfinite(weight) and 0 < weight <= 1):
            raise InputError(f"the weight of an edge is above 0 and at most 1, not {weight!r}")
        if source == target:
            raise InputError(
                f"a connection leads from one rule to another, not from {source!r} to itself"
            )
        set_fields(self, source, target, kind, float(weight), created_at, last_activated)

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes two edges the same one: source, target and kind."""
        return self.source, self.target, self.kind.value

    def __str__(self) -> str:
        return f"{self.source} {self.kind} {self.target} ({self.weight:g})"


def checked_name(name: str) -> str:
    """Return *name* if it is one; else raise."""
    is_text = isinstance(name, str) and 0 < len(name) <= LONGEST_NAME
    if not is_text or not (_NAME.issuperset(name) or all(map(in_name, name))):
        raise InputError(
            f"a name has 1 to {LONGEST_NAME} letters, digits and . _ / -, not {str(name)[:LONGEST_NAME]!r}"
        )
    return name


def in_name(character: str) -> bool:
    """Whether *character* may stand in a name: a letter, a digit or an accent of any script, or one
    of ``._/-``."""
    return character in "./-" or f"a{character}".isidentifier()


def checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return *tags*, each once, in their order, if all of them are tags; else raise."""
    if isinstance(tags, str) or not hasattr(tags, "__iter__"):
        given = f"the text {tags[:LONGEST_NAME]!r}" if isinstance(tags, str) else repr(tags)
        raise InputError(f"tags are a list of texts, not {given}")
    kept = tuple(dict.fromkeys(tags))
    for tag in kept:
        if not isinstance(tag, str) or not 0 < len(tag) <= LONGEST_NAME or not _TAG.issuperset(tag):
            raise InputError(
                f"a tag has 1 to {LONGEST_NAME} of A-Z a-z 0-9 . _ -, not {str(tag)[:LONGEST_NAME]!r}"
            )
    return kept


def as_name(text: str) -> str:
    """Return the nearest name to *text*: what a name cannot hold becomes a hyphen.

    >>> as_name("Use uv, not pip!"), as_name("規則"), as_name("?!")
    ('Use-uv-not-pip', '規則', 'behavior')
    """
    return _nearest(text, in_name) or "behavior"


def as_tag(text: str) -> str:
    """Return the nearest tag to *text*, or nothing if not one character of it can stay.

    >>> as_tag("code style"), as_tag("c++")
    ('code-style', 'c')
    """
    return _nearest(text, _TAG.__contains__)


def _nearest(text: str, allowed: Callable[[str], bool]) -> str:
    kept = "".join(character if allowed(character) else " " for character in text)
    return "-".join(kept.split())[:LONGEST_NAME].strip("-")


def _checked_text(text: str, what: str) -> str:
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"the {what} of a rule is empty: say what to do")
    if len(text) > LARGEST_TEXT:
        raise InputError(
            f"the {what} of a rule has {len(text):,} characters, more than {LARGEST_TEXT:,}"
        )
    return text


_MEMBERS: dict[Any, dict[object, Any]] = {
    kinds: {each.value: each for each in kinds} for kinds in (BehaviorKind, Status, EdgeKind)
}
"""A dict finds a member faster than its class, and a hook looks up hundreds."""


def _member(kinds: Any, value: object, what: str) -> Any:
    try:
        return _MEMBERS[kinds][value]
    except (KeyError, TypeError):
        raise InputError(
            f"unknown {what} {value!r}: it is one of {', '.join(map(str, kinds))}"
        ) from None


def _typed(value: Any, kind: type | tuple[type, ...], field: str, what: str) -> Any:
    if not isinstance(value, kind):
        raise InputError(f"a behavior's {field} must be {what}, not {value!r}")
    return value


def _time(value: float | None, field: str) -> float | None:
    return None if value is None else _typed(value, (int, float), field, "seconds since 1970")


def _texts(values: Iterable[str], field: str) -> tuple[str, ...]:
    """Return *values* as a tuple. A single text is refused: it would fall apart into its
    letters."""
    texts = None if isinstance(values, str) or not hasattr(values, "__iter__") else tuple(values)
    if texts is None or not all(isinstance(each, str) for each in texts):
        raise InputError(f"a behavior's {field} must be a list of texts, not {values!r}")
    return texts
