"""The detector: it gives every step of every agent to the rules."""

from __future__ import annotations

from brim.agents.call import Event, ToolCall
from brim.agents.events import End, Message, StateSeen, ToolResult
from brim.memory.entries import remember
from brim.memory.repetition.circles import Circles
from brim.memory.repetition.commands import goes_to
from brim.memory.repetition.failing_tests import FailingTests
from brim.memory.repetition.failures import MOST_REMEMBERED, SameCall
from brim.memory.repetition.findings import DeadEnd, Loop, StepRule
from brim.memory.repetition.given_up import Backtracks, SubAgents
from brim.memory.repetition.step import SessionStep
from brim.memory.repetition.undone import Undone

_MOST_AGENTS = 64
_DEAD_END_RULES = (
    SameCall,
    Undone,
    FailingTests,
    Backtracks,
)


class _AgentThread:
    """One agent: its calls without a result yet, its folder and its rules."""

    def __init__(self, *, only_loops: bool) -> None:
        self.open_calls: dict[str, ToolCall] = {}
        self.folder = ""
        self.first_folder = ""
        self._follows_commands = not only_loops
        self.circles = Circles()
        self.rules: list[StepRule] = [self.circles]
        if not only_loops:
            self.rules = [rule() for rule in _DEAD_END_RULES]

    def enter(self, folder: str) -> None:
        """Go on in *folder*."""
        self.folder = folder
        self.first_folder = self.first_folder or folder

    def step(self, step: SessionStep) -> list[DeadEnd]:
        """Give *step* to all rules."""
        if self._follows_commands and step.command and step.outcome.kind == "ok":
            self.folder = goes_to(step.parts) or self.folder
        dead_ends: list[DeadEnd] = []
        for rule in self.rules:
            dead_ends += rule.step(step)
        return dead_ends

    def person_spoke(self, message: Message) -> list[DeadEnd]:
        """Tell all rules that a person wrote *message*."""
        dead_ends: list[DeadEnd] = []
        for rule in self.rules:
            dead_ends += rule.person_spoke(message)
        return dead_ends

    def turn_ended(self) -> list[DeadEnd]:
        """Tell all rules that the turn ended."""
        dead_ends: list[DeadEnd] = []
        for rule in self.rules:
            dead_ends += rule.turn_ended()
        return dead_ends


class RepetitionDetector:
    """Finds what an agent repeats: dead ends behind it, and the loop that its next call goes on.

    Give it every event in order; it never raises on what is in one. ``update`` returns the dead
    ends that are new or changed. One is reported when it comes up and whenever its number of tries
    has doubled; that it is confirmed or resolved is reported once. ``loop`` says whether a pending
    call goes on with a loop; for that, make it with *only_loops*. What it remembers is bounded.
    *root* is the project's folder; without it that is where an agent is seen first.
    """

    def __init__(self, root: str = "", *, only_loops: bool = False) -> None:
        self._root = root
        self._only_loops = only_loops
        self._threads: dict[tuple[str, str], _AgentThread] = {}
        self._sub_agents = SubAgents()

    def update(self, event: object) -> list[DeadEnd]:
        """Take in *event*, and return the dead ends that are new or changed by it."""
        if isinstance(event, ToolCall):
            self._called(event)
        elif isinstance(event, ToolResult):
            return self._answered(event)
        elif isinstance(event, Message):
            if event.human:
                return self._thread(event).person_spoke(event)
        elif isinstance(event, End):
            return self._thread(event).turn_ended() + self._sub_agents.ended(event)
        elif isinstance(event, StateSeen) and event.name == "folder":
            self._thread(event).enter(event.value)
        return []

    def loop(self, call: ToolCall, number: int, *, is_edit: bool) -> Loop | None:
        """Return the loop that the pending *call* goes on with; None if it doesn't.

        *number* is how often the same call must have had the same result.
        """
        circles = self._thread(call).circles
        return circles.loop(SessionStep(call, ToolResult()), number, is_edit=is_edit)

    def knows_its_start(self, agent: str, session: str, *, is_edit: bool) -> bool:
        """Whether enough of the past was seen to know where the count of a loop starts."""
        thread = self._threads.get((session, agent))
        return thread is not None and thread.circles.knows_its_start(is_edit=is_edit)

    def _thread(self, event: Event) -> _AgentThread:
        key = (event.session, event.agent)
        thread = self._threads.get(key) or _AgentThread(only_loops=self._only_loops)
        remember(self._threads, key, thread, _MOST_AGENTS)
        return thread

    def _called(self, call: ToolCall) -> None:
        if call.kind == "agent":
            self._sub_agents.called(call)
        remember(self._thread(call).open_calls, call.id, call, MOST_REMEMBERED)

    def _answered(self, result: ToolResult) -> list[DeadEnd]:
        thread = self._thread(result)
        call = thread.open_calls.pop(result.id, None)
        if call is None:
            return []
        step = SessionStep(call, result, thread.folder, self._root or thread.first_folder)
        dead_ends = thread.step(step)
        if call.kind == "agent" and not self._only_loops:
            dead_ends += self._sub_agents.step(step)
        return dead_ends
