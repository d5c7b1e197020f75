"""``Watch``: takes events in, and knows how full the window is and what was spent."""

from __future__ import annotations

from brim.cli.reading import SCHEMA
from brim.spend.limits import CostBudget
from brim.spend.meter import SpendMeter
from brim.spend.money import micro_dollars
from brim.tracking.budget import ContextBudget
from brim.tracking.events import Compaction, ModelSeen, RunTotal
from brim.tracking.notices import INPUT_REQUESTED
from brim.tracking.thresholds import CompactDue, ContextWarning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from brim.cli.memory import Memory
    from brim.cli.reading import AgentReading, Reading
    from brim.cli.tail import Counts
    from brim.config import Config
    from brim.tracking.events import Event
    from brim.tracking.filling import Filling
    from brim.tracking.gauge import AgentWindow
    from brim.tracking.notices import Notice

_RELIEF = 0.9
"""The part of what was warned of below which it is over."""


class Watch:
    """The state of one session. Windows that the agent reports go into *memory*."""

    def __init__(self, config: Config, memory: Memory) -> None:
        self._config = config
        self._memory = memory
        self.forget()

    def forget(self) -> None:
        """Begin anew: the file is another one."""
        window, thresholds = (
            self._config["context.window"],
            (self._config["context.warn"], self._config["context.compact"]),
        )
        if window is None:
            self.budget = ContextBudget(warn_threshold=thresholds[0], compact_threshold=thresholds[1])
        else:
            self.budget = ContextBudget(window, *thresholds, pinned=True)
        self.meter = SpendMeter()
        limit = self._config["spend.limit"]
        most = None if limit is None else micro_dollars(repr(limit), up=False)
        self.money = CostBudget(most, self._config["spend.warn"])
        self.money.subscribe(self._note_cost)
        self.cost_notice: Notice | None = None
        self.time: float | None = None
        self.notice: Notice | None = None

    def take(self, events: Iterable[Event], *, live: bool) -> list[Notice]:
        """Take *events* in; return what must be told now. *live* is whether they have just happened."""
        notices: list[Notice] = []
        for event in events:
            told = self.budget.update(event)
            notices += told
            self.notice = told[-1] if told else self.notice
            self.meter.update(event)
            # Nobody can be asked here: what the limit is about is told, and the question is left out.
            spent = self.money.add(self.meter.total - self.money.spent)
            notices += [each for each in spent if each.kind != INPUT_REQUESTED]
            if event.time is not None:
                self.time = max(event.time, self.time or event.time)
            if self._is_relieved(event):
                self.budget.clear_compact()
            self._remember(event)
            if live:
                self._memory.calibrate(event)
        return notices

    def reading(self, path: str, counts: Counts, notices: Iterable[Notice] = ()) -> Reading:
        """Return the state now."""
        budget, meter = self.budget, self.meter
        return {
            "schema": SCHEMA,
            "path": path,
            "format": counts.format,
            "session": budget.session,
            "time": self.time,
            "model": budget.model or "",
            "used_tokens": budget.used_tokens,
            "context_window": budget.window.tokens,
            "window_source": budget.window.source,
            "window_others": dict(budget.window.others),
            "utilization": round(budget.utilization, 6),
            "warn_threshold": budget.warn_threshold,
            "compact_threshold": budget.compact_threshold,
            "should_warn": budget.should_warn,
            "should_compact": budget.should_compact,
            "input_tokens": budget.input_tokens,
            "cache_creation_input_tokens": budget.cache_creation_input_tokens,
            "cache_read_input_tokens": budget.cache_read_input_tokens,
            "output_tokens": budget.output_tokens,
            "cache_hit_share": round(budget.cache_hit_share, 6),
            "overhead": budget.overhead,
            "filling": _filling(budget.filling),
            "agents": [_agent(id, agent) for id, agent in budget.agents.items()],
            "compactions": budget.compactions,
            "cost": meter.total,
            "unattributed": meter.unattributed,
            "unpriced": sorted(meter.unpriced),
            "cost_limit": self.money.limit,
            "cost_warning": str(self.cost_notice or ""),
            "warning": str(self.notice or "") if budget.should_warn else "",
            "notices": [{"kind": notice.kind, "text": str(notice)} for notice in notices],
            "lines": counts.lines,
            "broken_lines": counts.broken,
            "unknown_lines": counts.unknown,
        }

    def _note_cost(self, notice: Notice) -> None:
        if notice.kind != INPUT_REQUESTED:
            self.cost_notice = notice

    def _is_relieved(self, event: Event) -> bool:
        """Whether what was warned of is over: a compaction, another window, another session, or much less in it.

        A few tokens less are no relief: clients leave old reasoning out, and the warning would come again and again.
        """
        budget, notice = self.budget, self.notice
        if isinstance(event, Compaction) and not event.agent:
            return True
        if not budget.should_warn or not isinstance(notice, ContextWarning | CompactDue):
            return False
        if budget.utilization >= budget.warn_threshold:
            return False
        same = (notice.window, notice.session) == (budget.context_window, budget.session)
        return not same or budget.used_tokens < _RELIEF * notice.used_tokens

    def _remember(self, event: Event) -> None:
        if isinstance(event, ModelSeen) and event.window > 0:
            self._memory.window(event.model, event.window)
        elif isinstance(event, RunTotal):
            for model, tokens in event.windows.items():
                self._memory.window(model, tokens)


def _agent(id: str, agent: AgentWindow) -> AgentReading:
    return {
        "id": id,
        "model": agent.model,
        "used_tokens": agent.used_tokens,
        "context_window": agent.window.tokens,
        "utilization": round(agent.utilization, 6),
    }


def _filling(filling: Filling) -> dict[str, int]:
    """Return the tokens of each part by its name: a category, or for results the tool's."""
    return {f"{part.name} results" if part.name else part.category: part.tokens for part in filling.parts}
