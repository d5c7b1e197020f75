"""The journal, an append-only file of lines, and ``Matching``, which avoids duplicate entries.

Each line reaches the disk before the writer goes on. A process that is killed while it writes
leaves at most a torn line, which the next one ends and skips.
"""

from __future__ import annotations

import errno
import json
import math
import os
import stat
import sys
from collections.abc import Iterable
from dataclasses import replace

from brim.errors import StoreError
from brim.files import SAFE_FLAGS, sync_folder
from brim.memory.entries import MemoryEntry
from brim.memory.quotes import encodable

NAME = "journal.jsonl"
NEAR = 300.0
"""Seconds within which an entry by another process may be the same as an event without an id."""
NUMBERED = "n"
"""The prefix of an id that is made from an entry's number, because no event has one. It's unique in
its journal."""
_FIELDS = {"kind": str, "text": str, "id": str, "session": str, "agent": str, "refs": dict}
_HIGHEST = 2**53
_BLOCK = 1 << 20
_FARTHEST = 1_000_000
"""A number farther from the last one than this must be damage."""


def encoded(entry: MemoryEntry) -> bytes:
    """Return *entry* as one line of JSON in UTF-8."""
    time = entry.time if entry.time is not None and math.isfinite(entry.time) else None
    line = json.dumps(replace(entry, time=time).to_dict(), ensure_ascii=False, default=str)
    return encodable(line).encode() + b"\n"


def decoded(line: bytes) -> MemoryEntry | None:
    """Return the entry in *line*; None if it's torn, damaged or something else."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    known = {
        name: value[name] for name, kind in _FIELDS.items() if isinstance(value.get(name), kind)
    }
    number, time = value.get("number"), value.get("time", "")
    if (
        type(number) is not int
        or not 0 < number <= _HIGHEST
        or "kind" not in known
        or "text" not in known
    ):
        return None
    known["id"] = known.get("id") or f"{NUMBERED}{number}"
    known["time"] = (
        float(time) if type(time) in (int, float) and abs(time) <= sys.float_info.max else None
    )
    return MemoryEntry(number=number, **known)


class Journal:
    """The entries of one file, in order.

    ``refresh`` reads what was added since, and may be called at any time. ``append`` needs the lock
    of the folder.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.entries: list[MemoryEntry] = []
        self.broken = 0
        """How many lines couldn't be read: torn by a killed process, or damaged."""
        self.version = 0
        """Goes up when the file is gone or another one, and everything is read again."""
        self._offset = self._last = 0
        self._file: tuple[int, int] | None = None

    def refresh(self, *, only: bytes | None = None) -> list[MemoryEntry]:
        """Read the new complete lines, and return all entries.

        With *only*, lines without these bytes are skipped, except for the last, which has the
        highest number: a hook that appends an entry needn't parse all the others.
        """
        try:
            handle = os.open(self.path, os.O_RDONLY | SAFE_FLAGS)
        except FileNotFoundError:
            self._begin(None)
            return self.entries
        except OSError as error:
            raise _problem(self.path, "cannot be read", error) from None
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            os.close(handle)
            raise StoreError(
                f"{self.path}: is not a regular file, so it is not used; move it away", "refused"
            )
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

    def append(self, entries: Iterable[MemoryEntry]) -> list[MemoryEntry]:
        """Write *entries* and return them with their numbers, once they are on the disk. Call it
        under the lock."""
        waiting = list(entries)
        if not waiting:
            return []
        self.refresh()
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | SAFE_FLAGS, 0o600)
        except OSError as error:
            raise _problem(self.path, "cannot be opened", error) from None
        try:
            if os.fstat(handle).st_size > self._offset:  # a killed process left half a line
                _line(handle, b"\n")
                self.refresh()
            written = self._write(handle, waiting)
        except OSError as error:
            raise _problem(self.path, "cannot be written", error) from None
        finally:
            os.close(handle)
        if self._file is None:
            sync_folder(os.path.dirname(self.path))
        self.refresh()
        return written

    def _write(self, handle: int, entries: list[MemoryEntry]) -> list[MemoryEntry]:
        """Write every line, or none if there is no room for all of them."""
        size, written = os.fstat(handle).st_size, []
        try:
            for number, entry in enumerate(entries, self._last + 1):
                written.append(replace(entry, number=number, id=entry.id or f"{NUMBERED}{number}"))
                _line(handle, encoded(written[-1]))
            os.fsync(handle)
        except OSError:
            os.ftruncate(handle, size)
            raise
        return written

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
            self._last += 1  # what cannot be read keeps its number: an agent may have been told it


def _line(handle: int, data: bytes) -> None:
    if os.write(handle, data) < len(data):
        raise OSError(errno.ENOSPC, "no space is left for a whole line")


def _problem(path: str, what: str, error: OSError) -> StoreError:
    reasons = {
        errno.EROFS: "read-only",
        errno.EACCES: "read-only",
        errno.ENOSPC: "full",
        errno.ELOOP: "refused",
    }
    return StoreError(
        f"{path}: {what}: {error.strerror or error}", reasons.get(error.errno or 0, "failed")
    )


class Matching:
    """Finds out whether an entry is in the journal already.

    A caller may append an entry on its own and, before or after, in a model: that's one entry.
    Saying the same thing twice is two. The rules, in this order: an event whose id is in the
    journal is there. Each entry of a model matches one with the same words that was appended on its
    own, and no two match the same. An event with an id matches an entry without one that another
    process wrote within five minutes, and the journal notes that.
    """

    def __init__(self) -> None:
        self._read: tuple[Journal, int] | None = None
        self._begin()

    def _begin(self) -> None:
        self._handed: dict[tuple[str, str], list[MemoryEntry]] = {}
        self._modelled: dict[tuple[str, str], list[MemoryEntry]] = {}
        self._own: set[int] = set()
        self._ids: dict[tuple[str, str], MemoryEntry] = {}
        self._loose: dict[tuple[str, str, str], list[MemoryEntry]] = {}
        self._claimed: set[str] = set()
        self._count = 0

    def learn(self, journal: Journal) -> bool:
        """Learn the new entries of *journal*; return whether it's another journal than before."""
        now = (journal, journal.version)
        replaced = self._read is not None and self._read != now
        if replaced:
            self._begin()
        for entry in journal.entries[self._count :]:
            self._ids.setdefault((entry.session, entry.id), entry)
            if entry.kind == "same":
                self._claimed.add(str(entry.refs.get("of", "")))
            elif entry.id.startswith(NUMBERED):
                self._loose.setdefault((entry.session, entry.kind, entry.text), []).append(entry)
        self._read, self._count = now, len(journal.entries)
        return replaced

    def handed(self, entry: MemoryEntry) -> MemoryEntry | None:
        """Return the entry of a model that matches *entry*, which was appended on its own."""
        return _first(self._modelled, entry)

    def modelled(self, entry: MemoryEntry, *, now: float, replay: bool) -> MemoryEntry | None:
        """Return the journal's entry for the *entry* of a model; None if it is new.

        A *replay* reads a session again from its beginning: then only the number of repetitions
        matters, not the time.
        """
        if entry.id and (known := self._ids.get((entry.session, entry.id))) is not None:
            return known
        if not replay and (met := _first(self._handed, entry)) is not None:
            return met
        if not entry.id and not replay:
            return None
        time = entry.time if entry.time is not None else now
        for session in {entry.session: 0, "": 0}:
            for loose in self._loose.get((session, entry.kind, entry.text), ()):
                near = loose.time is not None and abs(loose.time - time) <= NEAR
                allowed = (
                    near or session == entry.session
                    if replay
                    else near and loose.number not in self._own
                )
                if allowed and loose.id not in self._claimed:
                    self._claimed.add(loose.id)
                    return loose
        return None

    def wrote(self, entry: MemoryEntry, *, by_itself: bool) -> None:
        """Note that *entry* was written, on its own (*by_itself*) or from a model."""
        self._own.add(entry.number)
        waiting = self._handed if by_itself else self._modelled
        waiting.setdefault((entry.kind, entry.text), []).append(entry)


def _first(
    waiting: dict[tuple[str, str], list[MemoryEntry]], entry: MemoryEntry
) -> MemoryEntry | None:
    found = waiting.get((entry.kind, entry.text))
    return found.pop(0) if found else None
