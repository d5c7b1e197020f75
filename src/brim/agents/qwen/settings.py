"""What ``brim init`` writes for Qwen Code, and what it reads of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brim.agents.agent import named_context_files
from brim.agents.qwen.value import AGENT
from brim.agents.settings import (
    AgentSettings,
    Instructions,
    StatusPlace,
    disable_all_hooks,
    is_enabled_extension,
    user_and_project,
)

MANIFEST = "qwen-extension.json"


def has_plugin(environ: Mapping[str, str]) -> bool:
    """Whether brim's extension is there and enabled."""
    return is_enabled_extension(AGENT.places.home(environ), MANIFEST)


def server_settings(environ: Mapping[str, str], project: str | None) -> list[Mapping[str, Any]]:
    """Return the user's settings and the project's."""
    return user_and_project(AGENT.places, environ, project)


def files_by_settings(environ: Mapping[str, str], project: str | None) -> tuple[str, ...]:
    """Return what the settings call files of rules here."""
    return named_context_files(AGENT.places, environ, project or "")


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
    off_switch=disable_all_hooks,
    server_settings=server_settings,
    instructions=Instructions(
        files=("QWEN.md", "AGENTS.md"),
        folders={".qwen/rules": ".md"},
        own_files=("QWEN.md", "AGENTS.md"),
        files_by_settings=files_by_settings,
    ),
)
