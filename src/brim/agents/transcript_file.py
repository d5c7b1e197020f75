"""Reads on in the file of a session, from where the last hook stopped: never through a link, never somebody else's.

The path comes from outside. What is no regular file of this user is as good as missing.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 1 << 17
"""Bytes that are read at once: whoever reads looks at the clock after each."""

FORMATS = {"claude": "claude-transcript", "codex": "codex-rollout", "gemini": "gemini-transcript"}
"""How each agent writes the file of a session."""

_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def size_of(path: str) -> int:
    """Return how many bytes the transcript *path* has, 0 if there is none that may be read."""
    handle = _opened(path)
    if handle < 0:
        return 0
    try:
        return os.fstat(handle).st_size
    finally:
        os.close(handle)


def whole_lines(path: str, start: int, *, overlap: int = 0, most: int = 1 << 23) -> Iterator[tuple[int, bytes]]:
    """Give the whole lines of *path* from byte *start* on, in pieces: where each piece begins, and its bytes.

    *overlap* begins that much earlier, at the next line. No more than *most* bytes are read. A file that is shorter
    than *start* is another one, and is read from its beginning. The half line at the end waits for the next time.
    """
    handle = _opened(path)
    if handle < 0:
        return
    try:
        size = os.fstat(handle).st_size
        at = max(0, (start if start <= size else 0) - overlap)
        held, left = b"", most
        skips = at > 0 and os.pread(handle, 1, at - 1) != b"\n"
        while left > 0 and (block := os.pread(handle, min(BLOCK, left), at + len(held))):
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
    except OSError:
        return
    finally:
        os.close(handle)


def _opened(path: str) -> int:
    """Return a handle of the regular file *path* if it is this user's, else -1."""
    if not path or "\0" in path:
        return -1
    try:
        handle = os.open(path, os.O_RDONLY | _FLAGS)
    except (OSError, ValueError):
        return -1
    try:
        found = os.fstat(handle)
    except OSError:
        os.close(handle)
        return -1
    if stat.S_ISREG(found.st_mode) and (not hasattr(os, "getuid") or found.st_uid == os.getuid()):
        return handle
    os.close(handle)
    return -1
