"""Claude Code: one JSON object on standard input, one on standard output.

It cuts text for the model at about 10,000 characters and puts a pointer to a file in its place. At
*Stop* any text makes the model go on, so nothing is said there but a reminder, if the user wants
those. What a *PreCompact* hook prints goes unchanged into the instructions of the summary.
"""

from __future__ import annotations

import os
import re
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
    read_by_event,
)
from brim.agents.call import AFTER_TOOL, PROMPT, TOOL_FAILED, Tools
from brim.agents.fields import (
    count,
    first_mapping,
    first_text,
    flag,
    items,
    json_file,
    mapping,
    parsed_line,
    text,
    text_of,
    value,
)
from brim.config.places import home_folder
from brim.files import data_lines

EVENTS = {
    "SessionStart": AgentEvent("session_start", injects=True),
    "UserPromptSubmit": AgentEvent("prompt", injects=True),
    "PreToolUse": AgentEvent("before_tool", matcher="*", injects=True),
    "PostToolUse": AgentEvent("after_tool", matcher="*"),
    "PostToolUseFailure": AgentEvent("tool_failed", matcher="*"),
    "PostToolBatch": AgentEvent("between_requests"),
    "PreCompact": AgentEvent("before_compact"),
    "PostCompact": AgentEvent("after_compact", injects=True),
    "Stop": AgentEvent("stop"),
    "SubagentStart": AgentEvent("subagent_start", injects=True),
    "SubagentStop": AgentEvent("subagent_stop"),
    "SessionEnd": AgentEvent("session_end"),
}

TOOLS = Tools(
    {
        "shell": "Bash Shell PowerShell BashOutput KillShell KillBash",
        "read": "Read NotebookRead",
        "write": "Write",
        "edit": "Edit MultiEdit NotebookEdit",
        "search": "Glob Grep LS LSP WebFetch WebSearch ToolSearch",
        "todo": "TodoWrite TodoRead TaskCreate TaskUpdate TaskList TaskGet",
        "agent": "Task Agent",
        "question": "AskUserQuestion",
        "plan": "EnterPlanMode ExitPlanMode",
    }
)

_LONGEST_SHOWN = 4_000
"""Characters of what an editor shows that are looked at."""

_TYPED_TAGS = (("bash-input", "!"), ("user-memory-input", "#"))
"""What a person typed behind a sign of its own, and the sign."""
_REMINDER = "system-reminder"
_BEFORE = (f"<{_REMINDER}>", "<ide_", "<new-diagnostics>")
"""How a block opens that may stand before a person's words: what an editor shows, and reminders."""


def read_own(event: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return who typed a prompt, what a tool answered, and what Cursor says otherwise."""
    if "cursor_version" in data:
        return {**_read_event(event, data), **_read_cursor(data)}
    return _read_event(event, data)


def _read_cursor(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return session and folder as Cursor names them: it runs hooks of Claude Code's settings too.

    Its transcripts have a form of their own, which brim doesn't read.
    """
    folder = text(data, "cwd")
    for root in items(data, "workspace_roots"):
        if not folder and isinstance(root, str):
            folder = root
    session = first_text(data, "session_id", "conversation_id")
    return {"session": session, "cwd": folder, "transcript": ""}


def _read_result(data: Mapping[str, Any]) -> dict[str, Any]:
    response = data.get("tool_response")
    return {"output": _answered(response), "interrupted": flag(response, "interrupted")}


def _read_failure(data: Mapping[str, Any]) -> dict[str, Any]:
    error = text(data, "error")
    return {"output": error, "error": error or "failed"}


def _read_prompt(data: Mapping[str, Any]) -> dict[str, Any]:
    prompt = text(data, "prompt")
    typed = "" if text(data, "agent_id") else typed_text(prompt)
    return {
        "prompt": typed or prompt,
        "human": bool(typed.strip()),
        "shown_files": _shown_files(prompt),
    }


_read_event = read_by_event(
    {PROMPT: _read_prompt, AFTER_TOOL: _read_result, TOOL_FAILED: _read_failure}
)


def _shown_files(prompt: str) -> tuple[str, ...]:
    """Return the files that the person's editor shows."""
    after = prompt.partition("<ide_opened_file>")[2]
    block = after.partition("</ide_opened_file>")[0][:_LONGEST_SHOWN]
    return tuple([word.rstrip(".") for word in block.split() if "/" in word])


def _answered(response: object) -> str:
    """Return the text of a tool's answer, which each tool shapes in its own way."""
    if not isinstance(response, dict):
        return text_of(response)
    if "stdout" in response or "stderr" in response:
        streams = [text(response, "stdout"), text(response, "stderr")]
        return "\n".join(filter(None, streams))
    content = text(mapping(response, "file"), "content")
    return content or text_of(response.get("content")) or text(response, "result")


def window_in(line: bytes) -> WindowSeen | None:
    """Return what a *line* of a transcript says about the main thread's window."""
    if b"compact_boundary" in line:
        window = _window_after_compaction(parsed_line(line))
        if window is not None:
            return window
    from brim.agents.claude.reports import report_in
    from brim.agents.events import Usage

    report = report_in(line)
    if not isinstance(report, Usage) or report.agent or not report.tokens.prompt:
        return None
    return WindowSeen(report.tokens.prompt, report.model)


def _window_after_compaction(line: object) -> WindowSeen | None:
    """Return what the main thread's compaction left, if *line* is about one."""
    if text(line, "subtype") != "compact_boundary" or flag(line, "isSidechain"):
        return None
    left = first_mapping(line, "compactMetadata", "compact_metadata")
    return WindowSeen(count(left, "postTokens") or count(left, "post_tokens"))


def session_folders(environ: Mapping[str, str]) -> list[str]:
    """Return the folders in which Claude Code may keep sessions."""
    named = environ.get("CLAUDE_CONFIG_DIR", "").split(",")
    folders = [part.strip() for part in named if part.strip()]
    if not folders:
        home = home_folder(environ)
        config = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
        folders = [os.path.join(config, "claude"), os.path.join(home, ".claude")]
    return [os.path.join(folder, "projects") for folder in folders]


def session_slug(parts: Sequence[str]) -> str | None:
    """Return the folder of a project, whose name begins as a path does: with a slash or a drive."""
    if len(parts) > 1 and re.match(r"-|[A-Za-z]--", parts[0]):
        return parts[0]
    return ""


def project_folders(_: Mapping[str, str], projects: tuple[str, ...]) -> set[str]:
    """Return how Claude Code calls the folders in which it keeps the sessions of *projects*."""
    return {re.sub(r"[^A-Za-z0-9]", "-", project) for project in projects}


# What a person typed ------------------------------------------------------------------------------


def typed_text(written: str) -> str:
    """Return what a person typed to get *written*, empty if no person did.

    >>> typed_text("<command-name>/model</command-name>\\n<command-args>sonnet</command-args>")
    '/model sonnet'
    """
    written = _without_reminders(written)
    opening = _without_blocks(written.lstrip())
    if opening.startswith("<command-") and (name := tagged(opening, "command-name")):
        arguments = tagged(opening, "command-args")
        return f"/{name.removeprefix('/')} {arguments}".rstrip()
    for tag, sign in _TYPED_TAGS:
        if opening.startswith(f"<{tag}>"):
            return sign + tagged(opening, tag)
    if opening.startswith(data_lines(__file__, "machine_openings.txt")):
        return ""
    return opening if written.lstrip() != opening else written


def _without_blocks(opening: str) -> str:
    """Return *opening* without the whole blocks that the client put before a person's words.

    A block goes to the last of its closing tags: what it shows may hold one too, and no person
    typed it.
    """
    while opening.startswith(_BEFORE):
        tag, closed, _ = opening[1:].partition(">")
        _, ending, after = opening.rpartition(f"</{tag}>")
        if not (closed and ending):
            break
        opening = after.lstrip()
    return opening


def _without_reminders(written: str) -> str:
    """Return *written* without the blocks that the client put after it, each from the beginning of
    a line."""
    while written.rstrip().endswith(f"</{_REMINDER}>"):
        before, opened, _ = written.rpartition(f"\n<{_REMINDER}>")
        if not opened:
            break
        written = before.rstrip("\n")
    return written


def tagged(written: str, tag: str) -> str:
    """Return what stands between ``<tag>`` and ``</tag>`` in *written*, empty if nothing does."""
    _, opened, after = written.partition(f"<{tag}>")
    inside, closed, _ = after.partition(f"</{tag}>")
    return inside.strip() if opened and closed else ""


PLACES = Places(
    variable="CLAUDE_CONFIG_DIR",
    folder=".claude",
    hooks="settings.json",
    project_hooks=".claude/settings.local.json",
    plugins="/.claude/plugins/",
)


def kinds_by_settings(
    environ: Mapping[str, str], _: str, kinds: tuple[str, ...]
) -> tuple[str, ...]:
    """Return *kinds*, or none if the user's settings leave files out: then any may be left out."""
    if value(json_file(PLACES.user_file(environ)), "claudeMdExcludes"):
        return ()
    return kinds


AGENT = Agent(
    name="claude",
    title="Claude Code",
    compacts_by_settings=True,
    events=EVENTS,
    answers=Answers(
        text_at=(
            "session_start",
            "subagent_start",
            "prompt",
            "before_tool",
            "after_tool",
            "tool_failed",
            "between_requests",
        ),
        instruction_chars=9_000,
    ),
    tools=TOOLS,
    places=PLACES,
    transcripts=Transcripts(
        format="claude-transcript",
        readers={
            "claude-transcript": "ClaudeTranscriptReader",
            "claude-status": "ClaudeStatusReader",
            "claude-stream": "ClaudeStreamReader",
        },
        # The last three are escaped letters, in which no client writes ASCII.
        needles=(b'"usage"', b'"cost-state"', b"\\u002", b"\\u006", b"\\u007"),
        loose=("claude-transcript", "claude-stream"),
        resumes=True,
        has_subagent_files=True,
        compaction_sign=b"compact_boundary",
        writes_answers_late=True,
        has_usage_reader=True,
    ),
    native_files=NativeFiles(
        kinds=(
            "CLAUDE.md",
            "CLAUDE.local.md",
            ".claude/CLAUDE.md",
            "AGENTS.md",
            ".claude/rules",
        ),
        hidden_by={"AGENTS.md": ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md")},
        users_of=("claude",),
        kinds_by_settings=kinds_by_settings,
    ),
    model="claude-sonnet-4-5",
    counting_model="opus",
    session_variable="CLAUDE_CODE_SESSION_ID",
    signs=("CLAUDECODE", "CLAUDE_CODE_SESSION_ID"),
    sign_prefixes=("CLAUDECODE", "CLAUDE_CODE_"),
    read_own=read_own,
    window_in=window_in,
    session_folders=session_folders,
    session_slug=session_slug,
    project_folders=project_folders,
)
