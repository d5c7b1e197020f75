"""The file of a session, read forwards from where the last hook stopped, or backwards from its end.

The path comes from outside: links aren't followed, pipes aren't waited for, and another user's file
counts as missing.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from io import FileIO

from brim._startup import read_at
from brim.files import open_safely

BLOCK = 1 << 17
"""Bytes that are read at once: readers look at the clock after each block."""

TAIL_BLOCK = 1 << 16
"""Bytes of the first block from the end; each further one is twice as long."""

TAIL = 4 << 20
"""Bytes from the end that are read at most."""

FORMATS = {
    "claude": "claude-transcript",
    "codex": "codex-rollout",
    "gemini": "gemini-transcript",
    "opencode": "opencode",
}
"""The format of each agent's session file."""


def stat_of(path: str) -> os.stat_result | None:
    """Return what the system says about the transcript *path*; None if there is none that may be
    read."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    is_own = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    return found if is_own and stat.S_ISREG(found.st_mode) else None


def size_of(path: str) -> int:
    """Return how many bytes the transcript *path* has, 0 if there is none that may be read."""
    found = stat_of(path)
    return 0 if found is None else found.st_size


def whole_lines(
    path: str, start: int, *, overlap: int = 0, most: int = 1 << 23
) -> Iterator[tuple[int, bytes]]:
    """Yield the whole lines of *path* from byte *start* on, in blocks: where each block begins, and
    its bytes.

    *overlap* begins that much earlier, at the next line. At most *most* bytes are read. A file
    shorter than *start* is another one and is read from its beginning. The unfinished line at the
    end is left for the next time.
    """
    with suppress(OSError), _opened(path) as file:
        handle = file.fileno()
        size = os.fstat(handle).st_size
        at = max(0, (start if start <= size else 0) - overlap)
        held, left = b"", most
        skips = at > 0 and read_at(handle, 1, at - 1) != b"\n"
        while left > 0 and (block := read_at(handle, min(BLOCK, left), at + len(held))):
            left -= len(block)
            data = held + block
            if skips:
                begin = data.find(b"\n") + 1
                if not begin:
                    at, held = at + len(data), b""
                    continue
                at, data, skips = at + begin, data[begin:], False
            end = data.rfind(b"\n") + 1
            if end:
                yield at, data[:end]
            at, held = at + end, data[end:]


def tail_lines(path: str, *, most: int = TAIL) -> Iterator[bytes]:
    """Yield the lines of the file *path*, the last one first, within its last *most* bytes. Blank
    ones are skipped."""
    with suppress(OSError), _opened(path) as file:
        handle = file.fileno()
        begin, left, size, rest = os.fstat(handle).st_size, most, TAIL_BLOCK, b""
        while begin > 0 and left > 0:
            take = min(size, begin, left)
            begin, left, size = begin - take, left - take, size * 2
            data = read_at(handle, take, begin) + rest
            if (
                b"\n\n" in data or b"\n\r" in data
            ):  # there may be millions; the pattern isn't compiled for nothing
                data = re.sub(rb"\n\s+", b"\n", data)
            rest, *lines = data.split(b"\n")
            lines.reverse()
            yield from lines
        if begin == 0:
            yield rest


def tail_bytes(path: str, most: int) -> tuple[int, bytes]:
    """Return the whole lines in the last *most* bytes of the file *path*, and where they begin."""
    with suppress(OSError), _opened(path) as file:
        handle = file.fileno()
        begin = max(0, os.fstat(handle).st_size - most)
        data = read_at(handle, most, begin)
        skipped = data.find(b"\n") + 1 if begin > 0 else 0
        return begin + skipped, data[skipped:]
    return 0, b""


def _opened(path: str) -> FileIO:
    """Return the file *path*; an ``OSError`` if it isn't a regular one of this user."""
    if stat_of(path) is None:
        raise FileNotFoundError(path)
    return FileIO(open_safely(path))
