"""What an agent has done since a person's last prompt, or since its last change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from brim.agents.call import Event, ToolCall
from brim.agents.events import Message, ToolResult
from brim.record import PlainData
from brim.rules.checks import CallPlace, CheckedCall, RuleCheck, fulfilled_needs


@dataclass(frozen=True)
class WorkSteps(PlainData):
    """What happened since a person's last prompt, or in all that was read."""

    prompt: str = ""
    """Which prompt it was; empty if it wasn't seen."""
    files: tuple[str, ...] = ()
    """The files that were changed."""
    commands: tuple[ToolCall, ...] = ()
    """The commands that succeeded after the last change."""

    def after(self, call: ToolCall) -> WorkSteps:
        """Return the steps with a *call* that succeeded."""
        if call.changes_files or call.patch:
            return replace(self, files=(*self.files, *call.files), commands=())
        if call.kind == "shell":
            return replace(self, commands=(*self.commands, call))
        return self

    def fulfil(self, check: RuleCheck, place: CallPlace) -> bool:
        """Whether everything that *check* needs is among them."""
        places: set[int] = set()
        for command in self.commands:
            places.update(fulfilled_needs(check, CheckedCall(command, place)))
        return len(places) == len(check.needs)


def steps_after(prompt: Message) -> WorkSteps:
    """Return the steps of a turn that begins with *prompt*: none yet."""
    return WorkSteps(prompt=prompt.id or f"{prompt.time} {prompt.text[:80]}")


def steps_of(events: Iterable[Event], *, by_turn: bool = True) -> WorkSteps:
    """Return the steps in *events*, which are in order; those of sub-agents count too. *by_turn*
    leaves out what came before a person's last prompt."""
    steps = WorkSteps()
    open_calls: dict[str, ToolCall] = {}
    for event in events:
        if isinstance(event, Message):
            if by_turn and event.human and not event.agent:
                steps = steps_after(event)
                open_calls = {}
        elif isinstance(event, ToolCall):
            open_calls[event.id] = event
        elif isinstance(event, ToolResult):
            call = open_calls.pop(event.id, None)
            if call is not None and not event.error:
                steps = steps.after(call)
    return steps
