"""What is past its time, and ``brim doctor --prune``, which removes it.

Rules, limits, reservations, a person's own backups and the memory of live sessions are never touched. How long the rest
is kept is in ``brim.config.retention`` and the settings ``keep.*``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from brim.config.retention import COPIES, DAY, JOURNALS, REQUEST_DAYS, SESSIONS, UNFINISHED
from brim.errors import BrimError, StoreError
from brim.files import locked, unfinished
from brim.hooks.state import FOLDER, old_files
from brim.install.installation import Installation
from brim.scratch.folder import (
    LOCK,
    NAME,
    check_folder,
    is_live,
    keep_journals,
    old_journals,
    owner_of,
    remove_ours,
    session_folders,
)
from brim.store.database import VERSION, Database
from brim.store.events import RECENT
from brim.store.ledger import open_ledger
from brim.store.store import open_store
from brim.store.trust import is_trusted, trusted_projects

PATIENCE = 1.0
"""Seconds to wait for a session that writes its memory just now."""

LARGEST_FREE = 1 << 20
"""Bytes that are free inside of a database before it is made smaller."""


@dataclass(frozen=True)
class Past:
    """Things of one kind, in one place, that are past their time."""

    what: str
    place: str
    number: int
    bytes: int
    """On the disk; 0 for rows of a database."""
    days: int
    """How long they are kept."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields."""
        return dict(vars(self))


@dataclass(frozen=True)
class Pruned:
    """What is past its time, and whether it was removed."""

    items: tuple[Past, ...]
    done: bool
    problems: tuple[str, ...] = ()
    """What could not be looked at or removed."""

    @property
    def number(self) -> int:
        """How many things there are."""
        return sum(each.number for each in self.items)

    @property
    def bytes(self) -> int:
        """What their files take on the disk."""
        return sum(each.bytes for each in self.items)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        items = [each.to_dict() for each in self.items]
        return {**vars(self), "items": items, "number": self.number, "bytes": self.bytes}


def prune(environ: Mapping[str, str], folder: str | None, *, dry_run: bool = False) -> Pruned:
    """Remove what is past its time: of the user, of the project around *folder* and of all trusted ones.

    With *dry_run*, nothing is removed.
    """
    pruning = _Pruning(Installation(environ, folder), remove=not dry_run)
    items = tuple(each for each in pruning.look() if each.number)
    return Pruned(items, not dry_run, tuple(pruning.problems))


class _Pruning:
    """The kinds of things that brim keeps for a time. Each yields what is past it, and removes it if asked to."""

    def __init__(self, here: Installation, *, remove: bool) -> None:
        self.here, self.remove, self.now = here, remove, here.now
        self.problems: list[str] = []
        trusted = [path for path in trusted_projects(here.home) if is_trusted(path, here.home)]
        self.projects = list(dict.fromkeys([*trusted, *([here.project] if here.project else [])]))

    def look(self) -> Iterator[Past]:
        """Yield everything that is past its time."""
        config, home = self.here.config.yours, self.here.home
        yield self._files(
            "hooks' notes about sessions", os.path.join(home, FOLDER), old_files(home, now=self.now), SESSIONS
        )
        journals = os.path.join(home, "scratch")
        yield self._files("journals of removed memory", journals, old_journals(journals, now=self.now), JOURNALS)
        folders = [home, *(os.path.join(each, ".brim") for each in self.projects)]
        for folder in folders:
            yield self._files("replaced databases", folder, self._replaced(folder), COPIES)
            parts = [os.path.join(folder, inside) for inside in ("", "bin", "cache", FOLDER)]
            left = [path for part in parts for path in unfinished(part, age=UNFINISHED)]
            yield self._files("unfinished files", folder, left, UNFINISHED)
        for project in self.projects if config["keep.memory"] is not None else ():
            yield from self._trying(self._memory(project, config["keep.memory"]))
        for folder in folders:
            path = os.path.join(folder, "brim.db")
            if os.path.exists(path):
                yield from self._trying(self._rows(path, config["keep.uses"]))

    def _trying(self, found: Iterator[Past]) -> Iterator[Past]:
        """Yield what is *found*; what is broken or in use is left as it is, and said."""
        try:
            yield from found
        except BrimError as error:
            self.problems.append(str(error))

    def _files(self, what: str, place: str, paths: Iterable[str], kept: float) -> Past:
        number = size = 0
        for path in paths:
            with suppress(OSError):
                size_of_it = os.lstat(path).st_size
                if self.remove:
                    os.unlink(path)
                number, size = number + 1, size + size_of_it
        return Past(what, place, number, size, round(kept / DAY))

    def _replaced(self, folder: str) -> list[str]:
        """Return the stores in *folder* that ``brim backup restore`` kept, if they are old."""
        names = os.listdir(folder) if os.path.isdir(folder) else []
        paths = [os.path.join(folder, name) for name in sorted(names) if name.startswith("brim.db.bak")]
        return [path for path in paths if self._age(path) > COPIES]

    def _age(self, path: str) -> float:
        try:
            return self.now - os.lstat(path).st_mtime
        except OSError:
            return 0.0

    def _memory(self, project: str, days: int) -> Iterator[Past]:
        """Look at the memory of sessions in *project*. Its journal goes to the user's folder for a while."""
        root = os.path.join(project, NAME)
        if not check_folder(root, self.here.secret):
            return
        with locked(os.path.join(root, LOCK), patience=PATIENCE):
            folders = [*session_folders(root).values(), root]
            old = [folder for folder in folders if self._is_over(folder, days)]
            size = sum(_size_of(folder) for folder in old)
            if old and self.remove:
                into = os.path.join(self.here.home, "scratch")
                keep_journals(old, into, os.path.basename(project), now=self.now)
                for folder in old:
                    remove_ours(folder)
        yield Past("memory of ended sessions", root, len(old), size, days)

    def _is_over(self, folder: str, days: int) -> bool:
        """Whether the session of *folder* was last seen more than *days* ago."""
        owner, journal = owner_of(folder), os.path.join(folder, "journal.jsonl")
        return os.path.exists(journal) and not is_live(owner, now=self.now) and self._age(journal) > days * DAY

    def _rows(self, path: str, days: int | None) -> Iterator[Past]:
        """Look at what the database *path* holds."""
        with open_store(path, migrate=False, timeout=PATIENCE) as store:
            database = store.database
            if database.version < VERSION or database.readonly:
                return
            old = self.now - SESSIONS
            kept = round(SESSIONS / DAY)
            gone = self._delete(database, "sessions", "updated_at < ?", (old,))
            yield Past("what sessions have heard", path, gone, 0, kept)
            gone = self._delete(
                database, "meta", "key > 'account:' AND key < 'account;' AND value < ?", (f"{max(0, int(old)):012d}",)
            )
            yield Past("how far sessions were counted", path, gone, 0, kept)
            permission = "key > 'allow ' AND key < 'allow!' AND CAST(value AS REAL) < ?"
            gone = self._delete(database, "meta", permission, (old,))
            yield Past("calls that you allowed", path, gone, 0, kept)
            if days is not None:
                newest = "(SELECT number FROM events WHERE kind = 'injected' ORDER BY number DESC LIMIT ?)"
                values = (self.now - days * DAY, RECENT)
                uses = f"kind = 'injected' AND time < ? AND number NOT IN {newest}"
                gone = self._delete(database, "events", uses, values)
                yield Past("when agents heard rules", path, gone, 0, days)
            if path == self.here.database:
                yield self._requests(database)
            if self.remove:
                _shrink(database)

    def _delete(self, database: Database, table: str, where: str, values: Sequence[object]) -> int:
        """Remove the rows of *table* for which *where* holds; return how many there are."""
        if not self.remove:
            return int(database.row(f"SELECT count(*) FROM {table} WHERE {where}", values)[0])  # noqa: S608
        with database.writing():
            return database.run(f"DELETE FROM {table} WHERE {where}", values)  # noqa: S608

    def _requests(self, database: Database) -> Past:
        """Fold old requests into sums."""
        number = 0
        if self.remove:
            with open_ledger(database.path, clock=lambda: self.now) as ledger:
                while folded := ledger.fold():
                    number += folded
        else:
            values = (self.now - REQUEST_DAYS * DAY,)
            number = int(database.row("SELECT count(*) FROM spend_entries WHERE time < ?", values)[0])
        return Past("single requests (sums stay)", database.path, number, 0, REQUEST_DAYS)


def _size_of(folder: str) -> int:
    """Return the bytes of the files in *folder*, without the folders in it."""
    with os.scandir(folder) as found:
        return sum(each.stat(follow_symlinks=False).st_size for each in found if each.is_file(follow_symlinks=False))


def _shrink(database: Database) -> None:
    """Give back to the disk what is free inside of *database*, if it's much and no other process works with it."""
    free = database.row("PRAGMA freelist_count")[0] * database.row("PRAGMA page_size")[0]
    if free > LARGEST_FREE:
        with suppress(StoreError):
            database.run("VACUUM")
