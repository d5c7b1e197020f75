"""opencode: its plugin sends Claude Code's events, and puts the answers in their place.

The plugin also notes what each step took and cost, in a file of brim's own without texts: limits
hold, but loops go unnoticed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from brim.agents.agent import Agent, Answers, NativeFiles, Places, Transcripts
from brim.agents.call import Tools
from brim.agents.claude.value import EVENTS as SENT
from brim.agents.claude.value import read_own
from brim.config.places import user_folder

_NOT_SENT = (
    "PostToolUseFailure",
    "PostToolBatch",
    "PostCompact",
    "SubagentStart",
    "SubagentStop",
    "SessionEnd",
)

EVENTS = {name: event for name, event in SENT.items() if name not in _NOT_SENT}

TOOLS = Tools(
    {
        "shell": "bash shell",
        "read": "read",
        "write": "write",
        "edit": "edit multiedit patch apply_patch",
        "search": "glob grep list lsp codesearch webfetch websearch",
        "todo": "todowrite todoread",
        "agent": "task subagent",
        "question": "question",
        "plan": "plan_enter plan_exit",
    }
)


def session_folders(environ: Mapping[str, str]) -> list[str]:
    """Return the folder in which the plugin notes what each session took."""
    return [os.path.join(user_folder(environ), "opencode")]


AGENT = Agent(
    name="opencode",
    title="opencode",
    events=EVENTS,
    answers=Answers(
        text_at=("session_start", "prompt", "before_tool", "after_tool", "tool_failed"),
        instruction_chars=9_000,
        ends_turns=False,
    ),
    tools=TOOLS,
    places=Places(
        variable="OPENCODE_CONFIG_DIR",
        folder=".config/opencode",
        in_config=True,
        hooks="plugin/brim.js",
        project_hooks=".opencode/plugin/brim.js",
    ),
    transcripts=Transcripts(
        format="opencode",
        readers={"opencode": "OpencodeReader"},
        needles=(b'"tokens"',),
        has_texts=False,
    ),
    native_files=NativeFiles(
        kinds=("AGENTS.md", "CLAUDE.md"),
        hidden_by={"CLAUDE.md": ("AGENTS.md",)},
        users_of=("opencode", "claude"),
    ),
    model="claude-sonnet-4-5",
    signs=("OPENCODE",),
    sign_prefixes=("OPENCODE",),
    read_own=read_own,
    session_folders=session_folders,
)
