"""What was read of sessions' requests, so that next time only what is new is read: a cache in its own file.

One row per file: up to which byte it was read, and what is known by then, as labels and counts; never text. It also
has what each session showed about its models, which is what is known before the first request of a later one.
The file may be deleted at any time.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Sequence
from contextlib import suppress

from brim.errors import StoreError
from brim.store.database import APPLICATION, Database, connect, version_of
from brim.store.project import check_ours, make_file
from brim.tokens.calibrate import MAX_RATIO, MIN_RATIO, MIN_SAMPLES, Calibration, MemoryCalibrationStore
from brim.tracking.requests import Request
from brim.tracking.requests.reading import Mark

FILE = "requests.db"
"""The name of the index in the user's folder."""

VERSION = 1
"""What the rows mean. A file of another version is emptied."""

_TABLE = """
CREATE TABLE threads (
    path TEXT PRIMARY KEY,
    read_to INTEGER NOT NULL,
    read_check INTEGER NOT NULL,
    state BLOB NOT NULL,
    ends REAL NOT NULL,
    ratios TEXT NOT NULL,
    hidden TEXT NOT NULL
) WITHOUT ROWID
"""
_TIMEOUT = 2.0
_MOST_ASKED = 50
"""Earlier sessions that are asked for a ratio, the latest first."""


class RequestIndex:
    """The index at *path*; with an empty one nothing is kept. It's only a cache: nothing that happens to it raises."""

    def __init__(self, path: str) -> None:
        self._path = path

    @property
    def is_kept(self) -> bool:
        """Whether anything is kept."""
        return bool(self._path)

    def mark(self, file: str) -> Mark | None:
        """Return how far *file* was read; None if that isn't known."""
        with suppress(StoreError, ValueError, TypeError, zlib.error, RecursionError), self._open() as database:
            sql = "SELECT read_to, read_check, state FROM threads WHERE path = ?"
            for offset, check, state in database.rows(sql, [file]):
                return Mark(offset, check, json.loads(zlib.decompress(state)))
        return None

    def learned(self, file: str, before: float) -> tuple[MemoryCalibrationStore, dict[str, int]]:
        """Return what sessions other than *file* that ended *before* this time showed about each model.

        That is the ratio of its tokens, and how many of them its client sends without recording them.
        """
        ratios, hidden = MemoryCalibrationStore(), dict[str, int]()
        with suppress(StoreError, ValueError, TypeError, AttributeError), self._open() as database:
            sql = "SELECT ratios, hidden FROM threads WHERE path != ? AND ends < ? ORDER BY ends DESC LIMIT ?"
            for one, other in database.rows(sql, [file, before, _MOST_ASKED]):
                for model, calibration in json.loads(one).items():
                    ratios.setdefault(model, Calibration(*calibration))
                hidden = {**json.loads(other), **hidden}
        return ratios, hidden

    def keep(self, file: str, mark: Mark, requests: Sequence[Request]) -> None:
        """Keep how far *file* was read, and what its *requests* showed."""
        if not self._path:
            return
        ratios, hidden = learned_from(requests)
        ends = max((each.time for each in requests if each.time is not None), default=0.0)
        state = zlib.compress(json.dumps(dict(mark.state), separators=(",", ":")).encode(), 1)
        row = (file, mark.offset, mark.check, state, ends, json.dumps(ratios), json.dumps(hidden))
        try:
            if not os.path.lexists(self._path):
                make_file(self._path)
            with self._open(emptied=True) as database, database.writing():
                known = [each for (each,) in database.rows("SELECT path FROM threads")]
                database.run_many("DELETE FROM threads WHERE path = ?", [(each,) for each in known if _is_gone(each)])
                database.run("INSERT OR REPLACE INTO threads VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        except StoreError as error:
            if error.reason == "damaged":
                with suppress(OSError):
                    os.unlink(self._path)

    def _open(self, *, emptied: bool = False) -> Database:
        """Open the file; one of another version or that is damaged is emptied, if it may be."""
        if not self._path:
            raise StoreError("there is no index", "missing")
        check_ours(self._path)
        database = connect(self._path, timeout=_TIMEOUT)
        if version_of(database) == VERSION:
            return database
        if not emptied or database.readonly:
            database.close()
            raise StoreError(f"{self._path}: of another version", "missing")
        with database.writing():
            database.run("DROP TABLE IF EXISTS threads")
            database.run(_TABLE)
            database.run(f"PRAGMA application_id = {APPLICATION}")
            database.run(f"PRAGMA user_version = {VERSION}")
        return database


def learned_from(requests: Sequence[Request]) -> tuple[MemoryCalibrationStore, dict[str, int]]:
    """Return what *requests* showed: each model's ratio, and the tokens that its client doesn't record."""
    ratios, hidden = MemoryCalibrationStore(), dict[str, int]()
    for each in requests:
        if each.known.basis == "calibrated":
            ratio = min(MAX_RATIO, max(MIN_RATIO, each.known.ratio))
            ratios.put(each.model, Calibration(ratio, 0.0, MIN_SAMPLES))
        if each.known.hidden:
            hidden[each.model] = each.known.hidden
    return ratios, hidden


def _is_gone(path: str) -> bool:
    return not os.path.lexists(path)
