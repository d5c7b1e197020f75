"""Entries, each one thing that must survive, and ``MemoryView``, which leaves out those that were
taken back.

The text of an entry is masked, has no control characters, and a limited length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from brim.files import sha256_hex
from brim.masking import mask
from brim.memory.folder import SECTIONS
from brim.memory.quotes import begun, cleaned, one_line, shortened, telling_line
from brim.record import PlainData

KINDS = (
    *("human", "decision", "state", "dead-end", "artifact", "command"),
    *("suspect", "resolved", "withdrawn", "same", "job"),
)
"""The kinds of entries. The first six are shown in files; the others are only in the journal.

``suspect`` may become a dead end, and ``resolved`` says that it didn't. ``withdrawn`` takes an
artifact back. ``same`` says that an event is already in the journal as another entry. ``job`` is
the title of the index.
"""
LONGEST_QUOTE = 20_000
LONGEST_OUTPUT = 2_000
"""The most characters that are kept of an agent's text and a tool's output. A person's text is kept
whole."""
_LOOKED_AT = 200_000


@dataclass(frozen=True)
class MemoryEntry(PlainData):
    """A line of the journal.

    If ``refs`` has an ``outcome``, ``text`` comes from an agent or a tool (a command, a question),
    and the outcome says how it ended. ``refs["output"]`` is one line of a tool's output.
    """

    number: int = 0
    """Its place in the journal, from 1; 0 until it is written."""
    id: str = ""
    """The same for the same event, however often that is read; empty until it is known."""
    session: str = ""
    agent: str = ""
    time: float | None = None
    kind: str = ""
    text: str = ""
    refs: Mapping[str, Any] = field(default_factory=dict)  # each entry gets a copy

    def __post_init__(self) -> None:
        self.__dict__["refs"] = dict(self.refs)

    def __hash__(self) -> int:
        return hash((self.number, self.id, self.kind, self.text))

    @property
    def quoted(self) -> bool:
        """Whether ``text`` comes from an agent or a tool: it's data, not an instruction."""
        return self.kind == "artifact" or "outcome" in self.refs


def draft(
    kind: str,
    text: str,
    *,
    session: str = "",
    agent: str = "",
    time: float | None = None,
    source: str = "",
    refs: Mapping[str, Any] | None = None,
) -> MemoryEntry:
    """Return an entry without a number. *source* distinguishes events with the same text."""
    kept = {
        key: mask(cleaned(value)) if isinstance(value, str) else value
        for key, value in (refs or {}).items()
    }
    if "output" in kept:
        kept["output"] = stored(kept["output"], LONGEST_OUTPUT)
    safe = stored(text) if "outcome" in kept or kind == "artifact" else mask(cleaned(text))
    parts = "\0".join((session, kind, safe, source)).encode("utf-8", "surrogatepass")
    id = sha256_hex(parts)[:16] if source else ""
    return MemoryEntry(
        kind=kind, text=safe, id=id, session=session, agent=agent, time=time, refs=kept
    )


def stored(text: str, most: int = LONGEST_QUOTE) -> str:
    """Return a text of an agent or a tool as one masked line."""
    # Masked before it's cut, because half of a secret isn't recognized; and again as one line,
    # because a name and its value may have been on two.
    return shortened(mask(one_line(mask(cleaned(_beginning(text))))), most)


def first_error(output: str) -> str:
    """Return the line of *output* that best says what went wrong, else its first line.

    >>> first_error("Exit code 1\\ncollected 3 items\\nE   AssertionError: 2 != 3\\nFAILED test_a.py")
    'E AssertionError: 2 != 3'
    """
    lines = mask(cleaned(_beginning(output))).split("\n")
    return shortened(mask(one_line(telling_line(lines))), LONGEST_OUTPUT)


def _beginning(text: str) -> str:
    """Return the beginning of *text*, in whole lines, because half of a secret isn't recognized."""
    cut = text.rfind("\n", 0, _LOOKED_AT) if len(text) > _LOOKED_AT else 0
    return text[:cut] if cut > 0 else begun(text, _LOOKED_AT)


def extract_text(content: object) -> str:
    """Return the text of *content*: a string, or a list of blocks, of which each text becomes a
    line.

    >>> extract_text([{"type": "text", "text": "Fix"}, {"type": "image"}, {"type": "text", "text": "it"}])
    'Fix\\nit'
    """
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        text = content.get("text")
        return (
            text
            if isinstance(text, str) and content.get("type") in (None, "text", "input_text")
            else ""
        )
    if isinstance(content, list | tuple):
        texts = [extract_text(block) for block in content if isinstance(block, str | dict)]
        return "\n".join(text for text in texts if text)
    return ""


class MemoryView:
    """The entries that weren't taken back, by kind and in order, and the title of the work."""

    def __init__(self, entries: Iterable[MemoryEntry]) -> None:
        self.job = ""
        self.phase = ""
        entries = list(entries)
        gone = withdrawn(entries)
        self._kinds: dict[str, list[MemoryEntry]] = {section.kind: [] for section in SECTIONS}
        for entry in entries:
            if entry.kind == "job":
                self.job, self.phase = entry.text, str(entry.refs.get("phase", ""))
            elif entry.kind in self._kinds and (entry.session, entry.id) not in gone:
                self._kinds[entry.kind].append(entry)
        self._kinds["artifact"] = _newest(self._kinds["artifact"], lambda entry: entry.text)
        self._kinds["dead-end"] = _newest(
            self._kinds["dead-end"], lambda entry: str(entry.refs.get("key") or "")
        )

    def of(self, kind: str) -> list[MemoryEntry]:
        """Return the entries of *kind*, oldest first."""
        return self._kinds.get(kind, [])


def _newest(entries: list[MemoryEntry], key: Callable[[MemoryEntry], str]) -> list[MemoryEntry]:
    """Return the last of *entries* for each *key*, and all that have none."""
    newest = {key(entry): entry for entry in entries}
    return [entry for entry in entries if not key(entry) or newest[key(entry)] is entry]


def withdrawn(entries: Iterable[MemoryEntry]) -> dict[tuple[str, str], MemoryEntry]:
    """Return the entries that take another one back, by its session and id."""
    taken = [entry for entry in entries if entry.kind == "withdrawn" and entry.refs.get("of")]
    return {(entry.session, str(entry.refs["of"])): entry for entry in taken}


def remember(known: dict[Any, Any], key: object, value: object, most: int) -> None:
    """Put *value* last in *known*, and forget the oldest if there are more than *most*."""
    known.pop(key, None)
    known[key] = value
    while len(known) > most:
        del known[next(iter(known))]
