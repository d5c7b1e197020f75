"""What ``brim init`` writes for Qwen Code, and what it reads of its settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from brim.agents.fields import items
from brim.agents.qwen.value import AGENT, names_in_settings
from brim.agents.settings import (
    PLUGIN_NAME,
    AgentSettings,
    Instructions,
    StatusPlace,
    json_settings,
)

MANIFEST = "qwen-extension.json"


def off_switch(settings: Mapping[str, Any], _: Mapping[str, Any]) -> str:
    """Return what keeps all hooks from running; empty if nothing does."""
    return "disableAllHooks is true there" if settings.get("disableAllHooks") is True else ""


def has_plugin(environ: Mapping[str, str]) -> bool:
    """Whether brim's plugin is there and enabled: of the rules about it, the last one counts."""
    folder = os.path.join(AGENT.places.home(environ), "extensions")
    enablement = json_settings(os.path.join(folder, "extension-enablement.json"))
    rules = items(enablement, PLUGIN_NAME, "overrides")
    if rules and str(rules[-1]).startswith("!"):
        return False
    return os.path.isfile(os.path.join(folder, PLUGIN_NAME, MANIFEST))


def server_settings(environ: Mapping[str, str], project: str | None) -> list[Mapping[str, Any]]:
    """Return the user's settings and the project's."""
    paths = [AGENT.places.user_file(environ)]
    if project is not None:
        paths.append(AGENT.places.project_file(project))
    return [json_settings(path) for path in paths]


def files_by_settings(environ: Mapping[str, str], project: str | None) -> tuple[str, ...]:
    """Return what the settings call files of rules here."""
    names: list[str] = []
    for settings in server_settings(environ, project or None):
        names += names_in_settings(settings)
    return tuple(names)


SETTINGS = AgentSettings(
    tested=("0.24.4",),
    notes={
        "add text": "what belongs before a call comes with its result; sub-agents are told nothing",
    },
    status_line=StatusPlace(("ui", "statusLine"), word=AGENT.name),
    learn_file="commands/learn.md",
    learn_rule="{{args}}",
    mcp_command="qwen mcp add --scope user brim {program}{own}",
    has_plugin=has_plugin,
    remove_plugin="qwen extensions uninstall brim",
    allows_comments=True,
    off_switch=off_switch,
    server_settings=server_settings,
    instructions=Instructions(
        files=("QWEN.md", "AGENTS.md"),
        folders={".qwen/rules": ".md"},
        own_files=("QWEN.md", "AGENTS.md"),
        files_by_settings=files_by_settings,
    ),
)
