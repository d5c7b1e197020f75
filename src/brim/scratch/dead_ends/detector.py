"""Finds dead ends in the events of a session, each agent's apart."""

from __future__ import annotations

from brim.scratch.dead_ends.commands import goes_to
from brim.scratch.dead_ends.repeats import Alternation, FailingTests, MissedEdits, SameCall, SameError
from brim.scratch.dead_ends.setbacks import Backtracks, SubAgents, Undone
from brim.scratch.dead_ends.step import DeadEnd, Rule, Step
from brim.scratch.entries import remember
from brim.tracking.events import End, Message, StateSeen, ToolCall, ToolResult

_MOST_AGENTS = 64
_MOST_OPEN = 512


class _Thread:
    """One agent: its calls without a result yet, its folder and its rules."""

    def __init__(self) -> None:
        self.open: dict[str, ToolCall] = {}
        self.folder = self.first_folder = ""
        self.backtracks = Backtracks()
        first: list[Rule] = [SameCall(), SameError(), Alternation(), MissedEdits(), Undone(), FailingTests()]
        self.rules = [*first, self.backtracks]


class DeadEndDetector:
    """Give it every event in order; it returns what is new or changed, and never raises on what is in one.

    A suspect is reported when it comes up and whenever its number of tries has doubled; that it is confirmed or
    resolved is reported once. What it keeps is bounded, whatever the length of the session. *root* is the project's
    folder; without it that is where an agent is seen first.
    """

    def __init__(self, root: str = "") -> None:
        self._root = root
        self._threads: dict[tuple[str, str], _Thread] = {}
        self._sub_agents = SubAgents()

    def update(self, event: object) -> list[DeadEnd]:
        """Take in *event*, and return the dead ends that are new or changed by it."""
        if isinstance(event, ToolCall):
            if event.tool == "agent":
                self._sub_agents.called(event)
            remember(self._thread(event).open, event.id, event, _MOST_OPEN)
        elif isinstance(event, ToolResult):
            return self._ended_call(event)
        elif isinstance(event, Message) and event.human:
            thread = self._thread(event)
            return [one for rule in thread.rules for one in rule.person_spoke()] + thread.backtracks.said(event)
        elif isinstance(event, End):
            found = [one for rule in self._thread(event).rules for one in rule.turn_ended()]
            return found + self._sub_agents.ended(event)
        elif isinstance(event, StateSeen) and event.name == "folder":
            thread = self._thread(event)
            thread.folder = event.value
            thread.first_folder = thread.first_folder or event.value
        return []

    def _thread(self, event: ToolCall | ToolResult | Message | End | StateSeen) -> _Thread:
        key = event.session, event.agent
        thread = self._threads.get(key) or _Thread()
        remember(self._threads, key, thread, _MOST_AGENTS)
        return thread

    def _ended_call(self, result: ToolResult) -> list[DeadEnd]:
        thread = self._thread(result)
        call = thread.open.pop(result.id, None)
        if call is None:
            return []
        step = Step(call, result, thread.folder, self._root or thread.first_folder)
        if step.parts and step.outcome.kind == "ok":
            thread.folder = goes_to(step.parts) or thread.folder
        found = [one for rule in thread.rules for one in rule.step(step)]
        return found + self._sub_agents.step(step) if call.tool == "agent" else found
