"""Agents in the home of a test, and what is in their settings."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from brim.install.agents import launcher_path
from brim.install.launchers import CODE
from tests.cli.conftest import Brim, Ran
from tests.hooks.hook_world import patient

FILES = {
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
}
THEIRS = {
    "model": "opus",
    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]},
}


def file_of(brim: Brim, agent: str = "claude") -> Path:
    return brim.home / FILES[agent]


def use(brim: Brim, *agents: str, text: str | None = None) -> None:
    """Let *agents* be used here, with *text* in their settings."""
    for agent in agents:
        path = file_of(brim, agent)
        path.parent.mkdir(exist_ok=True)
        if text is not None:
            path.write_text(text, encoding="utf-8")


def events(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["hooks"]
    return found


def commands(path: Path) -> list[str]:
    return [
        hook["command"]
        for groups in events(path).values()
        for group in groups
        for hook in group["hooks"]
    ]


def alone(brim: Brim, *arguments: str, **more: Any) -> Ran:
    """Run brim where no agent is on the path."""
    empty = brim.home.parent / "nothing"
    empty.mkdir(exist_ok=True)
    return brim(*arguments, env={"PATH": str(empty), **more.pop("env", {})}, **more)


def let_hooks_wait(brim: Brim) -> None:
    """Give the hooks that are installed, if any are, more time than any machine needs."""
    launcher = Path(launcher_path(str(brim.home / ".brim")))
    if launcher.is_file() and CODE in launcher.read_text(encoding="utf-8"):
        patient(str(launcher))


def tree(root: Path) -> dict[str, bytes | None]:
    """Return every file below *root* with what it holds, and every folder."""
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else None
        for path in sorted(root.rglob("*"))
        if not os.path.islink(path)
    }
