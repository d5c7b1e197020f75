"""What goes on behind the pages: sessions that grow are followed, and long reading goes on while a
page says so."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Any, TypeVar

from brim.config import Config
from brim.errors import BrimError
from brim.report.watch import UNTOLD, Reading, Watch
from brim.tracking.live import follow

T = TypeVar("T")
Advance = Callable[[int], object]
"""Takes how many more bytes were read."""

AWAKE = 900.0
"""Seconds after its last line for which a session counts as live."""
INTERVAL = 0.5
"""Seconds between two looks at a file."""
MOST = 12
"""Sessions that are followed at once."""

PATIENCE = 1.5
"""Seconds that a page waits for its contents before it says that they are being read."""
KEPT = 3
"""Results that are kept, the most recently used ones."""


@dataclass
class Followed:
    """A session that is followed: its last reading, and how often that has changed."""

    path: str
    reading: Reading | None = None
    changes: int = 0
    ended: bool = False
    problem: str = ""

    def run(self, config: Config, environ: Mapping[str, str]) -> None:
        """Follow it until it rests."""
        try:
            watch = Watch(config, environ=environ)
            counts, ticks = follow(self.path, interval=INTERVAL, idle=AWAKE)
            told: Reading = {}
            for reading in watch.follow(self.path, counts, ticks):
                now = {
                    key: value
                    for key, value in reading.items()
                    if key not in UNTOLD or key == "lines"
                }
                if now != told:
                    told, self.reading = now, reading
                    self.changes += 1
        except (BrimError, OSError) as error:
            self.problem = str(error)
            self.changes += 1
        finally:
            self.ended = True


class Live:
    """The sessions that are followed, by path.

    Each has a thread that ends when the session rests.
    """

    def __init__(self) -> None:
        self._followed: dict[str, Followed] = {}
        self._lock = Lock()
        self.ending = False
        """Whether the server is ending, and streams to browsers with it."""

    def end(self) -> None:
        """Note that the server is ending."""
        self.ending = True

    def get(self, path: str) -> Followed | None:
        """Return the session in the file *path*, if it is followed."""
        return self._followed.get(path)

    def follow(self, path: str, config: Config, environ: Mapping[str, str]) -> Followed:
        """Return the session in the file *path*, followed from now on if it wasn't."""
        with self._lock:
            found = self._followed.get(path)
            if found is None or found.ended:
                for old in [each for each, one in self._followed.items() if one.ended][:-MOST]:
                    del self._followed[old]
                found = self._followed[path] = Followed(path)
                Thread(
                    target=found.run, args=(config, environ), daemon=True, name="brim follows"
                ).start()
            return found


class StillReading(Exception):
    """Reading takes longer: ``done`` of ``size`` bytes are read."""

    def __init__(self, what: str, done: int, size: int) -> None:
        super().__init__(what)
        self.what, self.done, self.size = what, done, size


@dataclass
class _Job:
    done: int = 0
    seconds: float = 0.0
    future: Future[Any] = field(default_factory=Future)

    def advance(self, more: int) -> None:
        self.done += more

    def run(self, make: Callable[[Advance], Any]) -> None:
        begun = time.monotonic()
        try:
            result = make(self.advance)
            self.seconds = time.monotonic() - begun
            self.future.set_result(result)
        except Exception as error:  # raised again where the page is made
            self.future.set_exception(error)


class Work:
    """What is being read or was, each thing once, for every page that asks."""

    def __init__(self) -> None:
        self._jobs: dict[Hashable, _Job] = {}
        self._lock = Lock()

    def get(
        self,
        key: Hashable,
        what: str,
        size: int,
        make: Callable[[Advance], T],
        patience: float = PATIENCE,
    ) -> T:
        """Return what *make* makes, of *size* bytes, or made before for the same *key*.

        ``StillReading`` if that takes longer than *patience*: ask again.
        """
        with self._lock:
            job = self._jobs.pop(key, None)
            if job is None:
                job = _Job()
                Thread(target=job.run, args=(make,), daemon=True, name=f"brim reads {what}").start()
            self._jobs[key] = job
            for old in [each for each, one in self._jobs.items() if one.future.done()][:-KEPT]:
                del self._jobs[old]
        if not wait([job.future], patience).done:
            raise StillReading(what, min(job.done, size), size)
        if job.future.exception() is not None:
            with self._lock:
                self._jobs.pop(key, None)  # the next page that asks tries again
        result: T = job.future.result()
        return result

    def knows(self, key: Hashable) -> bool:
        """Whether *key* is read already."""
        job = self._jobs.get(key)
        return job is not None and job.future.done()

    def longest(self, *beginning: Hashable) -> float:
        """Return how many seconds the longest took of what has a key with this *beginning*."""
        with self._lock:
            keys = [
                key
                for key in self._jobs
                if isinstance(key, tuple) and key[: len(beginning)] == beginning
            ]
            return max((self._jobs[key].seconds for key in keys), default=0.0)
