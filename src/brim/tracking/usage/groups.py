"""Adds requests up by day, model, session or project."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from brim.tracking.usage.gathered import Source
    from brim.tracking.usage.request import Request

BY = ("day", "model", "session", "project")
"""What requests can be added up by."""

_QUARTER = 900
"""Seconds: time zones are whole quarters of an hour apart, so a quarter is never in two days."""


class Sum:
    """What some requests took together. ``cost`` is of those that have a price; ``unpriced`` is how many have none."""

    __slots__ = (
        "agents",
        "cache_creation_tokens",
        "cache_read_tokens",
        "cost",
        "first",
        "input_tokens",
        "last",
        "models",
        "name",
        "output_tokens",
        "project",
        "requests",
        "unpriced",
    )

    def __init__(self, name: str = "") -> None:
        self.name, self.project = name, ""
        self.requests = self.unpriced = self.cost = 0
        self.input_tokens = self.output_tokens = self.cache_creation_tokens = self.cache_read_tokens = 0
        self.models: dict[str, int] = {}
        self.agents: dict[str, int] = {}
        self.first: float | None = None
        self.last: float | None = None

    @property
    def tokens(self) -> int:
        """All tokens: read, written and cached."""
        return self.input_tokens + self.output_tokens + self.cache_creation_tokens + self.cache_read_tokens

    def add(self, request: Request, source: Source) -> None:
        """Take one more request in."""
        self.requests += 1
        self.input_tokens += request.input
        self.output_tokens += request.output
        self.cache_creation_tokens += request.cache_write_5m + request.cache_write_1h
        self.cache_read_tokens += request.cache_read
        if request.cost is None:
            self.unpriced += 1
        else:
            self.cost += request.cost
        self.models[request.model] = self.models.get(request.model, 0) + 1
        self.agents[source.agent] = self.agents.get(source.agent, 0) + 1
        time = request.time
        if time is not None:
            self.first = time if self.first is None or time < self.first else self.first
            self.last = time if self.last is None or time > self.last else self.last


def grouped(requests: Iterable[tuple[Request, Source]], by: str, day_of: Callable[[float | None], str]) -> list[Sum]:
    """Return the sums of *requests* by one of ``BY``: days in their order, the others by cost, the dearest first."""
    sums: dict[str, Sum] = {}
    for request, source in requests:
        if by == "day":
            name = day_of(request.time)
        elif by == "project":
            name = source.project
        else:
            name = request.model if by == "model" else request.session
        sum_ = sums.get(name)
        if sum_ is None:
            sum_ = sums[name] = Sum(name)
            sum_.project = source.project
        sum_.add(request, source)
    if by == "day":
        return sorted(sums.values(), key=lambda sum_: sum_.name)
    return sorted(sums.values(), key=lambda sum_: (-sum_.cost, -sum_.tokens, sum_.name))


def unpriced(requests: Iterable[tuple[Request, Source]]) -> dict[str, int]:
    """Return how many of *requests* have no price, by model, the most first."""
    found: dict[str, int] = {}
    for request, _ in requests:
        if request.cost is None:
            found[request.model] = found.get(request.model, 0) + 1
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


class Days:
    """Says which day a time falls on, as ``2026-11-15``: here, or in *utc*. A request without a time has no day."""

    def __init__(self, *, utc: bool = False) -> None:
        import time

        self._of = time.gmtime if utc else time.localtime
        self._known: dict[int, str] = {}

    def __call__(self, time: float | None) -> str:
        """Return the day of *time*, empty if there is none."""
        if time is None:
            return ""
        quarter = int(time // _QUARTER)
        day = self._known.get(quarter)
        if day is None:
            try:
                parts = self._of(quarter * _QUARTER)
                day = f"{parts.tm_year:04}-{parts.tm_mon:02}-{parts.tm_mday:02}"
            except (OverflowError, ValueError, OSError):  # no calendar of this machine has it
                day = ""
            self._known[quarter] = day
        return day
