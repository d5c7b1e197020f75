"""Blocks: calls that a rule refuses, every time, until a person allows them.

The user's own blocks come from the user's file alone, so nothing in a project can lift one. A
project's count only there, and only those that the user has agreed to. Most calls are refused by
nothing, and a look at their words shows it; what follows from one that may be is in ``refusals``.
"""

from __future__ import annotations

import json
import os

from brim.hooks.event import Answer, HookCall
from brim.hooks.rules import PATHS, patch_of
from brim.hooks.state import HookWorkspace
from brim.tracking.readers.codex import edits

_BLOCKING = """
    SELECT id, blocks FROM behaviors
    WHERE blocks <> '[]' AND status = 'active' AND (instr(blocks, ?) OR instr(blocks, '"tool '))
"""
_SETTINGS = ("settings.json", "settings.local.json", "hooks.json", "config.toml")
"""Files in which an agent's hooks are set, or turned off."""
_NAMED = ("brim", *_SETTINGS, ".claude", ".codex", ".gemini")
"""What a command names that is about them, or about the folders that they are in."""
_UNQUOTED = str.maketrans("", "", "'\"\\\n")
_UNSURE = frozenset("*?[{'\"\\/~")
"""What lets a part of a pattern differ from what stands in a call."""


def hold_block(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Return the refusal of a pending *call*; None lets it happen."""
    if not call.tool:
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
        given = call.input
        self.command: str | list[str] = ""
        self.paths: list[str] = []
        if call.tool_kind == "shell":
            command = given.get("command") or given.get("cmd") or given.get("chars") or ""
            is_list = isinstance(command, list)
            self.command = (
                [each for each in command if isinstance(each, str)] if is_list else str(command)
            )
        elif call.tool_kind in ("edit", "write"):
            self.paths = [
                each for key in PATHS[:5] if isinstance(each := given.get(key), str) and each
            ]
        text = " ".join(self.command) if isinstance(self.command, list) else self.command
        if call.tool_kind in ("edit", "write", "shell") and (
            "*** Begin Patch" in text or patch_of(call)
        ):
            self.paths += self._patched(text)
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

    def _patched(self, text: str) -> list[str]:
        """Return the files of a patch of Codex, also those that it moves; a command may go to a
        folder first."""

        patch = patch_of(self.call) or text[text.find("*** Begin Patch") :]
        files = [
            edit[key]
            for _, edit in edits(patch)
            for key in ("file_path", "moved_from")
            if key in edit
        ]
        folder = text[3:].partition("&&")[0].strip(" '\"") if text.startswith("cd ") else ""
        return [*files, *([os.path.join(folder, each) for each in files] if folder else [])]

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
        tool, pattern = self.call.tool.lower(), pattern.lower()
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
