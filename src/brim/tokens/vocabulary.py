"""Exact counts with OpenAI's vocabularies, using only the standard library.

Text is split into pieces by the published pattern, each piece is merged by the ranks of the
vocabulary, and the counts of pieces are remembered. The vocabulary is a memory-mapped hash table:
nothing is built when it is opened.

Layout, little-endian, all numbers 32 bits (``scripts/build_tables.py`` writes it)::

    magic[8]  mask  size  slots[mask + 1]  offsets[size + 1]  tokens...

``slots`` is an open-addressing hash table with linear probing, addressed by the CRC-32 of a token's
bytes: 0 is empty, r + 1 is the token of rank r. ``offsets`` says where each token lies among the
tokens, which stand one after another in rank order.
"""

from __future__ import annotations

import os
import re
import sys
from array import array
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from heapq import heapify, heappop, heappush
from mmap import ACCESS_READ, mmap
from zlib import crc32

Splitter = Callable[[str], Iterator[list[str]]]

MAGIC = b"BRIMBPE1"
HEADER = len(MAGIC) + 8
NO_RANK = 1 << 30
"""Greater than every rank: the bytes are not a token."""

DATA = os.path.join(os.path.dirname(__file__), "data", "")

FILES = {"o200k_base": "o200k_base", "o200k_harmony": "o200k_base", "cl100k_base": "cl100k_base"}
"""Encoding to table.

Harmony has the words of o200k_base and only adds special tokens, which text never holds.
"""


class Table:
    """The ranks of one vocabulary."""

    __slots__ = ("_map", "_mask", "_offsets", "_size", "_slots", "_start")

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            self._map = mmap(file.fileno(), 0, access=ACCESS_READ)
        if self._map[: len(MAGIC)] != MAGIC:
            raise ValueError(f"{path}: not a brim vocabulary table")
        self._mask = int.from_bytes(self._map[8:12], "little")
        self._size = int.from_bytes(self._map[12:16], "little")
        offsets_at = HEADER + 4 * (self._mask + 1)
        self._start = offsets_at + 4 * (self._size + 1)
        view = memoryview(self._map)
        self._slots = _numbers(view[HEADER:offsets_at])
        self._offsets = _numbers(view[offsets_at : self._start])

    def __len__(self) -> int:
        return self._size

    def rank(self, token: bytes) -> int:
        """Return the rank of *token*, or ``NO_RANK`` if it is not in the vocabulary."""
        # Called for every new pair of bytes: locals are faster than attributes.
        slots = self._slots
        offsets = self._offsets
        mask = self._mask
        slot = crc32(token) & mask
        entry = slots[slot]
        while entry:
            begin = offsets[entry - 1]
            if offsets[entry] - begin == len(token):
                begin += self._start
                if self._map[begin : begin + len(token)] == token:
                    return entry - 1
            slot = (slot + 1) & mask
            entry = slots[slot]
        return NO_RANK

    def tokens(self) -> Iterator[bytes]:
        """Yield every token, in rank order."""
        begin = self._start
        for end in self._offsets[1:]:
            yield self._map[begin : self._start + end]
            begin = self._start + end


def _numbers(raw: memoryview) -> memoryview:
    """Read little-endian 32-bit numbers in place; a big-endian machine gets a swapped copy."""
    if sys.byteorder == "little":
        return raw.cast("I")

    swapped = array("I", raw.tobytes())
    swapped.byteswap()
    return memoryview(swapped)


@cache
def open_table(encoding: str) -> Table:
    """Return the table of *encoding* (one of ``FILES``), mapped once per process."""
    return Table(f"{DATA}{FILES[encoding]}.bin")


# Where text is split into pieces before merging: the published patterns, in Python's own regular
# expressions.
#
# The patterns are written with Unicode properties (``\p{Lu}``, ``\p{M}``), which ``re`` does not
# know, and Python's own idea of them is of another Unicode version. So each character outside ASCII
# is replaced, one for one, by a stand-in for its class, the pattern runs over the stand-ins, and
# the lengths of what it finds cut the real text.
#
# Source of the patterns: ``tiktoken_ext/openai_public.py`` (MIT). They are written here so that no
# character is ever left out: the pieces of a text, joined, are the text.


SPLIT_WINDOW = 1 << 16
"""Characters that are split at a time."""

HELD_BACK = 8
"""Pieces at the end of a window that are split again with the next."""

# One stand-in per class, in the order of the numbers in classes.bin: other, upper or title case,
# lower case, other letter, mark, number, white space. All are Latin-1, so that the text of
# stand-ins takes one byte a character.
STAND_INS = "\x86\x80\x81\x82\x83\x84\x85"

LONG_S = "\x87"
"""Stands for U+017F, the one lower-case letter outside ASCII that a contraction matches without
regard to case."""

_ASCII = {
    "letter": "A-Za-z",
    "upper": "A-Z",
    "lower": "a-z",
    "number": "0-9",
    "space": "\t-\r ",
    "s": "sS",
}
_UNICODE = {
    "letter": f"A-Za-z\x80\x81\x82{LONG_S}",
    "upper": "A-Z\x80\x82\x83",
    "lower": f"a-z\x81\x82\x83{LONG_S}",
    "number": "0-9\x84",
    "space": "\t-\r \x85",
    "s": f"sS{LONG_S}",
}

_CONTRACTION = "'(?:[{s}tTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])"

PATTERNS = {
    "o200k_base": "|".join(
        (
            "[^\r\n{letter}{number}]?[{upper}]*[{lower}]+(?:" + _CONTRACTION + ")?",
            "[^\r\n{letter}{number}]?[{upper}]+[{lower}]*(?:" + _CONTRACTION + ")?",
            "[{number}]{{1,3}}",
            " ?[^{space}{letter}{number}]+[\r\n/]*",
            "[{space}]*[\r\n]+",
            "[{space}]+(?![^{space}])",
            "[{space}]+",
        )
    ),
    "cl100k_base": "|".join(
        (
            _CONTRACTION,
            "[^\r\n{letter}{number}]?[{letter}]+",
            "[{number}]{{1,3}}",
            " ?[^{space}{letter}{number}]+[\r\n]*",
            "[{space}]+\\Z",
            "[{space}]*[\r\n]",
            "[{space}]+(?![^{space}])",
            "[{space}]",
        )
    ),
}


@cache
def ascii_splitter(pattern: str, window: int = SPLIT_WINDOW) -> Splitter:
    """Return the function that splits ASCII text: most text, and the faster way."""
    find = re.compile(PATTERNS[pattern].format_map(_ASCII)).findall
    return lambda text: _windows(find, text, window)


@cache
def unicode_splitter(pattern: str, window: int = SPLIT_WINDOW) -> Splitter:
    """Return the function that splits any text without lone surrogates."""
    find = re.compile(PATTERNS[pattern].format_map(_UNICODE)).findall
    classes = _Classes()

    def split(text: str) -> Iterator[list[str]]:
        start = 0
        for stand_ins in _windows(find, text.translate(classes), window):
            pieces = []
            for length in map(len, stand_ins):
                pieces.append(text[start : start + length])
                start += length
            yield pieces

    return split


def _windows(
    find: Callable[[str, int, int], list[str]], text: str, window: int
) -> Iterator[list[str]]:
    """Yield the pieces of *text*, a window at a time, so that a long text does not become one long
    list.

    Where a window ends, pieces may differ from those of the whole text: the last one goes on, and
    what it turns into can change one or two before it (``ABC中DEF`` is two pieces, ``ABC中DEFg`` is
    one). So the last few are split again.
    """
    start = 0
    size = window
    while start + size < len(text):
        pieces = find(text, start, start + size)[:-HELD_BACK]
        if pieces:
            yield pieces
            start += sum(map(len, pieces))
            size = window
        else:
            size *= 16
    yield find(text, start, len(text))


class _Classes(dict[int, str]):
    """The stand-in of each code point, read from the class pages when it is first met."""

    def __init__(self) -> None:
        with open(f"{DATA}classes.bin", "rb") as file:
            self._pages = file.read()
        self.update({code_point: chr(code_point) for code_point in range(128)})
        self[0x17F] = LONG_S

    def __missing__(self, code_point: int) -> str:
        pages = self._pages
        page = 2 * (code_point >> 8)
        number = pages[page] | pages[page + 1] << 8
        stand_in = STAND_INS[pages[2 * 0x1100 + 256 * number + (code_point & 255)]]
        self[code_point] = stand_in
        return stand_in


# Byte-pair merging: into how many tokens does one piece of text fall?
#
# The rule is the vocabulary's own: of all neighbouring parts whose joined bytes are a token, join
# the pair of the lowest rank, the leftmost of equals, until no pair is left.


MERGE_WINDOW = 96
"""Bytes that are merged at a time: a longer piece is merged window by window."""

MARGIN = 16
"""Bytes at a window's end whose tokens are not kept, because what follows may still change them."""

WINDOWS_SEEN = 64
"""Windows remembered while one piece is merged: enough for a run, whose windows are all alike."""

STEPS_KEPT = 1024
"""Windows that can be taken back, one after the other; beyond that the piece is begun again."""

REMEMBERED = 1 << 18
"""Ranks, and joins of windows, that are remembered per vocabulary."""


class _Ranks(dict[bytes, int]):
    """Ranks looked up in the table once, then at the speed of a dict; bounded."""

    __slots__ = ("_rank",)

    def __init__(self, table: Table) -> None:
        self._rank = table.rank

    def __missing__(self, token: bytes) -> int:
        if len(self) >= REMEMBERED:
            self.clear()
        rank = self[token] = self._rank(token)
        return rank


class Merger:
    """Counts the tokens of pieces of one vocabulary."""

    __slots__ = ("_margin", "_ranks", "_stay_apart", "_window")

    def __init__(self, table: Table, window: int = MERGE_WINDOW, margin: int = MARGIN) -> None:
        self._ranks = _Ranks(table)
        self._stay_apart = lru_cache(REMEMBERED)(self._are_two)
        self._window = window
        self._margin = margin

    def count(self, piece: bytes) -> int:
        """Return the number of tokens of *piece*."""
        if len(piece) > self._window:
            return self._count_long(piece)
        if len(piece) == 1 or self._ranks[piece] != NO_RANK:
            return 1
        return len(self.borders(piece)) - 1

    def borders(self, piece: bytes) -> list[int]:
        """Return where the tokens of *piece* begin, and its end, by repeated search for the lowest
        rank.

        The search costs the square of the piece's length, but it runs in C and a window is short.
        """
        ranks = self._ranks
        borders = list(range(len(piece) + 1))
        pair_ranks = [ranks[piece[at : at + 2]] for at in range(len(piece) - 1)]
        while pair_ranks:
            lowest = min(pair_ranks)
            if lowest == NO_RANK:
                break
            at = pair_ranks.index(lowest)
            del borders[at + 1], pair_ranks[at]
            if at < len(pair_ranks):
                pair_ranks[at] = ranks[piece[borders[at] : borders[at + 2]]]
            if at:
                pair_ranks[at - 1] = ranks[piece[borders[at - 1] : borders[at + 1]]]
        return borders

    def _count_long(self, piece: bytes) -> int:
        """Count window by window, in time that grows with the length only.

        A sequence of tokens is the right one exactly if every two neighbours, merged by themselves,
        stay the same two tokens. Inside a window that holds by construction, so it is enough to
        look at each join of two windows. Where it does not hold the window before was too short to
        see what follows: both are merged again at twice the size, and windows do not shrink before
        they are past that place.
        """
        window, margin = self._window, self._margin
        seen: dict[bytes, tuple[int, bytes, bytes, int]] = {}
        count, start, last = 0, 0, b""
        steps: list[tuple[int, int, bytes]] = []
        failed_at = -1
        while True:
            part = piece[start : start + window]
            is_rest = start + window >= len(piece)
            found = None if is_rest else seen.get(part)
            if found is None:
                found = self._kept(part, 0 if is_rest else margin)
                if not is_rest and len(seen) < WINDOWS_SEEN:
                    seen[part] = found
            tokens, first, final, advance = found
            if last and not self._stay_apart(last, first):
                failed_at = max(failed_at, start)
                count, start, last = steps.pop() if steps else (0, 0, b"")
                window, margin = 2 * window, 2 * margin
                continue
            if is_rest:
                return count + tokens
            if len(steps) >= STEPS_KEPT:
                del steps[: STEPS_KEPT // 2]
            steps.append((count, start, last))
            count, start, last = count + tokens, start + advance, final
            if start > failed_at:
                window, margin = max(self._window, window // 2), max(self._margin, margin // 2)

    def _kept(self, part: bytes, margin: int) -> tuple[int, bytes, bytes, int]:
        """Merge *part*; return how many tokens to keep, the first and the last of them, and where
        they end."""
        if len(part) <= self._window:
            borders = self.borders(part)
        else:
            borders = self._borders_by_heap(part)
        tokens = len(borders) - 1
        while tokens > 1 and borders[tokens] > len(part) - margin:
            tokens -= 1
        return (
            tokens,
            part[: borders[1]],
            part[borders[tokens - 1] : borders[tokens]],
            borders[tokens],
        )

    def _are_two(self, left: bytes, right: bytes) -> bool:
        """Whether the two, merged by themselves, stay the same two tokens."""
        return self.borders(left + right) == [0, len(left), len(left) + len(right)]

    def _borders_by_heap(self, piece: bytes) -> list[int]:
        """Return the same as ``borders``, in n log n: for the rare window that had to grow."""

        ranks = self._ranks
        length = len(piece)
        ends = list(range(1, length + 1))
        previous = list(range(-1, length - 1))
        alive = bytearray(b"\1") * length
        heap = []
        for at in range(length - 1):
            rank = ranks[piece[at : at + 2]]
            if rank != NO_RANK:
                heap.append((rank, at, at + 2))
        heapify(heap)
        while heap:
            _, at, end = heappop(heap)
            middle = ends[at]
            if not alive[at] or middle >= length or ends[middle] != end:
                continue
            alive[middle] = 0
            ends[at] = end
            neighbours = []
            if previous[at] >= 0:
                neighbours.append((previous[at], end))
            if end < length:
                previous[end] = at
                neighbours.append((at, ends[end]))
            for left, right in neighbours:
                rank = ranks[piece[left:right]]
                if rank != NO_RANK:
                    heappush(heap, (rank, left, right))
        return [at for at in range(length) if alive[at]] + [length]


# The table engine: exact counts from the standard library alone, ready in a few milliseconds.


PIECES_KEPT = 1 << 16
"""Pieces whose count is remembered.

When there are more, all are forgotten and the memory starts again.
"""

LONGEST_KEPT = 64
"""Characters of the longest piece that is remembered: longer ones hardly ever come twice."""

ENCODINGS = frozenset(FILES)
"""The encodings that this engine counts exactly."""


class TableEncoding:
    """Counts the tokens of text in one encoding."""

    def __init__(self, encoding: str) -> None:
        self._pattern = FILES[encoding]
        self._merge = Merger(open_table(encoding)).count
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
            return ascii_splitter(self._pattern)(text)
        return unicode_splitter(self._pattern)(without_surrogates(text))


def without_surrogates(text: str) -> str:
    """Return *text* with surrogate pairs joined and lone surrogates replaced by U+FFFD, as tiktoken
    does."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


@cache
def load_table_counter(encoding: str) -> TableEncoding:
    """Return the counter of *encoding* (one of ``ENCODINGS``), made once per process and table."""
    file = FILES[encoding]
    if file != encoding:
        return load_table_counter(file)
    return TableEncoding(encoding)
