"""Gemini CLI: other names for the same events, and a report of every request to the model.

*PreCompress* comes before every request, compressed or not. A text for the model can go with a session's start, a
prompt and a result, not with a pending call.
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

AGENT = "gemini"

EVENTS = {
    "SessionStart": ClientEvent("session_start", injects=True),
    "BeforeAgent": ClientEvent("prompt", matcher="*", injects=True),
    "BeforeTool": ClientEvent("before_tool", matcher="*", injects=True),
    "AfterTool": ClientEvent("after_tool", matcher="*", injects=True),
    "AfterModel": ClientEvent("model_call", matcher="*"),
    "PreCompress": ClientEvent("before_compact", matcher="*"),
    "AfterAgent": ClientEvent("stop", matcher="*"),
    "SessionEnd": ClientEvent("session_end"),
}
"""The events that brim answers, by the client's names."""

CONTEXT_EVENTS = ("prompt", "after_tool", "tool_failed")
LONGEST = 9_000
"""Characters: the client sets no limit of its own."""
MOST_BYTES = None


def max_chars(event: str) -> int:
    """Return how long a text for the model may be at *event*; 0 if none reaches it there."""
    return LONGEST if event in CONTEXT_EVENTS else 0


def call_of(event: str, data: Mapping[str, Any], environ: Mapping[str, str]) -> HookCall | None:
    """Return what happened; None if *event* is none that brim knows."""
    known = EVENTS.get(event)
    if known is None:
        return None
    neutral = known.event
    own: dict[str, Any] = {"model": text(data, "model") or text(mapping(data, "llm_request"), "model")}
    if not data.get("session_id"):
        own["session"] = environ.get("GEMINI_SESSION_ID", "")
    if neutral in ("prompt", "stop"):
        from brim.tracking.readers.gemini import is_typed, words

        prompt = words(text(data, "prompt"))
        own.update(prompt=prompt, human=is_typed(prompt) and not text(data, "agent_id"))
    elif neutral == "after_tool":
        response = mapping(data, "tool_response")
        own["output"] = joined(response.get("llmContent")) or text(response, "returnDisplay")
        failed = response.get("error")
        if failed:
            neutral = "tool_failed"
            own["error"] = text(failed, "message") or joined(failed) or "failed"
    return common(AGENT, neutral, event, data, **own)


def reply(call: HookCall, answer: Answer) -> str:
    """Return *answer* as Gemini CLI reads it; empty for nothing."""
    said: dict[str, Any] = {}
    if answer.deny and call.event in ("before_tool", "prompt"):
        said.update(decision="deny", reason=cut(answer.deny, LONGEST))
    if answer.stop_reason:
        said.update({"continue": False, "stopReason": answer.stop_reason})
    if answer.note:
        said["systemMessage"] = answer.note
    if answer.told and call.event in CONTEXT_EVENTS:
        # What was not told at the start comes with the first prompt or result, each as long as it may be.
        context = {"hookEventName": call.name, "additionalContext": cut(answer.told, 2 * LONGEST)}
        said["hookSpecificOutput"] = context
    return dumped(said)
