"""Reads what requests took from the lines of a transcript, and nothing else: that's fast."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from brim.agents.call import Event
from brim.agents.claude.reports import report_of
from brim.agents.events import Usage
from brim.agents.fields import items, mapping, parsed_line, text
from brim.files import read_safely

LARGEST_META = 1 << 16
"""Bytes of the file about a sub-agent that are read."""
MCP_TOOL = "mcp__"
"""How the names of an MCP server's tools begin; the server's name follows, up to the next two
underscores."""
MCP_SIGN = b'"mcp__'
MESSAGE = b'"message":{'
CONTENT = b'"content":['
AFTER_CONTENT = b'],"stop_reason":'
REQUEST = b'"requestId":"'
"""How Claude Code writes a message, what stands before and after its content, and what follows."""
USER = b'"type":"user",'
LONGEST_HEAD = 1_000
"""Bytes in which a line says that it's a user's."""


class ClaudeUsageLines:
    """Reads a transcript of Claude Code."""

    signs = (b'"usage"', b'"cost-state"', b'"compact_boundary"')

    def __init__(self, sub_agent: str = "", slug: str = "", agent_type: str = "") -> None:
        self.folder = ""
        self.branch = ""
        self.model = ""
        self.agent_type = ""
        self.skill = ""
        self.mcp = ""
        self._sub_agent = sub_agent
        self._file_agent_type = agent_type
        self._slug = slug
        self._last: object = None
        self._last_answer = b""
        self._answer = b""
        """The bytes of a line that are the same in all blocks of an answer."""

    def reports_nothing(self, data: bytes, begin: int, end: int) -> bool:
        """Whether the line of *data* from *begin* to *end* is a user's.

        These lines hold the results of tools, most of a transcript. What stands before the first
        bracket inside a line belongs to the line itself.
        """
        user = data.find(USER, begin, min(begin + LONGEST_HEAD, end))
        if user < 0:
            return False
        return data.find(b"{", begin + 1, user) < 0 and data.find(b"[", begin, user) < 0

    def parsed(self, line: bytes) -> Any:
        """Return what *line* says, without what the model wrote unless it called an MCP tool.

        Nothing, if it's another block of the answer in the last line.
        """
        self._answer = b""
        message = line.find(MESSAGE)
        begin = line.find(CONTENT, message)
        end = line.rfind(AFTER_CONTENT)
        if not 0 <= message < begin < end or line.find(MCP_SIGN, begin, end) >= 0:
            return parsed_line(line)
        answer = _answer_around(line, message, begin, end)
        if answer and answer == self._last_answer:
            return {}
        self._answer = answer
        return _without_content(line, begin, end) or parsed_line(line)

    def events(self, line: Mapping[str, Any], at: int) -> list[Event]:
        """Return the request, total or compaction in *line*; nothing if it repeats the last one."""
        if not line:
            return []
        server = _mcp_server(line)
        identity = _identity(line)
        if identity is not None and identity == self._last and not server:
            return []
        self.branch = text(line, "gitBranch")
        self.agent_type = text(line, "attributionAgent") or self._file_agent_type
        self.skill = text(line, "attributionSkill")
        self.mcp = server
        report = report_of(line, agent=self._sub_agent, at=at)
        if report is None:
            return []
        if isinstance(report, Usage):
            self._last = identity
            self._last_answer = self._answer
            self.model = report.model
            self._see_folder(text(line, "cwd"))
        return [report]

    def _see_folder(self, folder: str) -> None:
        """Keep the first *folder* that the project's name is made of: agents go to others later."""
        if self.folder or not folder:
            return
        if not self._slug or slug_of(folder) == self._slug:
            self.folder = folder

    def state(self) -> dict[str, Any]:
        """Return folder and model: lines don't depend on earlier ones otherwise."""
        return {"folder": self.folder, "model": self.model}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on with the folder and the model of *state*."""
        self.folder = text(state, "folder")
        self.model = text(state, "model")


def usage_lines(path: str, sub_agent: str, slug: str) -> ClaudeUsageLines:
    """Return the reader for the file *path*."""
    agent_type = ""
    if sub_agent:
        agent_type = _agent_type_beside(path)
    return ClaudeUsageLines(sub_agent, slug, agent_type)


def _agent_type_beside(path: str) -> str:
    """Return the kind of the sub-agent whose file is *path*: ``agent-1.meta.json`` says it."""
    try:
        content = read_safely(f"{path.removesuffix('.jsonl')}.meta.json", at_most=LARGEST_META)
        about = json.loads(content)
    except (OSError, ValueError, RecursionError):
        return ""
    return text(about, "agentType") if isinstance(about, dict) else ""


def slug_of(folder: str) -> str:
    """Return how Claude Code names the folder that it keeps the sessions of *folder* in."""
    return re.sub(r"[^A-Za-z0-9]", "-", folder)


def _answer_around(line: bytes, message: int, begin: int, end: int) -> bytes:
    """Return the bytes of a message around its content, and the request's id; empty without one."""
    message_end = line.rfind(b"}", end, -2)
    request = line.find(REQUEST, message_end)
    if message_end < 0 or request < 0:
        return b""
    request_end = line.find(b'"', request + len(REQUEST))
    return line[message:begin] + line[end:message_end] + line[request:request_end]


def _without_content(line: bytes, begin: int, end: int) -> Any:
    """Return what *line* says, its message without content; None if it's in another order.

    Most of a line is what the model wrote, and parsing it takes most of the time. If the wrong part
    is cut out, the brackets that are left don't match, or the message has no usage.
    """
    parsed = parsed_line(line[: begin + len(CONTENT)] + line[end:])
    if mapping(parsed, "message").get("usage") is None:
        return None
    return parsed


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
