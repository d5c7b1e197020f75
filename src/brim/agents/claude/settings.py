"""What ``brim init`` writes for Claude Code, and what it reads of its settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from brim.agents.claude.value import AGENT, project_folders
from brim.agents.fields import mapping, value
from brim.agents.settings import (
    PLUGIN_NAME,
    AgentSettings,
    Instructions,
    Plugin,
    StatusPlace,
    disable_all_hooks,
    is_enabled_plugin,
    json_settings,
)
from brim.config.places import home_folder

CLAUDE, NESTED, LOCAL = "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"


def has_plugin(environ: Mapping[str, str]) -> bool:
    """Whether brim's plugin is enabled, from whichever marketplace it came."""
    return is_enabled_plugin(json_settings(AGENT.places.user_file(environ)))


def server_settings(environ: Mapping[str, str], project: str | None) -> list[Mapping[str, Any]]:
    """Return ``.claude.json``, what it has about the project, and the project's ``.mcp.json``."""
    folder = environ.get("CLAUDE_CONFIG_DIR") or home_folder(environ)
    user = json_settings(os.path.join(os.path.abspath(folder), ".claude.json"))
    settings: list[Mapping[str, Any]] = [user, mapping(user, "projects", project or "")]
    if project is not None:
        settings.append(json_settings(os.path.join(project, ".mcp.json")))
    return settings


def leaves_out(environ: Mapping[str, str]) -> bool:
    """Whether the user's settings leave files of rules out: then any may be left out."""
    return bool(value(json_settings(AGENT.places.user_file(environ)), "claudeMdExcludes"))


def notes_folder(environ: Mapping[str, str], project: str) -> str:
    """Return the folder in which Claude Code notes what it learned about *project*."""
    (name,) = project_folders(environ, (os.path.realpath(project),))
    return os.path.join(AGENT.places.home(environ), "projects", name, "memory")


def plugin_files(plugin: Plugin) -> dict[str, Any]:
    """Return the marketplace, the manifest, the hooks and ``/learn``."""
    maker = {"name": PLUGIN_NAME}
    listed = {"name": PLUGIN_NAME, "source": f"./{plugin.folder}", "description": plugin.about}
    return {
        ".claude-plugin/marketplace.json": {
            "name": PLUGIN_NAME,
            "owner": maker,
            "metadata": {"description": plugin.about},
            "plugins": [listed],
        },
        f"{plugin.folder}/.claude-plugin/plugin.json": plugin.manifest,
        f"{plugin.folder}/.mcp.json": {"mcpServers": plugin.servers},
        f"{plugin.folder}/hooks/hooks.json": plugin.hooks("CLAUDE_PLUGIN_ROOT"),
        f"{plugin.folder}/commands/learn.md": plugin.learn,
    }


SETTINGS = AgentSettings(
    tested=(
        "2.1.197",
        "2.1.325",
        "2.1.328",
    ),
    learn_file="commands/learn.md",
    learn_text="---\ndescription: {about}\nargument-hint: [rule]\nallowed-tools: {allowed}\n"
    "---\n{task}",
    mcp_command="claude mcp add --scope user brim{own} -- {program}",
    has_plugin=has_plugin,
    plugin_files=plugin_files,
    remove_plugin="claude plugin uninstall brim@brim",
    status_line=StatusPlace(),
    reads_posix_paths=True,
    own_models="claude-",
    off_switch=disable_all_hooks,
    server_settings=server_settings,
    instructions=Instructions(
        files=(CLAUDE, LOCAL, "AGENTS.md"),
        root_files=(NESTED,),
        folders={".claude/rules": ".md"},
        own_files=(CLAUDE,),
        own_folders={"rules": ".md"},
        hidden_by={"AGENTS.md": (CLAUDE, NESTED, LOCAL)},
        reaches_above=True,
        leaves_out=leaves_out,
        notes_folder=notes_folder,
    ),
)
