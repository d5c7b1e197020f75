"""Takes a stream in pieces of any size, and gives the events of every line that is complete."""

from __future__ import annotations

from brim import _json
from brim.tracking.readers.detect import AnyReader

TYPE_CHECKING = False
if TYPE_CHECKING:
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
        parsed = None if too_long else self._parsed(whole, at)
        if ended or isinstance(parsed, dict):
            self.offset += size + ended
        if parsed is _NOTHING:
            return []
        self.lines += 1
        if not isinstance(parsed, dict):
            self.broken += 1
            return []
        return self.reader.events(parsed, at)

    def _parsed(self, line: bytes, at: int) -> Any:
        line = (line.removeprefix(_BYTE_ORDER_MARK) if at == 0 else line).strip()
        if not line:
            return _NOTHING
        return parsed_line(line)


_NOTHING = object()


def parsed_line(line: bytes) -> Any:
    """Return what the JSON text *line* says, None if it is none. Half characters are replaced: they cannot be written.

    >>> parsed_line(b'{"a": "\\\\ud83d"}')
    {'a': '\\ufffd'}
    """
    try:
        parsed = _json.loads(line.decode("utf-8", "replace"))
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
