"""Threads of a ledger's own, for programs that run an event loop."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concurrent.futures import Future


def on_worker(ledger: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """Run *function* in a thread of *ledger*'s own: one, or as many as it has ``workers``. A fork
    has others."""
    from concurrent.futures import ThreadPoolExecutor  # only programs with a loop pay for it

    process, worker = getattr(ledger, "_worker", (0, None))
    if worker is None or process != os.getpid():
        worker = ThreadPoolExecutor(getattr(ledger, "workers", 1), "brim-ledger")
        ledger._worker = os.getpid(), worker
    future: Future[Any] = worker.submit(function, *args, **kwargs)
    return future


def in_loop(future: Future[Any]) -> Awaitable[Any]:
    """Return *future* so that the running event loop can await it."""
    import asyncio

    return asyncio.wrap_future(future)
