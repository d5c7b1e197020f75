"""Which lines of a session's file say what a request took, and what do they say?

A file grows while its agent works, so each reader can stop after a line and go on later: ``state``
is what it must remember. Most bytes are tool results; a line without one of the reader's ``signs``
isn't parsed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from brim.agents import AGENTS, agent_named
from brim.agents.call import Event
from brim.agents.events import RunTotal, StateSeen, Usage
from brim.agents.fields import mapping, parsed_line, text


class UsageLines(Protocol):
    """Reads the lines of one file that have one of ``signs``, in their order."""

    folder: str
    """The folder that the agent worked in, empty if no line has said it yet."""
    branch: str
    """The git branch of the last line."""
    model: str
    """The model that answered last, if the lines of a compaction don't name it."""
    agent_type: str
    """The kind of sub-agent that made the last request, if its line says it."""
    skill: str
    """The skill that the last request was for."""
    mcp: str
    """The MCP server whose tool the last request called."""

    @property
    def signs(self) -> tuple[bytes, ...]:
        """What a line must hold to be read, one of them."""

    def reports_nothing(self, data: bytes, begin: int, end: int) -> bool:
        """Whether the line of *data* from *begin* to *end* needn't be searched for signs."""

    def parsed(self, line: bytes) -> Any:
        """Return what *line* says, perhaps without what reports nothing; None if it isn't JSON."""

    def events(self, line: Mapping[str, Any], at: int) -> list[Event]:
        """Return the requests, totals and compactions in *line*, which begins at byte *at*."""

    def state(self) -> dict[str, Any]:
        """Return what ``resume`` needs to go on after this line, as JSON can hold it."""

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on where the reader stood whose *state* this is."""


class ReaderUsageLines:
    """Reads a file with the reader of its format, which knows more than requests.

    Its lines don't say what a request was for.
    """

    agent_type = ""
    skill = ""
    mcp = ""

    def __init__(self, reader: Any, signs: tuple[bytes, ...]) -> None:
        self.signs = signs
        self._reader = reader
        self.folder = ""
        self.branch = ""
        self.model = ""

    def reports_nothing(self, data: bytes, begin: int, end: int) -> bool:  # noqa: ARG002
        """Return False: only a search shows it."""
        return False

    def parsed(self, line: bytes) -> Any:
        """Return all that *line* says."""
        return parsed_line(line)

    def events(self, line: Mapping[str, Any], at: int) -> list[Event]:
        """Return the requests and totals in *line*."""
        reports: list[Event] = []
        for event in self._reader.events(line, at):
            if isinstance(event, (Usage, RunTotal)):
                reports.append(event)
            elif isinstance(event, StateSeen) and event.name == "folder":
                self.folder = self.folder or event.value
            elif isinstance(event, StateSeen) and event.name == "branch":
                self.branch = event.value
        return reports

    def state(self) -> dict[str, Any]:
        """Return the reader's state, with folder and branch."""
        return {"folder": self.folder, "branch": self.branch, "reader": self._reader.state()}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on where the reader stood."""
        self.folder = text(state, "folder")
        self.branch = text(state, "branch")
        self._reader.resume(mapping(state, "reader"))


def usage_lines_of(
    format: str, path: str = "", sub_agent: str = "", slug: str = ""
) -> UsageLines | None:
    """Return the reader for the lines of the file *path*; None if *format* must be read whole.

    *sub_agent* is whose file it is, *slug* the name that its agent made of the project's folder.
    """
    name = format.partition("-")[0]
    if name not in AGENTS:
        return None
    agent = agent_named(name)
    transcripts = agent.transcripts
    if format != transcripts.format:
        return None
    if transcripts.has_usage_reader:
        module = __import__(f"brim.agents.{name}.usage", fromlist=["usage_lines"])
        reader: UsageLines = module.usage_lines(path, sub_agent, slug)
        return reader
    if not transcripts.usage_signs:
        return None
    return ReaderUsageLines(agent.reader_class(format)(), transcripts.usage_signs)
