"""Brings the index up to date before a report asks it, and says what that took."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from brim.sessions.files import AgentFile, Progress
from brim.sessions.index import SessionIndex
from brim.sessions.session_files import SessionFile
from brim.sessions.storage import is_stored


@dataclass
class SessionsReading:
    """The index, and what bringing it up to date took."""

    index: SessionIndex
    files: int = 0
    bytes: int = 0
    new_bytes: int = 0
    """Bytes that the index did not know."""
    unread: int = 0
    """Bytes that were left unread because there were too many."""
    broken_lines: int = 0
    failed: list[str] = field(default_factory=list)
    state: str = "off"
    """``off``, ``used``, or ``unavailable`` if the index could not be written."""
    notes: list[str] = field(default_factory=list)
    """Problems with the index, to show to the user."""

    def lacks(self, paths: Iterable[str]) -> bool:
        """Whether one of the files that *paths* name could not be read."""
        files = [os.path.realpath(path) for path in paths if not os.path.isdir(path)]
        return any(problem.startswith(f"{path}: ") for problem in self.failed for path in files)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {
            "files": self.files,
            "bytes": self.bytes,
            "new_bytes": self.new_bytes,
            "broken_lines": self.broken_lines,
            "failed": self.failed,
            "index": self.state,
        }


def read_sessions(
    files: list[SessionFile],
    *,
    index: str | None,
    home: str = "",
    price_version: str = "",
    on_read: Progress = lambda *_: None,
    up_to: int | None = None,
) -> SessionsReading:
    """Bring the index at the path *index* up to date with *files*; without a path, one in memory.

    *home* is the user's home folder. If there is more to read than *up_to* bytes, only what the
    index has is used.
    """
    path = index or ""
    if not files and not is_stored(path):
        path = ""  # only looking makes no folder
    opened = SessionIndex(path, home=home, price_version=price_version)
    opened.apply_prices()
    reading = SessionsReading(opened)
    wanted = [AgentFile(file.path, format=file.format, slug=file.slug) for file in files]
    new_files = opened.unread(wanted)
    unread = sum(file.unread_bytes for file in new_files)
    if up_to is not None and unread > up_to:
        reading.unread = unread
    elif new_files:
        _update(reading, wanted, on_read)
    indexed = opened.files()
    for file in files:
        if file.path in indexed:
            reading.files += 1
            reading.bytes += file.stamp.size
            reading.broken_lines += indexed[file.path].position.broken
    if index:
        reading.state = _state(reading, opened)
    if opened.problem:
        reading.notes.append(opened.problem)
    return reading


def _update(reading: SessionsReading, files: list[AgentFile], on_read: Progress) -> None:
    from brim.sessions.bulk import read_all  # it brings the readers of every agent

    result = read_all(reading.index, files, on_read=on_read)
    reading.new_bytes = result.new_bytes
    reading.failed += result.failed
    if not result.is_written:
        reading.state = "unavailable"


def _state(reading: SessionsReading, index: SessionIndex) -> str:
    if reading.state == "unavailable" or (index.path and not index.is_kept):
        return "unavailable"
    return "used"


def keep_index(index: SessionIndex) -> None:
    """Do what a command has time for after all files were read: note that, and copy the index."""
    index.mark_complete()
    index.forget_missing()
    index.copy_daily()
