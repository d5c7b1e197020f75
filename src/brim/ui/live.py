"""Sessions while they grow: each is followed as ``brim watch`` does, in a thread that ends when the session rests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock, Thread

from brim.config import Config
from brim.errors import BrimError
from brim.report.watch import UNTOLD, Reading, Watch
from brim.tracking.live import follow

AWAKE = 900.0
"""Seconds after its last line for which a session counts as live."""
INTERVAL = 0.5
"""Seconds between two looks at a file."""
MOST = 12
"""Sessions that are followed at once."""


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
            counts, ticks = follow(self.path, interval=INTERVAL, idle=AWAKE, once=False)
            told: Reading = {}
            for reading in watch.follow(self.path, counts, ticks):
                now = {key: value for key, value in reading.items() if key not in UNTOLD or key == "lines"}
                if now != told:
                    told, self.reading = now, reading
                    self.changes += 1
        except (BrimError, OSError) as error:
            self.problem = str(error)
            self.changes += 1
        finally:
            self.ended = True


class Live:
    """The sessions that are followed, by path."""

    def __init__(self) -> None:
        self._followed: dict[str, Followed] = {}
        self._lock = Lock()
        self.ending = False
        """Whether the server ends: streams to browsers end then."""

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
                Thread(target=found.run, args=(config, environ), daemon=True, name="brim follows").start()
            return found
