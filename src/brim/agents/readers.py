"""Who wrote this line, and what happened in it?

Each agent's ``transcript.py`` has the readers of its formats, ``responses`` those of plain
responses. ``AnyReader`` finds out which format a line has. Readers never raise on what is in a
line.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Protocol

from brim import agents
from brim.agents.agent import Agent
from brim.agents.call import Event
from brim.agents.responses import ApiResponseReader, provider_of
from brim.errors import InputError

RESPONSES = ("anthropic", "openai-chat", "openai-responses", "gemini")
"""The formats of plain responses, by provider."""


class Reader(Protocol):
    """Turns the parsed lines of one stream into events. It keeps what it needs to count nothing
    twice.

    ``recognises`` (static) says whether a line is of this format. A reader may have ``finish``,
    which returns what it held back until the next line. It never raises on what is in a line: what
    it doesn't know it leaves out.
    """

    def events(self, line: Mapping[str, Any], at: int = 0) -> list[Event]:
        """Return what happened in *line*, which begins at byte *at* of its stream."""
        ...


def agent_formats() -> dict[str, Agent]:
    """Return the agent that writes each format, in the order in which they are asked: the loosest
    shapes come last."""
    formats: dict[str, Agent] = {}
    loose: dict[str, Agent] = {}
    for agent in agents.every_agent():
        formats.update(dict.fromkeys(agent.transcripts.readers, agent))
        loose.update(dict.fromkeys(agent.transcripts.loose, agent))
    for format in loose:
        del formats[format]
    return formats | loose


def known_formats() -> tuple[str, ...]:
    """Return every format that is read: those of agents, and the responses of providers."""
    return (*agent_formats(), *RESPONSES)


def format_of(line: Mapping[str, Any]) -> str | None:
    """Return the format of the parsed *line*, or None.

    >>> format_of({"type": "turn.completed", "usage": {"input_tokens": 3}})
    'codex-exec'
    """
    for name, reader in _agent_readers().items():
        if reader.recognises(line):
            return name
    return provider_of(line)


class AnyReader:
    """Reads lines of any format: it is inferred, and kept as long as the lines have it.

    It never raises. With *format* every line is read as that, and with *writer* as a line of that
    agent's own files.
    """

    def __init__(self, format: str | None = None, *, writer: Agent | None = None) -> None:
        if writer is not None:
            format = writer.transcripts.format
        elif format is not None and format not in known_formats():
            formats = ", ".join(known_formats())
            raise InputError(f"format: {format!r} is not known; known are {formats}")
        self.format = format
        """The format of the last line that had one; None before the first."""
        self.agent = ""
        """The sub-agent whose file is read, if its lines don't say."""
        self.unknown = 0
        """How many lines were of no format."""
        self._fixed = format is not None
        self._readers: dict[Any, Any] = {}
        self._own_class: Any = None
        if writer is not None:
            self._own_class = writer.reader_class(writer.transcripts.format)

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
        readers = [reader for reader in self._readers.values() if hasattr(reader, "finish")]
        return [event for reader in readers for event in reader.finish()]

    def _reader(self, line: Mapping[str, Any]) -> Reader | None:
        if not self._fixed and not self._goes_on(line):
            format = format_of(line)
            if format is None:
                return None
            self.format = format
        kind = self._class()
        if kind not in self._readers:
            self._readers[kind] = kind()
        reader: Any = self._readers[kind]
        reader.agent = self.agent
        return reader  # type: ignore[no-any-return]

    def _goes_on(self, line: Mapping[str, Any]) -> bool:
        """Whether *line* has the format of the line before it."""
        reader = _agent_readers().get(self.format or "")
        return reader is not None and reader.recognises(line)

    def _class(self) -> Any:
        if self._own_class is not None:
            return self._own_class
        if self.format in RESPONSES:
            return ApiResponseReader
        return _agent_readers()[self.format or ""]


def _agent_readers() -> dict[str, Any]:
    return _readers_of(agents.TABLE)


@cache
def _readers_of(_: tuple[agents.TableLine, ...]) -> dict[str, Any]:
    """Return the reader of each format that an agent in the table writes."""
    return {format: agent.reader_class(format) for format, agent in agent_formats().items()}
