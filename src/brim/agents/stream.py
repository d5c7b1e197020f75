"""Reads a stream as it grows, and the files of a session: a block at a time, however large they
are."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import FileIO
from typing import Any

from brim.agents.call import Event
from brim.agents.fields import parsed_line
from brim.agents.readers import AnyReader
from brim.errors import InputError

LONGEST_LINE = 64 * 1024 * 1024
"""A line with more bytes is skipped and counted as broken."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLANK_LINES = re.compile(rb"[ \t\r\n]*\n")


class Feed:
    """Reads a stream as it grows. However it is cut into pieces, the events are the same.

    To go on later, keep ``offset``, and begin there again with the same *reader*, or
    ``Feed(start=offset)``. Nothing in a stream raises: what isn't a JSON object is counted in
    ``broken``, an unknown format in ``unknown``.
    """

    def __init__(
        self,
        format: str | None = None,
        *,
        start: int = 0,
        reader: AnyReader | None = None,
        longest: int = LONGEST_LINE,
    ) -> None:
        self.reader = reader if reader is not None else AnyReader(format)
        self.offset = start
        """The byte after the last complete line."""
        self.lines = 0
        """How many lines there were, empty ones left out."""
        self.broken = 0
        self._unknown_before = self.reader.unknown
        self._longest = longest
        self._held: list[bytes] = []
        self._held_size = 0

    @property
    def format(self) -> str | None:
        """The format of the stream, None as long as it is not known."""
        return self.reader.format

    @property
    def unknown(self) -> int:
        """How many lines of this stream were of no format that is known."""
        return self.reader.unknown - self._unknown_before

    def feed(self, data: bytes) -> list[Event]:
        """Return the events of the lines that *data* completes; the half line at its end is held
        back."""
        return [event for line, at in self.objects(data) for event in self.reader.events(line, at)]

    def finish(self) -> list[Event]:
        """Return the events of what is held back, read as a last line.

        If it isn't a whole line, it counts as broken, and ``offset`` stays before it: it may be
        completed later.
        """
        last = [event for line, at in self.last_object() for event in self.reader.events(line, at)]
        return last + self.reader.finish()

    def objects(self, data: bytes) -> list[tuple[dict[str, Any], int]]:
        """Return the objects in the lines that *data* completes, each with the byte at which its
        line begins."""
        found: list[tuple[dict[str, Any], int]] = []
        begin = 0
        while (end := data.find(b"\n", begin)) >= 0:
            if not self._held_size and (blank := _BLANK_LINES.match(data, begin)):
                # There may be millions.
                end = blank.end() - 1
                self.offset += end + 1 - begin
            else:
                found += self._line(data[begin:end], ended=True)
            begin = end + 1
        if begin < len(data):
            self._held_size += len(data) - begin
            self._held = [*self._held, data[begin:]] if self._held_size <= self._longest else []
        return found

    def last_object(self) -> list[tuple[dict[str, Any], int]]:
        """Return the object in the line that is held back, as ``objects`` does, if it is a whole
        one."""
        return self._line(b"", ended=False) if self._held_size else []

    def _line(self, rest: bytes, *, ended: bool) -> list[tuple[dict[str, Any], int]]:
        size = self._held_size + len(rest)
        at = self.offset
        whole = b"".join([*self._held, rest])
        self._held = []
        self._held_size = 0
        too_long = size > self._longest
        whole = (whole.removeprefix(_BYTE_ORDER_MARK) if at == 0 else whole).strip()
        parsed = None if too_long else parsed_line(whole)
        if ended or isinstance(parsed, dict):
            self.offset += size + ended
        if not (whole or too_long):
            return []
        self.lines += 1
        if not isinstance(parsed, dict):
            self.broken += 1
            return []
        return [(parsed, at)]


BLOCK = 1024 * 1024
"""How many bytes are read at once."""
_LONGEST_OPENING = 4096
_COMPRESSED = (b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    start: int = 0,
    subagents: bool = True,
    reader: AnyReader | None = None,
    on_broken: Callable[[int], object] = int,
) -> Iterator[Event]:
    """Read the session at *path*, from byte *start* on: its own events first, then those of each
    sub-agent's file.

    Memory stays flat. A file that is one JSON value over several lines is read as one line, or as
    one per item of a list. What can't be opened or isn't text is an ``InputError``. *reader* knows
    the format afterwards, if you give one. *on_broken* is told how many whole lines of a file could
    not be read, when it is at its end.
    """
    name = os.fspath(path)
    reader = reader or AnyReader(format)
    own = open_session(
        name
    )  # here: what is wrong with it is said at once, not when the first event is asked for

    def events() -> Iterator[Event]:
        reader.agent = subagent_of(name)
        with own:
            values = json_values(own) if start == 0 else None
            if values is None:
                yield from _lines(name, own, Feed(reader=reader, start=start), on_broken)
            for one in values or ():
                yield from reader.events(one)
        for reader.agent, other in subagent_files(name) if subagents else ():
            with suppress(InputError), open_session(other) as file:
                yield from _lines(other, file, Feed(reader=reader), on_broken)

    return events()


def subagent_files(path: str) -> list[tuple[str, str]]:
    """Return id and path of each sub-agent's file that Claude Code keeps next to the session's file
    *path*."""
    folder = os.path.join(path.removesuffix(".jsonl"), "subagents")
    names = list[str]()
    with suppress(OSError):
        names = sorted(os.listdir(folder)) if path.endswith(".jsonl") else []
    return [(agent, os.path.join(folder, name)) for name in names if (agent := subagent_of(name))]


def subagent_of(path: str) -> str:
    """Return the id of the sub-agent whose file *path* is, empty if it is another file.

    >>> subagent_of("subagents/agent-a4f00973.jsonl")
    'a4f00973'
    """
    name = os.path.basename(path)
    return name[6:-6] if name.startswith("agent-") and name.endswith(".jsonl") else ""


def open_session(path: str) -> FileIO:
    """Open the regular file *path* to read it.

    Anything else, and what isn't text, is an ``InputError``.
    """
    try:
        file = FileIO(
            path, opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))
        )
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, ValueError) as error:
        problem = f"cannot be opened: {getattr(error, 'strerror', None) or error}"
        problem = (
            "is a folder; give the file of one session"
            if isinstance(error, IsADirectoryError)
            else problem
        )
        raise InputError(f"{path}: {problem}") from None
    try:
        head = file.read(4096) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
        problem = "isn't a regular file; give a stream on standard input" if head is None else ""
        if head and head.startswith(_COMPRESSED):
            problem = "is compressed; give it unpacked"
        elif head and b"\0" in head:
            problem = "isn't text; give a session's JSON lines"
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
    if problem:
        file.close()
        raise InputError(f"{path}: {problem}")
    file.seek(0)
    return file


def _lines(
    path: str, file: FileIO, feed: Feed, on_broken: Callable[[int], object]
) -> Iterator[Event]:
    try:
        file.seek(feed.offset)
        while data := file.read(BLOCK):
            yield from feed.feed(data)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    on_broken(feed.broken)
    yield from feed.finish()


def json_values(file: FileIO) -> list[dict[str, Any]] | None:
    """Return the objects of a file that is one JSON value and not one per line, None if it isn't
    one.

    Such a file begins with a list, or with a short line that is the beginning of an object.
    """
    first = b""
    while b"\n" not in first and len(first) <= LONGEST_LINE and (data := file.read(BLOCK)):
        first = _bare(first + data)
    first = first.partition(b"\n")[0]
    value = parsed_line(first) if first.startswith((b"{", b"[")) else {}
    found = [part for part in value if isinstance(part, dict)] if isinstance(value, list) else None
    if (
        value is None
        and len(first) <= _LONGEST_OPENING
        and os.fstat(file.fileno()).st_size <= LONGEST_LINE
    ):
        file.seek(0)
        found = objects_in(file.read(LONGEST_LINE))
    file.seek(0)
    return found


def objects_in(data: bytes) -> list[dict[str, Any]] | None:
    """Return the object that *data* is, or those of the list that it is; None if it is neither."""
    value = parsed_line(_bare(data))
    if isinstance(value, dict):
        return [value]
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else None


def _bare(data: bytes) -> bytes:
    return data.lstrip(b"\xef\xbb\xbf \t\r\n")
