"""Write what brim's plugins take over from ``brim init``: hooks, ``/learn``, manifests.

    python scripts/build_plugins.py [--check]

The plugin's README, icon, skill and ``bin/hook`` are written by hand in ``plugins/brim``; the last
two are copied into the extension for Gemini CLI. With --check, only say which files differ; the
exit code is 1 if one does.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import brim
from brim.install.agents import PLUGIN_NAME as NAME
from brim.install.agents import entries_for
from brim.install.changes import command_text

ROOT = Path(__file__).parent.parent
FOLDER, EXTENSION = "plugins/brim", "plugins/brim/gemini"
ABOUT = "The context budget for coding agents: rules that arrive when they matter, memory across compactions, limits."
SERVER = {"brim": {"command": "brim", "args": ["mcp"]}}
ICONS = dict.fromkeys(
    ("composerIcon", "logo"), "./assets/icon.svg"
)  # Codex's; the other two formats have none
COPIED = ("bin/hook", "skills/brim/SKILL.md")


def plugin_files(version: str = brim.__version__) -> dict[str, str]:
    """Return the generated files, by their path in the repository."""
    number = version.replace(".dev", "-dev.")  # as SemVer writes it
    about = {"name": NAME, "version": number, "description": ABOUT}
    maker = {"name": NAME}
    claude = {
        **about,
        "author": maker,
        "license": "MIT",
        "keywords": ["context", "memory", "rules", "budget"],
    }
    shown = {"displayName": NAME, "shortDescription": ABOUT, "category": "Productivity", **ICONS}
    codex = {
        **claude,
        "interface": shown,
        "hooks": "./hooks/codex.json",
        "skills": "./skills/",
        "mcpServers": "./.mcp.json",
    }
    source = {"source": "local", "path": f"./{FOLDER}"}
    policy = {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}
    data: dict[str, Any] = {
        ".claude-plugin/marketplace.json": {
            "name": NAME,
            "owner": maker,
            "metadata": {"description": ABOUT},
            "plugins": [{"name": NAME, "source": f"./{FOLDER}", "description": ABOUT}],
        },
        ".agents/plugins/marketplace.json": {
            "name": NAME,
            "interface": {"displayName": NAME},
            "plugins": [
                {"name": NAME, "source": source, "policy": policy, "category": "Productivity"}
            ],
        },
        f"{FOLDER}/.claude-plugin/plugin.json": claude,
        f"{FOLDER}/.codex-plugin/plugin.json": codex,
        f"{FOLDER}/.mcp.json": {"mcpServers": SERVER},
        f"{FOLDER}/hooks/hooks.json": hooks("claude", "CLAUDE_PLUGIN_ROOT"),
        f"{FOLDER}/hooks/codex.json": hooks("codex", "PLUGIN_ROOT"),
        f"{EXTENSION}/gemini-extension.json": {**about, "mcpServers": SERVER},
        f"{EXTENSION}/hooks/hooks.json": hooks("gemini", "extensionPath"),
    }
    texts = {path: json.dumps(each, indent=2) + "\n" for path, each in data.items()}
    texts[f"{FOLDER}/commands/learn.md"] = command_text("claude")
    texts[f"{EXTENSION}/commands/learn.toml"] = command_text("gemini")
    copies = {f"{EXTENSION}/{name}": (ROOT / FOLDER / name).read_text("utf-8") for name in COPIED}
    return texts | copies


def hooks(agent: str, root: str) -> dict[str, Any]:
    """Return the hooks of *agent*; *root* is the variable with the plugin's folder."""
    return {
        "hooks": {
            event: [entry] for event, entry in entries_for(agent, f'"${{{root}}}"/bin/hook').items()
        }
    }


def differing() -> dict[Path, str]:
    """Return the files that differ from what this version generates, with the right text."""
    files = {ROOT / name: text for name, text in plugin_files().items()}
    return {
        path: text
        for path, text in files.items()
        if not path.is_file() or path.read_text("utf-8") != text
    }


def main() -> int:
    found = differing()
    for path, text in found.items():
        print(path.relative_to(ROOT))
        if "--check" not in sys.argv:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            path.chmod(0o755 if path.parent.name == "bin" else 0o644)
    return int("--check" in sys.argv and bool(found))


if __name__ == "__main__":
    sys.exit(main())
