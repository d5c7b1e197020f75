"""Qwen Code: Claude Code's names for events, Gemini CLI's for tools.

*UserPromptSubmit* also comes before each request that takes results to the model, with an empty
prompt: there a refusal ends the turn. A text for the model doesn't arrive before a tool, at the
start of a sub-agent, or at the end of a turn. Nothing stops a compaction.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brim.agents.agent import (
    Agent,
    AgentEvent,
    Answers,
    NativeFiles,
    Places,
    Transcripts,
    WindowSeen,
    cut,
    failed_command,
    named_context_files,
    opens_as_typed,
    read_by_event,
)
from brim.agents.call import (
    AFTER_TOOL,
    BETWEEN_REQUESTS,
    PROMPT,
    TOOL_FAILED,
    Answer,
    HookCall,
    Tools,
)
from brim.agents.fields import count, mapping, parsed_line, text, text_of

EVENTS = {
    "SessionStart": AgentEvent("session_start", injects=True),
    "UserPromptSubmit": AgentEvent("prompt", injects=True),
    "PreToolUse": AgentEvent("before_tool", matcher="*", injects=True),
    "PostToolUse": AgentEvent("after_tool", matcher="*", injects=True),
    "PostToolUseFailure": AgentEvent("tool_failed", matcher="*", injects=True),
    "PreCompact": AgentEvent("before_compact"),
    "PostCompact": AgentEvent("after_compact", injects=True),
    "Stop": AgentEvent("stop"),
    "SubagentStop": AgentEvent("subagent_stop"),
    "SessionEnd": AgentEvent("session_end"),
}

TOOLS = Tools(
    {
        "shell": "run_shell_command monitor",
        "read": "read_file zoom_image",
        "write": "write_file",
        "edit": "edit notebook_edit replace",
        "search": "grep_search glob list_directory lsp web_fetch web_search tool_search"
        " read_mcp_resource",
        "todo": "todo_write",
        "agent": "agent list_agents send_message",
        "question": "ask_user_question",
        "plan": "enter_plan_mode exit_plan_mode",
    }
)

_SHELL = re.compile(
    r"\ACommand: .*?^Output: (?P<output>.*)^Error: (?P<error>.*?)^Exit Code: (?P<code>-?\d{1,9})$",
    re.DOTALL | re.MULTILINE,
)
"""What stands around the output of a command."""
_EMPTY = ("(empty)", "(none)")


@dataclass(frozen=True)
class QwenAnswers(Answers):
    """What Qwen Code takes as an answer."""

    def _stop_reason(self, _: HookCall, __: Answer) -> str:
        """Return nothing: a word that stops a call or a batch lets the turn go on."""
        return ""

    def _decision(self, call: HookCall, answer: Answer) -> dict[str, Any]:
        """Return the refusal of the whole event; between requests it ends the turn."""
        if call.event == BETWEEN_REQUESTS and answer.stop_reason:
            return {"decision": "block", "reason": cut(answer.stop_reason, self.chars)}
        return super()._decision(call, answer)

    def _instructions(self, call: HookCall, answer: Answer) -> str:
        """Return the instructions for the summarizer, which it takes as a text for the model."""
        if not answer.instructions:
            return ""
        written = cut(answer.instructions, self.instruction_chars)
        specific = {"hookEventName": call.name, "additionalContext": written}
        return json.dumps({"hookSpecificOutput": specific})


# What it sends ------------------------------------------------------------------------------------


def _read_prompt(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return who typed a prompt; one without words comes between two requests."""
    prompt = text(data, "submitted_prompt") or text(data, "prompt")
    if not prompt:
        return {"event": BETWEEN_REQUESTS}
    return {"prompt": prompt, "human": is_typed(prompt) and not text(data, "agent_id")}


def _read_result(data: Mapping[str, Any]) -> dict[str, Any]:
    response = mapping(data, "tool_response")
    answered = text_of(response.get("llmContent")) or text(response, "returnDisplay")
    return {"output": shell_answer(answered)[0]}


def _read_failure(data: Mapping[str, Any]) -> dict[str, Any]:
    output, code = shell_answer(text(data, "error"))
    return failed_command(output, code)


read_own = read_by_event(
    {PROMPT: _read_prompt, AFTER_TOOL: _read_result, TOOL_FAILED: _read_failure}
)
"""Reads who typed a prompt, and what a tool answered."""


def shell_answer(answered: str) -> tuple[str, int | None]:
    """Return what a command put out, and its exit code; a text of another form as it is.

    >>> shell_answer("Command: ls\\nOutput: a.txt\\nError: (none)\\nExit Code: 0\\nSignal: (none)")
    ('a.txt', 0)
    """
    match = _SHELL.search(answered)
    if match is None:
        return answered, None
    streams = [match["output"].strip(), match["error"].strip()]
    return "\n".join([stream for stream in streams if stream not in _EMPTY]), int(match["code"])


def is_typed(words: str) -> bool:
    """Return whether a person typed *words*, the text of a prompt."""
    return opens_as_typed(words, __file__)


# Its files ----------------------------------------------------------------------------------------


def window_in(line: bytes) -> WindowSeen | None:
    """Return what a *line* of a session's file says about the main thread's window."""
    if b'"usageMetadata"' not in line and b"chat_compression" not in line:
        return None
    report = parsed_line(line)
    if text(report, "agentId"):
        return None
    if text(report, "subtype") == "chat_compression":
        return WindowSeen(count(report, "systemPayload", "info", "newTokenCount"))
    tokens = count(report, "usageMetadata", "promptTokenCount")
    if not tokens:
        return None
    return WindowSeen(tokens, text(report, "model"), count(report, "contextWindowSize"))


def session_folders(environ: Mapping[str, str]) -> list[str]:
    """Return the folder with a folder per project."""
    return [os.path.join(PLACES.home(environ), "projects")]


def session_slug(parts: Sequence[str]) -> str | None:
    """Return the folder of a project for a session's file; None for other files."""
    return parts[0] if len(parts) == 3 and parts[1] == "chats" else None


def project_folders(_: Mapping[str, str], projects: tuple[str, ...]) -> set[str]:
    """Return how Qwen Code calls the folders in which it keeps the sessions of *projects*."""
    return {re.sub(r"[^A-Za-z0-9]", "-", project) for project in projects}


PLACES = Places(
    variable="QWEN_HOME",
    folder=".qwen",
    hooks="settings.json",
    project_hooks=".qwen/settings.json",
    plugins="/.qwen/extensions/",
)


def kinds_by_settings(
    environ: Mapping[str, str], project: str, kinds: tuple[str, ...]
) -> tuple[str, ...]:
    """Return *kinds* and what the settings call such files here."""
    return (*kinds, *named_context_files(PLACES, environ, project))


AGENT = Agent(
    name="qwen",
    title="Qwen Code",
    events=EVENTS,
    also_reports=(BETWEEN_REQUESTS,),
    answers=QwenAnswers(
        text_at=("session_start", "prompt", "after_tool", "tool_failed", "between_requests"),
        instruction_chars=4_000,
        refusals={"prompt": "block", "stop": "block"},
    ),
    tools=TOOLS,
    places=PLACES,
    transcripts=Transcripts(
        format="qwen-chat",
        readers={"qwen-chat": "QwenChatReader"},
        needles=(b"qwen-code.api_response", b'"usageMetadata"', b"chat_compression"),
        compaction_sign=b"chat_compression",
        usage_signs=(b"qwen-code.api_response", b"chat_compression"),
    ),
    native_files=NativeFiles(
        kinds=("QWEN.md", "AGENTS.md"),
        follows_work=False,
        users_of=("qwen",),
        kinds_by_settings=kinds_by_settings,
    ),
    model="qwen3-coder-plus",
    session_variable="QWEN_CODE_SESSION_ID",
    signs=("QWEN_CODE", "QWEN_CODE_SESSION_ID"),
    sign_prefixes=("QWEN_CODE",),
    compact_command="/compress",
    read_own=read_own,
    window_in=window_in,
    session_folders=session_folders,
    session_slug=session_slug,
    project_folders=project_folders,
)
