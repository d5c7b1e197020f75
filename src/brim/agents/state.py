"""What is remembered of a session between two calls of a hook: a small file of JSON for each.

Hooks of one session run at the same time, and the status line beside them. So a change is written under a lock, on top
of what the file holds by then; what may happen only once is claimed under the same lock. A file that is missing,
broken or not writable means that nothing is remembered, and nothing else.
"""

from __future__ import annotations

import os

from brim._frozen import Frozen
from brim.agents.state_file import Lock, read, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

FOLDER = "state"
KEPT = 30 * 24 * 3600.0
"""Seconds after which the file of a session that nobody came back to is removed."""

DAY = 24 * 3600.0
SWEPT = "swept"
"""The file whose time says when old files were last looked for; no session's file has its name."""

_HARMLESS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

SOURCES = ("statusline", "transcript", "hook")
"""Where a reading of the window comes from."""


class UsageSeen(Frozen):
    """How full the window was, in exact numbers, when the agent last said so."""

    __slots__ = ("cost", "model", "source", "time", "tokens", "window")

    tokens: int
    """Tokens of the last prompt."""
    window: int
    """Tokens that the window holds, 0 if the source does not say."""
    model: str
    time: float
    """When it was read, in seconds since 1970."""
    source: str
    """One of ``SOURCES``."""
    cost: int | None
    """Micro-dollars of the session so far, None if the source does not say."""

    def __init__(  # noqa: PLR0917 (a record of six numbers and names)
        self,
        tokens: int,
        window: int = 0,
        model: str = "",
        time: float = 0.0,
        source: str = "",
        cost: int | None = None,
    ) -> None:
        self._fill(tokens=tokens, window=window, model=model, time=time, source=source, cost=cost)


def file_id(session: str) -> str:
    """Return *session* as it may stand in the name of a file: itself if it is harmless, else its SHA-256."""
    if 0 < len(session) <= 64 and not session.strip(_HARMLESS):
        return session
    from brim._sha import sha256_hex

    return sha256_hex(session.encode("utf-8", "surrogatepass"))


class SessionState:
    """What is remembered of one session. Read what you need, change it, and it is written when the hook ends."""

    def __init__(self, path: str, session: str, values: Mapping[str, Any]) -> None:
        self.path, self.session = path, session
        self._values = dict(values)
        self._changed: set[str] = set()

    @classmethod
    def load(cls, home: str, session: str) -> SessionState:
        """Return what is remembered of *session* in the user's folder *home*; nothing if it cannot be read."""
        path = os.path.join(home, FOLDER, f"{file_id(session)}.json")
        return cls(path, session, read(path))

    # One value each ---------------------------------------------------------------------------------------------

    @property
    def usage(self) -> UsageSeen | None:
        """The newest exact reading of the window of the main thread."""
        return _usage(self._values.get("usage"))

    @usage.setter
    def usage(self, seen: UsageSeen | None) -> None:
        fields = ("tokens", "window", "model", "time", "source", "cost")
        self.keep("usage", None if seen is None else {field: getattr(seen, field) for field in fields})

    @property
    def lost(self) -> str:
        """What the last summary lost and the agent has not got back yet; ``take_lost`` gives it once."""
        found = self._values.get("lost")
        return found if isinstance(found, str) else ""

    @lost.setter
    def lost(self, text: str) -> None:
        self.keep("lost", text)

    def kept(self, name: str) -> Any:
        """Return what a handler has kept under *name*, None if nothing; it may hold anything that JSON has."""
        return self._values.get(name)

    def keep(self, name: str, value: Any) -> None:
        """Remember *value*, which must be JSON and small, under *name*."""
        if name in self._values and self._values[name] == value:
            return
        self._values[name] = value
        self._changed.add(name)

    # What happens once ------------------------------------------------------------------------------------------

    def told(self, latch: str) -> bool:
        """Whether *latch* has been claimed and not been opened since."""
        return latch in _mapping(self._values.get("told"))

    def tell_once(self, latch: str) -> bool:
        """Claim *latch*; whether this call was the first since it was opened.

        Written at once: of two hooks at the same time one gets it. If it cannot be written nobody does: a warning that
        comes again with every call is worse than none.
        """

        def claim(values: dict[str, Any]) -> bool:
            known = values["told"] = _mapping(values.get("told"))
            if latch in known:
                return False
            known[latch] = 1
            return True

        return not self.told(latch) and self._change(claim)

    def open_latch(self, latch: str) -> None:
        """Let *latch* be told again."""
        if self.told(latch):
            self._change(lambda values: _mapping(values.get("told")).pop(latch, None) is not None)

    def take_lost(self) -> str:
        """Return what the last summary lost, to one caller; empty if there is nothing, or another one has taken it."""
        if not self.lost:
            return ""
        taken: list[str] = []

        def take(values: dict[str, Any]) -> bool:
            found = values.get("lost")
            if isinstance(found, str) and found:
                taken.append(found)
            values["lost"] = ""
            return bool(taken)

        return taken[0] if self._change(take) else ""

    # The file ---------------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Write what changed, if anything did."""
        if self._changed:
            self._change(lambda _: True)

    def _change(self, decide: Callable[[dict[str, Any]], bool]) -> bool:
        """Let *decide* change what the file holds by now, under the lock; write it if it returns True.

        Return whether it did and was written. What was kept in this process is written with it.
        """
        mine = {name: self._values[name] for name in self._changed}
        try:
            with Lock(f"{self.path[:-5]}.lock"):
                values = {**read(self.path), **mine}
                if not decide(values):
                    self._values = values
                    return False
                write(self.path, values)
        except OSError:  # no room, no right, no home, or another one holds the lock too long
            return False
        self._values = values
        self._changed.clear()
        return True


def remove_old(home: str, *, now: float) -> int:
    """Remove the files of sessions that nobody came back to, once a day; return how many. What cannot be removed stays.

    Every session that begins asks for it, and to look at hundreds of files takes milliseconds.
    """
    folder = os.path.join(home, FOLDER)
    removed = 0
    try:
        if not _is_due(os.path.join(folder, SWEPT), now):
            return 0
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    if entry.stat(follow_symlinks=False).st_mtime < now - KEPT:
                        os.unlink(entry.path)
                        removed += 1
                except OSError:
                    continue
    except OSError:
        return removed
    return removed


def _is_due(mark: str, now: float) -> bool:
    """Whether the file *mark* was not touched for a day; it is now."""
    try:
        if 0 <= now - os.lstat(mark).st_mtime < DAY:
            return False
    except FileNotFoundError:
        os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600))
    os.utime(mark, (now, now))
    return True


def _mapping(found: object) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}


def _usage(found: object) -> UsageSeen | None:
    if not isinstance(found, dict):
        return None
    tokens, window, cost, time = (found.get(name) for name in ("tokens", "window", "cost", "time"))
    if type(tokens) is not int or tokens < 0:
        return None
    return UsageSeen(
        tokens,
        window if type(window) is int and window > 0 else 0,
        str(found.get("model") or ""),
        float(time) if isinstance(time, int | float) else 0.0,
        str(found.get("source") or ""),
        cost if type(cost) is int and cost >= 0 else None,
    )
