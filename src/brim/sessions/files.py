"""Which files do agents keep their sessions in, and how far was each read?"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from brim.sessions.reading import FilePosition

COLUMNS = "path, inode, size, modified, read_to, tail_crc, format, agent, project, broken, state"


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
