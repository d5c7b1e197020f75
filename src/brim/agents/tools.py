"""The tools of an agent: what each does, and where it is given files, texts and commands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from brim.agents.call import ToolCall
from brim.agents.fields import flag, items, text
from brim.record import PlainData

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

    def call(self, name: str, given: Mapping[str, Any], **where: Any) -> ToolCall:
        """Return the call of the tool *name*, which was *given* an object."""
        kind = self.kind(name)
        command = given.get("command") or given.get("cmd")
        words: tuple[str, ...] = ()
        if isinstance(command, list):
            words = tuple([word for word in command if isinstance(word, str)])
        return ToolCall(
            name=name, kind=kind, input=self.normalized(kind, given), words=words, **where
        )

    def normalized(self, kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a tool of *kind* was *given*, under one set of names."""
        return normalized(kind, given, self.keys)

    @cached_property
    def _kinds(self) -> dict[str, str]:
        return {name.lower(): kind for kind, names in self.names.items() for name in names.split()}


def normalized(
    kind: str, given: Mapping[str, Any], keys: Mapping[str, Mapping[str, tuple[str, ...]]] = KEYS
) -> dict[str, Any]:
    """Return what a tool of *kind* was *given*, under one set of names; its own keys stay.

    Every call that has one gets ``command`` (shell), ``file_path``, ``old_string``, ``new_string``,
    ``content`` (files) and ``todos``, a list of ``content`` and ``status``.
    """
    normal = dict(given)
    for name, other_names in keys.get(kind, {}).items():
        value = next((given[key] for key in other_names if given.get(key)), None)
        if value:
            normal[name] = value
    if kind == "shell" and "command" in normal:
        normal["command"] = command_line(normal["command"])
    if kind == "todo":
        normal["todos"] = _todos(given)
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


def _todos(given: Mapping[str, Any]) -> list[dict[str, str]]:
    todos = []
    for todo in items(given, "todos") or items(given, "plan") or items(given, "items"):
        if isinstance(todo, Mapping):
            texts = [text(todo, key) for key in ("content", "step", "description", "text")]
            content = next(filter(None, texts), "")
            todos.append({"content": content, "status": text(todo, "status") or _status(todo)})
    return todos


def _status(todo: Mapping[str, Any]) -> str:
    if "completed" not in todo:
        return ""
    return "completed" if flag(todo, "completed") else "pending"
