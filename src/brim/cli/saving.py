"""Writes a file so that whoever reads it, at any moment and after any accident, finds the old one or the new one."""

from __future__ import annotations

import os
from contextlib import suppress

from brim._atomic import replace_file, write_new
from brim.errors import InputError


def save(path: str, text: str) -> None:
    """Put *text* in place of the file *path*, or of the file that it links to.

    It is written beside the old one and to the disk, and then renamed. Permissions and owner stay as they are; a new
    file is for its owner alone. A device is refused: to rename over ``/dev/null`` would take it from everybody.
    """
    real = os.path.realpath(path)
    check_regular(path)
    beside = os.path.join(os.path.dirname(real), f".brim-{os.urandom(8).hex()}.tmp")
    try:
        replace_file(real, _bytes(text), beside=beside, prepare=lambda new: _make_like(new, real))
        _settle(os.path.dirname(real))
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}; it is as it was") from None


def remove_unfinished(folder: str) -> None:
    """Remove what ``save`` left in *folder* when it was killed. Nobody else may save there meanwhile."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith(".brim-") and name.endswith(".tmp"):
                os.unlink(os.path.join(folder, name))


def check_regular(path: str) -> None:
    """Raise unless *path* is a file, a link to one, or nothing yet. Call it before reading: a pipe may never end."""
    if os.path.isdir(path):
        raise InputError(f"{path}: is a folder: name a file in it")
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"{path}: is a device or a pipe, so it is not written over: name a file")


def keep(path: str, text: str) -> str:
    """Write *text*, what the file *path* holds, to a new file beside it, and return its name.

    That is ``path.bak``, or with a number after it if that is taken: a backup is never written over.
    """
    real = os.path.realpath(path)
    number = 0
    while True:
        name = f"{real}.bak{f'.{number}' if number else ''}"
        try:
            write_new(name, _bytes(text), prepare=lambda new: _make_like(new, real))
        except FileExistsError:
            number += 1
        except OSError as error:
            reason = error.strerror or error
            raise InputError(f"{name}: no backup can be written: {reason}; {path} is as it was") from None
        else:
            return name


def _bytes(text: str) -> bytes:
    """Return *text* in UTF-8. Half of a surrogate pair has no bytes there: it is written as JSON writes it."""
    return text.encode("utf-8", "backslashreplace")


def _make_like(path: str, like: str) -> None:
    try:
        old = os.stat(like)
    except FileNotFoundError:
        return
    if hasattr(os, "chown"):
        with suppress(OSError):  # only root may give a file away
            os.chown(path, old.st_uid, old.st_gid)
    os.chmod(path, old.st_mode & 0o7777)


def _settle(folder: str) -> None:
    """Write the new name to the disk too, where a folder can be opened for that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
