"""What ``brim init`` writes for Gemini CLI, and what it reads of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brim.agents.agent import named_context_files
from brim.agents.fields import items, value
from brim.agents.gemini.value import AGENT
from brim.agents.settings import (
    AgentSettings,
    Instructions,
    Plugin,
    is_enabled_extension,
    user_and_project,
)

MANIFEST = "gemini-extension.json"


def off_switch(settings: Mapping[str, Any], _: Mapping[str, Any]) -> str:
    """Return what keeps all hooks from running; empty if nothing does."""
    if value(settings, "hooksConfig", "enabled") is False:
        return "hooksConfig.enabled is false there"
    if "brim" in items(settings, "hooksConfig", "disabled"):
        return "hooksConfig.disabled names brim there"
    return ""


def has_plugin(environ: Mapping[str, str]) -> bool:
    """Whether brim's extension is there and enabled."""
    return is_enabled_extension(AGENT.places.home(environ), MANIFEST)


def server_settings(environ: Mapping[str, str], project: str | None) -> list[Mapping[str, Any]]:
    """Return the user's settings and the project's."""
    return user_and_project(AGENT.places, environ, project)


def files_by_settings(environ: Mapping[str, str], project: str | None) -> tuple[str, ...]:
    """Return what the settings call files of rules here, apart from ``GEMINI.md``."""
    return named_context_files(AGENT.places, environ, project or "")


def plugin_files(plugin: Plugin) -> dict[str, Any]:
    """Return the extension: it is a folder in the plugin, with copies of what both need."""
    folder = f"{plugin.folder}/gemini"
    files = {
        f"{folder}/{MANIFEST}": {**plugin.short_manifest, "mcpServers": plugin.servers},
        f"{folder}/hooks/hooks.json": plugin.hooks("extensionPath"),
        f"{folder}/commands/learn.toml": plugin.learn,
    }
    for name in ("bin/hook", "skills/brim/SKILL.md"):
        files[f"{folder}/{name}"] = plugin.copied(name)
    return files


SETTINGS = AgentSettings(
    tested=("0.61.0",),
    notes={
        "add text": "what belongs before a call comes with its result",
        "steer a compaction": "brim gives back what the summary dropped",
        "status line": "Gemini CLI has none: brim context says how full the window is",
    },
    learn_file="commands/learn.toml",
    learn_text="description = \"{about}\"\nprompt = '''\n{task}'''\n",
    learn_rule="{{args}}",
    mcp_command="gemini mcp add --scope user brim {program}{own}",
    has_plugin=has_plugin,
    plugin_files=plugin_files,
    remove_plugin="gemini extensions uninstall brim",
    allows_comments=True,
    hook_name="brim",
    ticks=1_000,  # its unit is milliseconds
    off_switch=off_switch,
    server_settings=server_settings,
    instructions=Instructions(
        files=("GEMINI.md",),
        own_files=("GEMINI.md",),
        files_by_settings=files_by_settings,
    ),
)
