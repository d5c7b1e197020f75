"""One process at a time: a lock that the system takes back when its holder ends, however it ends."""

from __future__ import annotations

import os
import sys
import time

from brim._light import contextmanager
from brim.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""How files of ours are opened: through no link, never waiting for a pipe, byte by byte."""


@contextmanager
def locked(path: str, *, patience: float = 10.0, prepare: Callable[[], object] = bool) -> Iterator[None]:
    """Hold the lock file *path*; wait at most *patience* seconds for it. *prepare* makes the folder that it is in.

    Who waited for a lock whose folder was removed meanwhile begins again, in the new folder.
    """
    ends = time.monotonic() + patience
    while True:
        prepare()
        handle = _opened(path)
        if handle is None:  # removed since it was prepared
            if time.monotonic() >= ends:
                raise StoreError(f"{path}: cannot be made: its folder is removed again and again", "busy")
            continue
        try:
            _wait(handle, path, ends)
            if _is_still(handle, path):
                yield
                return
        finally:
            os.close(handle)


def _opened(path: str) -> int | None:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | FLAGS, 0o600)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path}: cannot be opened: {error.strerror or error}", "read-only") from None


def _wait(handle: int, path: str, ends: float) -> None:
    pause = 0.001
    while not _taken(handle):
        if time.monotonic() >= ends:
            raise StoreError(f"{path}: another process holds it for too long; try again when it has ended", "busy")
        time.sleep(pause)
        pause = min(0.01, pause * 2)


def _is_still(handle: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except OSError:
        return False


if sys.platform == "win32":

    def _taken(handle: int) -> bool:
        import msvcrt

        try:
            os.lseek(handle, 0, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:

    def _taken(handle: int) -> bool:
        import fcntl

        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
