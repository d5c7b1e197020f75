"""Async functions in sync code, and sync code next to an event loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_loop: ContextVar[asyncio.AbstractEventLoop | None] = ContextVar("brim_loop", default=None)
"""The event loop that waits for this thread."""


async def in_thread(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run *function* in another thread; what it has to await runs in this event loop."""
    before = _loop.set(asyncio.get_running_loop())
    try:
        return await asyncio.to_thread(function, *args, **kwargs)
    finally:
        _loop.reset(before)


def finished(value: Any) -> Any:
    """Return *value*, or if it has to be awaited, what it gives.

    It's awaited in the loop that waits for this thread, or else in one of its own.
    """
    if not inspect.isawaitable(value):
        return value
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        loop = _loop.get()
        if loop is not None:
            return asyncio.run_coroutine_threadsafe(_waiting(value), loop).result()
        return asyncio.run(_waiting(value))
    with ThreadPoolExecutor(1) as another:  # this thread's own loop can't run while it waits here
        return another.submit(asyncio.run, _waiting(value)).result()


def _waiting(value: Any) -> Coroutine[Any, Any, Any]:
    async def wait() -> Any:
        return await value

    return wait()
