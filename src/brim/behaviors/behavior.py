"""``Behavior``: one thing that was learned, with where it came from and how it has fared."""

from __future__ import annotations

from brim._frozen import Frozen
from brim.behaviors.kinds import LIVE, BehaviorKind, Status
from brim.behaviors.names import checked_name, checked_tags
from brim.behaviors.when import When
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

LARGEST_TEXT = 1_000_000
"""Characters of one text of a behavior. More is a document, and a rule is not."""


LARGEST_PRIORITY = 1_000_000_000
"""Beyond this a priority is a mistake, and a file could not hold it."""


class Provenance(Frozen):
    """Where a behavior comes from. Times are seconds since 1970."""

    __slots__ = ("source", "at", "wrong", "file", "task", "session", "note")

    source: str
    """``human``, ``agent``, ``import``, ``floop`` or ``rules``."""
    at: float | None
    """When it was learned."""
    wrong: str
    """What was done instead, when it was a correction."""
    file: str
    task: str
    session: str
    note: str

    def __init__(
        self,
        source: str = "human",
        *,
        at: float | None = None,
        wrong: str = "",
        file: str = "",
        task: str = "",
        session: str = "",
        note: str = "",
    ) -> None:
        self._fill(source=source, at=at, wrong=wrong, file=file, task=task, session=session, note=note)


class Usage(Frozen):
    """How often a behavior was of use. Times are seconds since 1970."""

    __slots__ = ("injected", "confirmed", "overridden", "last_used")

    injected: int
    """Times it went into a prompt."""
    confirmed: int
    """Times somebody said that it was right."""
    overridden: int
    """Times somebody did otherwise on purpose."""
    last_used: float | None
    """When it was last injected or confirmed; None if never."""

    def __init__(
        self, injected: int = 0, confirmed: int = 0, overridden: int = 0, last_used: float | None = None
    ) -> None:
        self._fill(injected=injected, confirmed=confirmed, overridden=overridden, last_used=last_used)

    @property
    def count(self) -> int:
        """The uses that activation goes by: what spoke for it less what spoke against it, at least 0."""
        return max(0, self.injected + self.confirmed - self.overridden)


class Behavior(Frozen):
    """One thing that was learned. Immutable: ``behavior.changed(summary=...)`` is another one.

    >>> Behavior(id="b1", name="use-uv", kind="directive", canonical="Use uv.", tags=("python",)).kind
    <BehaviorKind.DIRECTIVE: 'directive'>
    """

    __slots__ = (
        "id",
        "name",
        "kind",
        "canonical",
        "summary",
        "tags",
        "when",
        "scope",
        "status",
        "priority",
        "confidence",
        "provenance",
        "usage",
        "supersedes",
        "superseded_by",
        "variants",
        "created_at",
        "updated_at",
        "extra",
    )

    id: str
    name: str
    kind: BehaviorKind
    canonical: str
    """The whole text, injected at the Full tier."""
    summary: str
    """One line that keeps the sense; empty if the canonical text has to be cut for it."""
    tags: tuple[str, ...]
    when: When
    """The conditions under which it matters; none is always."""
    scope: str
    """``project`` or ``user``."""
    status: Status
    priority: int
    """Which of two survives when they are merged, and nothing else: what goes in is decided by activation."""
    confidence: float
    """0 to 1: grows with confirmations, falls with overrides; decides merges after priority."""
    provenance: Provenance
    usage: Usage
    supersedes: tuple[str, ...]
    superseded_by: str | None
    variants: tuple[str, ...]
    """Other wordings that were merged into this one; never injected, never lost."""
    created_at: float | None
    updated_at: float | None
    extra: str
    """What an import could not map, as JSON text; kept so that nothing is lost."""

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
        usage: Usage | None = None,
        supersedes: Iterable[str] = (),
        superseded_by: str | None = None,
        variants: Iterable[str] = (),
        created_at: float | None = None,
        updated_at: float | None = None,
        extra: str = "",
    ) -> None:
        if not isinstance(when, When):
            when = When.of(when or {})
        self._fill(
            id=_checked_id(id),
            name=checked_name(name),
            kind=_member(BehaviorKind, kind, "kind"),
            canonical=_checked_text(canonical, "canonical text"),
            summary=_checked_line(summary),
            tags=checked_tags(tags),
            when=when,
            scope=_among(scope, ("project", "user"), "scope"),
            status=_member(Status, status, "status"),
            priority=_priority(priority),
            confidence=_share(confidence),
            provenance=_typed(provenance or Provenance(), Provenance, "provenance", "a Provenance"),
            usage=_typed(usage or Usage(), Usage, "usage", "a Usage"),
            supersedes=_texts(supersedes, "supersedes"),
            superseded_by=None if superseded_by is None else _typed(superseded_by, str, "superseded_by", "an id"),
            variants=_texts(variants, "variants"),
            created_at=_time(created_at, "created_at"),
            updated_at=_time(updated_at, "updated_at"),
            extra=_typed(extra, str, "extra", "a text"),
        )

    @property
    def live(self) -> bool:
        """Whether it takes part in anything: active or pending."""
        return self.status in LIVE

    def __str__(self) -> str:
        return f"{self.name} [{self.kind}] {self.summary or self.canonical}"


def _checked_id(id: str) -> str:
    if not isinstance(id, str) or not 0 < len(id) <= 200 or not id.isprintable() or id != id.strip():
        raise InputError(f"a behavior's id must be a printable text of 1 to 200 characters, not {str(id)[:80]!r}")
    return id


def _checked_text(text: str, what: str) -> str:
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"the {what} of a behavior is empty: say what to do")
    if len(text) > LARGEST_TEXT:
        raise InputError(f"the {what} of a behavior has {len(text):,} characters, more than {LARGEST_TEXT:,}")
    return text


def _checked_line(text: str) -> str:
    """Return *text* as one line: a summary is one."""
    if not isinstance(text, str):
        raise InputError(f"a summary must be a text, not {type(text).__name__}")
    return " ".join(_checked_text(text, "summary").split()) if text else ""


def _member(kinds: Any, value: object, what: str) -> Any:
    try:
        return kinds(value)
    except ValueError:
        raise InputError(f"unknown {what} {value!r}: it is one of {', '.join(map(str, kinds))}") from None


def _among(value: str, choices: tuple[str, ...], what: str) -> str:
    if value not in choices:
        raise InputError(f"unknown {what} {value!r}: it is one of {', '.join(choices)}")
    return value


def _priority(value: int) -> int:
    _typed(value, int, "priority", "a whole number")
    if abs(value) > LARGEST_PRIORITY:
        raise InputError(f"a priority is from -{LARGEST_PRIORITY:,} to {LARGEST_PRIORITY:,}")
    return value


def _share(value: float) -> float:
    if not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise InputError(f"a confidence is from 0 to 1, not {value!r}")
    return float(value)


def _typed(value: Any, kind: type | tuple[type, ...], field: str, what: str) -> Any:
    if not isinstance(value, kind):
        raise InputError(f"a behavior's {field} must be {what}, not {value!r}")
    return value


def _time(value: float | None, field: str) -> float | None:
    return None if value is None else _typed(value, (int, float), field, "seconds since 1970")


def _texts(values: Iterable[str], field: str) -> tuple[str, ...]:
    """Return *values* as a tuple. One text is none of them: it would fall apart into its letters."""
    texts = None if isinstance(values, str) or not hasattr(values, "__iter__") else tuple(values)
    if texts is None or not all(isinstance(each, str) for each in texts):
        raise InputError(f"a behavior's {field} must be a list of texts, not {values!r}")
    return texts
