"""Write what brim's plugins take over from ``brim init``: hooks, ``/learn``, manifests.

    python scripts/build_plugins.py [--check]

Which files an agent has is in its ``agents/NAME/settings.py``. The plugin's README, icon, skill and
``bin/hook`` are written by hand in ``plugins/brim``; the extension for Gemini CLI has copies of the
last two. With --check, only say which files differ; the exit code is 1 if one does.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import brim
from brim.agents import every_agent
from brim.agents.settings import Plugin, settings_for
from brim.install.agents import entries_for
from brim.install.changes import command_text

ROOT = Path(__file__).parent.parent
FOLDER = "plugins/brim"
ABOUT = "The context budget for coding agents: rules that stick, memory across compactions, limits."
SERVERS = {"brim": {"command": "brim", "args": ["mcp"]}}


def plugin_files(version: str = brim.__version__) -> dict[str, str]:
    """Return the generated files, by their path in the repository."""
    texts = {}
    for agent in every_agent():
        plugin = Plugin(
            version=version.replace(".dev", "-dev."),  # as SemVer writes it
            about=ABOUT,
            folder=FOLDER,
            hooks=partial(hooks, agent.name),
            learn=command_text(agent.name),
            copied=written_by_hand,
            servers=SERVERS,
        )
        for path, content in settings_for(agent.name).plugin_files(plugin).items():
            is_text = isinstance(content, str)
            texts[path] = content if is_text else json.dumps(content, indent=2) + "\n"
    return texts


def hooks(agent: str, root: str) -> dict[str, Any]:
    """Return the hooks of *agent*; *root* is the variable with the plugin's folder."""
    entries = entries_for(agent, f'"${{{root}}}"/bin/hook')
    return {"hooks": {event: [entry] for event, entry in entries.items()}}


def written_by_hand(name: str) -> str:
    """Return the text of the file *name* of the plugin."""
    return (ROOT / FOLDER / name).read_text("utf-8")


def differing() -> dict[Path, str]:
    """Return the files that differ from what this version generates, with the right text."""
    texts = {}
    for name, text in plugin_files().items():
        path = ROOT / name
        if not path.is_file() or path.read_text("utf-8") != text:
            texts[path] = text
    return texts


def main() -> int:
    texts = differing()
    for path, text in texts.items():
        print(path.relative_to(ROOT))
        if "--check" not in sys.argv:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            path.chmod(0o755 if path.parent.name == "bin" else 0o644)
    return int("--check" in sys.argv and bool(texts))


if __name__ == "__main__":
    sys.exit(main())
