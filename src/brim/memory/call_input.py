"""What a tool was given: the texts in a call's input that memory reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from brim.agents.call import ToolCall
from brim.memory.quotes import one_line

PATH_KEYS = ("file_path", "notebook_path", "filePath", "path")
"""The names that clients give to the file of a call."""


def first_text(values: Mapping[str, object], keys: Iterable[str]) -> str:
    """Return the first text that *values* has under one of *keys*, empty if there is none."""
    for key in keys:
        text = values.get(key)
        if isinstance(text, str) and text.strip():
            return text
    return ""


def changed_path(call: ToolCall) -> str:
    """Return the file that *call* writes or edits, empty if it does neither."""
    if call.kind not in ("write", "edit"):
        return ""
    return one_line(first_text(call.input, PATH_KEYS))
