"""Copies of a file: made while others write, checked before they count, and put back without losing what was there."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from typing import Any

from brim.errors import InputError, StoreError
from brim.store.database import ERRORS, VERSION, Database, connect, in_words, version_of
from brim.store.project import check_ours, make_folder

BLOCK = 1 << 20

BACKUPS = "backups"
"""The folder of backups, in the folder of the store."""


def create(store_path: str, target: str) -> str:
    """Copy the file *store_path* as it is at one moment to the new file *target*, check the copy, and return its path.

    It is one file, for its owner alone. An existing file is never written over.
    """
    if os.path.lexists(target):
        raise InputError(f"{target}: exists already; a backup is never written over: choose another name")
    check_ours(store_path)
    source = connect(store_path)
    try:
        version_of(source)
        _copy(source, target)
    finally:
        source.close()
    return target


def restore(backup: str, store_path: str) -> str | None:
    """Put *backup* in place of the file *store_path*; return where that one was kept, None if there was none.

    Other processes that have the file open see the old content or the new. A backup that is damaged, newer or another
    program's is refused, and so is to replace a file that is not brim's or is newer.
    """
    checked = _checked_backup(backup)
    try:
        if not os.path.lexists(store_path):
            _copy(checked, store_path)
            return None
        check_ours(store_path)
        present = _sound(store_path)
        if present is None:
            kept = _keep_bytes(store_path)
            # A log that is left behind would be read into the new file.
            for part in ("-wal", "-shm"):
                with suppress(FileNotFoundError):
                    os.unlink(store_path + part)
            _copy(checked, store_path)
            return kept
        try:
            kept = _free_name(store_path)
            _copy(present, kept)
            present.take(checked)
        finally:
            present.close()
        return kept
    except OSError as error:
        raise StoreError(f"{store_path}: cannot be restored: {error.strerror or error}") from None
    finally:
        checked.close()


def _checked_backup(path: str) -> Database:
    if not os.path.isfile(path):
        raise InputError(f"{path}: no such backup")
    database = connect(path, readonly=True)
    try:
        found = version_of(database)
        if found == 0:
            raise StoreError(f"{path}: not a backup: the file is empty", "refused")
        if found > VERSION:
            raise StoreError(f"{path}: was made by a newer brim (version {found}): upgrade brim", "newer")
        _check(database)
    except BaseException:
        database.close()
        raise
    return database


def _check(database: Database) -> None:
    if [row[0] for row in database.rows("PRAGMA quick_check")] != ["ok"]:
        raise StoreError(f"{database.path}: is damaged; nothing was changed", "damaged")


def _sound(path: str) -> Database | None:
    """Return the present file opened, or None if it is damaged; raise if it is not one to be replaced."""
    try:
        # Only to be read: a writer would clear away the log of a damaged file, and that is to be kept.
        database = connect(path, readonly=True)
        try:
            if version_of(database) > VERSION:
                raise StoreError(f"{path}: was written by a newer brim: upgrade brim, or move it away first", "newer")
            _check(database)
        finally:
            database.close()
        return connect(path)
    except StoreError as error:
        if error.reason == "damaged":
            return None
        raise


def _copy(source: Database, target: str) -> None:
    """Copy *source* to the new file *target*, checked and complete or not at all."""
    beside = f"{target}.{os.urandom(8).hex()}.tmp"
    try:
        make_folder(os.path.dirname(os.path.abspath(target)))
        os.close(os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            _fill(source, beside)
            os.replace(beside, target)
        except BaseException:
            for part in ("", "-journal", "-wal", "-shm"):
                with suppress(OSError):
                    os.unlink(beside + part)
            raise
    except OSError as error:
        raise StoreError(f"{target}: cannot be written: {error.strerror or error}") from None


def _fill(source: Database, path: str) -> None:
    try:
        copy = sqlite3.connect(path, isolation_level=None)
        try:
            source.copy_to(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, readable on a read-only disk too
            if copy.execute("PRAGMA quick_check").fetchall() != [("ok",)]:
                raise StoreError(f"{source.path}: is damaged, so no copy was made", "damaged")
        finally:
            copy.close()
    except ERRORS as error:
        raise in_words(error, path) from None


def _keep_bytes(path: str) -> str:
    """Copy a damaged file, and its log, byte by byte to a new name, and return it."""
    kept = _free_name(path)
    for part in ("", "-wal"):
        with suppress(FileNotFoundError), open(path + part, "rb") as source:
            handle = os.open(kept + part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as target:
                while block := source.read(BLOCK):
                    target.write(block)
                target.flush()
                os.fsync(target.fileno())
    return kept


def _free_name(path: str) -> str:
    number = 0
    while os.path.lexists(name := f"{path}.bak{f'.{number}' if number else ''}"):
        number += 1
    return name


def store_size(path: str) -> int:
    """Return the bytes of the store *path*, with the log that SQLite keeps next to it."""
    return sum(os.path.getsize(path + part) for part in ("", "-wal") if os.path.exists(path + part))


def new_backup(folder: str, *, now: float) -> str:
    """Return a name for a backup of the store in *folder*: it says when it was made, in UTC, and no file has it."""
    made = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    start = os.path.join(folder, BACKUPS, f"brim-{made}")
    name, number = f"{start}.db", 2
    while os.path.lexists(name):
        name, number = f"{start}-{number}.db", number + 1
    return name


def find_backup(folder: str, given: str) -> str:
    """Return the path of the backup *given*: a file, or the name of one among the backups in *folder*."""
    inside = os.path.join(folder, BACKUPS, given)
    if not os.path.exists(given) and os.path.basename(given) == given and os.path.isfile(inside):
        return inside
    if not os.path.isfile(given):
        raise InputError(f"{given}: no such backup: 'brim backup list' shows them")
    return os.path.abspath(given)


def backups_in(folders: dict[str, str]) -> list[tuple[str, str]]:
    """Return scope and path of every backup in *folders*, and of what a restore kept there."""
    found = []
    for scope, folder in folders.items():
        for inside, begins in ((os.path.join(folder, BACKUPS), ""), (folder, "brim.db.bak")):
            try:
                names = sorted(os.listdir(inside))
            except OSError:
                continue
            paths = [os.path.join(inside, name) for name in names if name.startswith(begins)]
            endings = ("-wal", "-shm", "-journal", ".tmp", ".gitignore")
            found += [(scope, path) for path in paths if os.path.isfile(path) and not path.endswith(endings)]
    return found


def described(scope: str, path: str) -> dict[str, Any]:
    """Return what is known of the backup *path*, for JSON; ``problem`` says why it cannot be used."""
    found: dict[str, Any] = {"file": path, "scope": scope, "at": 0.0, "bytes": store_size(path)}
    try:
        found["at"] = os.path.getmtime(path)
        return {**found, "behaviors": rules_in(path), "problem": None}
    except OSError:
        return {**found, "behaviors": None, "problem": "gone"}
    except StoreError as error:
        return {**found, "behaviors": None, "problem": error.reason}


def rules_in(path: str) -> int:
    """Return how many rules the store *path* holds; raise if it cannot be used."""
    database = connect(path, readonly=True)
    try:
        found = version_of(database)
        if found == 0:
            raise StoreError(f"{path}: not a backup: the file is empty", "refused")
        if found > VERSION:
            raise StoreError(f"{path}: was made by a newer brim (version {found}): upgrade brim", "newer")
        return int(database.row("SELECT count(*) FROM behaviors")[0])
    finally:
        database.close()
