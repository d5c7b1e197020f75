"""Says an entry in one line: what it is, what became of it, and what a tool printed, each as long as there is room."""

from __future__ import annotations

from brim._frozen import Frozen
from brim.scratch.quoting import code, one_line, shortened
from brim.scratch.sharing import shares

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.scratch.entries import Entry

WIDTH = 120
"""The most characters of a line in the index."""
_LOOKED_AT = 20_000
"""Of a text that will be shortened, nothing after this is read."""


class Part(Frozen):
    """A piece of a sentence: brim's own words, which stay whole, or a text, which may be shortened."""

    __slots__ = ("text", "quoted", "whole")

    text: str
    quoted: bool
    whole: bool

    def __init__(self, text: str, *, quoted: bool = False, whole: bool = False) -> None:
        self._fill(text=text, quoted=quoted, whole=whole)

    def said(self, width: int | None = None) -> str:
        """Return the piece, in at most *width* characters if it may be shortened."""
        if self.whole:
            return self.text
        if width is None:
            return code(self.text) if self.quoted else one_line(self.text)
        text = self.text[:_LOOKED_AT]
        return code(text, width) if self.quoted else shortened(one_line(text), width)


def headline(entry: Entry, width: int = WIDTH) -> str:
    """Return the line of *entry* in the index: its number and its sentence."""
    lead = f"- #{entry.number} " if entry.number else "- "
    return lead + sentence(entry, width - len(lead))


def sentence(entry: Entry, width: int | None = None) -> str:
    """Return *entry* on one line, in at most *width* characters (40 or more) if that is given."""
    parts = list(_parts(entry))
    if width is None:
        return "".join(part.said() for part in parts)
    open_parts = [part for part in parts if not part.whole]
    room = width - sum(len(part.text) for part in parts if part.whole)
    given = iter(shares([len(part.said(10 * width)) for part in open_parts], room))
    return "".join(part.said() if part.whole else part.said(next(given)) for part in parts)


def _parts(entry: Entry) -> list[Part]:
    refs = entry.refs
    parts = [Part(f"{noun} ", whole=True)] if (noun := _word(refs.get("noun"))) else []
    parts.append(Part(entry.text, quoted=entry.quoted))
    if "outcome" in refs:
        parts += [Part(": ", whole=True), Part(str(refs["outcome"]))]
    if output := refs.get("output"):
        parts += [Part("; quoted output: ", whole=True), Part(str(output), quoted=True)]
    return parts


def _word(noun: object) -> str:
    """Return *noun* if it is one of brim's own words: a journal is a file, and anybody may have written to it."""
    return noun if noun in ("todo", "plan", "call") and isinstance(noun, str) else ""
