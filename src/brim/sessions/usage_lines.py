"""Which lines of a session's file say what a request took, and what do they say?

A file grows while its agent works, so each reader can stop after a line and go on later: ``state``
is what it must remember. Most bytes are tool results; a line without one of the reader's ``signs``
isn't parsed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

from brim.agents.call import Event
from brim.agents.claude.transcript import report_of
from brim.agents.codex.transcript import CodexRolloutReader
from brim.agents.events import RunTotal, StateSeen, Usage
from brim.agents.fields import items, mapping, text
from brim.agents.gemini.transcript import GeminiTranscriptReader

CLAUDE = "claude-transcript"
CODEX = "codex-rollout"
GEMINI = "gemini-transcript"

MCP_TOOL = "mcp__"
"""How the names of an MCP server's tools begin; the server's name follows, up to the next two
underscores."""


class UsageLines(Protocol):
    """Reads the lines of one file that have one of ``signs``, in their order."""

    folder: str
    """The folder that the agent worked in, empty if no line has said it yet."""
    branch: str
    """The git branch of the last line."""
    model: str
    """The model that answered last, if the lines of a compaction don't name it."""

    @property
    def signs(self) -> tuple[bytes, ...]:
        """What a line must hold to be read, one of them."""

    def events(self, line: Mapping[str, Any], at: int) -> list[Event]:
        """Return the requests, totals and compactions in *line*, which begins at byte *at*."""

    def state(self) -> dict[str, Any]:
        """Return what ``resume`` needs to go on after this line, as JSON can hold it."""

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on where the reader stood whose *state* this is."""


class ClaudeUsageLines:
    """Reads a transcript of Claude Code."""

    signs = (b'"usage"', b'"cost-state"', b'"compact_boundary"')

    def __init__(self, sub_agent: str = "", slug: str = "") -> None:
        self.folder = ""
        self.branch = ""
        self.model = ""
        self._attribution: dict[str, str] = {}
        self._sub_agent = sub_agent
        self._slug = slug
        self._last: object = None

    def events(self, line: Mapping[str, Any], at: int) -> list[Event]:
        """Return the request, total or compaction in *line*; nothing if it repeats the last one."""
        server = _mcp_server(line)
        identity = _identity(line)
        if identity is not None and identity == self._last and not server:
            return []
        self.branch = text(line, "gitBranch")
        self._attribution = {
            "agent_type": text(line, "attributionAgent"),
            "skill": text(line, "attributionSkill"),
            "mcp": server,
        }
        report = report_of(line, agent=self._sub_agent, at=at)
        if report is None:
            return []
        if isinstance(report, Usage):
            self._last = identity
            self.model = report.model
            self._see_folder(text(line, "cwd"))
        return [report]

    def _see_folder(self, folder: str) -> None:
        """Keep the first *folder* that the project's name is made of: agents go to others later."""
        if self.folder or not folder:
            return
        if not self._slug or slug_of(folder) == self._slug:
            self.folder = folder

    def attribution(self) -> dict[str, str]:
        """Return what the last request was for: a kind of sub-agent, a skill, an MCP server."""
        return self._attribution

    def state(self) -> dict[str, Any]:
        """Return folder and model: lines don't depend on earlier ones otherwise."""
        return {"folder": self.folder, "model": self.model}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on with the folder and the model of *state*."""
        self.folder = text(state, "folder")
        self.model = text(state, "model")


class _ReaderLines:
    """Reads a file with the reader of its format, which knows more than requests."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self.folder = ""
        self.branch = ""
        self.model = ""

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


class CodexUsageLines(_ReaderLines):
    """Reads a rollout of Codex. Lines that name a turn show where a parent's history ends."""

    signs = (b'"token_', b'"turn_id"', b'"turn_context"', b'"session_meta"', b'"thread_settings')

    def __init__(self) -> None:
        super().__init__(CodexRolloutReader())


class GeminiUsageLines(_ReaderLines):
    """Reads a session's record of Gemini CLI."""

    signs = (b'"tokens"', b'"sessionId"', b'"$set"')

    def __init__(self) -> None:
        super().__init__(GeminiTranscriptReader())


def slug_of(folder: str) -> str:
    """Return how Claude Code names the folder that it keeps the sessions of *folder* in."""
    return re.sub(r"[^A-Za-z0-9]", "-", folder)


def _identity(line: Mapping[str, Any]) -> object:
    """Return what a line repeats if it's another block of the same answer; None without an id."""
    message = mapping(line, "message")
    id = text(message, "id")
    if not id:
        return None
    model = message.get("model")
    return id, model, message.get("usage"), line.get("requestId"), line.get("isSidechain")


def _mcp_server(line: Mapping[str, Any]) -> str:
    """Return the MCP server whose tool *line* calls, empty if it calls none."""
    for block in items(line, "message", "content"):
        name = text(block, "name")
        if name.startswith(MCP_TOOL):
            return name.removeprefix(MCP_TOOL).partition("__")[0]
    return ""
