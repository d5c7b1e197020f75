"""Rules for what was given up: a sub-agent that failed, and a person who takes edits back."""

from __future__ import annotations

from brim.agents.call import ToolCall
from brim.agents.events import End, Message
from brim.agents.fields import first_text, text
from brim.files import data_lines
from brim.memory.entries import remember
from brim.memory.quotes import masked_line
from brim.memory.repetition.failures import MOST_REMEMBERED
from brim.memory.repetition.findings import DeadEnd, StepRule, dead_end, places
from brim.memory.repetition.outcomes import is_interruption, is_transient
from brim.memory.repetition.step import SessionStep

_TASKS = ("description", "prompt", "message", "task", "query", "name")
"""The names under which a sub-agent's task is."""


class SubAgents:
    """Confirms a sub-agent ending in error. A busy provider and a person's stop don't count."""

    def __init__(self) -> None:
        self._tasks: dict[str, tuple[str, int]] = {}
        """What each was asked, and where."""
        self._ended: dict[str, None] = {}

    def called(self, call: ToolCall) -> None:
        """Remember the task of a sub-agent."""
        task = masked_line(first_text(call.input, *_TASKS) or call.name)
        remember(self._tasks, call.id, (task, call.at), MOST_REMEMBERED)

    def step(self, step: SessionStep) -> list[DeadEnd]:
        """Return that a sub-agent failed, if the call of one did."""
        agent = text(step.result.detail, "agentId")
        if agent and step.call.id in self._tasks:
            self._tasks[agent] = self._tasks[step.call.id]
        if not step.failed or step.outcome.transient:
            return []
        if not self._is_first_end(step.call.id, agent):
            return []
        task, _ = self._tasks.get(step.call.id, (step.subject, 0))
        return [
            dead_end(
                step.call,
                "sub-agent",
                "confirmed",
                step.call.id,
                masked_line(f"sub-agent: {task}"),
                at=(step.call.at, step.result.at),
                error=step.error,
            )
        ]

    def ended(self, end: End) -> list[DeadEnd]:
        """Return that a sub-agent failed, if its own end says so."""
        if not end.agent or not end.error or is_transient(end.text):
            return []
        if is_interruption(f"{end.reason} {end.text[:200]}") or not self._is_first_end(end.agent):
            return []
        task, at = self._tasks.get(end.agent, (end.agent, end.at))
        return [
            dead_end(
                end,
                "sub-agent",
                "confirmed",
                "",
                masked_line(f"sub-agent: {task}"),
                at=(at, end.at),
                error=masked_line(end.text or end.reason),
            )
        ]

    def _is_first_end(self, *ids: str) -> bool:
        """Note that an agent with *ids* ended; return whether none of them had."""
        names = [name for name in ids if name]
        is_first = not any(name in self._ended for name in names)
        for name in names:
            remember(self._ended, name, None, MOST_REMEMBERED)
        return is_first


class Backtracks(StepRule):
    """Confirms that a person takes edits back by a command: ``data/backtracks.txt``."""

    def __init__(self) -> None:
        self._asked = ""
        self._edits = 0
        self._at: tuple[int, ...] = ()

    def step(self, step: SessionStep) -> list[DeadEnd]:
        """Take in the edits of *step*."""
        self._edits += len(step.changes)
        self._at = places(self._at, *[step.call.at for _ in step.changes])
        return []

    def person_spoke(self, message: Message) -> list[DeadEnd]:
        """Return that a person took the edits back, if *message* does that."""
        edits = self._edits
        at = places(self._at, message.at)
        self._edits = 0
        self._at = ()
        words = message.text.split(None, 1)
        if not words or words[0].lower() not in data_lines(__file__, "backtracks.txt"):
            self._asked = masked_line(message.text)
            return []
        if not edits:
            return []
        subject = f"taken back with {words[0].lower()}: {self._asked or 'the last edits'}"
        key = str(message.at)
        return [
            dead_end(
                message, "backtrack", "confirmed", key, masked_line(subject), at=at, times=edits
            )
        ]
