"""Gemini CLI: other names for the same events, and a report of every request to the model.

*PreCompress* comes before every request, compressed or not. Text for the model can go with a prompt and a result, not
with a pending call. Gemini CLI takes it at a session's start too, but drops it when the session goes on.
"""

from __future__ import annotations

from brim.hooks.client import Client, ClientEvent, cut, dumped, mapping, text, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from brim.hooks.event import Answer, HookCall


class Gemini(Client):
    """Gemini CLI."""

    agent = "gemini"
    variable = "GEMINI_SESSION_ID"
    EVENTS = {  # noqa: RUF012 (a constant)
        "SessionStart": ClientEvent("session_start", injects=True),
        "BeforeAgent": ClientEvent("prompt", matcher="*", injects=True),
        "BeforeTool": ClientEvent("before_tool", matcher="*", injects=True),
        "AfterTool": ClientEvent("after_tool", matcher="*", injects=True),
        "AfterModel": ClientEvent("model_call", matcher="*"),
        "PreCompress": ClientEvent("before_compact", matcher="*"),
        "AfterAgent": ClientEvent("stop", matcher="*"),
        "SessionEnd": ClientEvent("session_end"),
    }
    CONTEXT_EVENTS = ("prompt", "after_tool", "tool_failed")

    def own_fields(self, event: str, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the model, who typed a prompt, and what a tool answered; a failed call is an event of its own."""
        own: dict[str, Any] = {"model": text(data, "model") or text(mapping(data, "llm_request"), "model")}
        if event in ("prompt", "stop"):
            from brim.tracking.readers.gemini import is_typed, words

            prompt = words(text(data, "prompt"))
            own.update(prompt=prompt, human=is_typed(prompt) and not text(data, "agent_id"))
        elif event == "after_tool":
            response = mapping(data, "tool_response")
            own["output"] = text_of(response.get("llmContent")) or text(response, "returnDisplay")
            if failed := response.get("error"):
                own.update(event="tool_failed", error=text(failed, "message") or text_of(failed) or "failed")
        return own

    def reply(self, call: HookCall, answer: Answer) -> str:
        """Return *answer* as Gemini CLI reads it; empty for nothing."""
        said: dict[str, Any] = {}
        if answer.deny and call.event in ("before_tool", "prompt"):
            said.update(decision="deny", reason=cut(answer.deny, self.LONGEST))
        if answer.stop_reason:
            said.update({"continue": False, "stopReason": answer.stop_reason})
        if answer.note:
            said["systemMessage"] = answer.note
        if answer.told and call.event in self.CONTEXT_EVENTS:
            # What wasn't told at the start comes with the first prompt or result, each as long as it may be.
            context = {"hookEventName": call.name, "additionalContext": cut(answer.told, 2 * self.LONGEST)}
            said["hookSpecificOutput"] = context
        return dumped(said)


CLIENT = Gemini()
