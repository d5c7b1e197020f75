"""Reads the usage out of one file, and no more of it than that takes.

A Claude Code transcript is mostly tool results: only lines that may report usage are parsed, and after more was
appended only what is new is read. Files of other agents are read whole, by their readers.
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
from brim.tracking.usage.claude import ClaudeLines
from brim.tracking.usage.claude_lines import candidates
from brim.tracking.usage.claude_repeats import Repeats
from brim.tracking.usage.gathered import FileUsage
from brim.tracking.usage.request import request_from, total_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK = 1 << 20
"""Bytes read at a time."""

TRANSCRIPT = "claude-transcript"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # a pipe would wait for somebody to write into it
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

    def __init__(
        self, usage: FileUsage, stamp: Stamp, *, offset: int = 0, check: int = 0, format: str, resumed: bool = False
    ) -> None:
        self.usage, self.stamp, self.offset = usage, stamp, offset
        self.check, self.format, self.resumed = check, format, resumed


def scan(
    path: str,
    *,
    format: str = "",
    slug: str = "",
    start: int = 0,
    check: int = 0,
    on_read: Callable[[int], object] = int,
) -> Scan:
    """Read the usage of the file *path*, of *format* or of the one that its first lines have.

    *slug* is the name of the project's folder, if it has one. With *start*, and if the file before it is still the one
    that *check* was made of, a transcript is read from there on. *on_read* is told the bytes of each piece that was
    read. Raises ``InputError`` if the file cannot be read.
    """
    try:
        with FileIO(path, opener=lambda name, flags: os.open(name, flags | _NO_WAIT)) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise InputError(f"{path}: is not a regular file")
            stamp = Stamp.of(found)
            resumed = format in ("", TRANSCRIPT) and 0 < start <= stamp.size and _check(file, start) == check
            if not resumed:
                file.seek(0)
            format = TRANSCRIPT if resumed else format or _format(file)
            if format == TRANSCRIPT:
                file.seek(start if resumed else 0)
                usage, offset = _transcript(file, path, slug, on_read)
                check = _check(file, offset)
                return Scan(usage, stamp, offset=offset, check=check, format=format, resumed=resumed)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    usage = _by_reader(path, format)
    on_read(stamp.size)
    return Scan(usage, stamp, format=format)


def _transcript(file: FileIO, path: str, slug: str, on_read: Callable[[int], object]) -> tuple[FileUsage, int]:
    """Return what *file* has from here on, and where its last whole line ends."""
    found = FileUsage()
    lines, repeats = ClaudeLines(found, path, slug, sub_agent=_is_sub_agent(path)), Repeats()
    offset = file.tell()
    held: list[bytes] = []
    size = 0
    while block := file.read(BLOCK):
        on_read(len(block))
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
            data = b"".join([*held, block[:end]]) if held else block[:end]
        found.broken += _take_all(data, offset, lines, repeats)
        offset += len(data)
        held, size = [block[end:]] if end < len(block) else [], len(block) - end
    last = b"".join(held)  # a half line, or the last one of a file that nobody writes any more
    _take_all(last, offset, lines, repeats)
    return found, offset


def _take_all(data: bytes, offset: int, lines: ClaudeLines, repeats: Repeats) -> int:
    """Take in the lines of *data* that may say something; return how many of them cannot be read."""
    broken = 0
    for begin, end in candidates(data):
        line = data[begin:end]
        if repeats.has(line):
            continue
        if begin == offset == 0:
            line = line.removeprefix(BYTE_ORDER_MARK)
        parsed = parsed_line(line) if len(line) <= LONGEST_LINE else None
        if not isinstance(parsed, dict):
            broken += 1
        elif ids := lines.take(parsed, offset + begin):
            repeats.see(line, *ids)
    return broken


def _check(file: FileIO, offset: int) -> int:
    """Return a sum of the first and the last bytes before *offset*."""
    size = min(_CHECKED, offset)
    check = 0
    for place in (0, offset - size):
        file.seek(place)
        check = zlib.crc32(file.read(size), check)
    return check


def _is_sub_agent(path: str) -> bool:
    folder, name = os.path.split(path)
    return os.path.basename(folder) == "subagents" and name.startswith("agent-")


def _by_reader(path: str, format: str) -> FileUsage:
    """Read the whole file with its format's reader."""
    found = FileUsage()
    broken: list[int] = []
    for event in read(path, format=format or None, subagents=False, on_broken=broken.append):
        if isinstance(event, Usage):
            found.add(request_from(event, path))
        elif isinstance(event, RunTotal):
            if not event.agent:
                found.add_total(total_from(event))
        elif isinstance(event, StateSeen) and event.name == "folder" and not found.folder:
            found.folder = event.value
    found.broken = sum(broken)
    return found


def _format(file: FileIO) -> str:
    """Return the format that the first lines have; empty if none of them has one. The first may be a very long one."""
    seen, held = 0, [file.read(len(BYTE_ORDER_MARK)).removeprefix(BYTE_ORDER_MARK)]
    while seen < _LOOKED_AT and sum(map(len, held)) <= LONGEST_LINE:
        block = file.read(_LOOKED_AT)
        held.append(block)
        if block and b"\n" not in block:
            continue
        *lines, rest = b"".join(held).split(b"\n")
        for line in lines if block else [*lines, rest]:
            parsed = parsed_line(line)
            format = format_of(parsed) if isinstance(parsed, dict) else None
            if format:
                return format
        if not block:
            break
        seen, held = seen + sum(map(len, lines)) + len(lines), [rest]
    return ""
