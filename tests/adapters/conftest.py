"""What the tests of several adapters use."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import Iterator

import pytest


@pytest.fixture
def left_open() -> Iterator[None]:
    """Collect the event loops and connections that a framework leaves open after a sync run."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        asyncio.set_event_loop(None)
        gc.collect()
