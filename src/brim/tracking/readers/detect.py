"""Finds out which agent wrote a line, and hands it to the reader of that format."""

from __future__ import annotations

import sys

from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from brim.tracking.events import Event
    from brim.tracking.readers.types import Reader

_MODULES = {
    "claude-transcript": ("claude_transcript", "ClaudeTranscriptReader"),
    "claude-status": ("claude_status", "ClaudeStatusReader"),
    "codex-rollout": ("codex_rollout", "CodexRolloutReader"),
    "codex-exec": ("codex_exec", "CodexExecReader"),
    "opencode": ("opencode", "OpencodeReader"),
    "gemini-stream": ("gemini_stream", "GeminiStreamReader"),
    "gemini-transcript": ("gemini_transcript", "GeminiTranscriptReader"),
    "claude-stream": ("claude_stream", "ClaudeStreamReader"),
    "anthropic": ("api", "ApiResponseReader"),
    "openai-chat": ("api", "ApiResponseReader"),
    "openai-responses": ("api", "ApiResponseReader"),
    "gemini": ("api", "ApiResponseReader"),
}
"""Module and class by format, in the order in which they are asked: the looser a shape, the later."""

FORMATS = tuple(_MODULES)
"""Every format that is read."""

_AGENTS = tuple(name for name in FORMATS if _MODULES[name][0] != "api")


def format_of(line: Mapping[str, Any]) -> str | None:
    """Return which of ``FORMATS`` the parsed *line* is, or None.

    >>> format_of({"type": "turn.completed", "usage": {"input_tokens": 3}})
    'codex-exec'
    """
    found = next((name for name in _AGENTS if _recognises(name)(line)), None)
    return found or _provider_of(line)


class AnyReader:
    """Reads whatever comes: the format of a line is found out, and kept as long as the lines are of it.

    It never raises. With *format* every line is read as that.
    """

    def __init__(self, format: str | None = None) -> None:
        if format is not None and format not in _MODULES:
            raise InputError(f"format: {format!r} is not known; known are {', '.join(FORMATS)}")
        self.format = format
        """The format of the last line that had one; None before the first."""
        self.agent = ""
        """The sub-agent whose file is read, if its lines do not say."""
        self.unknown = 0
        """How many lines were of no format."""
        self._fixed = format is not None
        self._readers: dict[tuple[str, str], Reader] = {}

    def events(self, line: Mapping[str, Any], at: int = 0) -> list[Event]:
        """Return what happened in *line*, which begins at byte *at*; nothing if no format is like it."""
        try:
            if not self._is_known(line):
                self.unknown += 1
                return []
            return self._reader().events(line, at)
        except (ArithmeticError, AttributeError, InputError, LookupError, RecursionError, TypeError, ValueError):
            self.unknown += 1
            return []

    def finish(self) -> list[Event]:
        """Return what readers hold back until the next line shows how it goes on, now that none follows."""
        held = [reader for reader in self._readers.values() if hasattr(reader, "finish")]
        return [event for reader in held for event in reader.finish()]

    def _is_known(self, line: Mapping[str, Any]) -> bool:
        if self._fixed or (self.format in _AGENTS and _recognises(self.format)(line)):
            return True
        found = format_of(line)
        self.format = found or self.format
        return found is not None

    def _reader(self) -> Reader:
        wanted = _MODULES[self.format or ""]
        reader = self._readers.get(wanted)
        if reader is None:
            made: Reader = getattr(_module(wanted[0]), wanted[1])()
            reader = self._readers[wanted] = made
        if wanted[0] == "claude_transcript":
            reader.agent = self.agent  # type: ignore[attr-defined]
        return reader


_recognisers: dict[str, Callable[[Mapping[str, Any]], bool]] = {}


def _recognises(format: str) -> Callable[[Mapping[str, Any]], bool]:
    known = _recognisers.get(format)
    if known is None:
        known = _recognisers[format] = _module(_MODULES[format][0]).recognises
    return known


def _provider_of(line: Mapping[str, Any]) -> str | None:
    provider: str | None = _module("api").provider_of(line)
    return provider


def _module(name: str) -> Any:
    full_name = f"brim.tracking.readers.{name}"
    __import__(full_name)
    return sys.modules[full_name]
