"""Claude Code: one JSON object on standard input, one on standard output.

Its text for the model is cut at about 10,000 characters, and then a pointer to a file stands in its place. At *Stop*
any text makes the model go on, so nothing is said there. What a *PreCompact* hook prints is taken as it is into the
instructions of the summary.
"""

from __future__ import annotations

from brim.agents.clients import ClientEvent
from brim.agents.clients.sent import common, cut, dumped, joined, mapping, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from brim.agents.answer import Answer
    from brim.agents.call import HookCall

AGENT = "claude"

EVENTS = {
    "SessionStart": ClientEvent("session_start", injects=True),
    "UserPromptSubmit": ClientEvent("prompt", injects=True, resident=True),
    "PreToolUse": ClientEvent("before_tool", matcher="*", injects=True, resident=True),
    "PostToolUse": ClientEvent("after_tool", matcher="*", resident=True),
    "PostToolUseFailure": ClientEvent("tool_failed", matcher="*"),
    "PreCompact": ClientEvent("before_compact"),
    "PostCompact": ClientEvent("after_compact", injects=True),
    "Stop": ClientEvent("stop", resident=True),
    "SubagentStop": ClientEvent("subagent_stop"),
    "SessionEnd": ClientEvent("session_end"),
}
"""The events that brim answers, by the client's names."""

CONTEXT_EVENTS = ("session_start", "prompt", "before_tool", "after_tool", "tool_failed")
LONGEST = 9_000
"""Characters that are known to arrive whole."""
MOST_BYTES = None


def max_chars(event: str) -> int:
    """Return how long a text for the model may be at *event*; 0 if none reaches it there."""
    if event == "before_compact":
        return LONGEST
    return LONGEST if event in CONTEXT_EVENTS else 0


def call_of(event: str, data: Mapping[str, Any], environ: Mapping[str, str]) -> HookCall | None:
    """Return what happened; None if *event* is none that brim knows."""
    known = EVENTS.get(event)
    if known is None:
        return None
    own: dict[str, Any] = {}
    if not data.get("session_id"):
        own["session"] = environ.get("CLAUDE_CODE_SESSION_ID", "")
    if known.event == "prompt":
        from brim.tracking.readers.claude import typed_text

        prompt = text(data, "prompt")
        typed = typed_text(prompt) if not text(data, "agent_id") else ""
        own.update(prompt=typed or prompt, human=bool(typed.strip()))
    elif known.event == "after_tool":
        own["output"] = _answered(data.get("tool_response"))
        own["interrupted"] = mapping(data, "tool_response").get("interrupted") is True
    elif known.event == "tool_failed":
        own["output"] = text(data, "error")
        own["error"] = text(data, "error") or "failed"
    elif known.event == "after_compact":
        own["summary"] = text(data, "compact_summary")
    return common(AGENT, known.event, event, data, **own)


def _answered(response: object) -> str:
    """Return the text of a tool's answer, which each tool shapes in its own way."""
    if not isinstance(response, dict):
        return joined(response)
    if "stdout" in response or "stderr" in response:
        return "\n".join([part for part in (text(response, "stdout"), text(response, "stderr")) if part])
    return text(mapping(response, "file"), "content") or joined(response.get("content")) or text(response, "result")


def reply(call: HookCall, answer: Answer) -> str:
    """Return *answer* as Claude Code reads it; empty for nothing."""
    if call.event == "before_compact":
        return _instructions(cut(answer.instructions, LONGEST))
    said: dict[str, Any] = {}
    specific: dict[str, Any] = {}
    if answer.told and call.event in CONTEXT_EVENTS:
        specific["additionalContext"] = cut(answer.told, LONGEST)
    if answer.deny and call.event == "before_tool":
        specific.update(permissionDecision="deny", permissionDecisionReason=cut(answer.deny, LONGEST))
    elif answer.deny and call.event == "prompt":
        said.update(decision="block", reason=cut(answer.deny, LONGEST))
    if answer.stop_reason:
        said.update({"continue": False, "stopReason": answer.stop_reason})
    if answer.note:
        said["systemMessage"] = answer.note
    if specific:
        said["hookSpecificOutput"] = {"hookEventName": call.name, **specific}
    return dumped(said)


def _instructions(written: str) -> str:
    """Return *written* so that it cannot be taken for an answer in JSON."""
    return f"Keep in the summary:\n{written}" if written.lstrip().startswith(("{", "[")) else written
