"""What somebody must be told, once: a threshold was crossed, an answer is needed.

Whoever counts (the window in ``tracking``, the money in ``spend``) returns its notices and hands each to every
subscriber. A hook, the supervised run and the watch view subscribe; so no notice is published into the void.
"""

from __future__ import annotations

from brim.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import ClassVar

CONTEXT_WARNING = "CONTEXT_WARNING"
COMPACT_DUE = "COMPACT_DUE"
COST_WARNING = "COST_WARNING"
COST_LIMIT = "COST_LIMIT"
INPUT_REQUESTED = "INPUT_REQUESTED"

KINDS = (CONTEXT_WARNING, COMPACT_DUE, COST_WARNING, COST_LIMIT, INPUT_REQUESTED)
"""Every kind of notice that there is."""


class Notice(Record):
    """Something that a person or an agent must be told. ``str(notice)`` is the sentence."""

    kind: ClassVar[str]
    """One of ``KINDS``."""


class Subscribers:
    """Who wants to be told. A subscriber that fails does not keep the next one from being told."""

    def __init__(self) -> None:
        self._all: list[Callable[[Notice], object]] = []

    def add(self, subscriber: Callable[[Notice], object]) -> Callable[[], None]:
        """Tell *subscriber* of every notice from now on; call what is returned to end that."""
        self._all.append(subscriber)

        def end() -> None:
            if subscriber in self._all:
                self._all.remove(subscriber)

        return end

    def tell(self, notices: Iterable[Notice]) -> None:
        """Hand each of *notices* to every subscriber; then raise the first error that one of them made."""
        failed: Exception | None = None
        for notice in notices:
            for subscriber in tuple(self._all):
                try:
                    subscriber(notice)
                except Exception as error:  # whatever it is, it is the subscriber's
                    failed = failed or error
        if failed is not None:
            raise failed
