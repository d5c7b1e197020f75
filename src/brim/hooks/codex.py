"""Codex: Claude Code's format, read more strictly. A key that it doesn't know makes the whole
answer invalid.

Before a call ``continue`` is such a key: with it a refusal would be ignored and the call made. Text
for the model is cut in its middle at 10,000 bytes. A failed command arrives like any other result.
Nothing that a hook says before a compaction reaches the summary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from brim.hooks.client import EVENTS, Client, ClientEvent, text, text_of
from brim.hooks.event import Answer, HookCall
from brim.tracking.readers.codex import asked, typed


class Codex(Client):
    """Codex."""

    agent = "codex"
    variable = "CODEX_SESSION_ID"
    EVENTS = {name: each for name, each in EVENTS.items() if name != "PostToolUseFailure"} | {
        "SessionEnd": ClientEvent("session_end", timeout=3)  # it allows no more
    }
    CONTEXT_EVENTS = ("session_start", "prompt", "before_tool", "after_tool")
    LONGEST = 7_500
    MOST_BYTES = 9_900  # Codex takes four bytes for a token, and at most 2,500 tokens

    def own_fields(self, event: str, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return who typed a prompt, what a tool answered, and the summary."""
        if event == "prompt":
            prompt = text(data, "prompt")
            human = typed({}, prompt) and not text(data, "agent_id")
            return {"prompt": asked(prompt) if human else prompt, "human": human}
        if event == "after_tool":
            response = data.get("tool_response")
            if isinstance(response, dict):  # what an MCP server answered
                return {"output": text_of(response.get("content")) or text(response, "output")}
            return {"output": text_of(response)}
        return {}

    def reply(self, call: HookCall, answer: Answer) -> str:
        """Return *answer* as Codex reads it; empty for nothing."""
        note = "" if call.event == "session_end" else answer.note
        return super().reply(call, replace(answer, stop_reason="", note=note))


CLIENT = Codex()
