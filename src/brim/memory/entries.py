"""Entries, each one thing that must survive.

The text of an entry is masked, has no control characters, and a limited length.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from brim.agents.call import Event
from brim.files import sha256_hex
from brim.masking import mask
from brim.memory.quotes import begun, cleaned, one_line, shortened, telling_line
from brim.record import PlainData

KINDS = (
    "human",
    "decision",
    "state",
    "dead-end",
    "artifact",
    "command",
    "lost",
    "resolved",
    "withdrawn",
    "same",
    "job",
)
"""The kinds of entries. The first seven are shown in files; the others are only in the journal.

``lost`` is what a compaction's summary left out. ``resolved`` says that a dead end isn't one.
``withdrawn`` takes an artifact back. ``same`` says that an event is already in the journal as
another entry. ``job`` is the title of the index.
"""
UNCONFIRMED = "unconfirmed"
"""Marks, in ``refs``, a prompt that no line of the client's transcript has said yet."""
LONGEST_QUOTE = 20_000
LONGEST_OUTPUT = 2_000
"""The most characters that are stored of an agent's text and a tool's output. A person's text is
stored whole."""
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
        return self.kind in ("artifact", "lost") or "outcome" in self.refs


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
    safe_refs = dict(refs or {})
    for key, value in safe_refs.items():
        if isinstance(value, str):
            safe_refs[key] = mask(cleaned(value))
    if "output" in safe_refs:
        safe_refs["output"] = stored(safe_refs["output"], LONGEST_OUTPUT)
    entry = MemoryEntry(
        kind=kind, text=text, session=session, agent=agent, time=time, refs=safe_refs
    )
    safe_text = stored(text) if entry.quoted else mask(cleaned(text))
    entry_id = _id_of(session, kind, safe_text, source) if source else ""
    return MemoryEntry(
        id=entry_id,
        kind=kind,
        text=safe_text,
        session=session,
        agent=agent,
        time=time,
        refs=safe_refs,
    )


def _id_of(*parts: str) -> str:
    return sha256_hex("\0".join(parts).encode("utf-8", "surrogatepass"))[:16]


def stored(text: str, longest: int = LONGEST_QUOTE) -> str:
    """Return a text of an agent or a tool as one masked line."""
    # Masked before it's cut, because half of a secret isn't recognized; and again as one line,
    # because a name and its value may have been on two.
    line = one_line(mask(cleaned(_beginning(text))))
    return shortened(mask(line), longest)


def first_error(output: str) -> str:
    """Return the line of *output* that best says what went wrong, else its first line.

    >>> first_error("Exit code 1\\ncollected 3\\nE   AssertionError: 2 != 3\\nFAILED test_a.py")
    'E AssertionError: 2 != 3'
    """
    lines = mask(cleaned(_beginning(output))).split("\n")
    return shortened(mask(one_line(telling_line(lines))), LONGEST_OUTPUT)


def _beginning(text: str) -> str:
    """Return the beginning of *text*, in whole lines, because half of a secret isn't recognized."""
    if len(text) <= _LOOKED_AT:
        return text
    end = text.rfind("\n", 0, _LOOKED_AT)
    return text[:end] if end > 0 else begun(text, _LOOKED_AT)


def extract_text(content: object) -> str:
    """Return the text of *content*: a string, or a list of blocks, of which each text is a line.

    >>> extract_text([{"type": "text", "text": "Fix"}, {"type": "image"}, "it"])
    'Fix\\nit'
    """
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        text = content.get("text")
        if isinstance(text, str) and content.get("type") in (None, "text", "input_text"):
            return text
        return ""
    if isinstance(content, list | tuple):
        texts = [extract_text(block) for block in content if isinstance(block, str | dict)]
        return "\n".join([text for text in texts if text])
    return ""


def where_of(event: Event) -> dict[str, Any]:
    """Return the place in a session that an entry has from its *event*."""
    return {"session": event.session, "agent": event.agent, "time": event.time}


def source_of(event: Event) -> str:
    """Return what tells *event* from others: its id, else its time; empty if it has neither."""
    event_id = getattr(event, "id", "")
    if event_id:
        return str(event_id)
    return f"at {event.time}" if event.time is not None else ""


def remember(values: dict[Any, Any], key: object, value: object, size: int) -> None:
    """Put *value* last in *values*, and forget the oldest if there are more than *size*."""
    values.pop(key, None)
    values[key] = value
    while len(values) > size:
        del values[next(iter(values))]
