"""GitHub Copilot CLI: Claude Code's names for events and tools, and answers of its own.

It starts the hooks of a session's start and of its first prompt at the same moment, so brim asks
only for the second. A text for the model stands at the top of the answer. Nobody sees a note for
the person. A call is refused before it's made, but only the answer to a request for permission ends
the turn: that comes for commands and for changes of files, once the event before the call has let
it pass. Nothing steers or stops a compaction, and no event follows one.

In a sub-agent ``session_id`` is the sub-agent's. Its file is that of the session, which only some
events name.
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
    opens_as_typed,
    read_by_event,
)
from brim.agents.call import (
    AFTER_TOOL,
    BEFORE_TOOL,
    KEYS,
    PERMISSION,
    PROMPT,
    STOP,
    TOOL_FAILED,
    Answer,
    HookCall,
    Tools,
)
from brim.agents.fields import count, first_text, mapping, parsed_line, text

EVENTS = {
    "UserPromptSubmit": AgentEvent("prompt", injects=True),
    "PreToolUse": AgentEvent("before_tool", injects=True),
    "PermissionRequest": AgentEvent("permission"),
    "PostToolUse": AgentEvent("after_tool"),
    "PostToolUseFailure": AgentEvent("tool_failed"),
    "PreCompact": AgentEvent("before_compact", injects=True),
    "Stop": AgentEvent("stop"),
    "SubagentStart": AgentEvent("subagent_start", injects=True),
    "SubagentStop": AgentEvent("subagent_stop"),
    "SessionEnd": AgentEvent("session_end"),
}

TOOLS = Tools(
    {
        "shell": "Bash PowerShell read_bash write_bash stop_bash list_bash read_powershell"
        " write_powershell stop_powershell list_powershell",
        "read": "Read view",
        "write": "Write create",
        "edit": "Edit MultiEdit apply_patch str_replace_editor",
        "search": "Grep Glob rg WebFetch WebSearch web_fetch web_search"
        " fetch_copilot_cli_documentation session_store_sql",
        "todo": "TodoWrite update_todo",
        "agent": "Agent Task read_agent list_agents write_agent",
        "question": "ask_user",
        "plan": "exit_plan_mode",
    },
    {
        **KEYS,
        "write": {**KEYS["write"], "content": ("file_text", "content")},
        "edit": {
            **KEYS["edit"],
            "old_string": ("old_str", "old_string"),
            "new_string": ("new_str", "new_string"),
        },
    },
)
"""Hooks hear of the usual tools by Claude Code's names. What they are given has its own names."""

SESSION_FILE = "events.jsonl"
_ASKED_ABOUT = ("shell", "write", "edit")
"""The kinds of calls for which permission is always requested, even where everything is allowed."""
_ID = re.compile(r"[\w-]{1,80}")
_EXIT_LINE = re.compile(r"\n?<shellId: [^>]* completed with exit code (-?\d{1,9})>\s*$")


@dataclass(frozen=True)
class CopilotAnswers(Answers):
    """What GitHub Copilot CLI takes as an answer."""

    def word(self, call: HookCall, answer: Answer) -> str:
        """Return *answer* in its format; empty for nothing."""
        worded: dict[str, Any] = {}
        if call.event == PERMISSION:
            worded = _answered_request(answer)
        elif call.event == BEFORE_TOOL:
            worded = self._refused_call(call, answer)
        elif answer.deny and self.refusal(call.event):
            worded = {"decision": "block", "reason": cut(answer.deny, self.chars)}
        if answer.text and call.event in self.text_at:
            worded["additionalContext"] = cut(answer.text, self.texts * self.chars)
        return json.dumps(worded) if worded else ""

    def _refused_call(self, call: HookCall, answer: Answer) -> dict[str, Any]:
        """Return the refusal of a pending call. One that ends the turn waits for the request for
        permission, if that is sure to come."""
        ends_turn_later = answer.stop_reason and call.tool.kind in _ASKED_ABOUT
        if not answer.deny or ends_turn_later:
            return {}
        return {
            "permissionDecision": "deny",
            "permissionDecisionReason": cut(answer.deny, self.chars),
        }


def _answered_request(answer: Answer) -> dict[str, Any]:
    """Return the answer to a request for permission; nothing leaves it to the agent."""
    if answer.stop_reason:
        return {"behavior": "deny", "message": answer.stop_reason, "interrupt": True}
    if answer.deny:
        return {"behavior": "deny", "message": answer.deny}
    return {}


# What it sends ------------------------------------------------------------------------------------


def read_own(event: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return whose session it is, who typed a prompt, and what a tool answered."""
    transcript = first_text(data, "transcript_path", "transcriptPath")
    return {"session": _session_of(data), "transcript": transcript, **_read_event(event, data)}


def _read_prompt(data: Mapping[str, Any]) -> dict[str, Any]:
    prompt = text(data, "prompt")
    return {"prompt": prompt, "human": is_typed(prompt) and not text(data, "agent_id")}


def _read_failure(data: Mapping[str, Any]) -> dict[str, Any]:
    return failed_command(text(data, "error") or "failed", None)


def _read_stop(data: Mapping[str, Any]) -> dict[str, Any]:
    if text(data, "agent_id"):
        return {"event": "other"}  # the end of a sub-agent is an event of its own
    return {}


def _session_of(data: Mapping[str, Any]) -> str:
    """Return the session that *data* is about: that of the person, in a sub-agent too."""
    folder, name = os.path.split(first_text(data, "transcript_path", "transcriptPath"))
    if name == SESSION_FILE:
        return os.path.basename(folder)
    if text(data, "agent_id") and text(data, "parent_agent_id"):
        return text(data, "parent_agent_id")
    return first_text(data, "session_id", "sessionId")


def _read_result(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a tool answered. A command that failed is a failure, although its tool did not
    fail."""
    result = mapping(data, "tool_result")
    output, code = answer_and_code(text(result, "text_result_for_llm"))
    if text(result, "result_type") in ("", "success") and not code:
        return {"output": output}
    return {"event": TOOL_FAILED, **failed_command(output, code)}


_read_event = read_by_event(
    {
        PROMPT: _read_prompt,
        AFTER_TOOL: _read_result,
        TOOL_FAILED: _read_failure,
        STOP: _read_stop,
    }
)


def answer_and_code(output: str) -> tuple[str, int | None]:
    """Return what a command answered, and its exit code if the last line of *output* says one.

    >>> answer_and_code("no such file\\n<shellId: 0 completed with exit code 3>")
    ('no such file', 3)
    """
    match = _EXIT_LINE.search(output)
    if match is None:
        return output, None
    return output[: match.start()], int(match[1])


def is_typed(words: str) -> bool:
    """Return whether a person typed *words*, the text of a prompt."""
    return opens_as_typed(words, __file__)


# Its files ----------------------------------------------------------------------------------------


def window_in(line: bytes) -> WindowSeen | None:
    """Return what a *line* of a session's file says about the main thread's window."""
    if b"session.usage_record" not in line and b"session.compaction_complete" not in line:
        return None
    event = parsed_line(line)
    data = mapping(event, "data")
    if text(event, "agentId"):
        return None
    if text(event, "type") == "session.compaction_complete":
        return WindowSeen(count(data, "postCompactionTokens"))
    usage = mapping(data, "usage")
    tokens = count(usage, "inputTokens") or None
    if text(event, "type") != "session.usage_record" or tokens is None:
        return None
    return WindowSeen(tokens, text(usage, "model"), count(usage, "maxPromptTokens"))


def session_folders(environ: Mapping[str, str]) -> list[str]:
    """Return the folder with a folder per session."""
    return [os.path.join(PLACES.home(environ), "session-state")]


def session_slug(parts: Sequence[str]) -> str | None:
    """Return an empty text for a session's file; None for the others in its folder."""
    return "" if len(parts) == 2 and parts[1] == SESSION_FILE else None


def session_in(path: str) -> str:
    """Return the session whose file *path* is: its folder's name."""
    return os.path.basename(os.path.dirname(path))


def transcript_of(environ: Mapping[str, str], session: str) -> str:
    """Return the file of *session*, which most events don't name; empty if it can't be one."""
    if not _ID.fullmatch(session):
        return ""
    return os.path.join(session_folders(environ)[0], session, SESSION_FILE)


PLACES = Places(
    variable="COPILOT_HOME",
    folder=".copilot",
    hooks="hooks/brim.json",
    project_hooks=".github/hooks/brim.json",
    plugins="/.copilot/installed-plugins/",
)

AGENT = Agent(
    name="copilot",
    title="Copilot CLI",
    events=EVENTS,
    answers=CopilotAnswers(
        text_at=(
            "subagent_start",
            "prompt",
            "before_tool",
            "after_tool",
            "tool_failed",
        ),
        texts=2,  # the first prompt is a start too
        refusals={"prompt": "block", "stop": "block"},
    ),
    tools=TOOLS,
    places=PLACES,
    transcripts=Transcripts(
        format="copilot-events",
        readers={"copilot-events": "CopilotEventsReader"},
        needles=(b"session.usage_record", b"session.compaction_complete", b"session.start"),
        compaction_sign=b"session.compaction_complete",
        usage_signs=(
            b"session.usage_record",
            b"session.compaction_complete",
            b"session.start",
        ),
    ),
    native_files=NativeFiles(
        kinds=(
            "AGENTS.md",
            "CLAUDE.md",
            "GEMINI.md",
            ".github/copilot-instructions.md",
            ".claude/rules",
        ),
        follows_work=False,
        users_of=("copilot",),
    ),
    model="claude-sonnet-4-5",
    counting_model="opus",
    session_variable="COPILOT_AGENT_SESSION_ID",
    signs=("COPILOT_CLI", "COPILOT_AGENT_SESSION_ID"),
    sign_prefixes=("COPILOT_",),
    announces_compactions=True,
    read_own=read_own,
    window_in=window_in,
    session_folders=session_folders,
    session_slug=session_slug,
    session_in=session_in,
    transcript_of=transcript_of,
)
