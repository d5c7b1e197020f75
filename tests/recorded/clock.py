"""A clock that stands still, and no randomness: the same steps give the same answers."""

from __future__ import annotations

import datetime
import importlib
import os
import random
import time
from typing import Any

NOON = 1_794_744_000.0
"""2026-11-15 12:00 UTC."""


class Clock:
    """The time that brim sees. ``tick`` sets it forward."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.now = NOON
        self.ticks = 0

    def tick(self) -> None:
        self.ticks += 1
        self.now = NOON + 10 * self.ticks


CLOCK = Clock()

real_gmtime = time.gmtime
real_localtime = time.localtime
real_strftime = time.strftime


class StoppedDatetime(datetime.datetime):
    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> StoppedDatetime:
        return cls.fromtimestamp(CLOCK.now, tz)


class StoppedDate(datetime.date):
    @classmethod
    def today(cls) -> StoppedDate:
        return cls.fromtimestamp(CLOCK.now)


def gmtime(seconds: float | None = None) -> time.struct_time:
    return real_gmtime(CLOCK.now if seconds is None else seconds)


def localtime(seconds: float | None = None) -> time.struct_time:
    return real_localtime(CLOCK.now if seconds is None else seconds)


def strftime(template: str, when: Any = None) -> str:
    return real_strftime(template, when or localtime())


def urandom(size: int) -> bytes:
    """Other bytes at every tick, and the same in every run."""
    return bytes([CLOCK.ticks % 256]) * size


def no_timer(*_: object) -> tuple[float, float]:
    """Let a hook take its time: the machine may be busy."""
    return (0.0, 0.0)


def stop_the_clock() -> None:
    """Patch the standard library of this process."""
    time.time = lambda: CLOCK.now
    time.time_ns = lambda: int(CLOCK.now * 1e9)
    time.strftime = strftime
    os.urandom = urandom
    patches: list[tuple[Any, str, Any]] = [  # those that mypy doesn't let us assign
        (time, "gmtime", gmtime),
        (time, "localtime", localtime),
        (datetime, "datetime", StoppedDatetime),
        (datetime, "date", StoppedDate),
        (random, "_urandom", urandom),
        (importlib.import_module("signal"), "setitimer", no_timer),
        (importlib.import_module("_signal"), "setitimer", no_timer),
    ]
    for module, name, replacement in patches:
        setattr(module, name, replacement)
