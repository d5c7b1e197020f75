"""Which files do agents keep their sessions in, and how far was each read?"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

COLUMNS = "path, inode, size, modified, read_to, tail_crc, format, agent, project, broken, state"


@dataclass(frozen=True, slots=True)
class FilePosition:
    """How far a file was read, and what it was then."""

    inode: int
    size: int
    modified: int
    """Nanoseconds."""
    read_to: int = 0
    tail_crc: int = 0
    format: str = ""
    state: str = "{}"
    broken: int = 0
    """Lines that couldn't be read."""

    def is_unchanged(self, about: os.stat_result) -> bool:
        """Whether nothing was written since."""
        stamp = (about.st_ino, about.st_size, about.st_mtime_ns)
        return stamp == (self.inode, self.size, self.modified)


@dataclass(frozen=True, slots=True)
class ReadingBounds:
    """How much may be read before the rest waits for the next time."""

    size: int | None = None
    """Bytes."""
    deadline: float | None = None
    """A moment of ``time.monotonic``."""

    def are_reached(self, size: int) -> bool:
        """Whether *size* bytes, or this moment, are enough."""
        if self.size is not None and size >= self.size:
            return True
        return self.deadline is not None and time.monotonic() >= self.deadline


UNBOUNDED = ReadingBounds()


@dataclass(frozen=True, slots=True)
class AgentFile:
    """A session's file, and what its place says about it."""

    path: str
    agent: str = ""
    format: str = ""
    slug: str = ""
    """The name that the agent made of the project's folder, empty if the place has none."""
    folder: str = ""
    """The folder that the agent works in, if somebody knows; else the file's lines say."""
    position: FilePosition | None = None
    """How far it was read before."""

    @property
    def unread_bytes(self) -> int:
        """How many bytes are still to be read."""
        try:
            size = os.path.getsize(self.path)
        except OSError:
            return 0
        if self.position is None or self.position.read_to > size:
            return size
        return size - self.position.read_to


Progress = Callable[[int, int, int], object]
"""Called for each file that was read, with its bytes, those of all files to read, and their
number."""


@dataclass(slots=True)
class UpdateResult:
    """What an update has read."""

    files: int = 0
    new_bytes: int = 0
    failed: tuple[str, ...] = ()
    is_complete: bool = True
    """Whether everything was read, not only to the bounds."""
    is_written: bool = True


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A file as the index knows it."""

    path: str
    agent: str
    project: str
    position: FilePosition


def indexed_file(database: sqlite3.Connection, path: str) -> IndexedFile | None:
    """Return what the index knows about the file *path*; None if it was never read."""
    query = f"SELECT {COLUMNS} FROM files WHERE path = ?"  # noqa: S608 - names of columns
    row = database.execute(query, (path,)).fetchone()
    if row is None:
        return None
    return _file_of(row)


def indexed_files(database: sqlite3.Connection) -> dict[str, IndexedFile]:
    """Return all files that were read, by path."""
    rows = database.execute(f"SELECT {COLUMNS} FROM files")  # noqa: S608
    return {row[0]: _file_of(row) for row in rows}


def _file_of(row: tuple[str, int, int, int, int, int, str, str, str, int, str]) -> IndexedFile:
    path, inode, size, modified, read_to, tail_crc, format, agent, project, broken, state = row
    position = FilePosition(inode, size, modified, read_to, tail_crc, format, state, broken)
    return IndexedFile(path, agent, project, position)


def put_file(database: sqlite3.Connection, file: IndexedFile) -> None:
    """Remember how far *file* was read."""
    at = file.position
    row = (
        file.path,
        at.inode,
        at.size,
        at.modified,
        at.read_to,
        at.tail_crc,
        at.format,
        file.agent,
        file.project,
        at.broken,
        at.state,
    )
    database.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)


def forget_missing(database: sqlite3.Connection, paths: Iterable[str]) -> None:
    """Forget how far files were read that are gone from the disk; their requests stay."""
    for path in paths:
        if not os.path.lexists(path):
            database.execute("DELETE FROM files WHERE path = ?", (path,))
