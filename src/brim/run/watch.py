"""What does a session hold and cost right now? Events go in, the state comes out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping

from brim.agents import AGENTS, agent_named
from brim.agents.call import Event
from brim.agents.events import Compaction, ModelSeen, RunTotal, StateSeen
from brim.config import Config
from brim.money.amounts import limit_in
from brim.money.budget import CostBudget
from brim.money.meter import SpendMeter
from brim.notices import INPUT_REQUESTED, ContextNotice, Notice
from brim.sessions.lines import LineObserver
from brim.sessions.plan_windows import current_plan_windows
from brim.sessions.window.auto_compact import auto_compact
from brim.sessions.window.budget import ContextBudget
from brim.sessions.window.estimate import FIXED
from brim.sessions.window.live import Counts, Reading, Tick, follow, ignore
from brim.sessions.window.remembered import Memory
from brim.sessions.window.windows import (
    DEFAULT_WINDOW,
    AutoCompact,
    ReportedWindow,
    reported_window,
)

SCHEMA = 1
"""The version of the object.

A key that is added does not raise it; one that changes its meaning or goes does.
"""

UNTOLD = ("time", "notices", "lines", "unknown_lines", "plan_windows")
"""Keys that change without anything to tell."""

SAME_NAMES = (
    "warn_threshold",
    "compact_threshold",
    "should_warn",
    "should_compact",
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
    "answer_tokens",
)
"""Keys that are the budget's own names."""

KNOWN_WINDOWS = ("reported", "remembered", "table", "overflow")
"""Sources of a window that a client goes by too."""

LASTING = 1.0
"""Seconds for which the client's settings and the plan's windows are taken to stay as they are."""

RELIEF = 0.9
"""The part of what was warned of below which it is over."""


def budget_of(config: Config) -> ContextBudget:
    """Return the gauge of an empty window, as the settings want it."""
    window = config["context.window"]
    is_set = window is not None
    if not is_set:
        window = DEFAULT_WINDOW
    return ContextBudget(window, config["context.warn"], config["context.compact"], pinned=is_set)


class Watch:
    """The state of one session. Windows that the agent reports go into *memory*, if there is one.

    With *environ*, a reading also has where the agent compacts on its own, and how much of the
    plan's windows is used.
    """

    def __init__(
        self,
        config: Config,
        memory: Memory | None = None,
        *,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._config = config
        self._memory = memory
        self._environ = environ
        self.forget()

    def forget(self) -> None:
        """Begin again: the file is another one."""
        config = self._config
        self.budget = budget_of(config)
        self.meter = SpendMeter()
        self.money = CostBudget(limit_in(config["spend.limit"]), config["spend.warn"])
        self.cost_notice: Notice | None = None
        self.time: float | None = None
        self.notice: Notice | None = None
        self._folder = ""
        self._reported: ReportedWindow | None = None
        self._surroundings: Reading = {}
        self._surroundings_of: object = None

    def take(self, events: Iterable[Event], *, live: bool) -> list[Notice]:
        """Take *events* in; return what must be told now.

        *live* is whether they have just happened.
        """
        notices: list[Notice] = []
        for event in events:
            for notice in self.budget.update(event):
                notices.append(notice)
                self.notice = notice
            for notice in self._cost_notices(event):
                notices.append(notice)
                self.cost_notice = notice
            if isinstance(event, StateSeen) and event.name == "folder":
                self._folder = event.value
            if event.time is not None:
                self.time = max(event.time, self.time or event.time)
            if self._is_relieved(event):
                self.budget.clear_compact()
            self._remember(event, live=live)
        return notices

    def _cost_notices(self, event: Event) -> list[Notice]:
        """Count what *event* cost. Nobody can be asked here, so only the limit is named."""
        self.meter.update(event)
        notices = self.money.add(self.meter.total - self.money.spent)
        return [notice for notice in notices if notice.kind != INPUT_REQUESTED]

    def follow(
        self, path: str, counts: Counts, ticks: Iterable[Tick], *, live: bool = True
    ) -> Iterator[Reading]:
        """Take in what happens and yield the state after each change.

        *live* is whether it happens now.
        """
        for tick in ticks:
            if tick.again:
                self.forget()
            notices = self.take(tick.events, live=tick.settled and live)
            if tick.settled:
                yield self.reading(path, counts, notices)

    def reading(self, path: str, counts: Counts, notices: Iterable[Notice] = ()) -> Reading:
        """Return the state now."""
        budget = self.budget
        meter = self.meter
        self._ask_client()
        used_tokens = budget.standing_tokens
        window = budget.window.tokens
        utilization = 0.0
        if window > 0:
            utilization = used_tokens / window
        return {
            "schema": SCHEMA,
            "path": path,
            "format": counts.format,
            "session": budget.session,
            "time": self.time,
            "model": budget.model or "",
            "used_tokens": used_tokens,
            "context_window": window,
            "window_source": budget.window.source,
            "window_others": dict(budget.window.others),
            "utilization": round(utilization, 6),
            **self._surroundings_now(counts.format.partition("-")[0]),
            **{name: getattr(budget, name) for name in SAME_NAMES},
            "cache_hit_share": round(budget.cache_hit_share, 6),
            "overhead": budget.overhead,
            "filling": self._filling(),
            "agents": self._sub_agents(),
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

    def _sub_agents(self) -> list[Reading]:
        """Return the state of each sub-agent's own window."""
        return [
            {
                "id": id,
                "model": agent.model,
                "used_tokens": agent.used_tokens,
                "context_window": agent.context_window,
                "utilization": round(agent.utilization, 6),
            }
            for id, agent in self.budget.agents.items()
        ]

    def _filling(self) -> dict[str, int]:
        """Return what fills the window; it adds up to what stands in it."""
        parts: dict[str, int] = {}
        for part in self.budget.filling.parts:
            name = part.category
            if part.name:
                name = f"{part.name} results"
            parts[name] = part.tokens
        left_out = self.budget.standing_tokens - self.budget.used_tokens
        if left_out > 0:
            parts[FIXED] = parts.get(FIXED, 0) + left_out
        return parts

    def _ask_client(self) -> None:
        """Take what the client itself reported about the window of this session."""
        if self._environ is None:
            return
        self._reported = reported_window(self._environ, self.budget.session)
        if self._reported is not None and self._reported.window:
            self.budget.report_windows({self._reported.model: self._reported.window})

    def _auto_compact(self, agent: str) -> AutoCompact | None:
        """Return where *agent* compacts on its own: as it was started, if the client has said."""
        budget = self.budget
        if self._reported is not None and self._reported.auto_compact is not None:
            return self._reported.auto_compact
        if self._environ is None or agent not in AGENTS or not budget.model:
            return None
        if not agent_named(agent).compacts_by_settings:
            return None
        if budget.window.source not in KNOWN_WINDOWS:
            return None
        return auto_compact(budget.model, budget.window.tokens, self._environ, folder=self._folder)

    def _surroundings_now(self, agent: str) -> Reading:
        """Return what isn't in the session itself: where *agent* compacts on its own, and its
        plan's windows."""
        budget = self.budget
        now = time.time()
        second = now // LASTING
        asked_about = (agent, budget.model, budget.window, self._folder, self._reported, second)
        if asked_about != self._surroundings_of:
            self._surroundings_of = asked_about
            self._surroundings = {
                "auto_compact": self._auto_compact_point(agent),
                "plan_windows": self._plan_windows(agent, now),
            }
        return self._surroundings

    def _auto_compact_point(self, agent: str) -> Reading:
        point = self._auto_compact(agent)
        return {} if point is None else point.to_dict()

    def _plan_windows(self, agent: str, now: float) -> list[Reading]:
        if self._environ is None or not agent:
            return []
        return [window.to_dict() for window in current_plan_windows(self._environ, now, agent)]

    def _is_relieved(self, event: Event) -> bool:
        """Whether what was warned of is over: a compaction, another window, another session, or
        much less in it.

        A few tokens less aren't a relief: clients leave old reasoning out, and the warning would
        come again and again.
        """
        if isinstance(event, Compaction) and not event.agent:
            return True
        budget = self.budget
        if not budget.should_warn or budget.utilization >= budget.warn_threshold:
            return False
        notice = self.notice
        if not isinstance(notice, ContextNotice):
            return False
        if notice.window != budget.context_window or notice.session != budget.session:
            return True
        return budget.used_tokens < RELIEF * notice.used_tokens

    def _remember(self, event: Event, *, live: bool) -> None:
        """Keep the windows that *event* reports for sessions to come."""
        if self._memory is None:
            return
        if isinstance(event, RunTotal):
            for model, tokens in event.windows.items():
                self._memory.window(model, tokens)
        if isinstance(event, ModelSeen) and event.window > 0:
            self._memory.window(event.model, event.window)
        if live:
            self._memory.calibrate(event)


def read_session(
    path: str,
    config: Config,
    environ: Mapping[str, str],
    *,
    on_read: Callable[[int], object] = ignore,
    on_events: Callable[[list[Event]], object] = len,
    observer: LineObserver | None = None,
) -> Reading:
    """Return the state of the session in the file *path* as it is now. Looking changes nothing.

    *on_read* gets the size of each block that was read, *on_events* the events, *observer* the
    lines of the file itself.
    """
    watch = Watch(config, environ=environ)
    counts, ticks = follow(path, interval=1.0, once=True, taken=on_read, observer=observer)
    for tick in ticks:
        watch.take(tick.events, live=False)
        on_events(tick.events)
    return watch.reading(path, counts)
