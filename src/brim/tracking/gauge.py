"""What the windows of one session hold: typed events go in, the main thread and its sub-agents are kept apart."""

from __future__ import annotations

from brim._frozen import Frozen
from brim.tracking.estimate import Tail, anchored, by_length, length_of
from brim.tracking.events import Compaction, End, Message, ModelSeen, RunTotal, ToolCall, ToolResult, Usage
from brim.tracking.filling import Contents, text_of
from brim.tracking.occupancy import SYNTHETIC, Occupancy
from brim.tracking.windows import is_short_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from brim.tokens.count import Count
    from brim.tokens.counters import TokenCounter
    from brim.tracking.events import Event
    from brim.tracking.windows import Window, Windows

_AGENTS_KEPT = 1_000


def share(part: int, window: int) -> float:
    """Return which share of *window* a *part* is; a window of no size gives 0."""
    return part / window if window > 0 else 0.0


class AgentWindow(Frozen):
    """The window of a sub-agent: it fills and is compacted by itself."""

    __slots__ = ("compactions", "model", "used_tokens", "window")

    model: str
    used_tokens: int
    window: Window
    compactions: int

    def __init__(self, *, model: str, used_tokens: int, window: Window, compactions: int = 0) -> None:
        self._fill(model=model, used_tokens=used_tokens, window=window, compactions=compactions)

    @property
    def utilization(self) -> float:
        """The share of its window that is used; it may exceed 1."""
        return share(self.used_tokens, self.window.tokens)


class Gauge:
    """The windows of one session, as its events tell them."""

    def __init__(self, windows: Windows, model: str = "") -> None:
        self.windows = windows
        self.main = Occupancy()
        self.main.model = self._asked = model
        self.agents: dict[str, Occupancy] = {}
        self.contents, self.tail = Contents(), Tail()
        self.session = ""
        """The session of the last main-thread event that names one."""
        self.measured_on = ""
        """The session of the last main-thread report."""
        self.floor: int | None = None
        """What the last compaction left, as the first prompt after it shows; None before there was one."""
        self._compacted = False

    @property
    def window(self) -> Window:
        """The main thread's window."""
        return self.windows.of(self.main.model)

    def take(self, event: Event) -> None:
        """Take one event of the session."""
        if event.agent:
            self._take_agent(event)
            return
        if isinstance(event.session, str) and event.session:
            self.session = event.session
        if isinstance(event, Usage):
            self._report(event)
        elif isinstance(event, RunTotal):
            self.windows.report(event.windows)
            if event.usage is not None and self.main.total(event.usage, of_run=_is_of_run(event)):
                self._newer()
        elif isinstance(event, Compaction):
            if self.main.compact(event):
                self.tail.clear()
                self.contents.compact()
                self.floor, self._compacted = None, True
        elif isinstance(event, ModelSeen):
            _see_model(event, self.main, self.windows, asked=self._asked)
        else:
            self._collect(event)

    def agent_windows(self) -> dict[str, AgentWindow]:
        """Return the windows of the sub-agents, by their id."""
        return {
            name: AgentWindow(
                model=agent.model,
                used_tokens=agent.used,
                window=self.windows.of(agent.model, main=False),
                compactions=agent.compactions,
            )
            for name, agent in self.agents.items()
        }

    def pending(self, text: str, messages: Sequence[Any], counter: TokenCounter | None) -> Count:
        """Return how large the main thread's next prompt will be, with *text* and *messages* on top."""
        main, model = self.main, self.main.model
        rest = self.tail.count(main.output, counter, model)
        if text:
            rest += counter.count(text) if counter else by_length(length_of(text), model)
        if messages:
            from brim.tokens.counters import ApproximateTokenCounter

            rest += (counter or ApproximateTokenCounter(model)).count_messages(messages)
        if not main.basis:
            return rest
        if main.basis in ("total", "guess"):  # at most as much as a run's sum; a guess has no lower end either
            return anchored(0, rest, more=main.used)
        # What clients say that a compaction left is the conversation: system and tools come on top of it.
        return anchored(main.used, rest, more=main.smallest if main.basis == "compaction" else 0)

    def _report(self, event: Usage) -> None:
        before = self.main.used
        if not self.main.report(event):
            return
        self.windows.prove(self.main.model, self.main.used)
        elsewhere = bool(self.measured_on) and self.session != self.measured_on
        if elsewhere and self.main.used < before:
            self._begin()
        self._newer()

    def _newer(self) -> None:
        """Take that the window was measured anew: what came before is in it."""
        used, model = self.main.used, self.main.model
        if self._compacted:
            # A large result right after a compaction is no overhead: its highest estimate is taken off.
            since = by_length(self.tail.size, model).high if self.tail.size else 0
            self.floor, self._compacted = max(0, used - since), False
        elif self.floor is not None:
            self.floor = min(self.floor, used)
        self.contents.report(used, model)
        self.tail.report()
        self.measured_on = self.session

    def _begin(self) -> None:
        """Begin another window: another session has reported less, so the conversation did not move there."""
        self.contents, self.tail = Contents(), Tail()
        self.floor, self._compacted = None, False
        self.main.renew()

    def _collect(self, event: Event) -> None:
        if isinstance(event, (Message, End)) and (isinstance(event, End) or event.role == "error"):
            if isinstance(event, Message) or event.error:
                _see_overflow(event.text, self.main, self.windows)
            return
        text = text_of(event)
        self.contents.add(event, text)
        if isinstance(event, ToolResult):
            self.tail.arrive(text, result=True)
        elif isinstance(event, ToolCall) or (isinstance(event, Message) and event.role == "assistant"):
            self.tail.wrote(text, call=isinstance(event, ToolCall))
        elif isinstance(event, Message) and event.role != "summary":
            self.tail.arrive(text)

    def _agent(self, name: str) -> Occupancy:
        agent = self.agents.get(name)
        if agent is None:
            agent = self.agents[name] = Occupancy()
            if len(self.agents) > _AGENTS_KEPT:
                del self.agents[next(iter(self.agents))]
        return agent

    def _take_agent(self, event: Event) -> None:
        """Take an event of a sub-agent. Words alone make no window: it is often named by another id there."""
        if isinstance(event, Usage):
            agent = self._agent(event.agent)
            if agent.report(event):
                self.windows.prove(agent.model, agent.used)
        elif isinstance(event, Compaction):
            self._agent(event.agent).compact(event)
        elif isinstance(event, ModelSeen):
            _see_model(event, self._agent(event.agent), self.windows)
        elif isinstance(event, Message) and event.role == "error" and event.agent in self.agents:
            _see_overflow(event.text, self.agents[event.agent], self.windows)


def _is_of_run(event: RunTotal) -> bool:
    """Whether a total is Claude's, of one run: with a single call it is that call's. Codex's and Gemini's go on adding.

    OpenAI's usage counts cache writes as input; Gemini's has models, and neither their windows nor a cost.
    """
    usage = event.usage
    bare = not event.tokens or bool(event.windows) or event.cost is not None
    return bare and usage is not None and not usage.writes_are_input


def _see_model(event: ModelSeen, thread: Occupancy, windows: Windows, *, asked: str = "") -> None:
    """Take the model; what the caller *asked* for stays if it only says more: which window."""
    named = isinstance(event.model, str) and event.model and event.model != SYNTHETIC
    if named and not is_short_for(event.model, asked):
        thread.model = event.model
    windows.report({thread.model: event.window})


def _see_overflow(text: str, thread: Occupancy, windows: Windows) -> None:
    from brim.models.windows import window_from_error

    tokens = window_from_error(text)
    if tokens:
        windows.overflow(thread.model, tokens)
