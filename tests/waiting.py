"""Waiting for something to become true, however slow the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 300
"""Seconds after which a test gives up: much longer than anything takes on a busy machine."""


def wait_until(is_true: Callable[[], bool], pause: float = 0.02) -> None:
    """Ask *is_true* until it is, with *pause* seconds between."""
    deadline = time.monotonic() + PATIENCE
    while not is_true():
        assert time.monotonic() < deadline, f"not true after {PATIENCE} seconds"
        time.sleep(pause)
