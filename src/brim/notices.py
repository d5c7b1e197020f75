"""Notices: what a person or an agent must be told, once.

A threshold was crossed, or an answer is needed.

``sessions`` (the window) and ``spend`` (the money) return their notices and pass each to every
subscriber: a hook, a supervised run or the watch view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from brim.figures import percent
from brim.record import PlainData

CONTEXT_WARNING = "CONTEXT_WARNING"
COMPACT_DUE = "COMPACT_DUE"
COST_WARNING = "COST_WARNING"
COST_LIMIT = "COST_LIMIT"
INPUT_REQUESTED = "INPUT_REQUESTED"

OVERHEAD = "overhead"
"""The reason of a ``ContextWarning`` that compacting does not help: what stays is over the
threshold already."""

KINDS = (CONTEXT_WARNING, COMPACT_DUE, COST_WARNING, COST_LIMIT, INPUT_REQUESTED)


@dataclass(frozen=True)
class Notice(PlainData):
    """Something that a person or an agent must be told. ``str(notice)`` is the sentence."""

    kind = ""
    """One of ``KINDS``."""


@dataclass(frozen=True)
class ContextNotice(Notice):
    """What a notice about a window tells."""

    used_tokens: int
    window: int
    """Tokens that the window holds."""
    utilization: float
    session: str = ""
    """The session that it was measured on: a request to compact is for that one only."""

    @property
    def _full(self) -> str:
        return f"{self.used_tokens:,} of {self.window:,} tokens, {percent(self.utilization)}"


@dataclass(frozen=True)
class ContextWarning(ContextNotice):
    """The window is filling up; or, with the reason ``overhead``, compacting it doesn't help."""

    kind = CONTEXT_WARNING
    reason: str = ""
    """Empty, or ``overhead``: then ``used_tokens`` is what no compaction removes."""

    def __str__(self) -> str:
        if self.reason == OVERHEAD:
            return (
                f"Compacting does not help: what stays (system, tools, pinned text) takes {self._full}."
                " Remove tools or pinned text, or use a model with a larger window."
            )
        return f"The context window is filling up: {self._full}."


@dataclass(frozen=True)
class CompactDue(ContextNotice):
    """The window should be compacted at the next turn boundary."""

    kind = COMPACT_DUE

    def __str__(self) -> str:
        return f"It is time to compact: {self._full}."


class Subscribers:
    """The functions that get each notice. One that fails doesn't stop the others."""

    def __init__(self) -> None:
        self._all: list[Callable[[Notice], object]] = []

    def add(self, subscriber: Callable[[Notice], object]) -> Callable[[], None]:
        """Pass every notice from now on to *subscriber*; call the returned function to end that."""
        self._all.append(subscriber)

        def end() -> None:
            if subscriber in self._all:
                self._all.remove(subscriber)

        return end

    def tell(self, notices: Iterable[Notice]) -> None:
        """Pass each of *notices* to every subscriber; then raise the first error that one of them
        raised."""
        failed: Exception | None = None
        for notice in notices:
            for subscriber in tuple(self._all):
                try:
                    subscriber(notice)
                except Exception as error:
                    failed = failed or error
        if failed is not None:
            raise failed
