"""Reads a stream as it grows, and the files of a session: a block at a time, however large they are."""

from __future__ import annotations

import json
import os
import stat
from io import FileIO

from brim.errors import InputError
from brim.tracking.readers import AnyReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from brim.tracking.events import Event

LONGEST_LINE = 64 * 1024 * 1024
"""A line with more bytes is skipped and counted as broken."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Feed:
    """Reads a stream as it grows. However it is cut into pieces, the events are the same.

    To go on later, keep ``offset``, and begin there again with the same *reader*, or ``Feed(start=offset)``.
    Nothing in a stream raises: what is no JSON object is counted in ``broken``, what is of no format in ``unknown``.
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
        """Return the events of the lines that *data* completes; the half line at its end is held back."""
        found: list[Event] = []
        begin = 0
        while (end := data.find(b"\n", begin)) >= 0:
            found += self._line(data[begin:end], ended=True)
            begin = end + 1
        if begin < len(data):
            self._hold(data[begin:])
        return found

    def finish(self) -> list[Event]:
        """Return the events of what is held back, read as a last line.

        If it is no whole line, it counts as broken, and ``offset`` stays before it: it may be completed later.
        """
        last = self._line(b"", ended=False) if self._held_size else []
        return last + self.reader.finish()

    def _hold(self, piece: bytes) -> None:
        self._held_size += len(piece)
        if self._held_size > self._longest:
            self._held.clear()
        else:
            self._held.append(piece)

    def _line(self, rest: bytes, *, ended: bool) -> list[Event]:
        size = self._held_size + len(rest)
        whole = b"".join([*self._held, rest]) if self._held else rest
        self._held.clear()
        self._held_size = 0
        at = self.offset
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
        return self.reader.events(parsed, at)


def parsed_line(line: bytes) -> Any:
    """Return what the JSON text *line* says, None if it isn't JSON.

    Half characters are replaced: they can't be written.

    >>> parsed_line(b'{"a": "\\\\ud83d"}')
    {'a': '\\ufffd'}
    """
    try:
        parsed = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if b"\\ud" in line or b"\\uD" in line:
        try:
            return _whole_characters(parsed)
        except RecursionError:
            return None
    return parsed


def _whole_characters(parsed: Any) -> Any:
    if isinstance(parsed, str):
        return parsed if parsed.isascii() else parsed.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(parsed, list):
        return [_whole_characters(part) for part in parsed]
    if isinstance(parsed, dict):
        return {_whole_characters(key): _whole_characters(part) for key, part in parsed.items()}
    return parsed


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
    on_broken: Callable[[int], object] = int,
) -> Iterator[Event]:
    """Read the session at *path*, from byte *start* on: its own events first, then those of each sub-agent's file.

    Memory stays flat. A file that is one JSON value over several lines is read as one line, or as one per item of a
    list. What cannot be opened or is no text is an ``InputError``. *on_broken* is told how many whole lines of a file
    could not be read, when it is at its end.
    """
    name = os.fspath(path)
    reader = AnyReader(format)
    file = open_session(name)
    return _events(name, file, reader, start=start, subagents=subagents, on_broken=on_broken)


def subagent_files(path: str) -> list[tuple[str, str]]:
    """Return id and path of each sub-agent's file that Claude Code keeps next to the session's file *path*."""
    folder = os.path.join(path.removesuffix(".jsonl"), "subagents")
    if not path.endswith(".jsonl"):
        return []
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [(agent, os.path.join(folder, name)) for name in names if (agent := subagent_of(name))]


def subagent_of(path: str) -> str:
    """Return the id of the sub-agent whose file *path* is, empty if it is another file.

    >>> subagent_of("subagents/agent-a4f00973.jsonl")
    'a4f00973'
    """
    name = os.path.basename(path)
    return name[6:-6] if name.startswith("agent-") and name.endswith(".jsonl") else ""


def open_session(path: str) -> FileIO:
    """Open the regular file *path* to read it; anything else, and what isn't text, is an ``InputError``."""
    try:
        file = FileIO(path, opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder; give the file of one session") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be opened: {getattr(error, 'strerror', None) or error}") from None
    try:
        problem = (
            ""
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            else "is no regular file; give a stream on standard input"
        )
        head = b"" if problem else file.read(4096)
        if head.startswith(_COMPRESSED):
            problem = "is compressed; give it unpacked"
        elif b"\0" in head:
            problem = "is no text; give a session's JSON lines"
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
    if problem:
        file.close()
        raise InputError(f"{path}: {problem}")
    file.seek(0)
    return file


def _events(
    path: str,
    file: FileIO,
    reader: AnyReader,
    *,
    start: int,
    subagents: bool,
    on_broken: Callable[[int], object],
) -> Iterator[Event]:
    reader.agent = subagent_of(path)
    with file:
        values = json_values(file) if start == 0 else None
        if values is None:
            yield from _lines(path, file, Feed(reader=reader, start=start), on_broken)
        else:
            for one in values:
                yield from reader.events(one)
    for agent, name in subagent_files(path) if subagents else []:
        reader.agent = agent
        try:
            own = open_session(name)
        except InputError:
            continue
        with own:
            yield from _lines(name, own, Feed(reader=reader), on_broken)


def _lines(path: str, file: FileIO, feed: Feed, on_broken: Callable[[int], object]) -> Iterator[Event]:
    try:
        file.seek(feed.offset)
        while data := file.read(BLOCK):
            yield from feed.feed(data)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    on_broken(feed.broken)
    yield from feed.finish()


def json_values(file: FileIO) -> list[dict[str, Any]] | None:
    """Return the objects of a file that is one JSON value and not one per line, None if it is no such file.

    Such a file begins with a list, or with a short line that is the beginning of an object.
    """
    first = _first_line(file)
    value = parsed_line(first) if first.startswith((b"{", b"[")) else {}
    found = [part for part in value if isinstance(part, dict)] if isinstance(value, list) else None
    if value is None and len(first) <= _LONGEST_OPENING and os.fstat(file.fileno()).st_size <= LONGEST_LINE:
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


def _first_line(file: FileIO) -> bytes:
    line = b""
    while b"\n" not in line and len(line) <= LONGEST_LINE and (data := file.read(BLOCK)):
        line = _bare(line + data)
    return line.partition(b"\n")[0]


def _bare(data: bytes) -> bytes:
    return data.lstrip(b"\xef\xbb\xbf \t\r\n")
