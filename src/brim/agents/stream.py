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

from brim.agents.agent import subagent_files, subagent_of
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
        self.reader = reader or AnyReader(format)
        self.offset = start
        """The byte after the last complete line."""
        self.lines = 0
        """How many lines there were, empty ones left out."""
        self.broken = 0
        self._unknown_before = self.reader.unknown
        self._longest = longest
        self._begun: list[bytes] = []
        """The pieces of the line whose end hasn't come yet."""
        self._begun_size = 0

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
        objects: list[tuple[dict[str, Any], int]] = []
        begin = 0
        while True:
            end = data.find(b"\n", begin)
            if end < 0:
                break
            blank = self._blank_lines(data, begin)
            if blank:
                self.offset += blank
                begin += blank
            else:
                objects += self._line(data[begin:end], ended=True)
                begin = end + 1
        self._hold_back(data[begin:])
        return objects

    def _blank_lines(self, data: bytes, begin: int) -> int:
        """Return the bytes of the blank lines at *begin*, skipped at once: there may be
        millions."""
        if self._begun_size:
            return 0
        blank = _BLANK_LINES.match(data, begin)
        if blank is None:
            return 0
        return blank.end() - begin

    def _hold_back(self, piece: bytes) -> None:
        """Keep the *piece* of a line whose end hasn't come yet, unless the line is too long."""
        self._begun_size += len(piece)
        if self._begun_size > self._longest:
            self._begun = []
        elif piece:
            self._begun.append(piece)

    def last_object(self) -> list[tuple[dict[str, Any], int]]:
        """Return the object in the line that is held back, as ``objects`` does, if it is a whole
        one."""
        if not self._begun_size:
            return []
        return self._line(b"", ended=False)

    def _line(self, last_piece: bytes, *, ended: bool) -> list[tuple[dict[str, Any], int]]:
        size = self._begun_size + len(last_piece)
        at = self.offset
        line = b"".join([*self._begun, last_piece])
        if at == 0:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        line = line.strip()
        self._begun = []
        self._begun_size = 0
        is_too_long = size > self._longest
        parsed = None
        if not is_too_long:
            parsed = parsed_line(line)
        if ended or isinstance(parsed, dict):
            self.offset += size + ended
        if not line and not is_too_long:
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
    # Opened here: what is wrong with it is said at once, not when the first event is asked for.
    own_file = open_session(name)
    return _session_events(
        name, own_file, reader, start=start, subagents=subagents, on_broken=on_broken
    )


def _session_events(
    path: str,
    own_file: FileIO,
    reader: AnyReader,
    *,
    start: int,
    subagents: bool,
    on_broken: Callable[[int], object],
) -> Iterator[Event]:
    reader.agent = subagent_of(path)
    with own_file:
        values = None
        if start == 0:
            values = json_values(own_file)
        if values is None:
            yield from _lines(path, own_file, Feed(reader=reader, start=start), on_broken)
        for value in values or ():
            yield from reader.events(value)
    if not subagents:
        return
    for agent, agent_path in subagent_files(path):
        reader.agent = agent
        with suppress(InputError), open_session(agent_path) as file:
            yield from _lines(agent_path, file, Feed(reader=reader), on_broken)


def open_session(path: str) -> FileIO:
    """Open the regular file *path* to read it.

    Anything else, and what isn't text, is an ``InputError``.
    """
    try:
        file = FileIO(path, opener=_open_at_once)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder; give the file of one session") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be opened: {reason}") from None
    problem = _problem_with(file)
    if problem:
        file.close()
        raise InputError(f"{path}: {problem}")
    file.seek(0)
    return file


def _open_at_once(path: str, flags: int) -> int:
    """Open *path* without waiting for a writer, should it be a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _problem_with(file: FileIO) -> str:
    """Return why *file* can't be a session's, empty if it can."""
    try:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return "isn't a regular file; give a stream on standard input"
        head = file.read(4096)
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    if head.startswith(_COMPRESSED):
        return "is compressed; give it unpacked"
    if b"\0" in head:
        return "isn't text; give a session's JSON lines"
    return ""


def _lines(
    path: str, file: FileIO, feed: Feed, on_broken: Callable[[int], object]
) -> Iterator[Event]:
    try:
        file.seek(feed.offset)
        while True:
            data = file.read(BLOCK)
            if not data:
                break
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
    opening = _first_line(file)
    objects = None
    if opening.startswith((b"{", b"[")):
        value = parsed_line(opening)
        if isinstance(value, list):
            objects = _objects_among(value)
        elif value is None and _may_be_one_value(file, opening):
            file.seek(0)
            objects = objects_in(file.read(LONGEST_LINE))
    file.seek(0)
    return objects


def _first_line(file: FileIO) -> bytes:
    """Return the first line of *file* that isn't blank."""
    opening = b""
    while b"\n" not in opening and len(opening) <= LONGEST_LINE:
        data = file.read(BLOCK)
        if not data:
            break
        opening = _bare(opening + data)
    return opening.partition(b"\n")[0]


def _may_be_one_value(file: FileIO, opening: bytes) -> bool:
    if len(opening) > _LONGEST_OPENING:
        return False
    return os.fstat(file.fileno()).st_size <= LONGEST_LINE


def objects_in(data: bytes) -> list[dict[str, Any]] | None:
    """Return the object that *data* is, or those of the list that it is; None if it is neither."""
    value = parsed_line(_bare(data))
    if isinstance(value, dict):
        return [value]
    if isinstance(value, list):
        return _objects_among(value)
    return None


def _objects_among(values: list[Any]) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)]


def _bare(data: bytes) -> bytes:
    return data.lstrip(b"\xef\xbb\xbf \t\r\n")
