"""Gemini CLI: other names for the same events, and a report of every request to the model.

*PreCompress* comes before every request, compressed or not. Text for the model can go with a prompt
and a result, not with a pending call. Gemini CLI takes it at a session's start too, but drops it
when the session goes on.
"""

from __future__ import annotations

import json
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
    named_context_files,
    read_by_event,
)
from brim.agents.call import AFTER_TOOL, PROMPT, STOP, TOOL_FAILED, Tools
from brim.agents.fields import count, mapping, parsed_line, text, text_of

EVENTS = {
    "SessionStart": AgentEvent("session_start", injects=True),
    "BeforeAgent": AgentEvent("prompt", matcher="*", injects=True),
    "BeforeTool": AgentEvent("before_tool", matcher="*", injects=True),
    "AfterTool": AgentEvent("after_tool", matcher="*", injects=True),
    "BeforeModel": AgentEvent("between_requests", matcher="*"),
    "AfterModel": AgentEvent("model_call", matcher="*"),
    "PreCompress": AgentEvent("before_compact", matcher="*"),
    "AfterAgent": AgentEvent("stop", matcher="*"),
    "SessionEnd": AgentEvent("session_end"),
}

TOOLS = Tools(
    {
        "shell": "run_shell_command",
        "read": "read_file read_many_files",
        "write": "write_file",
        "edit": "replace edit",
        "search": "glob list_directory search_file_content grep_search google_web_search web_fetch",
        "todo": "write_todos",
        "agent": "codebase_investigator delegate_to_agent invoke_agent",
        "question": "ask_user",
        "plan": "enter_plan_mode exit_plan_mode",
    }
)

_LARGEST_LIST = 1 << 20

HOOK = "<hook_context>"
_HOOK_END = "</hook_context>"
_MACHINE = ("<session_context>", "<environment_context>", "<state_snapshot>", "<loaded_context>")


def read_own(event: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the model, who typed a prompt, and what a tool answered; a failed call is an event of
    its own."""
    own: dict[str, Any] = {
        "model": text(data, "model") or text(data, "llm_request", "model"),
        "prompt_tokens": count(data, "llm_response", "usageMetadata", "promptTokenCount"),
    }
    own.update(_read_event(event, data))
    return own


def _read_prompt(data: Mapping[str, Any]) -> dict[str, Any]:
    prompt = words(text(data, "prompt"))
    return {"prompt": prompt, "human": is_typed(prompt) and not text(data, "agent_id")}


def _read_result(data: Mapping[str, Any]) -> dict[str, Any]:
    response = mapping(data, "tool_response")
    output = text_of(response.get("llmContent")) or text(response, "returnDisplay")
    failure = response.get("error")
    if not failure:
        return {"output": output}
    error = text(failure, "message") or text_of(failure) or "failed"
    return {"output": output, "event": TOOL_FAILED, "error": error}


_read_event = read_by_event({PROMPT: _read_prompt, STOP: _read_prompt, AFTER_TOOL: _read_result})


def words(content: object) -> str:
    """Return the words in *content* without what hooks added to them."""
    return re.sub(f"{HOOK}.*?{_HOOK_END}", "", text_of(content), flags=re.DOTALL).strip()


def is_typed(written: str) -> bool:
    """Return whether a person typed *written*, the words of a user message."""
    return bool(written) and not written.startswith(_MACHINE)


def window_in(line: bytes) -> WindowSeen | None:
    """Return what a *line* of a record says about the window."""
    if b'"tokens"' not in line:
        return None
    data = parsed_line(line)
    tokens = count(data, "tokens", "input")
    if text(data, "type") != "gemini" or not tokens:
        return None
    return WindowSeen(tokens, text(data, "model"))


def project_folders(environ: Mapping[str, str], projects: tuple[str, ...]) -> set[str]:
    """Return how Gemini CLI calls the folders of *projects*: it keeps a list."""
    path = os.path.join(PLACES.home(environ), "projects.json")
    try:
        with open(path, encoding="utf-8") as file:
            named = mapping(json.loads(file.read(_LARGEST_LIST)), "projects")
    except (OSError, ValueError, RecursionError):
        return set()
    return {text(named, project) for project in projects} - {""}


def session_in(path: str) -> str:
    """Return the session of the file *path*, which its first line names."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return text(json.loads(file.readline(_LARGEST_LIST)), "sessionId")
    except (OSError, ValueError, RecursionError):
        return ""


def session_folders(environ: Mapping[str, str]) -> list[str]:
    """Return the folder with a folder per project."""
    return [os.path.join(PLACES.home(environ), "tmp")]


def session_slug(parts: Sequence[str]) -> str | None:
    """Return the folder of a project for the record of a chat; None for other files."""
    return parts[0] if len(parts) > 2 and parts[1] == "chats" else None


PLACES = Places(
    variable="GEMINI_CLI_HOME",
    folder="",
    inner=".gemini",
    hooks="settings.json",
    project_hooks=".gemini/settings.json",
    plugins="/.gemini/extensions/",
)


def kinds_by_settings(
    environ: Mapping[str, str], project: str, kinds: tuple[str, ...]
) -> tuple[str, ...]:
    """Return *kinds* and what the settings call such files here."""
    return (*kinds, *named_context_files(PLACES, environ, project))


AGENT = Agent(
    name="gemini",
    title="Gemini CLI",
    events=EVENTS,
    answers=Answers(
        text_at=("prompt", "after_tool", "tool_failed"),
        texts=2,  # what wasn't told at the start comes with the first prompt or result
        refusals={"prompt": "deny", "before_tool": "deny"},
    ),
    tools=TOOLS,
    places=PLACES,
    transcripts=Transcripts(
        format="gemini-transcript",
        readers={
            "gemini-stream": "GeminiStreamReader",
            "gemini-transcript": "GeminiTranscriptReader",
        },
        needles=(b'"tokens"', b'"sessionId"', b'"$set"'),
        compaction_sign=b"<state_snapshot>",
        usage_signs=(b'"tokens"', b'"sessionId"', b'"$set"'),
    ),
    native_files=NativeFiles(
        kinds=("GEMINI.md",), users_of=("gemini",), kinds_by_settings=kinds_by_settings
    ),
    model="gemini-2.5-pro",
    session_variable="GEMINI_SESSION_ID",
    signs=("GEMINI_CLI",),
    sign_prefixes=("GEMINI_CLI",),
    compact_command="/compress",
    reports_compactions=False,
    read_own=read_own,
    window_in=window_in,
    session_folders=session_folders,
    session_slug=session_slug,
    project_folders=project_folders,
    session_in=session_in,
)
