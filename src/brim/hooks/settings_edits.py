"""Does an edit of an agent's settings leave the hooks alone?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from brim.agents.call import ToolCall
from brim.files import read_safely

_LARGEST = 1 << 20
_OFF = "disableAllHooks"
_TEXTS = ("content", "new_string", "edits")
"""What a call has that says what it writes."""
_ABOUT_BRIM = ("brim", _OFF.lower(), "journal.jsonl")
"""What no agent writes into settings, in any case: its hooks run without being asked about."""


def leaves_hooks(path: str, tool: ToolCall | None, *, is_users: bool = False) -> bool:
    """Whether the settings in *path*, which are JSON, keep brim's hooks after the call of *tool*;
    without one, after the file is removed. In the user's own settings, all hooks stay."""
    if not path.endswith(".json"):
        return False
    before = _text_of(path)
    if before is None:
        return False
    after = ""
    if tool is not None:
        if not any(name in tool.input for name in _TEXTS):
            return False  # a patch
        after = _edited(before, tool.input)
    if "brim" not in before and not is_users:
        return not any(word in after.lower() for word in _ABOUT_BRIM)
    return _hooks_in(before) is not None and _hooks_in(before) == _hooks_in(after)


def _text_of(path: str) -> str | None:
    """Return what is in the file *path*: nothing if it isn't there; None if it can't be read."""
    try:
        return read_safely(path, at_most=_LARGEST).decode("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, ValueError):
        return None


def _edited(text: str, values: Mapping[str, Any]) -> str:
    """Return *text* after an edit with these *values*; one that doesn't fit stands at its end."""
    if isinstance(values.get("content"), str):
        return str(values["content"])
    edits = values.get("edits")
    if not isinstance(edits, list):
        edits = [values]
    for edit in edits:
        if not isinstance(edit, Mapping):
            continue
        old = str(edit.get("old_string") or "")
        new = str(edit.get("new_string") or "")
        if old and old in text:
            text = text.replace(old, new)
        else:
            text += new
    return text


def _hooks_in(text: str) -> list[object] | None:
    """Return what settings say about hooks; None if they can't be read."""
    try:
        settings = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(settings, dict):
        return None
    return [
        settings.get("hooks"),
        settings.get("hooksConfig"),
        settings.get(_OFF),
        _own_variables(settings.get("env")),
    ]


def _own_variables(variables: object) -> dict[str, object]:
    """Return the variables of brim that settings give to hooks."""
    if not isinstance(variables, dict):
        return {}
    return {name: value for name, value in variables.items() if name.startswith("BRIM")}
