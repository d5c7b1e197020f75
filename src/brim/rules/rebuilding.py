"""Brings the index of rules up to date with the texts, or makes one for now if there's no time.

A new file is made beside the old one and renamed under a lock. What the old one has of other
sources stays.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from dataclasses import dataclass, replace

from brim.errors import StoreError
from brim.files import locked, replace_file
from brim.record import PlainData
from brim.rules.compiled import (
    HOOK_PATIENCE,
    LIMIT,
    NAME,
    Background,
    FileStamp,
    RuleIndex,
    checksum_of,
    content_digest,
    news_of,
    opened_whole,
    path_now,
    stale_sources,
)
from brim.rules.reading import remember_rules
from brim.rules.rows import SourceRow, create_tables, write_source
from brim.rules.source import RuleSource
from brim.rules.source_reading import (
    SourceState,
    estimated_count,
    read_blocks,
    read_source,
)

MOST_READ = 5
"""Changed rules whose words a hook reads for their checks itself, if it doesn't need them now."""
PATIENCE = 10.0
"""Seconds that a command waits for another process that makes the index."""


@dataclass(frozen=True)
class SourceReading(PlainData):
    """What a source said at one moment."""

    row: SourceRow
    """Its stamp is older than the rules: what changes in between is noticed later."""
    state: SourceState


class SourceReadings:
    """Reads each source once: it takes a while, and notices once what the user's file lost."""

    def __init__(self) -> None:
        self._by_path: dict[str, SourceReading] = {}

    def read(self, source: RuleSource) -> SourceReading:
        """Return what *source* says, or said when it was first asked for."""
        if source.path not in self._by_path:
            self._by_path[source.path] = read_with_stamp(source)
        return self._by_path[source.path]


def read_with_stamp(source: RuleSource) -> SourceReading:
    """Return what *source* says now."""
    row = _stamped_row(source)
    return SourceReading(row, read_source(source))


def _stamped_row(source: RuleSource) -> SourceRow:
    stamp = FileStamp.of(source.watched)
    read_at = time.time_ns()
    return SourceRow(source.path, source.kind, stamp.text, content_digest(source), read_at)


class Refresher:
    """Brings the index of *home* up to date with *sources*. *limit*, *in_background* and
    *needs_checks* are as in ``RuleReader``, *makes_folder* is whether a missing *home* is made."""

    def __init__(
        self,
        home: str,
        sources: list[RuleSource],
        *,
        limit: int | None,
        in_background: Background | None,
        needs_checks: bool,
        makes_folder: bool,
    ) -> None:
        self._path = os.path.join(home, NAME)
        self._makes_folder = makes_folder
        self._sources = sources
        self._limit = limit
        self._start = in_background or _do_nothing
        self._needs_checks = needs_checks
        self._readings = SourceReadings()

    def refresh(self, database: sqlite3.Connection | None, *, discard: bool) -> RuleIndex:
        """Return an index that is up to date; *database* is the one that isn't."""
        try:
            return self._refreshed(database, discard=discard)
        except (OSError, StoreError, sqlite3.Error) as error:
            is_busy = getattr(error, "reason", "") == "busy"  # another process writes it now
            return _index_for_now(database, self._sources, [], "" if is_busy else str(error))
        except BaseException:
            self._start(self._sources)  # a hook's time is over: the next one finds the index
            raise

    def _refreshed(self, database: sqlite3.Connection | None, *, discard: bool) -> RuleIndex:
        reads_words = True
        if self._limit is not None:
            changes = self._changes(database)
            large = [source for source, count in changes if count > self._limit]
            if large:
                self._start(large)
                return _index_for_now(database, self._sources, large, "")
            count = sum([count for _, count in changes])
            reads_words = self._needs_checks or count <= MOST_READ
        written = self._write(discard=discard, reads_words=reads_words)
        if not reads_words:
            self._start(self._sources)
        if database is not None:
            database.close()
        return RuleIndex(written, self._sources, news_of(written, self._sources))

    def _changes(self, database: sqlite3.Connection | None) -> list[tuple[RuleSource, int]]:
        """Return the sources that aren't up to date, and how many rules of each have to be
        compiled."""
        stale = stale_sources(database, self._sources, needs_checks=self._needs_checks)
        return [(source, _changes_in(database, source, self._readings)) for source in stale]

    def _write(self, *, discard: bool, reads_words: bool) -> sqlite3.Connection:
        """Make the index anew and put it in place of the old one; return it, open."""
        patience = PATIENCE if self._limit is None else HOOK_PATIENCE
        if self._makes_folder:
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
        with locked(f"{self._path}.lock", patience=patience):
            database = None if discard else opened_whole(self._path, self._sources)
            if database is not None and not self._stale(database, reads_words=reads_words):
                return database  # another process was faster
            built = _copy_in_memory(database)
            if database is not None:
                database.close()
            try:
                built.execute("BEGIN")
                for source in self._stale(built, reads_words=reads_words):
                    reading = self._readings.read(source)
                    write_source(built, reading.row, reading.state, reads_words=reads_words)
                built.execute("COMMIT")
                data = built.serialize()
            finally:
                built.close()
            for ending in ("-wal", "-shm", "-journal"):  # of a database that isn't ours
                with suppress(FileNotFoundError):
                    os.unlink(self._path + ending)
            # After a crash of the machine it's made again, so nothing waits for the disk.
            replace_file(self._path, data, durable=False)
        written = opened_whole(self._path, self._sources)
        if written is None:
            raise OSError(f"{self._path} can't be read after it was written")
        return written

    def _stale(self, database: sqlite3.Connection, *, reads_words: bool) -> list[RuleSource]:
        return stale_sources(database, self._sources, needs_checks=reads_words)


def _do_nothing(_: list[RuleSource]) -> None:
    pass


def _changes_in(
    database: sqlite3.Connection | None, source: RuleSource, readings: SourceReadings
) -> int:
    """Return how many rules of *source* have changed."""
    digests: set[str] = set()
    written: dict[str, str] = {}
    if database is not None:
        rows = database.execute(
            "SELECT rules.digest, rules.paragraph, rules.written, rules.checksum FROM rules"
            " JOIN sources ON rules.source = sources.number WHERE sources.path = ?",
            (source.path,),
        )
        for digest, paragraph, text, checksum in rows:
            digests.add(digest)
            if checksum_of(text) == checksum:  # SQLite doesn't notice a bit that has flipped
                written[paragraph] = text
    remember_rules(written)
    rules = readings.read(source).state.rules
    return sum(rule.digest not in digests for rule in rules)


def index_in_memory(sources: list[RuleSource]) -> RuleIndex:
    """Return an index of *sources* that leaves no file."""
    built = _copy_in_memory(None)
    for source in sources:
        reading = read_with_stamp(source)
        write_source(built, reading.row, reading.state)
    return RuleIndex(built, sources, news_of(built, sources))


def _copy_in_memory(database: sqlite3.Connection | None) -> sqlite3.Connection:
    """Return a copy of *database* that can be changed; an empty index without one."""
    built = sqlite3.connect(":memory:", isolation_level=None)
    if database is None:
        create_tables(built)
    else:
        database.backup(built)
    return built


def _index_for_now(
    database: sqlite3.Connection | None,
    sources: list[RuleSource],
    large: list[RuleSource],
    problem: str,
) -> RuleIndex:
    """Return an index in memory: the *large* sources as they were, with what they block now."""
    built = _copy_in_memory(database)
    if database is not None:
        database.close()
    news: list[str] = []
    for source in stale_sources(built, sources, needs_checks=False):
        if source in large or estimated_count(source) > LIMIT:
            row = replace(_stamped_row(source), path=path_now(source.path))
            write_source(built, row, read_blocks(source), is_exact=False)
            news.append(f"{source.path} has changed much. brim is reading it")
        else:
            reading = read_with_stamp(source)
            write_source(built, reading.row, reading.state, is_exact=False)
    is_partial = bool(news)
    if problem:
        news.append(f"The index of the rules can't be written: {problem}")
    return RuleIndex(built, sources, [*news_of(built, sources), *news], is_partial)
