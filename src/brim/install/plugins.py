"""brim as a plugin of an agent: what is in it.

A plugin brings the same hooks as ``brim init``, ``/learn``, the MCP server and a skill. Its hooks run ``bin/hook`` in
the plugin, which is silent where ``init`` has installed hooks, so nothing is told twice.
"""

from __future__ import annotations

import json
from typing import Any

from brim.install.agents import entries_for
from brim.install.commands import command_text

NAME = "brim"
ABOUT = "The context budget for coding agents: rules that arrive when they matter, memory across compactions, limits."
FOLDER, EXTENSION = "plugins/brim", "plugins/brim/gemini"
_SERVER = {"brim": {"command": "brim", "args": ["mcp"]}}

_HOOK = """#!/bin/sh
# Runs brim for an event ($1) of an agent ($2). It always ends with 0: an agent may take a failure for a "no".
case $2 in
claude) own=${CLAUDE_CONFIG_DIR:-$HOME/.claude}/settings.json project=$CLAUDE_PROJECT_DIR/.claude/settings.local.json ;;
codex) own=${CODEX_HOME:-$HOME/.codex}/hooks.json project=.codex/hooks.json ;;
*) own=${GEMINI_CLI_HOME:-$HOME}/.gemini/settings.json project=$GEMINI_PROJECT_DIR/.gemini/settings.json ;;
esac
grep -qs "/bin/hook'\\{0,1\\} $1 $2" "$own" "$project" && exit 0 # `brim init` has installed this hook
launcher=${BRIM_HOME:-$HOME/.brim}/bin/hook
if [ ! -x "$launcher" ] && [ "$1" = SessionStart ]; then
    told=${CLAUDE_PLUGIN_DATA:-$(dirname "$0")}/told
    if command -v brim >/dev/null; then
        brim upgrade >/dev/null 2>&1 # writes the launcher
    elif [ ! -e "$told" ]; then
        mkdir -p "$(dirname "$told")" && : >"$told"
        echo '{"systemMessage": "The plugin of brim needs the program: uv tool install --with mcp brim"}'
    fi
fi
[ -x "$launcher" ] && "$launcher" "$1" "$2"
exit 0
"""

_SKILL = """---
name: brim
description: What brim tells you, refuses and remembers in this session. Read it when a message or a refusal names brim.
---
brim keeps the rules that your user set, and tells you those that matter now. Follow them like the user's own words.

- A refusal ("Refused by a rule of your user") won't change if you try again or try another way: do what it says
  instead, or ask your user. Only they can lift it.
- At a limit, finish without tools: say what is done, what is left, and how to go on.
- After a compaction, `.context/scratch.md` has what the summary may have lost: prompts, decisions, changed files,
  failing commands and dead ends. Read it before you go on.
- If your user corrects you and wants it kept: `brim learn "the rule, in one sentence"`.
- `brim why` shows which rules apply here, `brim context` what fills the window.
"""

_README = """# brim, the plugin

brim keeps your rules and tells your coding agent those that matter now, shows how full its window is, gives back what a
compaction drops, and holds it at a limit of money or tokens. This plugin brings its hooks, `/learn`, its MCP server
and a skill. It needs the program (`uv tool install --with mcp brim`, or `pip install "brim[mcp]"`), and says so once.

From a checkout of brim, in its folder:

- Claude Code: `claude plugin marketplace add .`, then `claude plugin install brim@brim`
- Codex: `codex plugin marketplace add .`, then `codex plugin add brim@brim`; trust the hooks when Codex asks
- Gemini CLI: `gemini extensions install plugins/brim/gemini`

Instead of the plugin, `brim init` adds the same hooks to your agents' settings, and the status line to Claude Code,
which a plugin can't bring. Where both are, the plugin stays silent. `brim doctor` shows which one is active.

These files are generated: change `src/brim/install/plugins.py`, then run `python scripts/build_plugins.py`.
"""


def plugin_files(version: str) -> dict[str, str]:
    """Return the files of the plugins, by their path in the repository."""
    number = version.replace(".dev", "-dev.")  # as SemVer writes it
    about = {"name": NAME, "version": number, "description": ABOUT}
    maker = {"name": NAME}
    claude = {**about, "author": maker, "license": "MIT", "keywords": ["context", "memory", "rules", "budget"]}
    codex = {**claude, "hooks": "./hooks/codex.json", "skills": "./skills/", "mcpServers": "./.mcp.json"}
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
            "plugins": [{"name": NAME, "source": source, "policy": policy, "category": "Productivity"}],
        },
        f"{FOLDER}/.claude-plugin/plugin.json": claude,
        f"{FOLDER}/.codex-plugin/plugin.json": codex,
        f"{FOLDER}/.mcp.json": {"mcpServers": _SERVER},
        f"{FOLDER}/hooks/hooks.json": _hooks("claude", "CLAUDE_PLUGIN_ROOT"),
        f"{FOLDER}/hooks/codex.json": _hooks("codex", "PLUGIN_ROOT"),
        f"{EXTENSION}/gemini-extension.json": {**about, "mcpServers": _SERVER},
        f"{EXTENSION}/hooks/hooks.json": _hooks("gemini", "extensionPath"),
    }
    return {path: json.dumps(each, indent=2) + "\n" for path, each in data.items()} | {
        f"{FOLDER}/README.md": _README,
        f"{FOLDER}/bin/hook": _HOOK,
        f"{FOLDER}/commands/learn.md": command_text("claude"),
        f"{FOLDER}/skills/brim/SKILL.md": _SKILL,
        f"{EXTENSION}/bin/hook": _HOOK,
        f"{EXTENSION}/commands/learn.toml": command_text("gemini"),
        f"{EXTENSION}/skills/brim/SKILL.md": _SKILL,
    }


def _hooks(agent: str, root: str) -> dict[str, Any]:
    """Return the hooks of *agent*; *root* is the variable with the plugin's folder."""
    return {"hooks": {event: [entry] for event, entry in entries_for(agent, f'"${{{root}}}"/bin/hook').items()}}
