"""How a file is replaced: whoever reads it, at any moment and after any accident, finds the old one or the new one."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def replace_file(
    path: str, data: bytes, *, beside: str = "", durable: bool = True, prepare: Callable[[str], object] | None = None
) -> None:
    """Put *data* in place of the file *path*: written to a new file beside it, which is then renamed.

    The new file is for its owner alone, unless *prepare*, which gets its name before it is renamed, changes that. A
    *durable* one is on the disk before it has the name. Its name until then is *beside*, or a random one: what a killed
    process left behind, in a container with the same id, must not be in the way. An ``OSError`` leaves nothing behind.
    """
    beside = beside or f"{path}.{os.urandom(8).hex()}.tmp"
    write_new(beside, data, durable=durable, prepare=prepare)
    try:
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def write_new(path: str, data: bytes, *, durable: bool = True, prepare: Callable[[str], object] | None = None) -> None:
    """Write *data* to *path*, which must not exist yet; all or nothing. *prepare* gets its name when it is there."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(path, flags, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(handle)
        if prepare is not None:
            prepare(path)
    except BaseException:
        os.unlink(path)
        raise
