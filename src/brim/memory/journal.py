"""The journal, an append-only file of lines.

Each line reaches the disk before the writer goes on. A process that is killed while it writes
leaves at most a torn line, which the next one ends and skips. Journals of memory that was removed
stay in the user's folder for a while.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import stat
import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, BinaryIO

from brim.config.retention import JOURNALS
from brim.errors import StoreError
from brim.files import SAFE_FLAGS, locked, sync_folder, write_new
from brim.memory.entries import MemoryEntry
from brim.memory.folder import LOCK, make_folder, own, place_of
from brim.memory.quotes import encodable

NAME = "journal.jsonl"
NUMBERED = "n"
"""The prefix of an id that is made from an entry's number, because no event has one. It's unique in
its journal."""
_FIELDS = {"kind": str, "text": str, "id": str, "session": str, "agent": str, "refs": dict}
_HIGHEST = 2**53
_BLOCK = 1 << 20
_FARTHEST = 1_000_000
"""A number farther from the last one than this must be damage."""
_NO_LINE = b"\n"
"""What no line of a journal holds."""
_REASONS = {
    errno.EROFS: "read-only",
    errno.EACCES: "read-only",
    errno.ENOSPC: "full",
    errno.ELOOP: "refused",
}


def encoded(entry: MemoryEntry) -> bytes:
    """Return *entry* as one line of JSON in UTF-8."""
    if entry.time is not None and not math.isfinite(entry.time):
        entry = replace(entry, time=None)
    line = json.dumps(entry.to_dict(), ensure_ascii=False, default=str)
    return encodable(line).encode() + b"\n"


def decoded(line: bytes) -> MemoryEntry | None:
    """Return the entry in *line*; None if it's torn, damaged or something else."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict):
        return None
    number = values.get("number")
    if type(number) is not int or not 0 < number <= _HIGHEST:
        return None
    fields: dict[str, Any] = {}
    for name, kind in _FIELDS.items():
        if isinstance(values.get(name), kind):
            fields[name] = values[name]
    if "kind" not in fields or "text" not in fields:
        return None
    fields["id"] = fields.get("id") or f"{NUMBERED}{number}"
    return MemoryEntry(number=number, time=_time_of(values), **fields)


def _time_of(values: dict[str, Any]) -> float | None:
    time = values.get("time")
    if not isinstance(time, int | float) or isinstance(time, bool):
        return None
    return float(time) if abs(time) <= sys.float_info.max else None


class Journal:
    """The entries of one file, in order.

    ``refresh`` reads what was added since, and may be called at any time. ``append`` needs the lock
    of the folder.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.version = 0
        """Goes up when the file is gone or another one, and everything is read again."""
        self._file: tuple[int, int] | None = None
        self._forget()

    def _forget(self) -> None:
        self.entries: list[MemoryEntry] = []
        self.broken = 0
        """How many lines couldn't be read: torn by a killed process, or damaged."""
        self._offset = 0
        self._last_number = 0

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
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            os.close(handle)
            raise StoreError(
                f"{self.path}: is not a regular file, so it is not used; move it away", "refused"
            )
        file_id = (status.st_dev, status.st_ino)
        with os.fdopen(handle, "rb") as file:
            if self._file != file_id or status.st_size < self._offset:
                self._begin(file_id)
            file.seek(self._offset)
            self._read(file, only)
        return self.entries

    def _read(self, file: BinaryIO, only: bytes | None) -> None:
        """Take the complete lines of *file* from here on."""
        torn = b""
        skipped = b""
        """The last line that was skipped."""
        while block := file.read(_BLOCK):
            *lines, torn = (torn + block).split(b"\n")
            for line in lines:
                self._offset += len(line) + 1
                if only is None or only in line:
                    self._take(line)
                    skipped = b""
                elif line.strip():
                    self._last_number += 1  # numbers rise by one, whatever a line says
                    skipped = line
        if skipped:
            self._last_number -= 1
            self._take(skipped)

    def append(self, entries: Iterable[MemoryEntry]) -> list[MemoryEntry]:
        """Write *entries*; return them with their numbers, once they are on the disk.

        Call it under the lock.
        """
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
                _write_line(handle, b"\n")
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
        size = os.fstat(handle).st_size
        written: list[MemoryEntry] = []
        try:
            for number, entry in enumerate(entries, self._last_number + 1):
                entry_id = entry.id or f"{NUMBERED}{number}"
                written.append(replace(entry, number=number, id=entry_id))
                _write_line(handle, encoded(written[-1]))
            os.fsync(handle)
        except OSError:
            os.ftruncate(handle, size)
            raise
        return written

    def _begin(self, file_id: tuple[int, int] | None) -> None:
        """Start over with another file."""
        if self._file is not None:
            self.version += 1
        self._file = file_id
        self._forget()

    def _take(self, line: bytes) -> None:
        entry = decoded(line)
        if entry is not None and entry.number <= self._last_number + _FARTHEST:
            self.entries.append(entry)
            self._last_number = max(self._last_number, entry.number)
        elif line.strip():
            self.broken += 1
            # What can't be read keeps its number: an agent may have been told it.
            self._last_number += 1


def _write_line(handle: int, data: bytes) -> None:
    if os.write(handle, data) < len(data):
        raise OSError(errno.ENOSPC, "no space is left for a whole line")


def _problem(path: str, problem: str, error: OSError) -> StoreError:
    reason = _REASONS.get(error.errno or 0, "failed")
    return StoreError(f"{path}: {problem}: {error.strerror or error}", reason)


# What one event says ------------------------------------------------------------------------------


def append_entries(
    root: str,
    session: str,
    entries: list[MemoryEntry],
    *,
    now: float,
    secret: str,
    patience: float,
) -> None:
    """Append those of *entries* that the journal of *session* lacks, in one write.

    This is as cheap as a hook needs it: only the lines of the same session are parsed, and no file
    is rendered. *root* is the folder ``.context``. *patience* is how many seconds to wait for
    another writer.
    """

    def make_root() -> None:
        make_folder(root, secret)

    with locked(os.path.join(root, LOCK), patience=patience, prepare=make_root):
        make_root()  # again, now that no other process removes it
        folder = place_of(root, session, now=now, claim=True)
        if folder != root:
            make_folder(folder, secret)
        own(folder, session, now=now)
        journal = Journal(os.path.join(folder, NAME))
        known_entries = journal.refresh(only=_needle(session, entries))
        journal.append(_missing(entries, known_entries))


def _needle(session: str, entries: Iterable[MemoryEntry]) -> bytes:
    """Return what every line of the journal holds that may say the same as one of *entries*."""
    if any(entry.id or entry.kind == "artifact" for entry in entries):
        return encodable(json.dumps(session, ensure_ascii=False)).encode()
    return _NO_LINE  # what a person says twice was said twice: no line is like it


def _missing(entries: list[MemoryEntry], known_entries: list[MemoryEntry]) -> list[MemoryEntry]:
    """Return those of *entries* that aren't there. A file is noted once, whatever changes it."""
    ids = {(entry.session, entry.id) for entry in known_entries}
    files = _noted_files(known_entries)
    missing = []
    for entry in entries:
        is_noted_file = entry.kind == "artifact" and (entry.session, entry.text) in files
        if (entry.session, entry.id) not in ids and not is_noted_file:
            missing.append(entry)
    return missing


def _noted_files(entries: Iterable[MemoryEntry]) -> set[tuple[str, str]]:
    """Return the session and the path of each file in *entries* that wasn't taken back."""
    files: set[tuple[str, str]] = set()
    for entry in entries:
        if entry.kind == "artifact":
            files.add((entry.session, entry.text))
        elif entry.kind == "withdrawn":
            files.discard((entry.session, entry.text))
    return files


_ARCHIVED = re.compile(r"(\d{1,12})-.*\.jsonl")
_LONGEST_LABEL = 60


def keep_journals(folders: Iterable[str], into: str, label: str, *, now: float) -> list[str]:
    """Copy the journals of *folders* to *into*, durably, and return the new paths."""
    safe_label = re.sub(r"[^A-Za-z0-9_.-]+", "-", label)[:_LONGEST_LABEL].strip("-.") or "scratch"
    copies: list[str] = []
    try:
        for folder in (os.path.dirname(into), into):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        for folder in folders:
            journal = os.path.join(folder, NAME)
            if not os.path.isfile(journal) or os.path.islink(journal):
                continue
            name = f"{max(0, int(now))}-{safe_label}-{os.urandom(4).hex()}.jsonl"
            path = os.path.join(into, name)
            with open(journal, "rb") as file:
                write_new(path, file.read())
            copies.append(path)
        sync_folder(into)
    except OSError as error:
        why = f"the journal cannot be kept there: {error.strerror or error}; nothing was removed"
        raise StoreError(f"{into}: {why}", "failed") from None
    return copies


def old_journals(into: str, *, now: float) -> list[str]:
    """Return the journals in *into* that have been there long enough."""
    if not os.path.isdir(into):
        return []
    old = []
    for name in sorted(os.listdir(into)):
        match = _ARCHIVED.fullmatch(name)
        if match is not None and now - int(match[1]) > JOURNALS:
            old.append(os.path.join(into, name))
    return old
