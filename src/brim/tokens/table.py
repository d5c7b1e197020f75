"""A vocabulary as a memory-mapped hash table: ready at once, because nothing is built when it is opened.

Layout, little-endian, all numbers 32 bits (``scripts/build_tables.py`` writes it)::

    magic[8]  mask  size  slots[mask + 1]  offsets[size + 1]  tokens...

``slots`` is an open-addressing hash table with linear probing, addressed by the CRC-32 of a token's bytes: 0 is
empty, r + 1 is the token of rank r. ``offsets`` says where each token lies among the tokens, which stand one after
another in rank order.
"""

from __future__ import annotations

import sys
from mmap import ACCESS_READ, mmap
from zlib import crc32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC = b"BRIMBPE1"
HEADER = len(MAGIC) + 8
NO_RANK = 1 << 30
"""Greater than every rank: the bytes are not a token."""

DATA = __file__.rpartition("table.py")[0] + "data/"

FILES = {"o200k_base": "o200k_base", "o200k_harmony": "o200k_base", "cl100k_base": "cl100k_base"}
"""Encoding to table. Harmony has the words of o200k_base and only adds special tokens, which text never holds."""


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
        slots, offsets, mask, length = self._slots, self._offsets, self._mask, len(token)
        slot = crc32(token) & mask
        found = slots[slot]
        while found:
            begin = offsets[found - 1]
            if offsets[found] - begin == length:
                begin += self._start
                if self._map[begin : begin + length] == token:
                    return found - 1
            slot = (slot + 1) & mask
            found = slots[slot]
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
    from array import array

    swapped = array("I", raw.tobytes())
    swapped.byteswap()
    return memoryview(swapped)


_open: dict[str, Table] = {}


def open_table(encoding: str) -> Table:
    """Return the table of *encoding* (one of ``FILES``), mapped once per process."""
    name = FILES[encoding]
    table = _open.get(name)
    if table is None:
        table = _open[name] = Table(f"{DATA}{name}.bin")
    return table
