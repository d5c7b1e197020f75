"""Waiting for something to become true, however slow the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Answer = TypeVar("Answer")

PATIENCE = 300
"""Seconds after which a test gives up: much longer than anything takes on a busy machine."""


def wait_until(is_true: Callable[[], bool], pause: float = 0.02) -> None:
    """Ask *is_true* until it is, with *pause* seconds between."""
    deadline = time.monotonic() + PATIENCE
    while not is_true():
        assert time.monotonic() < deadline, f"not true after {PATIENCE} seconds"
        time.sleep(pause)


def in_time(home: Path, run: Callable[[], Answer]) -> Answer:
    """Return what *run* returns when no hook in it, which writes its log in *home*, gave up because
    the machine was busy."""
    log = home / ".brim" / "log" / "hook.log"
    answers: list[Answer] = []

    def is_answered() -> bool:
        before = _late(log)
        answers.append(run())
        return _late(log) == before

    wait_until(is_answered)
    return answers[-1]


def _late(log: Path) -> int:
    if not log.exists():
        return 0
    return log.read_text("utf-8").count("took too long")
