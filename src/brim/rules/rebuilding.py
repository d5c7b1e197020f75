"""Brings the index of rules up to date with the texts, or makes one for now if there's no time.

A new file is made beside the old one and renamed under a lock. What the old one has of other
sources stays.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress

from brim.errors import StoreError
from brim.files import locked, replace_file
from brim.rules.compiled import (
    HOOK_PATIENCE,
    LIMIT,
    NAME,
    Background,
    FileStamp,
    RuleIndex,
    content_digest,
    news_of,
    opened_whole,
    path_now,
    stale_sources,
)
from brim.rules.rows import SourceRow, write_source
from brim.rules.schema import create_tables
from brim.rules.source import RuleSource
from brim.rules.source_reading import (
    SourceState,
    estimated_count,
    read_blocks,
    read_source,
)

PATIENCE = 10.0
"""Seconds that a command waits for another process that makes the index."""


def refreshed_index(
    home: str,
    database: sqlite3.Connection | None,
    sources: list[RuleSource],
    *,
    limit: int | None,
    in_background: Background | None,
    discard: bool,
) -> RuleIndex:
    """Return an index that is up to date with *sources*; *database* is the one that isn't.

    *limit*, *in_background* and *discard* are as in ``open_index``.
    """
    large: list[RuleSource] = []
    if limit is not None:
        stale = stale_sources(database, sources)
        large = [source for source in stale if _changes_in(database, source) > limit]
    problem = ""
    if not large:
        patience = PATIENCE if limit is None else HOOK_PATIENCE
        path = os.path.join(home, NAME)
        try:
            written = _write_index(path, sources, patience=patience, discard=discard)
        except (OSError, StoreError, sqlite3.Error) as error:
            if getattr(error, "reason", "") != "busy":  # another process writes it now
                problem = str(error)
        else:
            if database is not None:
                database.close()
            return RuleIndex(written, sources, news_of(written, sources))
    elif in_background is not None:
        in_background(large)
    return _index_for_now(database, sources, large, problem)


def _changes_in(database: sqlite3.Connection | None, source: RuleSource) -> int:
    """Return about how many rules of *source* have to be compiled."""
    if estimated_count(source) <= LIMIT:
        return 0
    digests: set[str] = set()
    if database is not None:
        rows = database.execute(
            "SELECT rules.digest FROM rules JOIN sources ON rules.source = sources.number"
            " WHERE sources.path = ?",
            (source.path,),
        )
        digests = {row[0] for row in rows}
    rules = read_source(source).rules
    return sum(rule.digest not in digests for rule in rules)


def _write_index(
    path: str, sources: list[RuleSource], *, patience: float, discard: bool
) -> sqlite3.Connection:
    """Make the index anew and put it in place of the old one; return it, open."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with locked(f"{path}.lock", patience=patience):
        database = None if discard else opened_whole(path, sources)
        if database is not None and not stale_sources(database, sources):
            return database  # another process was faster
        built = _copy_in_memory(database)
        if database is not None:
            database.close()
        try:
            built.execute("BEGIN")
            for source in stale_sources(built, sources):
                _compile(built, source)
            built.execute("COMMIT")
            data = built.serialize()
        finally:
            built.close()
        for ending in ("-wal", "-shm", "-journal"):  # of a database that isn't ours
            with suppress(FileNotFoundError):
                os.unlink(path + ending)
        # After a crash of the machine it's made again, so nothing waits for the disk.
        replace_file(path, data, durable=False)
    written = opened_whole(path, sources)
    if written is None:
        raise OSError(f"{path} can't be read after it was written")
    return written


def index_in_memory(sources: list[RuleSource]) -> RuleIndex:
    """Return an index of *sources* that leaves no file."""
    built = _copy_in_memory(None)
    for source in sources:
        _compile(built, source, is_exact=True)
    return RuleIndex(built, sources, news_of(built, sources))


def _copy_in_memory(database: sqlite3.Connection | None) -> sqlite3.Connection:
    """Return a copy of *database* that can be changed; an empty index without one."""
    built = sqlite3.connect(":memory:", isolation_level=None)
    if database is None:
        create_tables(built)
    else:
        database.backup(built)
    return built


def _compile(
    database: sqlite3.Connection,
    source: RuleSource,
    *,
    state: SourceState | None = None,
    is_exact: bool = True,
    path: str = "",
) -> None:
    """Read *source* and put its rules into *database*."""
    stamp = FileStamp.of(source.watched)
    read_at = time.time_ns()
    row = SourceRow(path or source.path, source.kind, stamp.text, content_digest(source), read_at)
    write_source(database, row, state or read_source(source), is_exact=is_exact)


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
    for source in stale_sources(built, sources):
        if source in large or estimated_count(source) > LIMIT:
            state = read_blocks(source)
            _compile(built, source, state=state, is_exact=False, path=path_now(source.path))
            news.append(f"{source.path} has changed much. brim is reading it")
        else:
            _compile(built, source, is_exact=False)
    is_partial = bool(news)
    if problem:
        news.append(f"The index of the rules can't be written: {problem}")
    return RuleIndex(built, sources, [*news_of(built, sources), *news], is_partial)
