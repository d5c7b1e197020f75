"""Reading that may take longer than a page should: it goes on in the background, and the page says how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import Any, TypeVar

T = TypeVar("T")
Advance = Callable[[int], object]
"""Takes how many more bytes were read."""

PATIENCE = 1.5
"""Seconds that a page waits for what it shows, before it says that it is being read."""

KEPT = 3
"""Results that are kept, the ones that were asked for last."""


class StillReading(Exception):
    """It takes longer: ``done`` of ``size`` bytes are read."""

    def __init__(self, what: str, done: int, size: int) -> None:
        super().__init__(what)
        self.what, self.done, self.size = what, done, size


@dataclass
class _Job:
    what: str
    size: int
    done: int = 0
    seconds: float = 0.0
    result: Any = None
    error: Exception | None = None
    ended: Event = field(default_factory=Event)

    def advance(self, more: int) -> None:
        self.done += more

    def run(self, make: Callable[[Advance], Any]) -> None:
        begun = time.monotonic()
        try:
            self.result = make(self.advance)
        except Exception as error:  # it is raised where the page is made
            self.error = error
        self.seconds = time.monotonic() - begun
        self.ended.set()


class Work:
    """What is being read or was, each thing once, for every page that asks."""

    def __init__(self) -> None:
        self._jobs: dict[Hashable, _Job] = {}
        self._lock = Lock()

    def get(self, key: Hashable, what: str, size: int, make: Callable[[Advance], T], patience: float = PATIENCE) -> T:
        """Return what *make* makes, of *size* bytes, or made before for the same *key*.

        ``StillReading`` if that takes longer than *patience*: ask again.
        """
        with self._lock:
            job = self._jobs.pop(key, None)
            if job is None:
                job = _Job(what, size)
                Thread(target=job.run, args=(make,), daemon=True, name=f"brim reads {what}").start()
            self._jobs[key] = job
            for old in [each for each, one in self._jobs.items() if one.ended.is_set()][:-KEPT]:
                del self._jobs[old]
        if not job.ended.wait(patience):
            raise StillReading(job.what, min(job.done, job.size), job.size)
        if job.error is not None:
            with self._lock:
                self._jobs.pop(key, None)  # the next one who asks tries again
            raise job.error
        result: T = job.result
        return result

    def knows(self, key: Hashable) -> bool:
        """Whether *key* is read already."""
        job = self._jobs.get(key)
        return job is not None and job.ended.is_set()

    def longest(self, *beginning: Hashable) -> float:
        """Return how many seconds the longest took of what has a key with this *beginning*."""
        with self._lock:
            keys = [key for key in self._jobs if isinstance(key, tuple) and key[: len(beginning)] == beginning]
            return max((self._jobs[key].seconds for key in keys), default=0.0)
