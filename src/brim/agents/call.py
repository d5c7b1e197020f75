"""What an agent tells a hook, in words that are the same for every agent."""

from __future__ import annotations

from brim._frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

AGENTS = ("claude", "codex", "gemini")
"""The agents whose hooks brim answers."""

EVENTS = (
    "session_start",
    "prompt",
    "before_tool",
    "after_tool",
    "tool_failed",
    "before_compact",
    "after_compact",
    "stop",
    "subagent_stop",
    "session_end",
    "model_call",
    "other",
)
"""What can happen. ``model_call`` is Gemini's report of one request; ``other`` is what brim has no answer to."""


class HookCall(Frozen):
    """One call of a hook. A field that the agent did not send, or sent as something else, is empty."""

    __slots__ = (
        "agent",
        "call_id",
        "cwd",
        "data",
        "error",
        "event",
        "human",
        "input",
        "interrupted",
        "model",
        "name",
        "output",
        "permission_mode",
        "prompt",
        "session",
        "source",
        "sub_agent",
        "summary",
        "tool",
        "tool_kind",
        "transcript",
        "trigger",
    )

    agent: str
    """One of ``AGENTS``."""
    event: str
    """One of ``EVENTS``."""
    name: str
    """What the agent itself calls the event."""
    session: str
    sub_agent: str
    """The id of the sub-agent that it happened in; empty is the main thread."""
    cwd: str
    transcript: str
    model: str
    prompt: str
    """What was typed, without what the client put around it; what a machine wrote is whole."""
    human: bool
    """Whether a person typed the prompt."""
    tool: str
    """What the client calls the tool."""
    tool_kind: str
    """What it does: one of ``brim.tracking.events.TOOLS``."""
    call_id: str
    input: Mapping[str, Any]
    output: str
    """What the tool answered, as text."""
    error: str
    """Why the call failed; empty if it did not, or if the client does not say."""
    interrupted: bool
    """Whether a person stopped the call."""
    source: str
    """How a session began: ``startup``, ``resume``, ``clear``, ``compact`` or ``fork``."""
    trigger: str
    """Who wanted a compaction: ``manual`` or ``auto``."""
    summary: str
    """What a compaction left."""
    permission_mode: str
    data: Mapping[str, Any]
    """Everything that the agent sent."""

    def __init__(
        self,
        *,
        agent: str,
        event: str,
        name: str = "",
        session: str = "",
        sub_agent: str = "",
        cwd: str = "",
        transcript: str = "",
        model: str = "",
        prompt: str = "",
        human: bool = False,
        tool: str = "",
        tool_kind: str = "",
        call_id: str = "",
        input: Mapping[str, Any] | None = None,
        output: str = "",
        error: str = "",
        interrupted: bool = False,
        source: str = "",
        trigger: str = "",
        summary: str = "",
        permission_mode: str = "",
        data: Mapping[str, Any] | None = None,
    ) -> None:
        self._fill(
            agent=agent,
            event=event,
            name=name,
            session=session,
            sub_agent=sub_agent,
            cwd=cwd,
            transcript=transcript,
            model=model,
            prompt=prompt,
            human=human,
            tool=tool,
            tool_kind=tool_kind,
            call_id=call_id,
            input=input or {},
            output=output,
            error=error,
            interrupted=interrupted,
            source=source,
            trigger=trigger,
            summary=summary,
            permission_mode=permission_mode,
            data=data or {},
        )
