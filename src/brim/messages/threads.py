"""How sync and async code call each other: pruners are sync, a summarizer may be async."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_waiting_loop: ContextVar[asyncio.AbstractEventLoop | None] = ContextVar("brim_loop", default=None)
"""The event loop that waits for this thread."""


async def in_thread(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run *function* in another thread; what it has to await runs in this event loop."""
    token = _waiting_loop.set(asyncio.get_running_loop())
    try:
        return await asyncio.to_thread(function, *args, **kwargs)
    finally:
        _waiting_loop.reset(token)


def finished(value: Any) -> Any:
    """Return *value*, or if it has to be awaited, what it gives.

    It's awaited in the loop that waits for this thread, or else in one of its own.
    """
    if not inspect.isawaitable(value):
        return value

    async def wait() -> Any:
        return await value

    if _has_running_loop():
        # This thread's own loop can't run while it waits here.
        with ThreadPoolExecutor(1) as executor:
            return executor.submit(asyncio.run, wait()).result()

    loop = _waiting_loop.get()
    if loop is None:
        return asyncio.run(wait())

    return asyncio.run_coroutine_threadsafe(wait(), loop).result()


def _has_running_loop() -> bool:
    """Whether this thread runs an event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False

    return True
