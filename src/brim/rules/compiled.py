"""``rules.db``: the index of all rules, so that a hook parses nothing and counts nothing.

Text is the truth. The index is never changed in place: a new one is made beside it and renamed
under a lock, so readers need no lock and a killed process leaves nothing half done. A file that is
missing, damaged, cut or of another version is made again.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from brim.files import open_safely, sha256_hex
from brim.record import PlainData
from brim.rules.losses import unreported_losses
from brim.rules.source import USER, RuleSource

NAME = "rules.db"
VERSION = 6
"""Of the index: one of another version is made again."""
RACY = 50_000_000
"""Nanoseconds: a file that was read so shortly after it changed is compared by its content."""
LIMIT = 60
"""Changed rules that a hook compiles itself. For more it starts a process, and uses what it has."""
HOOK_PATIENCE = 0.3
"""Seconds that a hook waits for another process that makes the index."""
LARGEST = 256 << 20


DAMAGED = (sqlite3.Error, ValueError, TypeError, LookupError)
"""What reading a damaged index raises: SQLite doesn't notice each bit that has flipped."""


@dataclass(frozen=True)
class FileStamp(PlainData):
    """What tells that files have changed."""

    text: str
    changed_at: int
    """When the newest of them changed, in nanoseconds."""

    @classmethod
    def of(cls, paths: Iterable[str]) -> FileStamp:
        """Return the stamp of *paths* as they are now."""
        parts: list[str] = []
        newest = 0
        for path in paths:
            try:
                status = os.stat(path)
            except OSError:
                parts.append("missing")
                continue
            newest = max(newest, status.st_ctime_ns, status.st_mtime_ns)
            parts.append(
                f"{status.st_size} {status.st_ino} {status.st_mtime_ns} {status.st_ctime_ns}"
            )
        return cls("; ".join(parts), newest)


@dataclass
class RuleIndex:
    """An open index, and what a person should hear about it."""

    database: sqlite3.Connection
    sources: list[RuleSource]
    news: list[str]
    is_partial: bool = False
    """Whether some sources are as they were: there was no time to compile them."""

    @cached_property
    def by_number(self) -> dict[int, RuleSource]:
        """The sources in their order, by the numbers that the index has for them."""
        sources: dict[int, RuleSource] = {}
        for source in self.sources:
            rows = self.database.execute(
                "SELECT number FROM sources WHERE path IN (?, ?)",
                (source.path, path_now(source.path)),
            )
            for row in rows:
                sources[row[0]] = source
        return sources

    @property
    def numbers(self) -> list[int]:
        """The numbers of the sources whose rules brim tells, in their order."""
        return [number for number, source in self.by_number.items() if not source.is_loaded]

    @property
    def waiting(self) -> int:
        """How many rules wait for the person's consent."""
        count = 0
        for number in self.numbers:
            row = self.database.execute("SELECT waiting FROM sources WHERE number = ?", (number,))
            count += row.fetchone()[0]
        return count

    def texts(self) -> dict[int, str]:
        """Return the whole text of every rule that counts here, by its number."""
        texts: dict[int, str] = {}
        for number in self.numbers:
            rows = self.database.execute(
                "SELECT number, text FROM rules WHERE source = ?", (number,)
            )
            texts.update(dict(rows))
        return texts

    def close(self) -> None:
        """Close the index."""
        self.database.close()


Background = Callable[[list[RuleSource]], None]
Answer = TypeVar("Answer")


class RuleReader:
    """Answers questions of the index, which is opened and brought up to date for the first one.

    With a *limit*, as in a hook, sources in which more rules have changed are compiled
    *in_background*; until then their rules apply as they were, and what their text blocks is
    blocked. Without *needs_checks*, the words of more than a few changed rules are read for their
    moments and checks *in_background* too. If damage shows while a question is answered, the index
    is made again.
    """

    def __init__(
        self,
        home: str,
        sources: list[RuleSource],
        *,
        limit: int | None = None,
        in_background: Background | None = None,
        needs_checks: bool = True,
    ) -> None:
        self.home = home
        self.sources = sources
        self._needs_checks = needs_checks
        self._limit = limit
        self._in_background = in_background
        self._index: RuleIndex | None = None

    def ask(self, question: Callable[[RuleIndex], Answer]) -> Answer:
        """Return the answer to *question*."""
        try:
            return question(self._opened())
        except DAMAGED:
            self.close()
        return question(self._opened(discard=True))

    def _opened(self, *, discard: bool = False) -> RuleIndex:
        if self._index is None:
            self._index = open_index(
                self.home,
                self.sources,
                limit=self._limit,
                in_background=self._in_background,
                needs_checks=self._needs_checks,
                discard=discard,
            )
        return self._index

    def open(self) -> None:
        """Open the index, so that nothing is compiled later while a lock is held."""
        self._opened()

    @property
    def index(self) -> RuleIndex | None:
        """The index, if a question was asked."""
        return self._index

    def close(self) -> None:
        """Close the index."""
        if self._index is not None:
            self._index.close()
            self._index = None


def ask_index(
    home: str,
    sources: list[RuleSource],
    question: Callable[[RuleIndex], Answer],
    *,
    limit: int | None = None,
    in_background: Background | None = None,
) -> Answer:
    """Return the answer to one *question*, as ``RuleReader`` gives it."""
    reader = RuleReader(home, sources, limit=limit, in_background=in_background)
    try:
        return reader.ask(question)
    finally:
        reader.close()


def rebuild_index(home: str, sources: list[RuleSource]) -> None:
    """Bring the index up to date with *sources*, however much has changed. A *home* that was
    removed stays removed."""
    open_index(home, sources, makes_folder=False).close()


def open_index(
    home: str,
    sources: list[RuleSource],
    *,
    limit: int | None = None,
    in_background: Background | None = None,
    needs_checks: bool = True,
    discard: bool = False,
    makes_folder: bool = True,
) -> RuleIndex:
    """Return the index, as ``RuleReader`` has it; *discard* makes it again."""
    path = os.path.join(home, NAME)
    database = None if discard else opened_whole(path, sources)
    stale = stale_sources(database, sources, needs_checks=needs_checks)
    if database is not None and not stale:
        return RuleIndex(database, sources, news_of(database, sources))
    from brim.rules.rebuilding import Refresher  # it reads texts, which hooks seldom do

    refresher = Refresher(
        home,
        sources,
        limit=limit,
        in_background=in_background,
        needs_checks=needs_checks,
        makes_folder=makes_folder,
    )
    return refresher.refresh(database, discard=discard)


# Whether it's up to date --------------------------------------------------------------------------


def stale_sources(
    database: sqlite3.Connection | None, sources: list[RuleSource], *, needs_checks: bool = True
) -> list[RuleSource]:
    """Return those of *sources* that have changed since they were compiled; if it *needs_checks*,
    also those of which not all words were read."""
    if database is None:
        return list(sources)
    stale = []
    for source in sources:
        row = database.execute(
            "SELECT unread, stamp, content, read_at FROM sources WHERE path = ?", (source.path,)
        ).fetchone()
        if row is None or (row[0] and needs_checks) or not _is_fresh(source, *row[1:]):
            stale.append(source)
    return stale


def _is_fresh(source: RuleSource, stamp: str, content: str, read_at: int) -> bool:
    now = FileStamp.of(source.watched)
    if now.text != stamp:
        return False
    # A file can change twice within one tick of the disk's clock, as git knows too.
    is_racy = now.changed_at > read_at - RACY
    return not is_racy or content_digest(source) == content


def content_digest(source: RuleSource) -> str:
    """Return a digest of the files of *source*."""
    parts: list[str] = []
    for path in source.watched:
        try:
            with os.fdopen(open_safely(os.path.realpath(path)), "rb") as file:
                parts.append(sha256_hex(file.read(LARGEST)))
        except OSError:
            parts.append("")
    return " ".join(parts)


def _is_whole(database: sqlite3.Connection, sources: list[RuleSource]) -> bool:
    """Whether the index has as many rules and checks of *sources* as were compiled, and the same
    blocks.

    SQLite doesn't notice each page that is lost.
    """
    for source in sources:
        row = database.execute(
            "SELECT number, rules, blocks, checks FROM sources WHERE path = ?", (source.path,)
        ).fetchone()
        if row is None:
            continue
        number, *expected = row
        counted = database.execute("SELECT count(*) FROM rules WHERE source = ?", (number,))
        blocks = checksum_of_blocks(database, number)
        keys = database.execute(KEYS_OF_SOURCE, (number,))
        if [counted.fetchone()[0], blocks, keys.fetchone()[0]] != expected:
            return False
    return True


KEYS_OF_SOURCE = (
    "SELECT count(*) FROM check_keys WHERE rule IN (SELECT number FROM rules WHERE source = ?)"
)
"""Counts what the checks of a source ask for."""


def checksum_of_blocks(database: sqlite3.Connection, source: int) -> int:
    """Return a checksum of the blocks of *source*, and of when they hold: a bit that flips in the
    file would lift one, and SQLite doesn't notice it."""
    rows = database.execute(
        "SELECT blocks.kind, blocks.pattern, rules.name, rules.condition FROM blocks"
        " JOIN rules ON rules.number = blocks.rule WHERE rules.source = ?"
        " ORDER BY blocks.kind, blocks.pattern, blocks.rule",
        (source,),
    )
    return checksum_of("\n".join(["\0".join(row) for row in rows]))


def checksum_of(text: str) -> int:
    """Return a checksum of *text*."""
    return zlib.crc32(text.encode("utf-8", "replace"))


# Reading the file ---------------------------------------------------------------------


def opened_whole(path: str, sources: list[RuleSource]) -> sqlite3.Connection | None:
    """Open the index; None if it's missing, damaged, cut, of another version, or lacks rules."""
    database = None
    try:
        if _is_cut(path):
            return None
        database = sqlite3.connect(path, isolation_level=None, timeout=0.2)
        database.execute("PRAGMA query_only = ON")
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if version == VERSION and _is_whole(database, sources):
            return database
    except (OSError, *DAMAGED):
        pass
    if database is not None:
        database.close()
    return None


def _is_cut(path: str) -> bool:
    """Whether pages are missing at the end of the file, by the count in its header."""
    with os.fdopen(open_safely(path), "rb") as file:
        head = file.read(100)
        size = os.fstat(file.fileno()).st_size
    if len(head) < 100:
        return True
    page_size = int.from_bytes(head[16:18], "big")
    if page_size == 1:
        page_size = 65_536
    return int.from_bytes(head[28:32], "big") * page_size > size


def path_now(path: str) -> str:
    """Return under which path the index in memory has what a source blocks as it is now."""
    return f"{path}\tnow"


def news_of(database: sqlite3.Connection, sources: list[RuleSource]) -> list[str]:
    """Return the mistakes in *sources*, what the user's file lost, and how many rules wait for
    the person's consent."""
    news: list[str] = []
    for source in sources:
        if source.kind == USER:
            news += unreported_losses(source.home)
        row = database.execute(
            "SELECT news, waiting FROM sources WHERE path = ?", (source.path,)
        ).fetchone()
        if row is None:
            continue
        news += json.loads(row[0])
        if row[1] and source.kind != USER:
            rules = "rule of this project is" if row[1] == 1 else "rules of this project are"
            news.append(f"{row[1]} {rules} new or changed: brim rules trust")
    return news
