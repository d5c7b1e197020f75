"""Gemini CLI: other names for the same events, and a report of every request to the model.

*PreCompress* comes before every request, compressed or not. Text for the model can go with a prompt
and a result, not with a pending call. Gemini CLI takes it at a session's start too, but drops it
when the session goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brim.hooks.client import Client, ClientEvent, mapping, text, text_of
from brim.tracking.readers.gemini import is_typed, words


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
    MOST_TEXTS = 2  # what wasn't told at the start comes with the first prompt or result
    DECISIONS = {"prompt": "deny", "before_tool": "deny"}  # noqa: RUF012 (a constant)

    def own_fields(self, event: str, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the model, who typed a prompt, and what a tool answered; a failed call is an event
        of its own."""
        own: dict[str, Any] = {
            "model": text(data, "model") or text(mapping(data, "llm_request"), "model")
        }
        if event in ("prompt", "stop"):
            prompt = words(text(data, "prompt"))
            own.update(prompt=prompt, human=is_typed(prompt) and not text(data, "agent_id"))
        elif event == "after_tool":
            response = mapping(data, "tool_response")
            own["output"] = text_of(response.get("llmContent")) or text(response, "returnDisplay")
            if failed := response.get("error"):
                own.update(
                    event="tool_failed",
                    error=text(failed, "message") or text_of(failed) or "failed",
                )
        return own


CLIENT = Gemini()
