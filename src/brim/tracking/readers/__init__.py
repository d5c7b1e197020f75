"""Who wrote this line, and what happened in it?

``claude``, ``codex``, ``gemini`` and ``opencode`` have the readers of each client's formats,
``api`` those of plain responses; ``fields`` is what they share, and ``tools`` knows which tool a
name means. ``stream`` reads lines as they come, and the files of a session. ``AnyReader`` finds out
which format a line has. Readers never raise on what is in a line.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Protocol

from brim.errors import InputError
from brim.tracking.events import Event
from brim.tracking.readers.api import provider_of


class Reader(Protocol):
    """Turns the parsed lines of one stream into events.

    It keeps what it needs to count nothing twice.

    ``recognises`` (static) says whether a line is of this format. A reader may have ``finish``,
    which returns what it held back until the next line. It never raises on what is in a line: what
    it doesn't know it leaves out.
    """

    def events(self, line: Mapping[str, Any], at: int = 0) -> list[Event]:
        """Return what happened in *line*, which begins at byte *at* of its stream."""


_READERS = {
    "claude-transcript": ("claude", "ClaudeTranscriptReader"),
    "claude-status": ("claude", "ClaudeStatusReader"),
    "codex-rollout": ("codex", "CodexRolloutReader"),
    "codex-exec": ("codex", "CodexExecReader"),
    "opencode": ("opencode", "OpencodeReader"),
    "gemini-stream": ("gemini", "GeminiStreamReader"),
    "gemini-transcript": ("gemini", "GeminiTranscriptReader"),
    "claude-stream": ("claude", "ClaudeStreamReader"),
    "anthropic": ("api", "ApiResponseReader"),
    "openai-chat": ("api", "ApiResponseReader"),
    "openai-responses": ("api", "ApiResponseReader"),
    "gemini": ("api", "ApiResponseReader"),
}
"""Module and class by format, in the order in which they are asked: the looser a shape, the
later."""

FORMATS = tuple(_READERS)
"""Every format that is read."""

_AGENTS = tuple(name for name in FORMATS if _READERS[name][0] != "api")


def format_of(line: Mapping[str, Any]) -> str | None:
    """Return which of ``FORMATS`` the parsed *line* is, or None.

    >>> format_of({"type": "turn.completed", "usage": {"input_tokens": 3}})
    'codex-exec'
    """
    for name in _AGENTS:
        if _class(name).recognises(line):
            return name
    return provider_of(line)


class AnyReader:
    """Reads lines of any format: it is inferred, and kept as long as the lines have it.

    It never raises. With *format* every line is read as that.
    """

    def __init__(self, format: str | None = None) -> None:
        if format is not None and format not in _READERS:
            raise InputError(f"format: {format!r} is not known; known are {', '.join(FORMATS)}")
        self.format = format
        """The format of the last line that had one; None before the first."""
        self.agent = ""
        """The sub-agent whose file is read, if its lines don't say."""
        self.unknown = 0
        """How many lines were of no format."""
        self._fixed = format is not None
        self._readers: dict[Any, Any] = {}

    def events(self, line: Mapping[str, Any], at: int = 0) -> list[Event]:
        """Return what happened in *line*, which begins at byte *at*; nothing if no format is like
        it."""
        try:
            if reader := self._reader(line):
                return reader.events(line, at)
        except (
            ArithmeticError,
            AttributeError,
            InputError,
            LookupError,
            RecursionError,
            TypeError,
            ValueError,
        ):
            pass
        self.unknown += 1
        return []

    def finish(self) -> list[Event]:
        """Return what readers held back until the next line, now that none follows."""
        held = [reader for reader in self._readers.values() if hasattr(reader, "finish")]
        return [event for reader in held for event in reader.finish()]

    def _reader(self, line: Mapping[str, Any]) -> Reader | None:
        if not self._fixed and not (
            self.format in _AGENTS and _class(self.format).recognises(line)
        ):
            found = format_of(line)
            if found is None:
                return None
            self.format = found
        kind = _class(self.format or "")
        reader: Any = self._readers.setdefault(kind, self._readers.get(kind) or kind())
        reader.agent = self.agent
        return reader  # type: ignore[no-any-return]


@cache
def _class(format: str) -> Any:
    module, name = _READERS[format]
    return getattr(__import__(f"{__name__}.{module}", fromlist=[name]), name)
