"""Backups of a store: made while others write, checked, and restored without losing the present
file."""

from __future__ import annotations

import glob
import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from itertools import count, filterfalse
from typing import TYPE_CHECKING, Any

from brim.config.own_folder import PARTS, check_ours, make_folder
from brim.config.retention import NEWEST_COPIES, OTHER_COPIES
from brim.errors import InputError, StoreError
from brim.files import backup_name, sha256_hex
from brim.store.database import ERRORS, Database, connect, has_tables, in_words, log_ahead
from brim.store.events import RuleEvent
from brim.store.store import open_store

if TYPE_CHECKING:
    from brim.store.scopes import Scopes

BACKUPS = "backups"
"""The folder of backups, in the folder of the store."""

PROJECTS = "projects"
"""The folder in the user's folder with a folder for each project, in which its copies are kept."""

LARGEST_KEPT = 1 << 24
"""Bytes up to which brim copies a store on its own."""


def create(store_path: str, target: str) -> str:
    """Copy the store to the new file *target*, check the copy, and return its path.

    The copy is one consistent state, and only its owner can read it. An existing file is never
    overwritten.
    """
    if os.path.lexists(target):
        raise InputError(
            f"{target}: exists already; a backup is never written over: choose another name"
        )
    check_ours(store_path)
    with connect(store_path) as source:
        has_tables(source)
        _copy(source, target)
    return target


def restore(backup: str, store_path: str) -> str | None:
    """Replace the file *store_path* with *backup*; return where the replaced file is kept, None if
    there was none.

    Processes that have the file open see the old content or the new. A backup that is damaged, of
    another version or another program's is refused, and so is replacing a file that isn't brim's or
    is of another version.
    """
    if not os.path.isfile(backup):
        raise InputError(f"{backup}: no such backup")
    try:
        with connect(backup, readonly=True) as source:
            _check_filled(source)
            _check(source)
            kept = backup_name(store_path)
            if os.path.lexists(store_path) and is_sound(store_path):
                with connect(store_path) as present:
                    _copy(present, kept)
                    present.take(source)
                return kept
            _keep_bytes(store_path, kept)
            # A log or journal that is left behind would be read into the new file.
            for part in ("-wal", "-shm", "-journal"):
                with suppress(FileNotFoundError):
                    os.unlink(store_path + part)
            _copy(source, store_path)
            with connect(store_path) as restored:
                log_ahead(restored)
            return kept if os.path.lexists(kept) else None
    except OSError as error:
        raise StoreError(f"{store_path}: cannot be restored: {error.strerror or error}") from None


def keep_copy(store: Database, user_folder: str, *, now: float, alone: bool = False) -> None:
    """Keep a copy of a project's *store* in *user_folder*, since a pull, a checkout or a mistake
    can destroy it.

    With *alone*, earlier copies are removed: a person has chosen the content. A full disk isn't an
    error.
    """
    with suppress(OSError, StoreError):
        if store_size(store.path) > LARGEST_KEPT:
            return
        folder = copies_folder(store.path, user_folder)
        for each in (os.path.dirname(folder), folder):
            # Makedirs would let others read all but the last.
            make_folder(each)
        _copy(store, new_backup(folder, now=now))
        copies = kept_copies(store.path, user_folder)
        for path in copies[1:] if alone else _superfluous(copies):
            os.unlink(path)


def _superfluous(copies: list[str]) -> list[str]:
    """Return which of *copies*, the newest first, can be removed."""
    known: set[str] = set()
    lacked = {}
    for path in copies:
        rules = _ids_or_none(path)
        lacked[path] = len(rules - known)
        known |= rules
    others = sorted(copies[NEWEST_COPIES:], key=lambda path: lacked[path], reverse=True)
    return [
        path for number, path in enumerate(others) if number >= OTHER_COPIES or not lacked[path]
    ]


def copies_folder(store_path: str, user_folder: str) -> str:
    """Return the folder in *user_folder* for the copies of the project's store *store_path*."""
    project = os.path.realpath(os.path.dirname(os.path.dirname(os.path.abspath(store_path))))
    return os.path.join(user_folder, PROJECTS, sha256_hex(os.fsencode(project))[:16])


def kept_copies(store_path: str, user_folder: str) -> list[str]:
    """Return the kept copies of the project's store *store_path*, the newest first."""
    folder = os.path.join(copies_folder(store_path, user_folder), BACKUPS)
    endings = ("-wal", "-shm", "-journal", ".tmp")
    files = [
        path
        for path in glob.glob(os.path.join(glob.escape(folder), "*"))
        if not path.endswith(endings)
    ]
    return sorted(
        filter(os.path.isfile, files),
        key=lambda path: (os.stat(path).st_mtime_ns, path),
        reverse=True,
    )


def lost_rules(store_path: str, user_folder: str) -> tuple[str, int] | None:
    """Return the newest copy with rules that *store_path* lacks, and how many; None if nothing is
    lost.

    Rules are never deleted, so a file that lacks one is another file or was damaged.
    """
    copies = kept_copies(store_path, user_folder)
    present: set[str] = set()
    try:
        if copies:
            check_ours(store_path)
            present = rule_ids(store_path)
    except StoreError as error:
        if error.reason not in ("missing", "damaged", "refused"):
            return None
    found = ((path, len(_ids_or_none(path) - present)) for path in copies)
    return next((each for each in found if each[1]), None)


@dataclass(frozen=True)
class Restored:
    """Rules that came back to a project's store."""

    copy: str = ""
    """The file that they came from; empty if nothing was lost."""
    rules: int = 0
    kept: str | None = None
    """Where the store that was replaced is."""

    def to_dict(self) -> dict[str, Any]:
        """Return it for ``--json``."""
        return asdict(self)


def restore_lost(
    store_path: str, user_folder: str, open_scopes: Callable[[], Scopes], *, now: float
) -> Restored:
    """Bring back the rules that the project's store has lost, from the newest copy that has
    them."""
    lost = lost_rules(store_path, user_folder)
    if lost is None:
        return Restored()
    copy, rules = lost
    if os.path.lexists(store_path) and is_sound(store_path):
        with open_scopes() as scopes:
            merge_copy(copy, scopes, now=now)
        return Restored(copy, rules)
    kept = restore(copy, store_path)
    with open_store(store_path) as restored:
        restored.record(RuleEvent("restored", now, detail={"backup": os.path.basename(copy)}))
        keep_copy(restored.database, user_folder, now=now)
    return Restored(copy, rules, kept)


def merge_copy(copy: str, scopes: Scopes, *, now: float) -> None:
    """Add the rules of *copy* that the project's store lacks, with their connections."""
    with open_store(copy) as kept, scopes.writing("project"):
        store = scopes.store("project")
        present, known = (
            {each.id for each in store.behaviors()},
            {edge.key for edge in store.all_edges()},
        )
        lost = [
            replace(each, scope="project") for each in kept.behaviors() if each.id not in present
        ]
        for behavior in lost:
            scopes.put(behavior, event="restored", now=now, backup=os.path.basename(copy))
        store.put_edges(
            [
                each
                for each in kept.edges_touching([each.id for each in lost])
                if each.key not in known
            ]
        )


def _check_filled(backup: Database) -> None:
    if not has_tables(backup):
        raise StoreError(f"{backup.path}: not a backup: the file is empty", "refused")


def _check(database: Database) -> None:
    if database.problems():
        raise StoreError(f"{database.path}: is damaged; nothing was changed", "damaged")


def is_sound(path: str) -> bool:
    """Return whether the present file is undamaged; raise if it mustn't be replaced."""
    check_ours(path)
    try:
        # Read-only: opening it for writing would delete the log of a damaged file.
        with connect(path, readonly=True) as database:
            has_tables(database)
            _check(database)
        return True
    except StoreError as error:
        if error.reason == "damaged":
            return False
        raise


def _copy(source: Database, target: str) -> None:
    """Copy *source* to the new file *target*: complete and checked, or not at all."""
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
            copy.execute(
                "PRAGMA journal_mode = DELETE"
            )  # one file, readable on a read-only disk too
            if copy.execute("PRAGMA quick_check").fetchall() != [("ok",)]:
                raise StoreError(f"{source.path}: is damaged, so no copy was made", "damaged")
    except ERRORS as error:
        raise in_words(error, path) from None


def _keep_bytes(path: str, kept: str) -> None:
    """Copy a damaged file, its log and its journal byte by byte to the new name *kept*."""
    for part in PARTS:
        with suppress(FileNotFoundError), open(path + part, "rb") as source:
            handle = os.open(kept + part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as target:
                shutil.copyfileobj(source, target)
                target.flush()
                os.fsync(target.fileno())


def store_size(path: str) -> int:
    """Return the bytes of the store *path*, with the log that SQLite keeps next to it."""
    return sum(os.path.getsize(path + part) for part in ("", "-wal") if os.path.exists(path + part))


def new_backup(folder: str, *, now: float) -> str:
    """Return an unused name, with the time in UTC, for a backup of the store in *folder*."""
    made = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    start = os.path.join(folder, BACKUPS, f"brim-{made}")
    return next(
        filterfalse(os.path.lexists, (f"{start}{f'-{n}' if n > 1 else ''}.db" for n in count(1)))
    )


def rule_ids(path: str) -> set[str]:
    """Return the ids of the rules that the store *path* holds; raise if it cannot be used."""
    with connect(path, readonly=True) as database:
        _check_filled(database)
        return {id for (id,) in database.rows("SELECT id FROM behaviors")}


def _ids_or_none(path: str) -> set[str]:
    with suppress(StoreError):
        return rule_ids(path)
    return set()
