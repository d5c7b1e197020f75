"""The table engine: exact counts from the standard library alone, ready in a few milliseconds."""

from __future__ import annotations

from brim.tokens.merge import Merger
from brim.tokens.split import ascii_splitter, unicode_splitter
from brim.tokens.table import FILES, open_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from brim.tokens.split import Splitter

PIECES_KEPT = 1 << 16
"""Pieces whose count is remembered; when there are more, all are forgotten and the memory starts again."""

LONGEST_KEPT = 64
"""Characters of the longest piece that is remembered: longer ones hardly ever come twice."""

ENCODINGS = frozenset(FILES)
"""The encodings that this engine counts exactly."""


class TableEncoding:
    """Counts the tokens of text in one encoding."""

    def __init__(self, encoding: str) -> None:
        self._pattern = FILES[encoding]
        self._merge = Merger(open_table(encoding)).count
        self._split_ascii: Splitter | None = None
        self._split_unicode: Splitter | None = None
        self._counts: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """Return the number of tokens of *text*; special-token strings are ordinary text."""
        counts = self._counts
        total = 0
        for pieces in self._split(text):
            for piece in pieces:
                count = counts.get(piece)
                if count is None:
                    count = self._merge(piece.encode())
                    if len(piece) <= LONGEST_KEPT:
                        if len(counts) >= PIECES_KEPT:
                            counts.clear()
                        counts[piece] = count
                total += count
        return total

    def _split(self, text: str) -> Iterator[list[str]]:
        if text.isascii():
            if self._split_ascii is None:
                self._split_ascii = ascii_splitter(self._pattern)
            return self._split_ascii(text)
        if self._split_unicode is None:
            self._split_unicode = unicode_splitter(self._pattern)
        return self._split_unicode(without_surrogates(text))


def without_surrogates(text: str) -> str:
    """Return *text* with surrogate pairs joined and lone surrogates replaced by U+FFFD, as tiktoken does."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


_loaded: dict[str, TableEncoding] = {}


def load_table_counter(encoding: str) -> TableEncoding:
    """Return the counter of *encoding* (one of ``ENCODINGS``), made once per process."""
    name = FILES[encoding]
    counter = _loaded.get(name)
    if counter is None:
        counter = _loaded[name] = TableEncoding(name)
    return counter
