"""Claude Code: one JSON object on standard input, one on standard output.

It cuts text for the model at about 10,000 characters and puts a pointer to a file in its place. At
*Stop* any text makes the model go on, so nothing is said there but a reminder, if the user wants
those. What a *PreCompact* hook prints goes unchanged into the instructions of the summary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brim.hooks.client import EVENTS, Client, cut, mapping, text, text_of
from brim.hooks.event import Answer, HookCall
from brim.tracking.readers.claude_words import typed_text


class Claude(Client):
    """Claude Code."""

    agent = "claude"
    variable = "CLAUDE_CODE_SESSION_ID"
    EVENTS = EVENTS
    CONTEXT_EVENTS = ("session_start", "prompt", "before_tool", "after_tool", "tool_failed")

    def max_chars(self, event: str) -> int:
        """Return the limit at *event*; before a compaction the summarizer gets the text."""
        return self.LONGEST if event == "before_compact" else super().max_chars(event)

    def own_fields(self, event: str, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return who typed a prompt, what a tool answered, and the summary."""
        if event == "prompt":
            prompt = text(data, "prompt")
            typed = typed_text(prompt) if not text(data, "agent_id") else ""
            return {"prompt": typed or prompt, "human": bool(typed.strip())}
        if event == "after_tool":
            response = data.get("tool_response")
            is_interrupted = isinstance(response, dict) and response.get("interrupted") is True
            return {"output": _answered(response), "interrupted": is_interrupted}
        if event == "tool_failed":
            return {"output": text(data, "error"), "error": text(data, "error") or "failed"}
        return {}

    def reply(self, call: HookCall, answer: Answer) -> str:
        """Return *answer* as Claude Code reads it; empty for nothing."""
        if call.event == "before_compact":
            written = cut(answer.instructions, self.LONGEST)
            is_like_json = written.lstrip().startswith(("{", "["))
            return f"Keep in the summary:\n{written}" if is_like_json else written
        return super().reply(call, answer)


def _answered(response: object) -> str:
    """Return the text of a tool's answer, which each tool shapes in its own way."""
    if not isinstance(response, dict):
        return text_of(response)
    if "stdout" in response or "stderr" in response:
        return "\n".join(
            [part for part in (text(response, "stdout"), text(response, "stderr")) if part]
        )
    return (
        text(mapping(response, "file"), "content")
        or text_of(response.get("content"))
        or text(response, "result")
    )


CLIENT = Claude()
