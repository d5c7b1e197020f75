"""What ``brim init`` writes for Codex, and what it reads of its settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from brim.agents.codex.value import AGENT
from brim.agents.fields import mapping, value
from brim.agents.settings import (
    PLUGIN_NAME,
    AgentSettings,
    Instructions,
    Plugin,
    toml_settings,
)

CONFIG = "config.toml"
AGENTS, OVERRIDE = "AGENTS.md", "AGENTS.override.md"
ICON = "./assets/icon.svg"
CATEGORY = "Productivity"


def config_of(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return what ``config.toml`` says; nothing if it can't be read."""
    return toml_settings(os.path.join(AGENT.places.home(environ), CONFIG))


def off_switch(_: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """Return what keeps all hooks from running; empty if nothing does."""
    is_off = value(config, "features", "hooks") is False
    return "features.hooks is false in config.toml" if is_off else ""


def was_asked(config: Mapping[str, Any], path: str) -> bool:
    """Whether the person was asked about the hooks in *path*: answers are kept by file and hook."""
    answers = mapping(config, "hooks", "state")
    return any(str(key).startswith(f"{path}:") for key in answers)


def has_plugin(environ: Mapping[str, str]) -> bool:
    """Whether brim's plugin is enabled, from whichever marketplace it came."""
    plugins = mapping(config_of(environ), "plugins")
    prefix = f"{PLUGIN_NAME}@"
    return any(
        name.startswith(prefix) and mapping(plugins, name).get("enabled") is True
        for name in plugins
    )


def server_settings(environ: Mapping[str, str], _: str | None) -> list[Mapping[str, Any]]:
    """Return ``config.toml``."""
    return [config_of(environ)]


def plugin_files(plugin: Plugin) -> dict[str, Any]:
    """Return the marketplace, the manifest and the hooks; it has no commands."""
    interface = {
        "displayName": PLUGIN_NAME,
        "shortDescription": plugin.about,
        "category": CATEGORY,
        "composerIcon": ICON,
        "logo": ICON,
    }
    listed = {
        "name": PLUGIN_NAME,
        "source": {"source": "local", "path": f"./{plugin.folder}"},
        "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
        "category": CATEGORY,
    }
    return {
        ".agents/plugins/marketplace.json": {
            "name": PLUGIN_NAME,
            "interface": {"displayName": PLUGIN_NAME},
            "plugins": [listed],
        },
        f"{plugin.folder}/.codex-plugin/plugin.json": {
            **plugin.manifest,
            "interface": interface,
            "hooks": "./hooks/codex.json",
            "skills": "./skills/",
            "mcpServers": "./.mcp.json",
        },
        f"{plugin.folder}/hooks/codex.json": plugin.hooks("PLUGIN_ROOT"),
    }


SETTINGS = AgentSettings(
    tested=(
        "0.166.0",
        "0.169.0",
    ),
    notes={
        "end a turn": "every further call is refused, and the next prompt",
        "steer a compaction": "brim gives back what the summary dropped",
        "status line": "Codex shows only its own: brim context says how full the window is",
    },
    learn_file="skills/learn/SKILL.md",  # Codex has skills in place of commands
    learn_text="---\nname: learn\n"
    "description: {about}. For $learn, or when asked to keep a rule.\n---\n{task}",
    learn_rule="what the user wrote with $learn.",
    learn_called="$learn",
    mcp_command="codex mcp add brim{own} -- {program}",
    has_plugin=has_plugin,
    plugin_files=plugin_files,
    remove_plugin="codex plugin remove brim@brim",
    hook_fields={"additionalContextLimit": 0},  # else Codex cuts a text at 10 KB
    config_file=CONFIG,
    asks_for_trust="Codex asks once, when it starts, whether it may run these hooks: "
    "choose to trust them",
    was_asked=was_asked,
    unasked="what Codex types into a command that runs already, and its web searches",
    off_switch=off_switch,
    server_settings=server_settings,
    instructions=Instructions(
        files=(AGENTS, OVERRIDE),
        own_files=(AGENTS,),
        hidden_by={AGENTS: (OVERRIDE,)},
        most_bytes=32_768,
        follows_imports=False,
    ),
)
