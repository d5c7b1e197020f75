"""What an agent tells a hook and what brim answers, in the same words for every agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from brim.record import PlainData

AGENTS = ("claude", "codex", "gemini", "opencode")
"""The agents whose hooks brim answers."""

EVENTS = (
    *(
        "session_start",
        "prompt",
        "before_tool",
        "after_tool",
        "tool_failed",
        "before_compact",
        "after_compact",
    ),
    *("stop", "subagent_stop", "session_end", "model_call", "other"),
)
"""What can happen. ``model_call`` is Gemini's report of one request; brim has no answer to
``other``."""

_EMPTY: Mapping[str, Any] = {}


@dataclass(frozen=True)
class HookCall(PlainData):
    """One call of a hook. A field that the agent didn't send, or sent with the wrong type, is
    empty."""

    agent: str
    """One of ``AGENTS``."""
    event: str
    """One of ``EVENTS``."""
    name: str = ""
    """The agent's own name for the event."""
    session: str = ""
    sub_agent: str = ""
    """The id of the sub-agent that it happened in; empty is the main thread."""
    cwd: str = ""
    transcript: str = ""
    model: str = ""
    prompt: str = ""
    """What was typed, without what the client added; a prompt written by a machine is unchanged."""
    human: bool = False
    """Whether a person typed the prompt."""
    tool: str = ""
    """The client's name for the tool."""
    tool_kind: str = ""
    """What the tool does: one of ``brim.tracking.events.TOOLS``."""
    call_id: str = ""
    input: Mapping[str, Any] = field(default_factory=dict)
    output: str = ""
    """What the tool answered, as text."""
    error: str = ""
    """Why the call failed; empty if it didn't, or if the client doesn't say."""
    interrupted: bool = False
    """Whether a person stopped the call."""
    source: str = ""
    """How a session began: ``startup``, ``resume``, ``clear``, ``compact`` or ``fork``."""
    trigger: str = ""
    """Who wanted a compaction: ``manual`` or ``auto``."""
    summary: str = ""
    """The summary that a compaction left."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """Everything that the agent sent."""


@dataclass(frozen=True)
class Answer(PlainData):
    """What to say to whom. An empty one means no answer at all. Clients leave out what they have no
    field for."""

    context: str = ""
    """For the model."""
    preamble: str = ""
    """For the model, above every ``context``: text that isn't a rule would read as one below a
    rule's heading."""
    instructions: str = ""
    """For the summarizer, before a compaction."""
    note: str = ""
    """For the human; no model sees it."""
    deny: str = ""
    """Why the pending call, prompt or end of a turn must not happen; empty lets it happen."""
    stop_reason: str = ""
    """Why the turn must end here; empty lets it go on."""

    @property
    def told(self) -> str:
        """Everything for the model, in order."""
        return self.preamble + self.context

    def __bool__(self) -> bool:
        return any(self.__dict__.values())


NOTHING = Answer()
"""The answer that says nothing."""


def joined(*answers: Answer) -> Answer:
    """Return *answers* as one, in order. The first reason to deny or stop is the reason."""
    said = [answer for answer in answers if answer]
    if len(said) < 2:
        return said[0] if said else NOTHING
    texts = {
        name: [text for each in said if (text := getattr(each, name))]
        for name in Answer.__match_args__
    }
    for reason in ("deny", "stop_reason"):
        del texts[reason][1:]
    return Answer(
        **{name: ("\n" if name == "note" else "").join(each) for name, each in texts.items()}
    )
