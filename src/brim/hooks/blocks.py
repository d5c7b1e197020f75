"""Blocks: calls that a rule refuses, every time, until a person allows them.

The user's own blocks come from the user's file alone, so nothing in a project can lift one. A
project's count only there, and only those that the user has agreed to. Most calls are refused by
nothing, and a look at their words shows it; what follows from one that may be is in ``refusals``.
"""

from __future__ import annotations

import json
import os

from brim.agents.call import Answer, HookCall, ToolCall
from brim.agents.patches import BEGIN, edits_in
from brim.agents.table import TABLE
from brim.hooks.state import HookWorkspace

_BLOCKING = """
    SELECT id, blocks FROM behaviors
    WHERE blocks <> '[]' AND status = 'active' AND (instr(blocks, ?) OR instr(blocks, '"tool '))
"""
_SETTINGS = tuple(dict.fromkeys([name for line in TABLE for name in line.hook_files]))
"""Files in which an agent's hooks are set, or turned off."""
_NAMED = ("brim", *_SETTINGS, *[line.folder for line in TABLE])
"""What a command names that is about them, or about the folders that they are in."""
_UNQUOTED = str.maketrans("", "", "'\"\\\n")
_UNSURE = frozenset("*?[{'\"\\/~")
"""What lets a part of a pattern differ from what stands in a call."""


def hold_block(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return the refusal of a pending *call*; None lets it happen."""
    if not call.tool.name:
        return None
    pending, found = PendingCall(call, workspace), []
    is_stored = any(map(os.path.exists, workspace.databases))
    for scope, store in workspace.scopes.stores.items() if is_stored else ():
        rows = store.database.rows(_BLOCKING, (pending.kind,))
        every = json.loads(f"[{','.join([row[1] for row in rows])}]") if rows else []
        for (id, _), blocks in zip(rows, every, strict=True):
            found += [(scope, id, block) for block in blocks if pending.may_match(block)]
    if not found and not pending.may_touch_brim:
        return None
    from brim.hooks.refusals import refusal

    return refusal(pending, found)


class PendingCall:
    """A pending call: its command, the files that it edits, and what of it can be seen at a
    glance."""

    def __init__(self, call: HookCall, workspace: HookWorkspace) -> None:
        self.call, self.workspace = call, workspace
        tool = call.tool
        self.command: str | list[str] = _command_of(tool)
        self.paths: list[str] = []
        text = " ".join(self.command) if isinstance(self.command, list) else self.command
        if tool.changes_files:
            self.paths += tool.files
            self.paths += tool.moved
        elif tool.kind == "shell" and (tool.patch or BEGIN in text):
            self.paths += _patched(tool.patch or text[text.find(BEGIN) :], text)
        self.text = text.translate(_UNQUOTED)
        """The command without its quotes."""
        folder = call.cwd or workspace.cwd
        self.paths = [each for each in self.paths if "\0" not in each]  # no file can be called so
        named = [
            os.path.normpath(os.path.join(folder, os.path.expanduser(each))) for each in self.paths
        ]
        self.real = [os.path.realpath(each) for each in named]
        self.seen = "".join([f"{path}/\n" for path in (*named, *self.real)]).lower()
        """The paths, to be looked at quickly."""
        self.kind = (
            '"'
            if text and self.paths
            else '"run '
            if text
            else '"edit '
            if self.paths
            else '"tool '
        )
        """How the blocks begin that may refuse it, apart from those of its tool."""

    def may_match(self, block: str) -> bool:
        """Whether a look lets it seem possible that *block* refuses this call."""
        kind, _, pattern = block.partition(" ")
        if kind == "run":
            first = pattern.partition(" ")[0]
            return first in self.text or not (_UNSURE.isdisjoint(first) or not self.text)
        if kind == "edit":
            if not _UNSURE.isdisjoint(pattern.replace("*", "").replace("/", "")):
                return bool(self.paths)
            return all(map(self.seen.__contains__, pattern.lower().removeprefix("./").split("*")))
        tool, pattern = self.call.tool.name.lower(), pattern.lower()
        if "?" in pattern or "[" in pattern:
            return True
        return pattern == tool or (
            "*" in pattern and all(map(tool.__contains__, pattern.split("*")))
        )

    @property
    def may_touch_brim(self) -> bool:
        """Whether a look lets it seem possible that this call is about brim or the settings of
        hooks."""
        if "brim" in self.seen or any(path.endswith(_SETTINGS) for path in self.real):
            return True
        if self.text and (
            self.workspace.home in self.text or any(map(self.text.__contains__, _NAMED))
        ):
            return True
        return bool(self.paths) and os.path.realpath(self.workspace.home).lower() in self.seen


def _command_of(tool: ToolCall) -> str | list[str]:
    """Return the command of a call, as words if it was given so; also what is typed into one that
    runs."""
    if tool.kind != "shell":
        return ""
    return list(tool.words) or str(tool.input.get("command") or tool.input.get("chars") or "")


def _patched(patch: str, text: str) -> list[str]:
    """Return the files of a patch, also those that it moves; a command may go to a folder first."""
    edits = [edit for _, edit in edits_in(patch)]
    files = [edit[key] for edit in edits for key in ("file_path", "moved_from") if key in edit]
    if not text.startswith("cd "):
        return files
    folder = text[3:].partition("&&")[0].strip(" '\"")
    return files + [os.path.join(folder, file) for file in files if folder]
