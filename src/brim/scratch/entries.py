"""One thing that must survive: an entry of the journal, and which file shows entries of its kind."""

from __future__ import annotations

from brim._frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

KINDS = (
    "human",
    "decision",
    "state",
    "dead-end",
    "artifact",
    "command",
    "suspect",
    "resolved",
    "withdrawn",
    "same",
    "job",
)
"""What an entry is about. The first six are shown in files; the others are kept in the journal alone.

``suspect`` may become a dead end, ``resolved`` says that it did not. ``withdrawn`` takes an artifact back. ``same``
says that an event is an entry that was there before. ``job`` is the title of the index.
"""


class Entry(Frozen):
    """A line of the journal.

    If ``refs`` has an ``outcome``, ``text`` is what an agent or a tool wrote (a command, a question) and the outcome is
    what became of it. ``output`` in it is one line that a tool printed.
    """

    __slots__ = ("number", "id", "session", "agent", "time", "kind", "text", "refs")

    number: int
    """Its place in the journal, from 1; 0 until it is there."""
    id: str
    """The same for the same event, however often it is read; empty until it is known."""
    session: str
    agent: str
    time: float | None
    kind: str
    text: str
    refs: Mapping[str, Any]

    def __init__(
        self,
        *,
        kind: str,
        text: str,
        number: int = 0,
        id: str = "",
        session: str = "",
        agent: str = "",
        time: float | None = None,
        refs: Mapping[str, Any] | None = None,
    ) -> None:
        self._fill(
            number=number, id=id, session=session, agent=agent, time=time, kind=kind, text=text, refs=dict(refs or {})
        )

    def __hash__(self) -> int:
        return hash((self.number, self.id, self.kind, self.text))

    @property
    def quoted(self) -> bool:
        """Whether ``text`` is an agent's or a tool's, and so is data and no instruction."""
        return self.kind == "artifact" or "outcome" in self.refs


class Section(Frozen):
    """A part of the index, and the file that shows its entries whole."""

    __slots__ = ("title", "kind", "file")

    title: str
    kind: str
    file: str

    def __init__(self, *, title: str, kind: str, file: str) -> None:
        self._fill(title=title, kind=kind, file=file)


SECTIONS = (
    Section(title="Human Input", kind="human", file="human-input.md"),
    Section(title="Decisions", kind="decision", file="decisions.md"),
    Section(title="State Changes", kind="state", file="state-changes.md"),
    Section(title="Dead Ends", kind="dead-end", file="dead-ends.md"),
    Section(title="Artifacts", kind="artifact", file="artifacts.md"),
    Section(title="Commands", kind="command", file="commands.md"),
)
"""The sections of the index, in order."""


def identity(session: str, kind: str, text: str, source: str) -> str:
    """Return the id of an entry that was made from *source*: an event's own id, its time, or a number."""
    from brim._sha import sha256_hex

    parts = "\0".join((session, kind, text, source))
    return sha256_hex(parts.encode("utf-8", "surrogatepass"))[:16]
