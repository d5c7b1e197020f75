"""What each client takes as an answer to a hook: every key, where it may stand, and how long a text
may be."""

from __future__ import annotations

import json
from typing import Any

from brim.agents import agent_named

CONTEXT = {
    "claude": {"session_start", "prompt", "before_tool", "after_tool", "tool_failed"},
    "codex": {"session_start", "prompt", "before_tool", "after_tool"},
    "gemini": {"prompt", "after_tool", "tool_failed"},
}
"""Where a text for the model is taken."""


def fault_of(agent: str, name: str, answer: str) -> str:
    """Return what is wrong with the *answer* to the event that *agent* calls *name*; empty if it
    takes it."""
    event = agent_named(agent).events[name].event
    if not answer:
        return ""
    if agent == "claude" and event == "before_compact" and not answer.startswith('{"decision"'):
        # Its text is taken as it is: instructions for the summary.
        return "it is JSON" if answer.lstrip().startswith(("{", "[")) else ""
    try:
        found = json.loads(answer)
        answer.encode()
    except ValueError as error:
        return str(error)
    if not isinstance(found, dict) or not found:
        return "it is no object, or an empty one"
    rest = dict(found)
    for fault in (
        _note(rest),
        _end(rest, agent, event),
        _refusal(rest, agent, event),
        _own(rest, agent, name, event),
    ):
        if fault:
            return fault
    return f"unknown keys {sorted(rest)}" if rest else ""


def _note(rest: dict[str, Any]) -> str:
    note = rest.pop("systemMessage", "x")
    return "" if isinstance(note, str) and note else "systemMessage is no text"


def _end(rest: dict[str, Any], agent: str, event: str) -> str:
    if "continue" not in rest and "stopReason" not in rest:
        return ""
    if agent == "codex" and event == "before_tool":
        return "with continue Codex does not read the refusal"
    ends = rest.pop("continue", None), rest.pop("stopReason", None)
    return "" if ends[0] is False and isinstance(ends[1], str) else f"it ends with {ends}"


def _refusal(rest: dict[str, Any], agent: str, event: str) -> str:
    if "decision" not in rest:
        return ""
    decision, reason = rest.pop("decision"), rest.pop("reason", "")
    refusable = ["prompt"]
    if agent == "gemini":
        refusable.append("before_tool")
    if agent == "claude":
        refusable.append("before_compact")  # Codex has no decision there: it ends the turn
    if event not in refusable:
        return f"{decision} is said at {event}"
    return (
        ""
        if decision == ("deny" if agent == "gemini" else "block") and reason
        else f"{decision}: {reason}"
    )


def _own(rest: dict[str, Any], agent: str, name: str, event: str) -> str:
    if "hookSpecificOutput" not in rest:
        return ""
    own = dict(rest.pop("hookSpecificOutput"))
    if own.pop("hookEventName", None) != name:
        return "it is of another event"
    context = own.pop("additionalContext", None)
    if context is not None:
        most = agent_named(agent).answers.chars_at(
            "after_tool" if event == "tool_failed" else event
        )
        if event not in CONTEXT[agent] or not 0 < len(context) <= most:
            return f"{len(context)} characters for the model at {event}"
        if agent == "codex" and len(context.encode()) >= 10_000:
            return "Codex cuts it"
    if "permissionDecision" in own:
        decision, reason = own.pop("permissionDecision"), own.pop("permissionDecisionReason", "")
        if agent == "gemini" or event != "before_tool" or decision != "deny" or not reason:
            return f"{decision} at {event}: {reason}"
    return f"unknown keys {sorted(own)}" if own else ""
