"""A line of the journal: how an entry is written, and read again whatever the line holds."""

from __future__ import annotations

import math

from brim import _json
from brim.scratch.entries import Entry
from brim.scratch.quoting import encodable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HIGHEST = 2**53
NUMBERED = "n"
"""How the id of an entry begins that no event made: its number follows, so it is known in this journal alone."""


def encoded(entry: Entry) -> bytes:
    """Return *entry* as one line: JSON in UTF-8 with the end of the line, which stands nowhere else in it."""
    time = entry.time if entry.time is not None and math.isfinite(entry.time) else None
    values = (entry.number, entry.id, entry.session, entry.agent, time, entry.kind, entry.text, entry.refs)
    line = _json.dumps(dict(zip(Entry.__slots__, values, strict=True)), ensure_ascii=False, default=str)
    return encodable(line).encode() + b"\n"


def decoded(line: bytes) -> Entry | None:
    """Return the entry in *line*, None if there is none: torn, damaged, or something else."""
    try:
        value = _json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    number, kind, text = value.get("number"), value.get("kind"), value.get("text")
    if type(number) is not int or not 0 < number <= _HIGHEST or not isinstance(kind, str) or not isinstance(text, str):
        return None
    refs = value.get("refs")
    return Entry(
        number=number,
        id=_text(value, "id") or f"{NUMBERED}{number}",
        session=_text(value, "session"),
        agent=_text(value, "agent"),
        time=_time(value.get("time")),
        kind=kind,
        text=text,
        refs=refs if isinstance(refs, dict) else {},
    )


def _text(value: dict[str, Any], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


def _time(value: object) -> float | None:
    try:
        found = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    except OverflowError:
        return None
    return found if found is not None and math.isfinite(found) else None
