"""Codex: Claude Code's shape, read more strictly. A key that it does not know makes the whole answer invalid.

Before a call ``continue`` is such a key: with it a refusal would count for nothing, and the call be made. Text for the
model is cut in its middle at 10,000 bytes. A failed command comes as any other result. Nothing that a hook says before
a compaction reaches the summary.
"""

from __future__ import annotations

from brim.agents.clients import ClientEvent
from brim.agents.clients.sent import common, cut, cut_bytes, dumped, joined, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from brim.agents.answer import Answer
    from brim.agents.call import HookCall

AGENT = "codex"

EVENTS = {
    "SessionStart": ClientEvent("session_start", injects=True),
    "UserPromptSubmit": ClientEvent("prompt", injects=True),
    "PreToolUse": ClientEvent("before_tool", matcher="*", injects=True),
    "PostToolUse": ClientEvent("after_tool", matcher="*"),
    "PreCompact": ClientEvent("before_compact"),
    "PostCompact": ClientEvent("after_compact", injects=True),
    "Stop": ClientEvent("stop"),
    "SubagentStop": ClientEvent("subagent_stop"),
    "SessionEnd": ClientEvent("session_end", timeout=3),
}
"""The events that brim answers, by the client's names. It gives *SessionEnd* three seconds at most."""

CONTEXT_EVENTS = ("session_start", "prompt", "before_tool", "after_tool")
LONGEST = 7_500
"""Characters of a text for the model."""
MOST_BYTES = 9_900
"""Bytes of it: Codex takes four of them for a token, and 2,500 tokens."""


def max_chars(event: str) -> int:
    """Return how long a text for the model may be at *event*; 0 if none reaches it there."""
    return LONGEST if event in CONTEXT_EVENTS else 0


def call_of(event: str, data: Mapping[str, Any], environ: Mapping[str, str]) -> HookCall | None:
    """Return what happened; None if *event* is none that brim knows."""
    known = EVENTS.get(event)
    if known is None:
        return None
    own: dict[str, Any] = {}
    if not data.get("session_id"):
        own["session"] = environ.get("CODEX_SESSION_ID", "")
    if known.event == "prompt":
        from brim.tracking.readers.codex import asked, typed

        prompt = text(data, "prompt")
        human = typed({}, prompt) and not text(data, "agent_id")
        own.update(prompt=asked(prompt) if human else prompt, human=human)
    elif known.event == "after_tool":
        own["output"] = _answered(data.get("tool_response"))
    elif known.event == "after_compact":
        own["summary"] = text(data, "compact_summary")
    return common(AGENT, known.event, event, data, **own)


def _answered(response: object) -> str:
    """Return the text of a tool's answer: a text, or what an MCP server answered."""
    if isinstance(response, dict):
        return joined(response.get("content")) or text(response, "output")
    return joined(response)


def reply(call: HookCall, answer: Answer) -> str:
    """Return *answer* as Codex reads it; empty for nothing."""
    said: dict[str, Any] = {}
    specific: dict[str, Any] = {}
    if answer.told and call.event in CONTEXT_EVENTS:
        specific["additionalContext"] = cut_bytes(cut(answer.told, LONGEST), MOST_BYTES)
    if answer.deny and call.event == "before_tool":
        specific.update(permissionDecision="deny", permissionDecisionReason=cut(answer.deny, LONGEST))
    elif answer.deny and call.event == "prompt":
        said.update(decision="block", reason=cut(answer.deny, LONGEST))
    if answer.note and call.event != "session_end":
        said["systemMessage"] = answer.note
    if specific:
        said["hookSpecificOutput"] = {"hookEventName": call.name, **specific}
    return dumped(said)
