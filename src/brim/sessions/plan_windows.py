"""How much of a subscription's windows is used: five hours, a week, as the provider says.

Claude Code says it to the status line, which keeps the last reading in the user's folder. Codex
writes it into its rollouts. A window is told by its length in minutes; its reading is about the
account, whichever session saw it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from brim.agents.fields import mapping, text
from brim.agents.times import seconds
from brim.config.places import home_folder, user_folder
from brim.figures import percent
from brim.files import open_safely, read_safely, replace_file
from brim.record import PlainData

NAME = "plan_windows.json"
"""The file in the user's folder with the last readings."""

FRESH = 300.0
"""Seconds after which a reading is shown with its age."""

REPEAT = 60.0
"""Seconds after which the same reading is written again, so that its age is right."""

LENGTHS = {"five_hour": 300, "seven_day": 10_080}
"""Minutes of Claude Code's windows; what follows such a name (``seven_day_opus``) is the model that
it's about."""

LARGEST = 1 << 16
"""Bytes of the file with the readings that are read."""
ROLLOUTS = 3
"""Files of Codex whose ends are read."""
TAIL = 1 << 18
"""Bytes of a rollout's end that are read."""

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True)
class PlanWindow(PlainData):
    """One window of a plan at the time of its reading."""

    agent: str
    """``claude`` or ``codex``."""
    minutes: int
    """Its length."""
    used: float
    """The share that is used; it may exceed 1."""
    resets_at: float | None = None
    """When it begins again, in seconds since 1970; None if the client doesn't say."""
    read_at: float = 0.0
    """When the provider said so."""
    name: str = ""
    """What it is about if it isn't everything: a model."""

    @property
    def label(self) -> str:
        """How it's called: ``5h``, ``7d opus``."""
        size, unit = next(
            (size, unit)
            for size, unit in ((1_440, "d"), (60, "h"), (1, "min"))
            if not self.minutes % size
        )
        return f"{self.minutes // size}{unit} {self.name}".rstrip()

    def is_current(self, now: float) -> bool:
        """Whether the window that was read still runs: what a new one holds isn't known yet."""
        return now < (
            self.read_at + 60 * self.minutes if self.resets_at is None else self.resets_at
        )

    def is_fresh(self, now: float) -> bool:
        """Whether the reading is too new for its age to matter."""
        return abs(now - self.read_at) <= FRESH

    def told(self, now: float) -> str:
        """Return it in words, in local time: ``5h 91%, resets 15:20``."""
        full = f"{self.label} {percent(self.used)}"
        at = "" if self.resets_at is None else _clock(self.resets_at, now)
        if at:
            return f"{full}, resets {at}"
        return full


def read_plan_windows(home: str, environ: Mapping[str, str] | None = None) -> list[PlanWindow]:
    """Return the last reading of each window, the shortest window of each agent first.

    *home* is the user's folder of brim. With *environ*, the ends of Codex's newest rollouts are
    read as well.
    """
    windows: list[PlanWindow] = []
    if environ is not None:
        for path in _newest_rollouts(environ):
            windows += _from_rollout(path)
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        for entry in json.loads(read_safely(os.path.join(home, NAME), at_most=LARGEST))["windows"]:
            window = _window(
                entry["agent"],
                entry["minutes"],
                100 * entry["used"],
                entry["resets_at"],
                entry["read_at"],
            )
            windows += [replace(window, name=str(entry["name"]))] if window else []
    newest: dict[tuple[str, int, str], PlanWindow] = {}
    for entry in sorted(windows, key=lambda window: window.read_at):
        newest[entry.agent, entry.minutes, entry.name] = entry
    return [newest[key] for key in sorted(newest)]


def current_plan_windows(
    environ: Mapping[str, str], now: float, agent: str = ""
) -> list[PlanWindow]:
    """Return the last readings of the windows that still run, of *agent* or of all."""
    windows = read_plan_windows(user_folder(environ), environ if agent in ("", "codex") else None)
    return [window for window in windows if window.is_current(now) and agent in ("", window.agent)]


def keep_plan_windows(home: str, windows: Sequence[PlanWindow]) -> None:
    """Keep *windows*, one agent's readings of now, unless the file has them already.

    A missing folder isn't made.
    """
    before = read_plan_windows(home)
    earlier = {(window.agent, window.minutes, window.name): window for window in before}
    new = {(window.agent, window.minutes, window.name): window for window in windows}
    if all(key in earlier and _is_same(earlier[key], window) for key, window in new.items()):
        return
    data = {"windows": [window.to_dict() for window in (earlier | new).values()]}
    with suppress(OSError):
        replace_file(os.path.join(home, NAME), json.dumps(data).encode(), durable=False)


def claude_plan_windows(limits: object, now: float) -> list[PlanWindow]:
    """Return the windows in the ``rate_limits`` of Claude Code's status line; nothing in it is
    required."""
    if not isinstance(limits, dict):
        return []
    windows = []
    for key, limit in limits.items():
        length = _length_named(key)
        if not length or not isinstance(limit, dict):
            continue
        used = limit.get("used_percentage")
        window = _window("claude", LENGTHS[length], used, limit.get("resets_at"), now)
        if window is not None:
            windows.append(replace(window, name=key[len(length) + 1 :][:40]))
    return windows


def _length_named(key: str) -> str:
    """Return the length of a window that *key* begins with; empty if there is none."""
    for name in LENGTHS:
        if key == name or key.startswith(f"{name}_"):
            return name
    return ""


def codex_plan_windows(limits: Mapping[str, Any], now: float) -> list[PlanWindow]:
    """Return the windows in the ``rate_limits`` of a rollout's line that was written at *now*."""
    name = str(limits.get("limit_name") or "")[:40]
    windows = []
    for limit in (limits.get("primary"), limits.get("secondary")):
        if not isinstance(limit, dict):
            continue
        resets = limit.get("resets_at")
        wait = limit.get("resets_in_seconds")
        if resets is None and isinstance(wait, int | float):  # as older clients say it
            resets = now + wait
        minutes = limit.get("window_minutes")
        window = _window("codex", minutes, limit.get("used_percent"), resets, now)
        if window is not None:
            windows.append(replace(window, name=name))
    return windows


def _window(
    agent: object, minutes: object, used: object, resets: object, read: object
) -> PlanWindow | None:
    """Return the window that these values describe, None if one of them can't be right."""
    if not isinstance(agent, str) or type(minutes) is not int or not 0 < minutes <= 1_000_000:
        return None
    if isinstance(used, bool) or not isinstance(used, int | float) or not 0 <= used <= 10_000:
        return None

    return PlanWindow(agent[:40], minutes, used / 100, seconds(resets), seconds(read) or 0.0)


def _is_same(earlier: PlanWindow, new: PlanWindow) -> bool:
    return (
        replace(earlier, read_at=new.read_at) == new and 0 <= new.read_at - earlier.read_at < REPEAT
    )


def _newest_rollouts(environ: Mapping[str, str]) -> list[str]:
    """Return the files that Codex wrote to last among those of its newest day.

    Several, because that of a session that has just begun says nothing about the plan yet.
    """
    codex_home = environ.get("CODEX_HOME") or os.path.join(home_folder(environ), ".codex")
    folder = os.path.join(codex_home, "sessions")
    paths: list[str] = []
    with suppress(OSError, ValueError):
        for _ in ("year", "month", "day"):
            numbers = [name for name in os.listdir(folder) if name.isdigit()]
            folder = os.path.join(folder, max(numbers))
        for name in os.listdir(folder):
            if name.startswith("rollout-") and name.endswith(".jsonl"):
                paths.append(os.path.join(folder, name))
        paths.sort(key=os.path.getmtime, reverse=True)
    return paths[:ROLLOUTS]


def _from_rollout(path: str) -> list[PlanWindow]:
    """Return the newest reading of each window in the last lines of a rollout."""

    lines: Iterable[bytes] = ()
    with suppress(OSError), os.fdopen(open_safely(path), "rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
        lines = file.read(TAIL).splitlines()
    windows: list[PlanWindow] = []
    for line in lines:
        with suppress(ValueError, RecursionError):
            data: Any = None
            if b'"rate_limits"' in line:
                data = json.loads(line)
            read = seconds(text(data, "timestamp"))
            windows += (
                []
                if read is None
                else codex_plan_windows(mapping(data, "payload", "rate_limits"), read)
            )
    return windows


def _clock(moment: float, now: float) -> str:
    """Return *moment* as a clock shows it here: with its day or date if that isn't today."""
    try:
        at = time.localtime(moment)
        today = time.localtime(now)
    except (OSError, OverflowError, ValueError):  # a time that this machine's clock can't show
        return ""
    if abs(moment - now) > 6 * 86_400:
        return f"{at.tm_year}-{at.tm_mon:02}-{at.tm_mday:02}"
    day = "" if at[:3] == today[:3] else f"{_DAYS[at.tm_wday]} "
    return f"{day}{at.tm_hour:02}:{at.tm_min:02}"
