"""How the state of a session lies on the disk: read whatever it holds, written whole, changed by one at a time."""

from __future__ import annotations

import os

from brim import _json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

LARGEST = 1 << 20
"""Bytes of a file that are read; a larger one is not ours."""
PATIENCE = 0.1
"""Seconds that a change waits for the lock."""


def read(path: str) -> dict[str, Any]:
    """Return what the file *path* holds; nothing if it is not there, broken, or a link."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            data = os.read(handle, LARGEST + 1)
        finally:
            os.close(handle)
        found = _json.loads(data.decode()) if len(data) <= LARGEST else None
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def write(path: str, values: Mapping[str, Any]) -> None:
    """Put *values* in place of the file *path*, all of it or nothing."""
    from brim._atomic import replace_file

    try:
        text = _json.dumps(values)
    except (TypeError, ValueError, RecursionError):  # a handler kept what JSON has not: better nothing than half
        return
    replace_file(path, text.encode("utf-8", "replace"), durable=False)


class Lock:
    """Holds the lock of one state file; an ``OSError`` if it cannot be had. Its folder is made if it is not there."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._handle = -1

    def __enter__(self) -> None:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        try:
            self._handle = os.open(self._path, flags, 0o600)
        except FileNotFoundError:
            _make_folder(os.path.dirname(self._path))
            self._handle = os.open(self._path, flags, 0o600)
        try:
            import fcntl
        except ImportError:  # no hooks on Windows; the status line alone writes there
            return
        import time

        until = time.monotonic() + PATIENCE
        while True:
            try:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except OSError:
                if time.monotonic() >= until:
                    os.close(self._handle)
                    raise
            time.sleep(0.002)

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)


def _make_folder(folder: str) -> None:
    """Make *folder*, and not what it lies in: who removed brim's folder does not want it back."""
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        return
