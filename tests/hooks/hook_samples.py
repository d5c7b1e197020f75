"""What agents send to hooks: small messages in the shapes of the real clients, with generic
paths."""

from __future__ import annotations

from typing import Any

SESSION = "8eeb040d-b0c0-4396-a084-8ec7e7627d5b"


def claude(event: str, **own: Any) -> dict[str, Any]:
    """A message of Claude Code."""
    common = {
        "session_id": SESSION,
        "transcript_path": "/home/user/.claude/projects/-home-user-project/s.jsonl",
        "cwd": "/home/user/project",
        "prompt_id": "16d70763",
        "permission_mode": "acceptEdits",
        "hook_event_name": event,
    }
    return {**common, **own}


BASH = {
    "tool_name": "Bash",
    "tool_input": {"command": "cat gone; exit 3"},
    "tool_use_id": "toolu_42",
}
WRITE = {
    "tool_name": "Write",
    "tool_input": {"file_path": "/home/user/project/hello.txt", "content": "hello\n"},
    "tool_use_id": "toolu_43",
}

CLAUDE: list[tuple[str, dict[str, Any]]] = [
    ("SessionStart", claude("SessionStart", source="startup", model="claude-opus-5-5")),
    ("SessionStart", claude("SessionStart", source="compact", model="claude-opus-5-5")),
    ("UserPromptSubmit", claude("UserPromptSubmit", prompt="please run the tests")),
    (
        "UserPromptSubmit",
        claude("UserPromptSubmit", prompt="<task-notification>\n<task-id>a5</task-id>"),
    ),
    ("PreToolUse", claude("PreToolUse", **WRITE)),
    ("PreToolUse", claude("PreToolUse", **BASH)),
    (
        "PostToolUse",
        claude(
            "PostToolUse",
            **BASH,
            tool_response={"stdout": "out", "stderr": "err", "interrupted": False},
        ),
    ),
    (
        "PostToolUse",
        claude("PostToolUse", **WRITE, tool_response={"type": "create", "content": "hello\n"}),
    ),
    (
        "PostToolUseFailure",
        claude("PostToolUseFailure", **BASH, error="Exit code 3\ncat: gone", is_interrupt=False),
    ),
    ("PreCompact", claude("PreCompact", trigger="manual", custom_instructions=None)),
    (
        "PostCompact",
        claude("PostCompact", trigger="auto", compact_summary="<summary>what was done</summary>"),
    ),
    ("Stop", claude("Stop", stop_hook_active=False, last_assistant_message="Done.")),
    (
        "SubagentStop",
        claude("SubagentStop", agent_id="a270", agent_type="", last_assistant_message="x"),
    ),
    ("SessionEnd", claude("SessionEnd", reason="other")),
]

CODEX: list[tuple[str, dict[str, Any]]] = [
    ("SessionStart", claude("SessionStart", source="startup", model="gpt-5.5-codex")),
    (
        "UserPromptSubmit",
        claude("UserPromptSubmit", prompt="please run the tests", model="gpt-5.5-codex"),
    ),
    ("PreToolUse", claude("PreToolUse", **BASH, turn_id="t")),
    ("PostToolUse", claude("PostToolUse", **BASH, tool_response="Exit code: 3", turn_id="t")),
    ("PreCompact", claude("PreCompact", trigger="auto", turn_id="t")),
    ("Stop", claude("Stop", stop_hook_active=False)),
]

_SHELL = {"tool_name": "run_shell_command", "tool_input": {"command": "echo ok"}}
_USAGE = {"promptTokenCount": 5984, "candidatesTokenCount": 38, "totalTokenCount": 6022}

GEMINI: list[tuple[str, dict[str, Any]]] = [
    ("SessionStart", claude("SessionStart", source="startup")),
    (
        "BeforeAgent",
        claude("BeforeAgent", prompt="<hook_context>rules</hook_context>\n\nrun the tests"),
    ),
    ("PreCompress", claude("PreCompress", trigger="auto")),
    (
        "AfterModel",
        claude(
            "AfterModel",
            llm_request={"model": "gemini-2.5-flash"},
            llm_response={"usageMetadata": _USAGE},
        ),
    ),
    ("BeforeTool", claude("BeforeTool", **_SHELL)),
    (
        "AfterTool",
        claude(
            "AfterTool", **_SHELL, tool_response={"llmContent": "Output: ok", "returnDisplay": "ok"}
        ),
    ),
    (
        "AfterTool",
        claude(
            "AfterTool",
            **_SHELL,
            tool_response={"llmContent": "no", "error": {"message": "denied"}},
        ),
    ),
    ("AfterAgent", claude("AfterAgent", prompt="run the tests", prompt_response="Done.")),
    ("SessionEnd", claude("SessionEnd", reason="exit")),
]

ALL = [
    (agent, *each)
    for agent, sent in (("claude", CLAUDE), ("codex", CODEX), ("gemini", GEMINI))
    for each in sent
]
