"""Copies of a file: made while others write, checked before they count, and put back without losing what was there."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing, suppress

from brim.errors import InputError, StoreError
from brim.store.database import ERRORS, VERSION, Database, connect, in_words, version_of
from brim.store.project import check_ours, make_folder


def create(store_path: str, target: str) -> str:
    """Copy the file *store_path* as it is at one moment to the new file *target*, check the copy, and return its path.

    It is one file, for its owner alone. An existing file is never written over.
    """
    if os.path.lexists(target):
        raise InputError(f"{target}: exists already; a backup is never written over: choose another name")
    check_ours(store_path)
    with connect(store_path) as source:
        version_of(source)
        _copy(source, target)
    return target


def restore(backup: str, store_path: str) -> str | None:
    """Put *backup* in place of the file *store_path*; return where that one was kept, None if there was none.

    Other processes that have the file open see the old content or the new. A backup that is damaged, newer or another
    program's is refused, and so is to replace a file that is not brim's or is newer.
    """
    if not os.path.isfile(backup):
        raise InputError(f"{backup}: there is no such backup")
    try:
        with connect(backup, readonly=True) as checked:
            found = version_of(checked)
            if found == 0:
                raise StoreError(f"{backup}: is empty, so it is no backup", "refused")
            if found > VERSION:
                raise StoreError(f"{backup}: was made by a newer brim (version {found}): upgrade brim", "newer")
            _check(checked)
            return _put(checked, store_path)
    except OSError as error:
        raise StoreError(f"{store_path}: cannot be restored: {error.strerror or error}") from None


def _put(checked: Database, store_path: str) -> str | None:
    """Put *checked* in place of the file *store_path*; return where that one was kept."""
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
    with present:
        kept = _free_name(store_path)
        _copy(present, kept)
        present.take(checked)
    return kept


def _check(database: Database) -> None:
    if database.problems():
        raise StoreError(f"{database.path}: is damaged; nothing was changed", "damaged")


def _sound(path: str) -> Database | None:
    """Return the present file opened, or None if it is damaged; raise if it is not one to be replaced."""
    try:
        # Only to be read: a writer would clear away the log of a damaged file, and that is to be kept.
        with connect(path, readonly=True) as database:
            if version_of(database) > VERSION:
                raise StoreError(f"{path}: was written by a newer brim: upgrade brim, or move it away first", "newer")
            _check(database)
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
        with closing(sqlite3.connect(path, isolation_level=None)) as copy:
            source.copy_to(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, readable on a read-only disk too
            if copy.execute("PRAGMA quick_check").fetchall() != [("ok",)]:
                raise StoreError(f"{source.path}: is damaged, so no copy was made", "damaged")
    except ERRORS as error:
        raise in_words(error, path) from None


def _keep_bytes(path: str) -> str:
    """Copy a damaged file, and its log, byte by byte to a new name, and return it."""
    kept = _free_name(path)
    for part in ("", "-wal"):
        with suppress(FileNotFoundError), open(path + part, "rb") as source:
            handle = os.open(kept + part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as target:
                shutil.copyfileobj(source, target)
                target.flush()
                os.fsync(handle)
    return kept


def _free_name(path: str) -> str:
    number = 0
    while os.path.lexists(name := f"{path}.bak{f'.{number}' if number else ''}"):
        number += 1
    return name
