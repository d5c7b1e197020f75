"""The journal as a file: lines are only ever added, each in one write, and are on the disk before anybody is told.

A process that is killed while it writes leaves a torn line at most. The next one ends it, skips and counts it.
"""

from __future__ import annotations

import os
import stat

from brim.errors import StoreError
from brim.scratch.folder import settle
from brim.scratch.journal import NUMBERED, decoded, encoded
from brim.scratch.locks import FLAGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from brim.scratch.entries import Entry

NAME = "journal.jsonl"
_BLOCK = 1 << 20
_FARTHEST = 1_000_000
"""A number that is farther from the last one is damage: counting on from it would soon end."""


class Journal:
    """The entries of one file, in order.

    ``refresh`` reads what was added since; anybody may call it at any time. ``append`` is for whoever holds the lock of
    the folder.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.entries: list[Entry] = []
        self.broken = 0
        """How many lines could not be read: torn by a killed process, or damaged."""
        self.version = 0
        """Raised when the file turned out to be gone or another one, and everything was read anew."""
        self._offset = 0
        self._last = 0
        self._file: tuple[int, int] | None = None

    def refresh(self, *, only: bytes | None = None) -> list[Entry]:
        """Read the lines that were completed since; return all entries.

        Of many lines those are passed over that do not hold *only*, except the last, which says how far the numbers go:
        who adds an entry, while somebody waits, need not know what every other one says.
        """
        try:
            handle = os.open(self.path, os.O_RDONLY | FLAGS)
        except FileNotFoundError:
            self._begin(None)
            return self.entries
        except OSError as error:
            raise _problem(self.path, "cannot be read", error) from None
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            os.close(handle)
            raise StoreError(f"{self.path}: is not a regular file, so it is not used; move it away", "refused")
        with os.fdopen(handle, "rb") as file:
            if self._file != (found.st_dev, found.st_ino) or found.st_size < self._offset:
                self._begin((found.st_dev, found.st_ino))
            file.seek(self._offset)
            rest, passed = b"", b""
            while block := file.read(_BLOCK):
                *lines, rest = (rest + block).split(b"\n")
                for line in lines:
                    self._offset += len(line) + 1
                    if only is None or only in line:
                        self._take(line)
                        passed = b""
                    elif line.strip():
                        self._last += 1  # numbers rise by one, whatever a line says
                        passed = line
            if passed:
                self._last -= 1
                self._take(passed)
        return self.entries

    def append(self, entries: Iterable[Entry]) -> list[Entry]:
        """Write *entries* and return them with their numbers, once they are on the disk. Call it under the lock."""
        waiting = list(entries)
        if not waiting:
            return []
        self.refresh()
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | FLAGS, 0o600)
        except OSError as error:
            raise _problem(self.path, "cannot be opened", error) from None
        try:
            self._end_torn_line(handle)
            written = self._write(handle, waiting)
        except OSError as error:
            raise _problem(self.path, "cannot be written", error) from None
        finally:
            os.close(handle)
        if self._file is None:
            settle(os.path.dirname(self.path))
        self.refresh()
        return written

    def _write(self, handle: int, entries: list[Entry]) -> list[Entry]:
        """Write every line, or none if there is no room for all of them."""
        size, written = os.fstat(handle).st_size, []
        try:
            for number, entry in enumerate(entries, self._last + 1):
                written.append(entry.changed(number=number, id=entry.id or f"{NUMBERED}{number}"))
                _line(handle, encoded(written[-1]))
            os.fsync(handle)
        except OSError:
            os.ftruncate(handle, size)
            raise
        return written

    def _end_torn_line(self, handle: int) -> None:
        if os.fstat(handle).st_size > self._offset:
            _line(handle, b"\n")
            self.refresh()

    def _begin(self, file: tuple[int, int] | None) -> None:
        self.version += self._file is not None
        self.entries, self.broken, self._offset, self._last, self._file = [], 0, 0, 0, file

    def _take(self, line: bytes) -> None:
        entry = decoded(line)
        if entry is not None and entry.number <= self._last + _FARTHEST:
            self.entries.append(entry)
            self._last = max(self._last, entry.number)
        elif line.strip():
            self.broken += 1
            self._last += 1  # what cannot be read keeps its number: somebody may have been told it


def _line(handle: int, data: bytes) -> None:
    import errno

    if os.write(handle, data) < len(data):
        raise OSError(errno.ENOSPC, "no space is left for a whole line")


def _problem(path: str, what: str, error: OSError) -> StoreError:
    import errno

    reasons = {errno.EROFS: "read-only", errno.EACCES: "read-only", errno.ENOSPC: "full", errno.ELOOP: "refused"}
    return StoreError(f"{path}: {what}: {error.strerror or error}", reasons.get(error.errno or 0, "failed"))
