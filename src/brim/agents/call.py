"""What an agent tells brim and what brim answers, in the same words for every agent.

A ``ToolCall`` is a call of a tool, whether a hook is asked about it before it's made or a
transcript tells of it later. Its ``input`` has one set of names (``named``), so no other room knows
what an agent calls a path or a command.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from brim.agents.patches import BEGIN, edits_in
from brim.record import PlainData

if TYPE_CHECKING:
    from brim.agents.agent import Agent

KINDS = ("shell", "read", "write", "edit", "search", "todo", "agent", "question", "plan", "")
"""What a tool does, whatever its agent calls it; empty if that isn't known."""

CHANGING = ("edit", "write")
"""The kinds of tools that change files."""

SESSION_START = "session_start"
PROMPT = "prompt"
BEFORE_TOOL = "before_tool"
AFTER_TOOL = "after_tool"
TOOL_FAILED = "tool_failed"
BEFORE_COMPACT = "before_compact"
AFTER_COMPACT = "after_compact"
STOP = "stop"
SUBAGENT_STOP = "subagent_stop"
SESSION_END = "session_end"
MODEL_CALL = "model_call"

EVENTS = (
    SESSION_START,
    PROMPT,
    BEFORE_TOOL,
    AFTER_TOOL,
    TOOL_FAILED,
    BEFORE_COMPACT,
    AFTER_COMPACT,
    STOP,
    SUBAGENT_STOP,
    SESSION_END,
    MODEL_CALL,
    "other",
)
"""What can happen. ``model_call`` is the report of one request; brim has no answer to ``other``."""

_PATHS = ("file_path", "notebook_path", "absolute_path", "filePath", "path", "paths", "include")
"""Where tools are given files. MCP servers reach every agent, and each has its own names."""

_NEW_TEXTS = ("new_string", "content", "new_source", "file_text", "new_str")
_OLD_TEXTS = ("old_string", "old_str")


@dataclass(frozen=True)
class Event(PlainData):
    """Something that happened in a session."""

    session: str = ""
    agent: str = ""
    time: float | None = None
    at: int = 0


@dataclass(frozen=True)
class ToolCall(Event):
    """A call of a tool: ``name`` is the agent's word for it, ``kind`` one of ``KINDS``."""

    id: str = ""
    name: str = ""
    kind: str = ""
    input: Mapping[str, Any] = field(default_factory=dict)
    """What was given to it, under one set of names; the agent's own keys stay."""
    words: tuple[str, ...] = ()
    """The words of a command that was given as a list."""

    @property
    def command(self) -> str:
        """The shell command; empty if it has none, or only applies a patch."""
        command = self.input.get("command")
        if self.kind != "shell" or self.patch or not isinstance(command, str):
            return ""
        return command

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it reads or changes, in the words of the call; a folder is one too."""
        paths = [str(edit["file_path"]) for _, edit in edits_in(self.patch)]
        if self.kind != "shell":
            paths += [path for key in _PATHS for path in _texts(self.input.get(key))]
        return tuple(dict.fromkeys(paths))

    @property
    def moved(self) -> tuple[str, ...]:
        """The files that a patch gives another name."""
        edits = [edit for _, edit in edits_in(self.patch)]
        return tuple([edit["moved_from"] for edit in edits if "moved_from" in edit])

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns of the files that it searches."""
        patterns = _texts(self.input.get("glob"))
        if "glob" in self.name.lower():
            patterns += _texts(self.input.get("pattern"))
        return tuple(patterns)

    @property
    def text(self) -> str:
        """The text that it writes into files."""
        return self._joined(_NEW_TEXTS)

    @property
    def replaced(self) -> str:
        """The text that it takes out of files."""
        return self._joined(_OLD_TEXTS)

    @property
    def patch(self) -> str:
        """The patch that it applies: Codex passes one as a command."""
        for key in ("command", "input", "patch"):
            texts = _texts(self.input.get(key))
            if self.kind == "shell" and not _applies_patch([*texts, *self.words]):
                continue
            for text in texts:
                if BEGIN in text:
                    return text[text.find(BEGIN) :]
        return ""

    @property
    def changes_files(self) -> bool:
        """Whether it is a tool that changes files."""
        return self.kind in CHANGING

    def _joined(self, keys: tuple[str, ...]) -> str:
        """Return the texts under *keys* of each edit."""
        several = self.input.get("edits")
        edits: list[Mapping[str, Any]] = [self.input]
        if self.patch:
            edits = [edit for _, edit in edits_in(self.patch)]
        elif isinstance(several, list):
            edits = [edit for edit in several if isinstance(edit, dict)]
        texts = [edit.get(key) for edit in edits for key in keys]
        return "\n".join([text for text in texts if isinstance(text, str)])


@dataclass(frozen=True)
class HookCall(PlainData):
    """One call of a hook. A field that the agent didn't send, or sent with the wrong type, is
    empty."""

    agent: Agent
    event: str
    """One of ``EVENTS``."""
    name: str = ""
    """The agent's own name for the event."""
    session: str = ""
    sub_agent: str = ""
    """The id of the sub-agent that it happened in; empty is the main thread."""
    cwd: str = ""
    transcript: str = ""
    model: str = ""
    prompt: str = ""
    """What was typed, without what the agent added; a prompt written by a machine is unchanged."""
    human: bool = False
    """Whether a person typed the prompt."""
    tool: ToolCall = ToolCall()
    output: str = ""
    """What the tool answered, as text."""
    error: str = ""
    """Why the call failed; empty if it didn't, or if the agent doesn't say."""
    interrupted: bool = False
    """Whether a person stopped the call."""
    source: str = ""
    """How a session began: ``startup``, ``resume``, ``clear``, ``compact`` or ``fork``."""
    trigger: str = ""
    """Who wanted a compaction: ``manual`` or ``auto``."""
    summary: str = ""
    """The summary that a compaction left."""
    turn: str = ""
    """The id of the turn."""
    last_answer: str = ""
    """The model's last words, at the end of a turn."""
    was_kept_going: bool = False
    """Whether a hook has kept the agent from ending this turn before."""
    sub_agent_transcript: str = ""
    """The file of the sub-agent that has ended."""
    shown_files: tuple[str, ...] = ()
    """The files that the person's editor shows."""
    prompt_tokens: int = 0
    """Tokens of the prompt of the request that was made."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """Everything that the agent sent."""

    @property
    def has_failed(self) -> bool:
        """Whether the tool's call failed."""
        return self.event == TOOL_FAILED or bool(self.error)


@dataclass(frozen=True)
class Answer(PlainData):
    """What to say to whom. An empty one means no answer at all. Agents leave out what they have no
    field for."""

    context: str = ""
    """For the model."""
    preamble: str = ""
    """For the model, above every ``context``: text that isn't a rule would read as one below a
    rule's heading."""
    instructions: str = ""
    """For the summarizer, before a compaction."""
    note: str = ""
    """For the human; no model sees it."""
    deny: str = ""
    """Why the pending call, prompt or end of a turn must not happen; empty lets it happen."""
    stop_reason: str = ""
    """Why the turn must end here; empty lets it go on."""

    @property
    def text(self) -> str:
        """Everything for the model, in order."""
        return self.preamble + self.context

    def __bool__(self) -> bool:
        return any(vars(self).values())


NOTHING = Answer()
"""The answer that says nothing."""


def joined(*answers: Answer) -> Answer:
    """Return *answers* as one, in order. The first reason to deny or stop is the reason."""
    given = [answer for answer in answers if answer]
    if not given:
        return NOTHING
    if len(given) == 1:
        return given[0]
    return Answer(
        context="".join([answer.context for answer in given]),
        preamble="".join([answer.preamble for answer in given]),
        instructions="".join([answer.instructions for answer in given]),
        note="\n".join([answer.note for answer in given if answer.note]),
        deny=next((answer.deny for answer in given if answer.deny), ""),
        stop_reason=next((answer.stop_reason for answer in given if answer.stop_reason), ""),
    )


def _applies_patch(texts: list[str]) -> bool:
    return any(text.lstrip().startswith(("apply_patch", "applypatch")) for text in texts)


def _texts(value: object) -> list[str]:
    """Return *value*, a text or a list of texts, as a list."""
    values = value if isinstance(value, list) else [value]
    return [text for text in values if isinstance(text, str) and text]
