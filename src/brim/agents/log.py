"""Where a hook says what went wrong, since it may say so nowhere else: a masked line each, in a small file."""

from __future__ import annotations

import os

from brim.config.places import user_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER, NAME = "log", "hook.log"
LARGEST = 256 * 1024
"""Bytes after which the file becomes ``hook.log.1``, in place of the one before it."""
LONGEST = 500
"""Characters of one line."""


def log_path(environ: Mapping[str, str]) -> str:
    """Return where the log is, whether it exists or not."""
    return os.path.join(user_folder(environ), FOLDER, NAME)


def log(environ: Mapping[str, str], line: str, *, now: float | None = None) -> None:
    """Add *line* to the log, with the time in UTC before it. Nothing that fails here fails loudly."""
    try:
        _log(environ, line, now)
    except Exception:
        return  # there is nowhere left to say it


def _log(environ: Mapping[str, str], line: str, now: float | None) -> None:
    import time

    from brim.masking import mask

    path = log_path(environ)
    if not os.path.isdir(user_folder(environ)):
        return  # who removed brim's folder does not want it back
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        os.mkdir(folder, 0o700)
    said = " ".join(mask(line[: 4 * LONGEST]).split())[:LONGEST]
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        full = os.fstat(handle).st_size >= LARGEST
        os.write(handle, f"{stamp} {said}\n".encode("utf-8", "replace"))
    finally:
        os.close(handle)
    if full:
        os.replace(path, f"{path}.1")
