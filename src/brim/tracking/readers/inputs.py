"""What a tool was given, under one set of names.

A client's own keys stay as they are. Beside them every call that has one gets ``command`` (shell), ``file_path``,
``old_string``, ``new_string``, ``content`` (files) and ``todos``, a list of ``content`` and ``status``.
"""

from __future__ import annotations

from _collections_abc import Mapping

from brim import _json
from brim.tracking.readers.fields import items, mapping, text, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SAME_AS = {
    "command": ("cmd",),
    "file_path": ("filePath", "absolute_path", "path", "notebook_path"),
    "old_string": ("oldString",),
    "new_string": ("newString",),
}
_BY_TOOL = {
    "shell": ("command",),
    "read": ("file_path",),
    "write": ("file_path",),
    "edit": ("file_path", "old_string", "new_string"),
}
_SHELLS = ("sh", "bash", "zsh", "dash", "fish", "pwsh", "powershell", "cmd.exe")


def arguments(raw: object) -> dict[str, Any]:
    """Return what a call was given: an object, or the JSON text of one. Any other text is kept as ``input``."""
    if isinstance(raw, Mapping):
        return dict(raw)
    if not isinstance(raw, str):
        return {}
    try:
        read = _json.loads(raw)
    except (ValueError, RecursionError):
        read = None
    if isinstance(read, dict):
        return read
    return {"input": raw} if raw else {}


def named(tool: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return *given* with the names that every reader of events knows for a *tool*."""
    known = dict(given)
    for name in _BY_TOOL.get(tool, ()):
        other = next((key for key in (name, *_SAME_AS[name]) if given.get(key)), None)
        if other is not None:
            known[name] = given[other]
    if tool == "shell" and "command" in known:
        known["command"] = command_line(known["command"])
    if tool == "todo":
        known["todos"] = _todos(given)
    return known


def command_line(command: object) -> str:
    """Return *command* as one text: of ``["bash", "-lc", "make test"]`` only what the shell was given."""
    if isinstance(command, str):
        return command
    if not isinstance(command, list):
        return ""
    words = [word for word in command if isinstance(word, str)]
    if len(words) == 3 and words[0].rsplit("/", 1)[-1].rsplit("\\", 1)[-1] in _SHELLS and words[1].startswith("-"):
        return words[2]
    return " ".join(words)


def _todos(given: Mapping[str, Any]) -> list[dict[str, str]]:
    todos = items(given, "todos") or items(given, "plan") or items(given, "items")
    return [_todo(todo) for todo in todos if isinstance(todo, Mapping)]


def _todo(todo: Mapping[str, Any]) -> dict[str, str]:
    words = next((text(todo, key) for key in ("content", "step", "description", "text") if text(todo, key)), "")
    done = {True: "completed", False: "pending"}.get(value(todo, "completed") is True, "")
    return {"content": words, "status": text(todo, "status") or (done if "completed" in mapping(todo) else "")}
