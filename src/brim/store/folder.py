"""The folder that brim keeps its files in: for its owner alone, and for git only what is meant to be shared."""

from __future__ import annotations

import os
import stat

from brim._light import suppress
from brim.errors import StoreError
from brim.store.tracked import is_tracked

FILE = "brim.db"
"""The name of the database in a ``.brim`` folder."""

IGNORED = "*\n!.gitignore\n!config.yaml\n!behaviors.jsonl\n"
"""What ``.brim/.gitignore`` says: settings and exported behaviors may be committed, all else is this machine's."""

PARTS = ("", "-wal", "-journal")
"""What SQLite reads a database from: a log that came with a clone would be taken into it."""


def make_file(path: str) -> None:
    """Make the empty file *path* in a folder of its own, if it is not there: 0600 in 0700."""
    folder = os.path.dirname(os.path.abspath(path))
    try:
        make_folder(folder)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise StoreError(f"{path}: cannot be made: {error.strerror or error}", _reason(error)) from None


def make_folder(folder: str) -> None:
    """Make *folder*, readable by its owner alone, with a ``.gitignore`` if it is a ``.brim``."""
    _check_link(folder)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if os.path.basename(folder) != ".brim":
        return
    if hasattr(os, "getuid") and os.stat(folder).st_uid == os.getuid():
        os.chmod(folder, 0o700)  # git makes a folder that everybody may read
    with suppress(FileExistsError):
        handle = os.open(os.path.join(folder, ".gitignore"), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(IGNORED)


def check_ours(path: str) -> None:
    """Raise if the file *path* is not one that brim may believe: a link, another user's, or one that git tracks."""
    _check_link(os.path.dirname(os.path.abspath(path)))
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        raise StoreError(f"{path}: is not there yet; 'brim learn' makes it", "missing") from None
    except OSError as error:
        raise StoreError(f"{path}: cannot be opened: {error.strerror or error}", "missing") from None
    if not stat.S_ISREG(found.st_mode):
        raise StoreError(f"{path}: is not a regular file, so it is not used; move it away", "refused")
    if hasattr(os, "getuid") and found.st_uid != os.getuid():
        raise StoreError(
            f"{path}: belongs to another user (number {found.st_uid}), so it is not used; "
            "move it away, or make it yours if you know what is in it",
            "refused",
        )
    if is_tracked(path, endings=PARTS):
        raise StoreError(
            f"{path}: git tracks it, so it may be somebody else's and is not used; "
            "'git rm --cached' it, and share behaviors with 'brim export'",
            "refused",
        )


def _check_link(folder: str) -> None:
    if os.path.islink(folder) and is_tracked(folder):
        raise StoreError(
            f"{folder}: is a link that came with the project, so it may lead anywhere and is not used; "
            "'git rm --cached' it, or remove it",
            "refused",
        )


def _reason(error: OSError) -> str:
    import errno

    return {errno.EROFS: "read-only", errno.ENOSPC: "full", errno.EACCES: "read-only"}.get(error.errno or 0, "failed")
