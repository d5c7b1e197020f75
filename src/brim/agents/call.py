"""What an agent tells brim and what brim answers, in the same words for every agent.

A ``ToolCall`` is a call of a tool, whether a hook is asked about it before it's made or a
transcript tells of it later. Its ``input`` has one set of names (``normalized``), so no other room
knows what an agent calls a path or a command.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from brim.agents.fields import first_items, first_text, flag, text
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
BETWEEN_REQUESTS = "between_requests"
BEFORE_COMPACT = "before_compact"
AFTER_COMPACT = "after_compact"
STOP = "stop"
SUBAGENT_START = "subagent_start"
SUBAGENT_STOP = "subagent_stop"
SESSION_END = "session_end"
MODEL_CALL = "model_call"

EVENTS = (
    SESSION_START,
    PROMPT,
    BEFORE_TOOL,
    AFTER_TOOL,
    TOOL_FAILED,
    BETWEEN_REQUESTS,
    BEFORE_COMPACT,
    AFTER_COMPACT,
    STOP,
    SUBAGENT_START,
    SUBAGENT_STOP,
    SESSION_END,
    MODEL_CALL,
    "other",
)
"""What can happen. ``between_requests`` comes before a turn's next request, where an agent says so;
``model_call`` is the report of one. brim has no answer to ``other``."""

BEGIN = "*** Begin Patch"
"""How a patch begins, which Codex passes as a command or as a tool's input."""

_MOVE = "*** Move to: "

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
        paths: list[str] = []
        for _, edit in edits_in(self.patch):
            paths.append(edit["file_path"])
        if self.kind != "shell":
            for key in _PATHS:
                paths += _texts(self.input.get(key))
        return tuple(dict.fromkeys(paths))

    @property
    def moved(self) -> tuple[str, ...]:
        """The files that a patch gives another name."""
        paths: list[str] = []
        for _, edit in edits_in(self.patch):
            if "moved_from" in edit:
                paths.append(edit["moved_from"])
        return tuple(paths)

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
    def changes(self) -> tuple[tuple[str, str, str], ...]:
        """Each edit: the file, the text taken out, and the text put in."""
        changes: list[tuple[str, str, str]] = []
        for edit in self._edits():
            path = edit.get("file_path") or next(iter(self.files), "")
            before = _joined_texts(edit, _OLD_TEXTS)
            after = _joined_texts(edit, _NEW_TEXTS)
            if isinstance(path, str) and (before or after):
                changes.append((path, before, after))
        return tuple(changes)

    @property
    def patch(self) -> str:
        """The patch that it applies: Codex passes one as a command."""
        for key in ("command", "input", "patch"):
            texts = _texts(self.input.get(key))
            if self.kind == "shell" and not _applies_patch([*texts, *self.words]):
                continue
            patch = _patch_of(texts)
            if patch:
                return patch
        return ""

    @property
    def changes_files(self) -> bool:
        """Whether it is a tool that changes files."""
        return self.kind in CHANGING

    def _joined(self, keys: tuple[str, ...]) -> str:
        """Return the texts under *keys* of each edit."""
        texts = [_joined_texts(edit, keys) for edit in self._edits()]
        return "\n".join([text for text in texts if text])

    def _edits(self) -> list[Mapping[str, Any]]:
        """Return what is given for each edit: of a patch and of a tool that takes several."""
        if self.patch:
            return [edit for _, edit in edits_in(self.patch)]
        several = self.input.get("edits")
        if isinstance(several, list):
            return [edit for edit in several if isinstance(edit, Mapping)]
        return [self.input]


def _joined_texts(edit: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    """Return the texts under *keys* of one edit."""
    return "\n".join([edit[key] for key in keys if isinstance(edit.get(key), str)])


# The tools of an agent ----------------------------------------------------------------------------

_SHELLS = ("sh", "bash", "zsh", "dash", "fish", "pwsh", "powershell", "cmd.exe")
_PATH = {"file_path": ("file_path", "filePath", "absolute_path", "path", "notebook_path")}

KEYS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "shell": {"command": ("command", "cmd")},
    "read": _PATH,
    "write": _PATH,
    "edit": {
        **_PATH,
        "old_string": ("old_string", "oldString"),
        "new_string": ("new_string", "newString"),
    },
}
"""What each kind of tool is given, and the keys that agents and MCP servers use for it."""


@dataclass(frozen=True)
class Tools(PlainData):
    """The names of an agent's tools by kind, separated by spaces. Case doesn't matter.

    >>> Tools({"shell": "Bash run_shell_command"}).kind("bash")
    'shell'
    """

    names: Mapping[str, str]
    keys: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=lambda: KEYS)

    def kind(self, name: str) -> str:
        """Return what the tool *name* does, one of ``call.KINDS``; empty if that isn't known."""
        return self._kinds.get(name.lower(), "")

    def call(self, name: str, raw_input: Mapping[str, Any], **where: Any) -> ToolCall:
        """Return the call of the tool *name*, which got *raw_input*."""
        kind = self.kind(name)
        input = self.normalized(kind, raw_input)
        words: tuple[str, ...] = ()
        if kind == "shell":
            words = self._words(raw_input)
        return ToolCall(name=name, kind=kind, input=input, words=words, **where)

    def normalized(self, kind: str, raw_input: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a tool of *kind* got, under one set of names."""
        return normalized(kind, raw_input, self.keys)

    @cached_property
    def _kinds(self) -> dict[str, str]:
        kinds: dict[str, str] = {}
        for kind, names in self.names.items():
            kinds.update(dict.fromkeys(names.lower().split(), kind))
        return kinds

    def _words(self, raw_input: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the words of a command that is a list."""
        for key in self.keys.get("shell", {}).get("command", ()):
            if isinstance(raw_input.get(key), list):
                return tuple(_texts(raw_input[key]))
        return ()


def normalized(
    kind: str,
    raw_input: Mapping[str, Any],
    keys: Mapping[str, Mapping[str, tuple[str, ...]]] = KEYS,
) -> dict[str, Any]:
    """Return what a tool of *kind* got, under one set of names; its own keys stay.

    Every call that has one gets ``command`` (shell), ``file_path``, ``old_string``, ``new_string``,
    ``content`` (files) and ``todos``, a list of ``content`` and ``status``.
    """
    normal = dict(raw_input)
    for name, other_names in keys.get(kind, {}).items():
        for key in other_names:
            if raw_input.get(key):
                normal[name] = raw_input[key]
                break
    if kind == "shell" and "command" in normal:
        normal["command"] = command_line(normal["command"])
    if kind == "todo":
        normal["todos"] = _todos(raw_input)
    return normal


def arguments(raw: object) -> dict[str, Any]:
    """Return what a call was given: an object, or the JSON text of one. Any other text is kept as
    ``input``."""
    if isinstance(raw, Mapping):
        return dict(raw)
    with suppress(ValueError, RecursionError, TypeError):
        parsed = json.loads(raw)  # type: ignore[arg-type] # TypeError if it isn't a text
        if isinstance(parsed, dict):
            return parsed
    return {"input": raw} if raw and isinstance(raw, str) else {}


def command_line(command: object) -> str:
    """Return *command* as one text: of ``["bash", "-lc", "make test"]`` only what the shell was
    given."""
    if not isinstance(command, list):
        return command if isinstance(command, str) else ""
    words = [word for word in command if isinstance(word, str)]
    if len(words) == 3 and words[1].startswith("-"):
        program = words[0].rsplit("/", 1)[-1].rsplit("\\", 1)[-1]
        if program in _SHELLS:
            return words[2]
    return " ".join(words)


def _todos(raw_input: Mapping[str, Any]) -> list[dict[str, str]]:
    todos = []
    for todo in first_items(raw_input, "todos", "plan", "items"):
        if isinstance(todo, Mapping):
            content = first_text(todo, "content", "step", "description", "text")
            status = text(todo, "status") or _status(todo)
            todos.append({"content": content, "status": status})
    return todos


def _status(todo: Mapping[str, Any]) -> str:
    if "completed" not in todo:
        return ""
    return "completed" if flag(todo, "completed") else "pending"


def _texts(value: object) -> list[str]:
    """Return *value*, a text or a list of texts, as a list."""
    values = value if isinstance(value, list) else [value]
    return [text for text in values if isinstance(text, str) and text]


# Patches ------------------------------------------------------------------------------------------


def patch_in(command: object) -> str:
    """Return the patch that a shell *command* applies, empty if it applies none."""
    texts = _texts(command)
    if not _applies_patch(texts):
        return ""
    return _patch_of(texts)


def _applies_patch(texts: list[str]) -> bool:
    return any(words.lstrip().startswith(("apply_patch", "applypatch")) for words in texts)


def _patch_of(texts: list[str]) -> str:
    """Return the patch in the first of *texts* that has one."""
    for words in texts:
        if BEGIN in words:
            return words[words.find(BEGIN) :]
    return ""


def edits_in(patch: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the kind of tool and what it was given for each file of *patch*.

    A new file is a ``write`` with its ``content``, everything else an ``edit``. Its ``old_string``
    and ``new_string`` are the lines of all hunks as they were and as they are: a patch that undoes
    another has them the other way round.
    """
    if not patch:
        return []
    whole = re.split(r"^\*\*\* End Patch", patch, maxsplit=1, flags=re.MULTILINE)[0]
    parts = re.split(r"^\*\*\* (Add|Update|Delete) File: (.*)$", whole, flags=re.MULTILINE)
    files = zip(parts[1::3], parts[2::3], parts[3::3], strict=True)
    edits = []
    for change, path, body in files:
        if path.strip():
            edits.append(_edit(change.lower(), path.strip(), body.splitlines()))
    return edits


def _edit(change: str, path: str, lines: list[str]) -> tuple[str, dict[str, Any]]:
    edit: dict[str, Any] = {"file_path": path, "change": change}
    target = next((line for line in lines if line.startswith(_MOVE)), "")
    if target:
        edit["file_path"] = target.removeprefix(_MOVE).strip()
        edit["moved_from"] = path
    if change == "add":
        edit["content"] = _marked(lines, "+")
        return "write", edit
    if change == "update":
        edit["old_string"] = _marked(lines, "- ")
        edit["new_string"] = _marked(lines, "+ ")
    return "edit", edit


def _marked(lines: list[str], marks: str) -> str:
    """Return the lines that begin with one of *marks*, without it."""
    return "\n".join([line[1:] for line in lines if line and line[0] in marks])


# Hooks --------------------------------------------------------------------------------------------


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

    def followed_by(self, other: Answer) -> Answer:
        """Return both as one. The first reason to deny or stop is the reason."""
        return Answer(
            context=self.context + other.context,
            preamble=self.preamble + other.preamble,
            instructions=self.instructions + other.instructions,
            note="\n".join(filter(None, [self.note, other.note])),
            deny=self.deny or other.deny,
            stop_reason=self.stop_reason or other.stop_reason,
        )


NOTHING = Answer()
"""The answer that says nothing."""


def joined(*answers: Answer) -> Answer:
    """Return *answers* as one, in order. The first reason to deny or stop is the reason."""
    whole = NOTHING
    for answer in answers:
        if whole and answer:
            whole = whole.followed_by(answer)
        else:
            whole = whole or answer
    return whole
