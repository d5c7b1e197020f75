"""A tree of session files for the tests of the index, and the index that reads it."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

from brim.sessions.bulk import read_all
from brim.sessions.files import AgentFile
from brim.sessions.index import SessionIndex
from brim.sessions.requests import REQUEST
from brim.sessions.sums import rebuild_sums
from tests.sessions.window.transcripts import compact, write

CLAUDE = "claude-transcript"
NOW = 1_767_600_000.0
TICKS = itertools.count(1_767_600_000)
"""Times of change: each differs, as if somebody had waited for the clock."""


def open_index(folder: Path, **options: Any) -> SessionIndex:
    """Open the index of a test in *folder*."""
    options = {"clock": lambda: NOW, "patience": 0.05, **options}
    return SessionIndex(str(folder / "home" / "index.db"), **options)


def transcripts(root: Path) -> list[AgentFile]:
    """Return the transcripts under *root*, as their agent's folders would be listed."""
    paths = sorted(str(path) for path in root.rglob("*.jsonl"))
    return [AgentFile(path, agent="claude", format=CLAUDE) for path in paths]


def append(path: Path, *lines: Any) -> None:
    """Write *lines* to the end of *path*, at a later time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"{line if isinstance(line, str) else compact(line)}\n" for line in lines)
    touch(path)


def rewrite(path: Path, *lines: Any) -> None:
    """Replace what is in *path*."""
    write(path, *lines)
    touch(path)


def touch(path: Path) -> None:
    """Give *path* a time of change that no other one has."""
    os.utime(path, (0, next(TICKS)))


def update(index: SessionIndex, root: Path) -> None:
    """Read what is new under *root*."""
    read_all(index, transcripts(root))


def costs(index: SessionIndex) -> dict[str, int | None]:
    """Return what each request cost, by its key."""
    return {request.key: request.cost for request in index.requests()}


def rest(index: SessionIndex) -> int:
    """Return what the clients' totals show beyond the requests, in micro-dollars."""
    return sum(row.cost or 0 for row in index.requests("kind = 'rest'"))


def assert_sums_are_right(index: SessionIndex) -> None:
    """Check that every sum is that of its requests."""
    sums = sums_in(index)
    index.database.execute("SAVEPOINT before")
    rebuild_sums(index.database)
    rebuilt = sums_in(index)
    index.database.execute("ROLLBACK TO before")
    index.database.execute("RELEASE before")
    assert sums == rebuilt
    cells = index.cells("day")
    total = sum(cell.cost + cell.estimated_cost for cell in cells)
    assert index.spent("*").cost == total
    assert all(cell.requests for cell in cells if cell.kind == REQUEST)


def sums_in(index: SessionIndex) -> dict[tuple[str, int], tuple[int, int]]:
    """Return cost and tokens by scope and quarter, where there are any."""
    rows = index.database.execute("SELECT scope, quarter, cost, tokens FROM sums")
    return {(row[0], row[1]): (row[2], row[3]) for row in rows if row[2] or row[3]}
