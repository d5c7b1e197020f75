"""Codex: Claude Code's format, read more strictly. A key that it doesn't know makes the whole
answer invalid.

Before a call ``continue`` is such a key: with it a refusal would be ignored and the call made. Text
for the model is cut in its middle at 10,000 bytes, unless the hook's entry in the settings lifts
that, as brim's does. A failed command arrives like any other result. Nothing that a hook says
before a compaction reaches the summary.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from brim.agents.agent import (
    Agent,
    AgentEvent,
    Answers,
    NativeFiles,
    Places,
    Transcripts,
    WindowSeen,
)
from brim.agents.call import Tools
from brim.agents.fields import count, items, mapping, parsed_line, text, text_of, value
from brim.files import data_lines

EVENTS = {
    "SessionStart": AgentEvent("session_start", injects=True),
    "UserPromptSubmit": AgentEvent("prompt", injects=True),
    "PreToolUse": AgentEvent("before_tool", matcher="*", injects=True),
    "PostToolUse": AgentEvent("after_tool", matcher="*"),
    "PreCompact": AgentEvent("before_compact"),
    "PostCompact": AgentEvent("after_compact", injects=True),
    "Stop": AgentEvent("stop"),
    "SubagentStop": AgentEvent("subagent_stop"),
    "SessionEnd": AgentEvent("session_end", timeout=3),  # it allows no more
}

TOOLS = Tools(
    {
        "shell": "Bash shell local_shell local_shell_call shell_command exec_command unified_exec"
        " write_stdin container.exec command_execution",
        "read": "Read view_image read_file",
        "write": "Write",
        "edit": "Edit apply_patch file_change",
        "search": "list_dir grep_files web_search web_search_call",
        "todo": "update_plan todo_list",
        "agent": "spawn_agent wait_agent close_agent",
        "question": "request_user_input",
        "plan": "",
    }
)
"""Hooks hear of a command as ``Bash``, and of other tools partly by Claude Code's names."""

_REQUEST = "## My request for Codex:"


def read_own(event: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return who typed a prompt, and what a tool answered."""
    if event == "prompt":
        prompt = text(data, "prompt")
        if typed({}, prompt) and not text(data, "agent_id"):
            return {"prompt": asked(prompt), "human": True}
        return {"prompt": prompt}
    if event == "after_tool":
        response = data.get("tool_response")
        if isinstance(response, dict):  # what an MCP server answered
            return {"output": text_of(response.get("content")) or text(response, "output")}
        return {"output": text_of(response)}
    return {}


def typed(payload: Mapping[str, Any], words: str) -> bool:
    """Return whether a person typed *words*, the text of the user message *payload*."""
    about = value(payload, "internal_chat_message_metadata_passthrough")
    sources = [text(part, "provenance", "type") for part in items(about, "content_item_metadata")]
    if any(sources):
        return "user" in sources
    # In a data file a "#" begins a comment.
    openings = ("# agents.md", *data_lines(__file__, "openings.txt"))
    return bool(words.strip()) and not words.lstrip().lower().startswith(openings)


def asked(words: str) -> str:
    """Return what was asked in *words*: editors put what is open in them before the request."""
    return words.rpartition(_REQUEST)[2].strip() if _REQUEST in words else words.strip()


def window_in(line: bytes) -> WindowSeen | None:
    """Return what a *line* of a rollout says about the window."""
    if not any(sign in line for sign in (b'"token_count"', b'"compacted"', b'"turn_context"')):
        return None
    data = parsed_line(line)
    kind = text(data, "type")
    payload = mapping(data, "payload")
    if kind == "compacted":
        return WindowSeen(0)
    if kind == "turn_context":
        return WindowSeen(model=text(payload, "model"))
    info = mapping(payload, "info")
    if text(payload, "type") != "token_count" or not mapping(info, "last_token_usage"):
        return None
    tokens = count(info, "last_token_usage", "input_tokens") or None
    return WindowSeen(tokens, window=count(info, "model_context_window"))


def session_folders(environ: Mapping[str, str]) -> list[str]:
    """Return the folders of rollouts, by day and archived."""
    home = PLACES.home(environ)
    return [os.path.join(home, "sessions"), os.path.join(home, "archived_sessions")]


def session_slug(parts: Sequence[str]) -> str | None:
    """Return an empty text for a rollout, which is kept by day; None for other files."""
    return "" if parts[-1].startswith("rollout-") else None


PLACES = Places(
    variable="CODEX_HOME",
    folder=".codex",
    hooks="hooks.json",
    project_hooks=".codex/hooks.json",
    plugins="/.codex/plugins/",
)

AGENT = Agent(
    name="codex",
    title="Codex",
    events=EVENTS,
    answers=Answers(
        text_at=("session_start", "prompt", "before_tool", "after_tool"),
        refusals={"prompt": "block", "stop": "block"},
        ends_turns=False,
        stops_compactions=True,  # its schema of PreCompact has no decision, and allows nothing else
        shows_refusals=False,
        no_note_at=("session_end",),
    ),
    tools=TOOLS,
    places=PLACES,
    transcripts=Transcripts(
        format="codex-rollout",
        readers={"codex-rollout": "CodexRolloutReader", "codex-exec": "CodexExecReader"},
        needles=(b'"token_', b'"turn_context"', b'"session_meta"', b'"compacted"'),
        repeats_prompts=True,
        compaction_sign=b'"compacted"',
        usage_signs=(
            b'"token_',
            b'"turn_id"',  # with the next ones it shows where a parent's history ends
            b'"turn_context"',
            b'"session_meta"',
            b'"thread_settings',
        ),
    ),
    native_files=NativeFiles(
        kinds=("AGENTS.md", "AGENTS.override.md"),
        hidden_by={"AGENTS.md": ("AGENTS.override.md",)},
        largest=32_768,
        users_of=("codex",),
        follows_work=False,
    ),
    model="gpt-5",
    session_variable="CODEX_SESSION_ID",
    thread_variables=("CODEX_THREAD_ID",),
    signs=("CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_SANDBOX"),
    sign_prefixes=("CODEX_",),
    read_own=read_own,
    window_in=window_in,
    session_folders=session_folders,
    session_slug=session_slug,
)
