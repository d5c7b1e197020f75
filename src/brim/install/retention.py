"""What is past its time, and ``brim doctor --prune``, which removes it.

Rules, limits, reservations, a person's own backups and the memory of live sessions are never touched. How long the rest
is kept is in ``brim.config.retention`` and the settings ``keep.*``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from glob import escape, glob
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
    days: int
    """How long they are kept."""
    bytes: int = 0
    """On the disk; 0 for rows of a database."""

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
        notes, journals = os.path.join(home, FOLDER), os.path.join(home, "scratch")
        yield self._files("hooks' notes about sessions", notes, old_files(home, now=self.now), SESSIONS)
        yield self._files("journals of removed memory", journals, old_journals(journals, now=self.now), JOURNALS)
        folders = [home, *(os.path.join(each, ".brim") for each in self.projects)]
        for folder in folders:
            copies = sorted(glob(os.path.join(escape(folder), "brim.db.bak*")))  # 'brim rules restore' kept them
            yield self._files(
                "replaced databases", folder, (each for each in copies if self._age(each) > COPIES), COPIES
            )
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
        return Past(what, place, number, round(kept / DAY), size)

    def _age(self, path: str) -> float:
        try:
            return self.now - os.lstat(path).st_mtime
        except OSError:
            return 0.0

    def _memory(self, project: str, days: int) -> Iterator[Past]:
        """Look at the memory of sessions in *project*. Its journal goes to the user's folder for a while."""
        root = os.path.join(project, NAME)
        if not os.path.lexists(root) or not check_folder(root, self.here.secret):
            return
        with locked(os.path.join(root, LOCK), patience=PATIENCE):
            folders = [*session_folders(root).values(), root]
            old = [folder for folder in folders if self._is_over(folder, days)]
            files = [each for folder in old for each in os.scandir(folder) if each.is_file(follow_symlinks=False)]
            size = sum(each.stat(follow_symlinks=False).st_size for each in files)
            if old and self.remove:
                into = os.path.join(self.here.home, "scratch")
                keep_journals(old, into, os.path.basename(project), now=self.now)
                for folder in old:
                    remove_ours(folder)
        yield Past("memory of ended sessions", root, len(old), days, size)

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
            yield Past("what sessions have heard", path, gone, kept)
            accounts = "key > 'account:' AND key < 'account;' AND value < ?"
            gone = self._delete(database, "meta", accounts, (f"{max(0, int(old)):012d}",))
            yield Past("how far sessions were counted", path, gone, kept)
            permission = "key > 'allow ' AND key < 'allow!' AND CAST(value AS REAL) < ?"
            gone = self._delete(database, "meta", permission, (old,))
            yield Past("calls that you allowed", path, gone, kept)
            if days is not None:
                newest = "(SELECT number FROM events WHERE kind = 'injected' ORDER BY number DESC LIMIT ?)"
                values = (self.now - days * DAY, RECENT)
                uses = f"kind = 'injected' AND time < ? AND number NOT IN {newest}"
                gone = self._delete(database, "events", uses, values)
                yield Past("when agents heard rules", path, gone, days)
            if path == self.here.database:
                yield self._requests(database)
            # What is free inside goes back to the disk, if it's much and no other process works with the database.
            free = database.row("PRAGMA freelist_count")[0] * database.row("PRAGMA page_size")[0]
            if self.remove and free > LARGEST_FREE:
                with suppress(StoreError):
                    database.run("VACUUM")

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
        return Past("single requests (sums stay)", database.path, number, REQUEST_DAYS)
