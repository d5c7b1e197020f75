"""Reads the usage out of one file, and no more of it than that takes.

A Claude Code transcript is mostly tool results: only the lines that hold one of a few needles are parsed, and after more
was appended only the new ones are read. Files of other agents are read whole, by their readers.
"""

from __future__ import annotations

import os
import stat
import zlib
from io import FileIO

from brim.errors import InputError
from brim.tracking.events import RunTotal, StateSeen, Usage
from brim.tracking.readers.detect import format_of
from brim.tracking.readers.feed import LONGEST_LINE, parsed_line
from brim.tracking.readers.files import read
from brim.tracking.usage.claude import NEEDLES, ClaudeLines
from brim.tracking.usage.gathered import FileUsage
from brim.tracking.usage.request import request_from, total_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 1 << 22
"""Bytes read at a time."""

TRANSCRIPT = "claude-transcript"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # a pipe would wait for somebody to write into it
_ESCAPE = b"\\u00"
_ESCAPED = (b"2", b"6", b"7")
"""What follows ``\\u00`` if a letter or a hyphen is written as its code: no client does, and the needle would miss it."""
_CHECKED = 1_024
_LOOKED_AT = 1 << 18


class Stamp:
    """By what a file is known again: if all of it is the same, nothing was written since."""

    __slots__ = ("inode", "modified", "size")

    def __init__(self, inode: int, size: int, modified: int) -> None:
        self.inode, self.size, self.modified = inode, size, modified

    @classmethod
    def of(cls, found: os.stat_result) -> Stamp:
        """Return the stamp of a file."""
        return cls(found.st_ino, found.st_size, found.st_mtime_ns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stamp) and self.fields() == other.fields()

    __hash__ = None  # type: ignore[assignment] # it is compared, never kept in a set

    def fields(self) -> tuple[int, int, int]:
        """Return inode, size and time of the last change in nanoseconds."""
        return self.inode, self.size, self.modified


class Scan:
    """What was read of a file: its usage, up to which byte, and what it was then.

    ``check`` is a sum of the first and the last bytes before ``offset``: whoever goes on from there compares it.
    ``usage`` is of the lines after the start that was asked for if ``resumed``, else of the whole file.
    """

    __slots__ = ("check", "format", "offset", "resumed", "stamp", "usage")

    def __init__(self, usage: FileUsage, stamp: Stamp, offset: int, check: int, format: str, resumed: bool) -> None:
        self.usage, self.stamp, self.offset = usage, stamp, offset
        self.check, self.format, self.resumed = check, format, resumed


def scan(path: str, *, format: str = "", slug: str = "", start: int = 0, check: int = 0) -> Scan:
    """Read the usage of the file *path*, of *format* or of the one that its first lines have.

    *slug* is the name of the project's folder, if it has one. With *start*, and if the file before it is still the one
    that *check* was made of, a transcript is read from there on. Raises ``InputError`` if it cannot be read.
    """
    try:
        with FileIO(os.open(path, os.O_RDONLY | _NO_WAIT), closefd=True) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise InputError(f"{path}: is not a regular file")
            stamp = Stamp.of(found)
            format = format or _format(file)
            if format == TRANSCRIPT:
                return _transcript(file, path, slug, stamp, start, check)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    return Scan(_by_reader(path, format), stamp, 0, 0, format, False)


def _transcript(file: FileIO, path: str, slug: str, stamp: Stamp, start: int, check: int) -> Scan:
    resumed = 0 < start <= stamp.size and _check(file, start) == check
    found = FileUsage()
    lines = ClaudeLines(found, path, slug, sub_agent=_is_sub_agent(path))
    offset = start if resumed else 0
    file.seek(offset)
    held: list[bytes] = []
    size = 0
    while block := file.read(BLOCK):
        end = block.rfind(b"\n") + 1
        if not end:
            size += len(block)
            held = [*held, block] if size <= LONGEST_LINE else []
            continue
        if size > LONGEST_LINE:
            found.broken += 1
            begin = block.index(b"\n") + 1
            offset += size + begin
            data = block[begin:end]
        else:
            data = b"".join([*held, block[:end]])
        found.broken += _take_all(data, offset, lines)
        offset += len(data)
        held, size = [block[end:]], len(block) - end
    _take_all(b"".join(held), offset, lines)  # a half line, or the last one of a file that nobody writes any more
    return Scan(found, stamp, offset, _check(file, offset), TRANSCRIPT, resumed)


def _take_all(data: bytes, offset: int, lines: ClaudeLines) -> int:
    """Take in the lines of *data* that may say something; return how many of them cannot be read."""
    broken = 0
    for begin, end in candidates(data):
        line = data[begin:end]
        if begin == offset == 0:
            line = line.removeprefix(BYTE_ORDER_MARK)
        parsed = parsed_line(line) if end - begin <= LONGEST_LINE else None
        if isinstance(parsed, dict):
            lines.take(parsed, offset + begin)
        else:
            broken += 1
    return broken


def candidates(data: bytes) -> list[tuple[int, int]]:
    """Return begin and end of every line of *data* that may report usage: none that does is left out."""
    found = {line for needle in NEEDLES for line in _lines_with(data, needle)}
    for begin, end in _lines_with(data, _ESCAPE):
        place = data.find(_ESCAPE, begin, end)
        while place >= 0:
            if data[place + 4 : place + 5] in _ESCAPED:
                found.add((begin, end))
                break
            place = data.find(_ESCAPE, place + 4, end)
    return sorted(found)


def _lines_with(data: bytes, needle: bytes) -> Iterator[tuple[int, int]]:
    find, before = data.find, data.rfind
    at = 0
    hit = find(needle)
    while hit >= 0:
        begin = before(b"\n", at, hit) + 1 or at
        at = find(b"\n", hit)
        if at < 0:
            at = len(data)
        yield begin, at
        hit = find(needle, at)


def _check(file: FileIO, offset: int) -> int:
    """Return a sum of the first and the last bytes before *offset*."""
    size = min(_CHECKED, offset)
    first, last = os.pread(file.fileno(), size, 0), os.pread(file.fileno(), size, offset - size)
    return zlib.crc32(last, zlib.crc32(first))


def _is_sub_agent(path: str) -> bool:
    folder, name = os.path.split(path)
    return os.path.basename(folder) == "subagents" and name.startswith("agent-")


def _by_reader(path: str, format: str) -> FileUsage:
    """Read the whole file with its format's reader."""
    found = FileUsage()
    for event in read(path, format=format or None, subagents=False):
        if isinstance(event, Usage):
            found.add(request_from(event, path))
        elif isinstance(event, RunTotal):
            if not event.agent:
                found.add_total(total_from(event))
        elif isinstance(event, StateSeen) and event.name == "folder" and not found.folder:
            found.folder = event.value
    return found


def _format(file: FileIO) -> str:
    """Return the format that the first lines have; empty if none of them has one."""
    first = file.read(_LOOKED_AT)
    lines = first.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    for line in lines[:-1] if len(first) == _LOOKED_AT else lines:
        parsed = parsed_line(line)
        format = format_of(parsed) if isinstance(parsed, dict) else None
        if format:
            return format
    return ""
