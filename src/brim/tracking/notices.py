"""Notices: what a person or an agent must be told, once. A threshold was crossed, or an answer is needed.

``tracking`` (the window) and ``spend`` (the money) return their notices and pass each to every subscriber: a hook, a
supervised run or the watch view.
"""

from __future__ import annotations

from brim.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

CONTEXT_WARNING = "CONTEXT_WARNING"
COMPACT_DUE = "COMPACT_DUE"
COST_WARNING = "COST_WARNING"
COST_LIMIT = "COST_LIMIT"
INPUT_REQUESTED = "INPUT_REQUESTED"

KINDS = (CONTEXT_WARNING, COMPACT_DUE, COST_WARNING, COST_LIMIT, INPUT_REQUESTED)


class Notice(Record):
    """Something that a person or an agent must be told. ``str(notice)`` is the sentence."""

    kind = ""
    """One of ``KINDS``."""


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
        """Pass each of *notices* to every subscriber; then raise the first error that one of them raised."""
        failed: Exception | None = None
        for notice in notices:
            for subscriber in tuple(self._all):
                try:
                    subscriber(notice)
                except Exception as error:
                    failed = failed or error
        if failed is not None:
            raise failed
