"""An entry in words: one line for the index, whole for the detail files."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from brim.memory.entries import MemoryEntry
from brim.memory.quotes import code, one_line, plain_lines, shortened, shortened_path
from brim.record import PlainData

WIDTH = 120
"""The most characters of a line in the index."""
_NOUNS = ("todo", "plan", "call", "file", "command", "instruction", "decision")
_LOOKED_AT = 20_000
"""Of a text that will be shortened, nothing after this is read."""


@dataclass(frozen=True)
class SentencePart(PlainData):
    """A piece of a sentence."""

    text: str
    quoted: bool = False
    whole: bool = False
    """Whether these are brim's own words, which are never shortened."""
    is_path: bool = False
    """Whether it's the path of a file, of which the end is what counts."""

    def written(self, width: int | None = None) -> str:
        """Return the piece, in at most *width* characters if it may be shortened."""
        if self.whole:
            return self.text
        if width is None:
            return code(self.text) if self.quoted else one_line(self.text)
        text = self.text[:_LOOKED_AT]
        if self.is_path:
            text = shortened_path(one_line(text), width - len("``"))
        return code(text, width) if self.quoted else shortened(one_line(text), width)


def headline(entry: MemoryEntry, width: int = WIDTH) -> str:
    """Return the line of *entry* in the index: its number and its sentence."""
    lead = f"- #{entry.number} " if entry.number else "- "
    return lead + sentence(entry, width - len(lead))


def sentence(entry: MemoryEntry, width: int | None = None) -> str:
    """Return *entry* on one line, in at most *width* characters (40 or more) if given."""
    parts = list(_parts(entry))
    if width is None:
        return "".join([part.written() for part in parts])
    fixed = sum(len(part.text) for part in parts if part.whole)
    needs = [len(part.written(10 * width)) for part in parts if not part.whole]
    widths = iter(shares(needs, width - fixed))
    pieces = []
    for part in parts:
        pieces.append(part.text if part.whole else part.written(next(widths)))
    return "".join(pieces)


def _parts(entry: MemoryEntry) -> Iterator[SentencePart]:
    refs = entry.refs
    # Only brim's own words: a journal is a file, and anyone may have written to it.
    if refs.get("noun") in _NOUNS:
        yield SentencePart(f"{refs['noun']} ", whole=True)
    is_path = entry.kind == "artifact" or refs.get("noun") == "file"
    yield SentencePart(entry.text, quoted=entry.quoted, is_path=is_path)
    if "outcome" in refs:
        yield SentencePart(": ", whole=True)
        yield SentencePart(str(refs["outcome"]))
    times = refs.get("times")
    if entry.kind == "command" and isinstance(times, int):
        yield SentencePart(f" ×{times}", whole=True)
    if refs.get("output"):
        yield SentencePart("; quoted output: ", whole=True)
        yield SentencePart(str(refs["output"]), quoted=True)


def shares(needs: Sequence[int], room: int) -> list[int]:
    """Return how much of *room* each of *needs* gets: never more than it needs.

    >>> shares([3, 500, 40], 100)
    [3, 57, 40]
    """
    amounts = [0] * len(needs)
    left = max(0, room)
    order = sorted(range(len(needs)), key=lambda place: (needs[place], place))
    for count, place in enumerate(order):
        fair_share = left // (len(order) - count)
        amounts[place] = min(max(0, needs[place]), fair_share)
        left -= amounts[place]
    return amounts


def when(seconds: float | None) -> str:
    """Return a moment as UTC, or that it is not known."""
    if seconds is None:
        return "time unknown"
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))
    except (OverflowError, ValueError, OSError):
        return "time unknown"


def details(entry: MemoryEntry) -> str:
    """Return *entry* whole, as it stands in the file of its section."""
    return f"## {_heading(entry)}\n\n{_body(entry)}\n"


def _heading(entry: MemoryEntry) -> str:
    names = [f"#{entry.number}", when(entry.time)]
    if entry.session:
        names.append(f"session {shortened(one_line(entry.session), 80)}")
    if entry.agent:
        names.append(f"agent {shortened(one_line(entry.agent), 80)}")
    return " · ".join(names)


def _body(entry: MemoryEntry) -> str:
    refs = entry.refs
    lines = _text_lines(entry)
    if "outcome" in refs:
        lines.append(f"- outcome: {one_line(str(refs['outcome']))}")
    if entry.kind == "command" and isinstance(refs.get("times"), int):
        lines.append(f"- times: {refs['times']}")
    if refs.get("output"):
        lines.append(f"- quoted output: {code(str(refs['output']))}")
    if refs.get("rule"):
        lines.append(f"- found by: {one_line(str(refs['rule']))}")
    places = _places(refs.get("at"))
    if places:
        lines.append(f"- at byte: {', '.join(places)}")
    return "\n".join(lines)


def _text_lines(entry: MemoryEntry) -> list[str]:
    """Return the text of *entry*: an agent's or a tool's as code, a person's as a quote."""
    if entry.quoted:
        return [f"- {_label(entry)}: {code(entry.text)}"]
    lines = [f"> {line}".rstrip() for line in plain_lines(entry.text)]
    return lines or [">"]


def _label(entry: MemoryEntry) -> str:
    if entry.kind == "artifact":
        return "file"
    noun = entry.refs.get("noun")
    if entry.kind == "lost" and noun in _NOUNS:
        return str(noun)
    return "what"


def _places(at: object) -> list[str]:
    if not isinstance(at, list):
        return []
    return [str(place) for place in at if isinstance(place, int) and place > 0]
