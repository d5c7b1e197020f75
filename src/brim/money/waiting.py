"""``WaitingLine``: requests that wait until others settle, first come first served.

Money is reserved for the longest answer, so requests at the same time may not fit together although
there is enough for what they will cost.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from brim.errors import LimitReached, StoreError
from brim.money.scopes import EVERYWHERE, lineage
from brim.money.spend import Spend

WAIT = 20.0
"""Seconds that a request waits."""
LOOK = 0.25
"""Seconds after which the first in a line looks again: another process may have settled."""


class WaitingLine:
    """The requests of one event loop that wait for money, at most so many *seconds*.

    There is a line for each limit that was in the way, and a request that counts against it joins
    behind those that wait already. Nobody who waits holds anything.
    """

    def __init__(self, seconds: float = WAIT, patience: float | None = None) -> None:
        self._seconds = seconds
        self._patience = patience
        """Seconds in which the ledger must answer; None is as long as it takes."""
        self._lines: dict[str, deque[asyncio.Event]] = defaultdict(deque)
        """By the scope of the limit; who is first in line looks, the others wait for their turn."""

    async def enter(self, spend: Spend) -> None:
        """Reserve the money of *spend*; raise ``LimitReached`` if it doesn't fit in time."""
        gives_up_at = time.monotonic() + self._seconds
        scope = self._line_ahead(spend)
        if not scope:
            refused = await self._refusal(spend)
            if refused is None:
                return
            scope = refused.scope
        with self._place_in(scope) as turn:
            while time.monotonic() < gives_up_at:
                await _until(turn, gives_up_at)
                if self._lines[scope][0] is not turn:
                    continue
                if await self._refusal(spend) is None:
                    return
        spend.asks = True
        await self._reserve(spend)

    async def _refusal(self, spend: Spend) -> LimitReached | None:
        """Return why *spend* doesn't fit now; None if its money is reserved. Raise if it won't fit
        later either."""
        spend.asks = False
        try:
            await self._reserve(spend)
        except LimitReached as refused:
            if refused.fits_later:
                return refused
        else:
            return None
        spend.asks = True
        await self._reserve(spend)
        return None

    async def _reserve(self, spend: Spend) -> None:
        reserving = asyncio.ensure_future(spend.__aenter__())
        try:
            await asyncio.wait({reserving}, timeout=self._patience)
            if not reserving.done():  # it may be the loop that was busy, not the ledger
                await asyncio.wait({reserving}, timeout=LOOK)
        except asyncio.CancelledError:
            reserving.cancel()
            raise
        if not reserving.done():
            reserving.cancel()
            raise StoreError("the ledger doesn't answer", "lost")
        await reserving

    def look_again(self) -> None:
        """Let the first of every line look: money was given back."""
        for line in self._lines.values():
            line[0].set()

    def _line_ahead(self, spend: Spend) -> str:
        """Return the limit that others wait for and that *spend* counts against; empty for none."""
        for scope in (EVERYWHERE, *lineage(spend.scope)):
            if scope in self._lines:
                return scope
        return ""

    @contextmanager
    def _place_in(self, scope: str) -> Iterator[asyncio.Event]:
        """Yield a place at the end of the line for *scope*, and let the next one look after it."""
        turn = asyncio.Event()
        line = self._lines[scope]
        line.append(turn)
        try:
            yield turn
        finally:
            line.remove(turn)
            if line:
                line[0].set()
            else:
                del self._lines[scope]


async def _until(turn: asyncio.Event, gives_up_at: float) -> None:
    """Wait until it's this one's *turn*, or until it should look anyway."""
    seconds = min(LOOK, max(0.0, gives_up_at - time.monotonic()))
    with suppress(TimeoutError):
        await asyncio.wait_for(turn.wait(), seconds)
    turn.clear()
