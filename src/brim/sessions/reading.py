"""Reads what is new in one session's file: its requests, totals and compactions.

A transcript is read from where it ended the last time, if the bytes before that are the same. A
file of another format, such as a saved stream, is read whole. Nothing in a file raises; one that
can't be opened is an ``InputError``.
"""

from __future__ import annotations

import json
import os
import re
import stat
import zlib
from dataclasses import dataclass, field
from functools import cache
from typing import BinaryIO

from brim.agents.agent import subagent_of
from brim.agents.call import Event
from brim.agents.events import Compaction, RunTotal, StateSeen, Usage
from brim.agents.fields import parsed_line
from brim.agents.readers import format_of
from brim.agents.stream import BLOCK, LONGEST_LINE, read
from brim.agents.usage import UsageLines, usage_lines_of
from brim.errors import InputError
from brim.models.price_list import Prices
from brim.models.usage import Tokens
from brim.sessions.files import UNBOUNDED, FilePosition, ReadingBounds
from brim.sessions.requests import (
    ESTIMATE,
    ClientTotal,
    IndexedRequest,
    counts_of,
    details_of,
)

TRANSCRIPT = "claude-transcript"
"""The format of lines that are read one by one wherever a file lies."""
TAIL = 512
"""Bytes before the place where reading goes on that must be as they were."""
SUMMARY_TOKENS = 2_000
"""Tokens that a compaction is expected to write until the client's total says more."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LOOKED_AT = 1 << 20
"""Bytes in which a file's format must show."""
UNREADABLE = (
    ArithmeticError,
    AttributeError,
    InputError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What reading a line may raise that holds something else than its client writes."""
READ_AT_ONCE = 1 << 18
"""Bytes that are read before the next look at the clock."""


@dataclass(slots=True)
class FileReading:
    """What one file reports: requests by key, the last total of each session, and how far it was
    read."""

    path: str
    requests: dict[str, IndexedRequest] = field(default_factory=dict)
    totals: dict[str, ClientTotal] = field(default_factory=dict)
    position: FilePosition | None = None
    folder: str = ""
    size: int = 0
    """Bytes that were read."""
    is_continued: bool = False
    """Whether it goes on where the file was read to before."""
    is_complete: bool = True
    """Whether it was read to its end, not only to the bounds."""

    def add_request(self, request: IndexedRequest) -> None:
        """Add what a line reports about a request."""
        earlier = self.requests.get(request.key)
        if earlier is not None:
            self.requests[request.key] = earlier.merged(request)
            return
        self.requests[request.key] = request
        if request.kind == ESTIMATE:
            return
        total = self.totals.get(request.session)
        if total is not None and total.until is None and request.time is not None:
            self.totals[request.session] = ClientTotal(
                total.session, total.cost, total.tokens, request.time
            )

    def add_total(self, total: ClientTotal) -> None:
        """Add a client's total, unless a larger one is there."""
        earlier = self.totals.get(total.session)
        if earlier is None or total.rank > earlier.rank:
            self.totals[total.session] = total


def read_file(
    path: str,
    *,
    format: str = "",
    position: FilePosition | None = None,
    slug: str = "",
    bounds: ReadingBounds = UNBOUNDED,
    prices: Prices,
) -> FileReading:
    """Read the file *path* from *position* on, or from its beginning if it's another file now.

    *format* is known by the place of the file; without it, its first lines show it. *slug* is the
    name that Claude Code made of the project's folder.
    """
    reading = FileReading(path)
    try:
        with _open(path) as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise InputError(f"{path}: is not a regular file")
            lines = _lines_of(format, path, slug)
            if not format:
                format = _format_in(file)
                if format == TRANSCRIPT:
                    lines = _lines_of(format, path, slug)
            if lines is not None:
                _read_lines(
                    _UsageReader(reading, lines, prices, bounds), file, about, position, format
                )
                return reading
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    _read_whole(reading, about, format, prices)
    return reading


def _open(path: str) -> BinaryIO:
    """Open *path* without waiting: opening a pipe would wait until something is written to it."""

    def without_waiting(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))

    return open(path, "rb", BLOCK, opener=without_waiting)


def _lines_of(format: str, path: str, slug: str) -> UsageLines | None:
    """Return the reader for lines of *format*; None if such a file must be read whole.

    A file that lies anywhere is read whole unless it's a transcript: it may be one JSON value.
    """
    in_folder = os.path.basename(os.path.dirname(path)) == "subagents"
    sub_agent = ""
    if in_folder:
        sub_agent = subagent_of(path)
    return usage_lines_of(format, path, sub_agent, slug)


@cache
def line_signs(signs: tuple[bytes, ...]) -> re.Pattern[bytes]:
    """Return the pattern that finds any of *signs*: one search is faster than one for each."""
    return re.compile(b"|".join(map(re.escape, signs)))


def _format_in(file: BinaryIO) -> str:
    """Return the format that the first lines have; empty if none of them has one."""
    file.seek(0)
    while file.tell() < LOOKED_AT:
        line = file.readline(LONGEST_LINE)
        if not line:
            break
        parsed = parsed_line(line.removeprefix(BYTE_ORDER_MARK))
        format = None
        if isinstance(parsed, dict):
            format = format_of(parsed)
        if format:
            return format
    return ""


def tail_crc(file: BinaryIO, offset: int) -> int:
    """Return a checksum of the last bytes before *offset*."""
    size = min(TAIL, offset)
    file.seek(offset - size)
    return zlib.crc32(file.read(size))


def _read_lines(
    reader: _UsageReader,
    file: BinaryIO,
    about: os.stat_result,
    position: FilePosition | None,
    format: str,
) -> None:
    """Read *file* with *reader*, and note how far that was."""
    if position is not None and _goes_on(position, file, about, format):
        reader.resume(position)
    reader.read(file)
    reading = reader.reading
    reading.position = FilePosition(
        inode=about.st_ino,
        size=about.st_size if reading.is_complete else reader.offset,
        modified=about.st_mtime_ns,
        read_to=reader.offset,
        tail_crc=tail_crc(file, reader.offset),
        format=format,
        state=json.dumps(reader.lines.state(), separators=(",", ":")),
        broken=reader.broken,
    )


def _goes_on(position: FilePosition, file: BinaryIO, about: os.stat_result, format: str) -> bool:
    """Whether the file begins with what was read up to *position*."""
    if position.inode != about.st_ino or position.format != format:
        return False
    if not 0 < position.read_to <= about.st_size:
        return False
    return tail_crc(file, position.read_to) == position.tail_crc


class _UsageReader:
    """Takes the lines of one file into a reading, up to its last whole line."""

    def __init__(
        self, reading: FileReading, lines: UsageLines, prices: Prices, bounds: ReadingBounds
    ) -> None:
        self.reading = reading
        self.lines = lines
        self.offset = 0
        self.broken = 0
        self._prices = prices
        self._bounds = bounds

    def resume(self, position: FilePosition) -> None:
        """Go on where the file was read to before."""
        self.lines.resume(json.loads(position.state))
        self.offset = position.read_to
        self.broken = position.broken
        self.reading.is_continued = True

    def read(self, file: BinaryIO) -> None:
        """Read the lines of *file* from here on."""
        start = self.offset
        begun = b""
        at_once = min(READ_AT_ONCE, self._bounds.size or READ_AT_ONCE)
        file.seek(start)
        # A block is at least as long as the line that has begun, so a long line is copied rarely.
        while block := file.read(max(at_once, len(begun))):
            data = begun + block
            end = data.rfind(b"\n") + 1
            self._take_lines(data, end)
            self.offset += end
            begun = data[end:]
            if end and self._bounds.are_reached(self.offset - start):
                self.reading.is_complete = False
                begun = b""
                break
        # A line without an end counts if it's whole, and is read again when it has its end.
        self._take_lines(begun, len(begun))
        self.reading.size = self.offset + len(begun) - start
        self.reading.folder = self.lines.folder

    def _take_lines(self, data: bytes, size: int) -> None:
        """Take those lines in the first *size* bytes of *data* that may report something."""
        first_sign = self.lines.signs[0]
        search = line_signs(self.lines.signs).search
        reports_nothing = self.lines.reports_nothing
        begin = 0
        while begin < size:
            end = data.find(b"\n", begin, size) + 1 or size
            if not reports_nothing(data, begin, end):
                # Usage stands near the end of a line, behind all that the model wrote.
                has_sign = data.rfind(first_sign, begin, end) >= 0 or search(data, begin, end)
                if has_sign:
                    self._take(data[begin:end], self.offset + begin)
            begin = end

    def _take(self, line: bytes, at: int) -> None:
        if at == 0:
            line = line.removeprefix(BYTE_ORDER_MARK)
        parsed = self.lines.parsed(line)
        if not isinstance(parsed, dict):
            self.broken += line.endswith(b"\n")
            return
        try:
            events = self.lines.events(parsed, at)
        except UNREADABLE:
            return
        for event in events:
            self._add(event)

    def _add(self, event: Event) -> None:
        reading = self.reading
        lines = self.lines
        if isinstance(event, Usage):
            reading.add_request(request_of(event, reading.path, self._prices, lines))
        elif isinstance(event, RunTotal) and not event.agent:
            reading.add_total(total_of(event))
        elif isinstance(event, Compaction):
            estimate = estimate_of(event, reading.path, self._prices, lines.model)
            reading.add_request(estimate)


def _read_whole(reading: FileReading, about: os.stat_result, format: str, prices: Prices) -> None:
    """Read a file of any format from its beginning to its end."""
    broken: list[int] = []
    branch = ""
    for event in read(
        reading.path, format=format or None, subagents=False, on_broken=broken.append
    ):
        if isinstance(event, Usage):
            reading.add_request(request_of(event, reading.path, prices, None, branch))
        elif isinstance(event, RunTotal) and not event.agent:
            reading.add_total(total_of(event))
        elif isinstance(event, StateSeen) and event.name == "folder":
            reading.folder = reading.folder or event.value
        elif isinstance(event, StateSeen) and event.name == "branch":
            branch = event.value
    reading.size = about.st_size
    reading.position = FilePosition(
        about.st_ino,
        about.st_size,
        about.st_mtime_ns,
        read_to=about.st_size,
        format=format,
        broken=sum(broken),
    )


def request_of(
    event: Usage, path: str, prices: Prices, lines: UsageLines | None, branch: str = ""
) -> IndexedRequest:
    """Return the request that *event* reports; without a key, its place in the file is the key."""
    used = event.tokens
    cost = prices.request(used, event.model, event.time)
    if cost is None:
        cost = event.cost
    request = IndexedRequest(
        key=event.request or f"@{event.at}:{path}",
        session=event.session,
        sub_agent=event.agent,
        model=event.model,
        time=event.time,
        branch=branch,
        input=used.input,
        output=used.output,
        cache_read=used.cache_read,
        write_5m=used.cache_write_5m,
        write_1h=used.cache_write_1h,
        fresh=used.fresh,
        details=details_of(used),
        reported=event.cost,
        cost=cost,
        final=event.final,
    )
    if lines is not None:
        request.branch = lines.branch
        request.agent_type = lines.agent_type
        request.skill = lines.skill
        request.mcp = lines.mcp
    return request


def total_of(event: RunTotal) -> ClientTotal:
    """Return what a client's total says; one that names no model has all under an empty name."""
    by_model = dict(event.tokens)
    if not by_model and event.usage:
        by_model[""] = event.usage
    counts = {model: list(counts_of(used)) for model, used in by_model.items()}
    return ClientTotal(event.session, event.cost, counts)


def estimate_of(event: Compaction, path: str, prices: Prices, model: str) -> IndexedRequest:
    """Return what a compaction is expected to have cost: its window, read from the cache once.

    A fork has its parent's lines under another session, so the key is the moment.
    """
    place = f"{event.time}" if event.time is not None else f"{event.at}:{path}"
    expected = Tokens(cache_read=event.before or 0, output=SUMMARY_TOKENS)
    return IndexedRequest(
        key=f"compaction:{place}:{event.before}",
        kind=ESTIMATE,
        session=event.session,
        sub_agent=event.agent,
        model=model,
        time=event.time,
        cost=0,
        estimated_cost=prices.request(expected, model, event.time) or 0,
    )
