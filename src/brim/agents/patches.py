"""Patches in the format of ``apply_patch``, which Codex passes as a command or as a tool's input."""

from __future__ import annotations

import re
from typing import Any

BEGIN = "*** Begin Patch"
_MOVE = "*** Move to: "


def patch_in(command: object) -> str:
    """Return the patch that a shell *command* applies, empty if it applies none."""
    words = command if isinstance(command, list) else [command]
    texts = [word for word in words if isinstance(word, str)]
    if not any(text.lstrip().startswith(("apply_patch", "applypatch")) for text in texts):
        return ""
    whole = next((text for text in texts if BEGIN in text), "")
    return whole[whole.find(BEGIN) :]


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
    return [
        _edit(change.lower(), path.strip(), body.splitlines())
        for change, path, body in files
        if path.strip()
    ]


def _edit(change: str, path: str, lines: list[str]) -> tuple[str, dict[str, Any]]:
    given: dict[str, Any] = {"file_path": path, "change": change}
    moved = next((line[len(_MOVE) :].strip() for line in lines if line.startswith(_MOVE)), "")
    if moved:
        given["file_path"] = moved
        given["moved_from"] = path
    if change == "add":
        given["content"] = "\n".join([line[1:] for line in lines if line[:1] == "+"])
        return "write", given
    if change == "update":
        given["old_string"] = "\n".join([line[1:] for line in lines if line[:1] in ("-", " ")])
        given["new_string"] = "\n".join([line[1:] for line in lines if line[:1] in ("+", " ")])
    return "edit", given
