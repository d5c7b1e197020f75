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
from brim.run.watch import UNTOLD, Watch
from brim.sessions.window.live import Reading, follow

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
            last_values: Reading = {}
            for reading in watch.follow(self.path, counts, ticks):
                values = _drawn_values(reading)
                if values != last_values:
                    last_values = values
                    self.reading = reading
                    self.changes += 1
        except (BrimError, OSError) as error:
            self.problem = str(error)
            self.changes += 1
        finally:
            self.ended = True


def _drawn_values(reading: Reading) -> Reading:
    """Return what of *reading* is drawn: if the rest changes, the page stays as it is."""
    values = dict(reading)
    for key in UNTOLD:
        if key != "lines":
            values.pop(key, None)
    return values


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
            followed = self._followed.get(path)
            if followed is not None and not followed.ended:
                return followed
            ended = [path for path, session in self._followed.items() if session.ended]
            for old_path in ended[:-MOST]:
                del self._followed[old_path]
            followed = Followed(path)
            self._followed[path] = followed
            thread = Thread(
                target=followed.run, args=(config, environ), daemon=True, name="brim follows"
            )
            thread.start()
            return followed


class StillReading(Exception):
    """Reading takes longer: ``bytes_read`` of ``size`` bytes are read."""

    def __init__(self, name: str, bytes_read: int, size: int) -> None:
        super().__init__(name)
        self.name = name
        self.bytes_read = bytes_read
        self.size = size


@dataclass
class _Job:
    bytes_read: int = 0
    seconds: float = 0.0
    future: Future[Any] = field(default_factory=Future)

    def advance(self, size: int) -> None:
        self.bytes_read += size

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
        name: str,
        size: int,
        make: Callable[[Advance], T],
        patience: float = PATIENCE,
    ) -> T:
        """Return what *make* makes, of *size* bytes, or made before for the same *key*.

        *name* says to people what is read.

        ``StillReading`` if that takes longer than *patience*: ask again.
        """
        with self._lock:
            job = self._jobs.pop(key, None)
            if job is None:
                job = _Job()
                thread = Thread(
                    target=job.run, args=(make,), daemon=True, name=f"brim reads {name}"
                )
                thread.start()
            self._jobs[key] = job
            ended = [key for key, job in self._jobs.items() if job.future.done()]
            for old_key in ended[:-KEPT]:
                del self._jobs[old_key]
        if not wait([job.future], patience).done:
            raise StillReading(name, min(job.bytes_read, size), size)
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
            longest = 0.0
            for key, job in self._jobs.items():
                if isinstance(key, tuple) and key[: len(beginning)] == beginning:
                    longest = max(longest, job.seconds)
            return longest
