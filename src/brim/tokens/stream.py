"""Counting text larger than memory, in blocks whose counts add up.

A cut is exact where the split pattern ends a piece whatever follows, and begins a new one whatever
came before:

- after a newline, if the next character is neither white space nor ``/`` (which o200k joins to punctuation before it);
- between a letter and a digit, and between a letter or digit and a space that a letter follows, all of them ASCII.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from brim.tokens.count import Count
from brim.tokens.protocol import TokenCounter

BLOCK = 1 << 20
"""The least characters of a block."""

LONG_BLOCK = 4 << 20
"""After so many characters without an exact cut, the caller hears that memory grows."""

CUT = re.compile(r"\n(?=[^\s/])|[A-Za-z](?=[0-9])|[A-Za-z0-9](?= [A-Za-z])")
"""Ends at every place where a text may be cut; not for SentencePiece, which marks the beginning of
each text."""
_LOOKED_AT = 2  # characters after a cut that the pattern looks at


def blocks(
    chunks: Iterable[str],
    *,
    block: int = BLOCK,
    on_long_block: Callable[[int], object] | None = None,
) -> Iterator[str]:
    """Join *chunks* and cut them into blocks whose counts add up.

    A block has at least *block* characters, and the sum is exact.

    Where there is no exact cut the block grows, and *on_long_block* is called once with its length
    so far.
    """
    parts: list[str] = []
    size = 0
    tail = ""
    has_warned = False
    for chunk in chunks:
        overlap = tail[-_LOOKED_AT:]
        parts.append(chunk)
        size += len(chunk)
        tail = (overlap + chunk)[-_LOOKED_AT:]
        if size < block:
            continue
        cut = _last_cut(overlap + chunk)
        if cut is None:
            if size >= LONG_BLOCK and not has_warned and on_long_block is not None:
                has_warned = True
                on_long_block(size)
            continue
        text = "".join(parts)
        at = len(text) - len(overlap) - len(chunk) + cut
        yield text[:at]
        parts = [text[at:]]
        size = len(text) - at
        has_warned = False
    last_block = "".join(parts)
    if last_block:
        yield last_block


def _last_cut(text: str) -> int | None:
    """Return the last place where *text* may be cut, looking at its end first."""
    reach = 4096
    while True:
        start = max(0, len(text) - reach)
        cut = max((match.end() for match in CUT.finditer(text, start)), default=None)
        if cut is not None or start == 0:
            return cut
        reach *= 8


def count_stream(
    counter: TokenCounter,
    chunks: Iterable[str],
    *,
    on_long_block: Callable[[int], object] | None = None,
) -> Count:
    """Return the count of *chunks* as one text, without holding the text.

    A counter without ``count_blocks`` (one that asks the provider, say) needs the whole text, and
    gets it.
    """
    count_blocks = getattr(counter, "count_blocks", None)
    if count_blocks is None:
        return counter.count("".join(chunks))
    result: Count = count_blocks(blocks(chunks, on_long_block=on_long_block))
    return result
