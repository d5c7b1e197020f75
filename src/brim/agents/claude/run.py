"""How ``brim run`` starts Claude Code and speaks to it: one process takes turn after turn, as lines
of JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from brim.agents.events import End
from brim.agents.fields import text
from brim.agents.running import (
    ANSWER_CUT,
    OWN_LIMIT,
    STOPPED,
    WINDOW_FULL,
    AgentRun,
    EndCause,
    Start,
)

ANNOUNCED_ATTEMPT = 2
"""The attempt to reach the model that a person hears about: one may fail, and many are minutes of
silence."""
CAP = "--max-budget-usd"
LONGEST_REASON = 500
_OWN_LIMIT_REASONS = ("budget_exhausted", "error_max_budget_usd")
_TOO_MANY_TURNS = "the number of turns that the command allows was reached"
_STOP_REASONS = {
    "hook_stopped": "a hook of the agent stopped the turn",
    "max_turns": _TOO_MANY_TURNS,
    "error_max_turns": _TOO_MANY_TURNS,
}
"""Ends that aren't errors for Claude Code, and yet leave the work undone."""


def start(turn: Start) -> list[str]:
    """Return the command for a process that listens."""
    streams = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
    words = [turn.program, *streams, *turn.resume]
    if turn.cap is not None:
        words += [CAP, f"{int(turn.cap) / 1_000_000:.6f}"]
    return [*words, *turn.options]


def join_input(prompt: str, piped: str) -> str:
    """Return *prompt* with what was *piped* in."""
    return f"{prompt}\n{piped}"


def turn_line(prompt: str, before: str = "") -> bytes:
    """Return the line that gives Claude a turn. *before* is said first, in a block of its own.

    A command such as ``/compact`` is only one if nothing stands before it: then *before* is left
    out.
    """
    content: str | list[dict[str, str]] = prompt
    if before and not prompt.lstrip().startswith("/"):
        content = [{"type": "text", "text": block} for block in (before, prompt)]
    return _line({"type": "user", "message": {"role": "user", "content": content}})


def interrupt_line(request: str) -> bytes:
    """Return the line that asks Claude to end its turn now."""
    return _line(
        {"type": "control_request", "request_id": request, "request": {"subtype": "interrupt"}}
    )


def silence(line: Mapping[str, Any]) -> str | None:
    """Return why the model doesn't answer, once."""
    if line.get("subtype") != "api_retry" or line.get("attempt") != ANNOUNCED_ATTEMPT:
        return None
    return f"{line.get('error_status') or ''} {line.get('error') or ''}".strip()


def refusal(line: Mapping[str, Any]) -> str | None:
    """Return why Claude Code did not compact."""
    if text(line, "type") != "system" or line.get("compact_result") in (None, "success"):
        return None
    return str(line.get("compact_error") or line.get("compact_result"))[:LONGEST_REASON]


def end_cause(end: End, line: Mapping[str, Any]) -> EndCause:
    """Return what ended a turn."""
    if end.reason in _OWN_LIMIT_REASONS:
        return EndCause(OWN_LIMIT)
    if end.reason in _STOP_REASONS:
        return EndCause(STOPPED, _STOP_REASONS[end.reason])
    if not end.error:
        if line.get("stop_reason") == "max_tokens":
            return EndCause(ANSWER_CUT)
        return EndCause()
    if end.reason == "prompt_too_long" or end.text.lower().startswith("prompt is too long"):
        return EndCause(WINDOW_FULL)
    return EndCause()


def _line(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


RUN = AgentRun(
    start=start,
    join_input=join_input,
    stays=True,
    compacts=True,
    caps=True,
    cap_option=CAP,
    begin_options=("--session-id",),
    unsaved_options=("--no-session-persistence",),
    turn_line=turn_line,
    interrupt_line=interrupt_line,
    end_cause=end_cause,
    silence=silence,
    refusal=refusal,
)
