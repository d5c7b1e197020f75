"""Reads the file of a session, and the files of its sub-agents: a block at a time, however large they are."""

from __future__ import annotations

import os
import stat
from io import FileIO

from brim.errors import InputError
from brim.tracking.readers.detect import AnyReader
from brim.tracking.readers.feed import LONGEST_LINE, Feed, parsed_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from brim.tracking.events import Event

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
    """Return id and path of each sub-agent's file that Claude Code keeps beside the session's file *path*."""
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
    """Open the regular file *path* to read it; anything else, and what is no text, is an ``InputError``."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be opened: {getattr(error, 'strerror', None) or error}") from None
    try:
        _check(path, descriptor)
    except OSError as error:
        os.close(descriptor)
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except InputError:
        os.close(descriptor)
        raise
    return FileIO(descriptor)


def _check(path: str, descriptor: int) -> None:
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):
        raise InputError(f"{path}: is a folder; give the file of one session")
    if not stat.S_ISREG(mode):
        raise InputError(f"{path}: is no regular file; give a stream on standard input")
    head = os.read(descriptor, 4096)
    if head.startswith(_COMPRESSED):
        raise InputError(f"{path}: is compressed; give it unpacked")
    if b"\0" in head:
        raise InputError(f"{path}: is no text; give a session's JSON lines")
    os.lseek(descriptor, 0, os.SEEK_SET)


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
