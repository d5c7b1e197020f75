"""One request's money: reserved before it's sent, settled by the response.

``Spend`` works with ``with`` and ``async with``.
"""

from __future__ import annotations

import os
from bisect import bisect_right

from brim.errors import InputError, LimitReached, UnknownPrice
from brim.record import Record
from brim.spend.ledger import LONG_LEASE
from brim.spend.money import estimate_cost, in_dollars

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from concurrent.futures import Future
    from typing import Any, Self

    from brim.models.usage import Reported
    from brim.spend.ledger import Ledger, Reservation

NEVER_SENT = frozenset(
    (
        *("ConnectionRefusedError", "gaierror", "ConnectError", "ConnectTimeout", "NewConnectionError"),
        *("ConnectTimeoutError", "ClientConnectorError", "PoolTimeout", "UnsupportedProtocol", "LocalProtocolError"),
    )
)
"""Errors of ``socket``, httpx, urllib3 and aiohttp that are raised before a request has left."""

UNSURE = (408, 499)
"""Client errors that also stand for an answer which came too late."""

LEAST_OUTPUT = 1_024
"""Tokens of an answer that are worth its prompt: no cap is lowered below that."""


def may_be_billed(error: BaseException | None) -> bool:
    """Whether the request that ended in *error* may have cost something.

    It hasn't if no connection was made, or if the provider refused it (400 to 499, timeouts aside).
    """
    seen: set[int] = set()
    while isinstance(error, BaseException) and id(error) not in seen:
        seen.add(id(error))
        holders = (error, getattr(error, "response", None))
        found = (getattr(holder, name, None) for holder in holders for name in ("status_code", "status", "code"))
        status = next((each for each in found if isinstance(each, int) and 100 <= each < 600), 0)
        if status:
            return not 400 <= status < 500 or status in UNSURE
        if any(kind.__name__ in NEVER_SENT for kind in type(error).__mro__):
            return False
        # Not __context__: an attempt that was refused may be the context of one that was answered.
        error = error.__cause__ or getattr(error, "reason", None)
    return True


class Quote(Record):
    """The most that one request can cost.

    All of its prompt is written to a cache, and its answers are as long as they may be. ``amount`` raises
    ``UnknownPrice`` if the model has no price.
    """

    model: str
    prompt: int
    """Tokens of the prompt."""
    output: int
    """The most tokens of one answer."""
    answers: int = 1
    """How many answers are asked for."""
    hour: bool = False
    """Whether the cache is kept for an hour, which costs more."""

    @property
    def tokens(self) -> int:
        """Tokens of prompt and answers."""
        return self.prompt + self.output * self.answers

    @property
    def amount(self) -> int:
        """Micro-dollars."""
        from brim.models.catalog import cost
        from brim.models.usage import Tokens

        output = self.output * self.answers
        plain = estimate_cost(self.model, input_tokens=self.prompt, output_tokens=output)
        for_hour, prompt = self.prompt if self.hour else 0, 0 if self.hour else self.prompt
        written = Tokens(output=output, cache_write_1h=for_hour, cache_write_5m=prompt)
        return max(plain, cost(written, self.model) or 0)

    def within(self, room: int, unit: str = "usd") -> Quote:
        """Return it with the longest answers that *room* allows: micro-dollars, or tokens if *unit* says so.

        If not even the prompt fits, they have 0 tokens.
        """

        def size(output: int) -> int:
            quote = self.replace(output=output)
            return quote.tokens if unit == "tokens" else quote.amount

        return self.replace(output=max(0, bisect_right(range(self.output + 1), room, key=size) - 1))


class Spend:
    """Money for one request: reserved on entry, settled by ``settle``.

    Leaving without it gives the money back if the request provably cost nothing, as ``may_be_billed`` says. Otherwise
    the reservation stays, and counts in full when its *lease* ends: the answer may have been written. *at_most* is a
    limit of the caller's own for everything in *scope*, in micro-dollars; the ledger's limits hold as well.

    If the limits leave less than the *quote*, its answers become shorter, with *least* tokens at the least. Without
    *least* they don't: then the caller sends a cap of its own.
    """

    def __init__(
        self,
        ledger: Ledger,
        scope: str,
        quote: Quote,
        *,
        least: int | None = None,
        lease: float = LONG_LEASE,
        at_most: int | None = None,
        request_id: str | None = None,
    ) -> None:
        self.ledger: Ledger = ledger
        self.scope: str = scope
        self.quote: Quote = quote
        """What is reserved for."""
        self.amount: int = quote.amount
        """What is reserved, in micro-dollars."""
        self.request_id: str = request_id or os.urandom(12).hex()
        self.reservation: Reservation | None = None
        """What was reserved, and what became of it; None before the entry."""
        self._least, self._lease, self._at_most = least, lease, at_most
        self._waiting: Future[Any] | None = None
        self._in_loop = False

    @property
    def cost(self) -> int | None:
        """What the request cost, in micro-dollars; None until it is settled."""
        found = self.reservation
        return found.charged if found is not None and found.state == "settled" else None

    def reserve(self) -> None:
        """Reserve the amount, or one for shorter answers; ``LimitReached`` if that doesn't fit."""
        if self._least is not None:
            status = self.ledger.status(self.scope)
            own = None if self._at_most is None else self._at_most - status.spent - status.reserved
            self._shorten(min((room for room in (own, status.left) if room is not None), default=None))
            self._shorten(status.left_tokens, "tokens")
        while True:
            try:
                return self._reserve()
            except LimitReached as refused:
                # Others may have spent since: then there's less room.
                if not self._shorten(refused.room, refused.unit):
                    refused.args = (f"{refused}. {self._advice(refused)}",)
                    raise

    def _shorten(self, room: int | None, unit: str = "usd") -> bool:
        """Ask for shorter answers, if *room* is for less and they're worth it; return whether."""
        if room is None or self._least is None:
            return False
        shorter = self.quote.within(room, unit)
        if not self._least <= shorter.output < self.quote.output:
            return False
        self.quote, self.amount = shorter, shorter.amount
        return True

    def _advice(self, refused: LimitReached) -> str:
        fitting = self.quote.within(refused.room or 0, refused.unit).output
        if fitting:
            return f"It would fit with max_output={fitting}"
        alone = self.quote.replace(output=0)
        size = f"{alone.tokens:,} tokens" if refused.unit == "tokens" else in_dollars(alone.amount)
        return f"The prompt alone can take {size}"

    def _reserve(self) -> None:
        quote, amount, limit = self.quote, self.amount, self._at_most
        about: Any = {"request_id": self.request_id, "lease": self._lease, "tokens": quote.tokens, "model": quote.model}
        reserved = self.ledger.reserve(self.scope, amount, **about)
        self.reservation = reserved
        if limit is None:
            return
        status = self.ledger.status(self.scope)  # with what was just reserved
        taken = status.spent + status.reserved - amount
        if taken + amount > limit:
            self.reservation = self.ledger.release(reserved)
            self.request_id = os.urandom(12).hex()
            text = f"{self.scope}: {in_dollars(amount)} more doesn't fit: {in_dollars(taken)} of the caller's limit"
            sums: Any = {"limit": limit, "spent": status.spent, "reserved": status.reserved - amount}
            raise LimitReached(
                f"{text} of {in_dollars(limit)} is spent or reserved: raise limit_usd, or stop here",
                **{"scope": self.scope, "amount": amount, "room": max(0, limit - taken), **sums},
            )

    def settle(self, response: object) -> int | None:
        """Say what the request took: the provider's response, its usage, or the micro-dollars.

        Returns the cost. Inside ``async with`` it is written by another thread before the block ends, and this returns
        None.
        """
        amount, tokens = self.price(response)
        if self._in_loop:
            self._waiting = on_worker(self.ledger, self._settle, amount, tokens)
            return None
        return self._settle(amount, tokens)

    def price(self, response: object) -> tuple[int, int | None]:
        """Return the micro-dollars and tokens of *response*; ``UnknownPrice`` if it can't be priced."""
        from brim.models.catalog import cost
        from brim.models.usage import Reported, read_response

        if isinstance(response, int) and not isinstance(response, bool):
            return response, None
        found: Reported = response if isinstance(response, Reported) else read_response(response)
        # A provider may name a snapshot that isn't in the table.
        amounts = (cost(found.tokens, name) for name in (found.model, self.quote.model) if name)
        amount = next((each for each in amounts if each is not None), None)
        if amount is None:
            name = found.model or self.quote.model
            raise UnknownPrice(f"the price of {name[:80]} is not known: settle the amount in micro-dollars", name)
        return amount, found.tokens.fresh

    def _settle(self, amount: int, tokens: int | None) -> int:
        self.reservation = self.ledger.settle(self._reserved(), amount, tokens=tokens)
        return self.reservation.charged

    def release(self) -> None:
        """Give the money back: the request was not sent."""
        if self._in_loop:
            self._waiting = on_worker(self.ledger, self._release)
        else:
            self._release()

    def _release(self) -> None:
        self.reservation = self.ledger.release(self._reserved())

    def _reserved(self) -> Reservation:
        if self.reservation is None:
            raise InputError("nothing is reserved yet: use it in a with block")
        return self.reservation

    def _undo(self) -> None:
        if self.reservation is not None and self.reservation.state == "open":
            self._release()

    def _leave(self, error: BaseException | None) -> None:
        if error is not None and not may_be_billed(error):
            self._undo()

    def __enter__(self) -> Self:
        self.reserve()
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self._leave(error)

    async def __aenter__(self) -> Self:
        self._in_loop = True
        reserving = on_worker(self.ledger, self.reserve)
        try:
            await in_loop(reserving)
        except BaseException:  # cancelled while it waited: the worker may have reserved all the same
            reserving.add_done_callback(lambda _: on_worker(self.ledger, self._undo))
            raise
        return self

    async def finish(self) -> None:
        """Wait until what was settled or released inside ``async with`` is written."""
        if self._waiting is not None:
            await in_loop(self._waiting)

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        await self.finish()
        await in_loop(on_worker(self.ledger, self._leave, error))


def on_worker(ledger: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """Run *function* in a thread of *ledger*'s own: one, or as many as it has ``workers``. A fork has others."""
    from concurrent.futures import ThreadPoolExecutor

    process, worker = getattr(ledger, "_worker", (0, None))
    if worker is None or process != os.getpid():
        worker = ThreadPoolExecutor(getattr(ledger, "workers", 1), "brim-ledger")
        ledger._worker = os.getpid(), worker
    found: Future[Any] = worker.submit(function, *args, **kwargs)
    return found


def in_loop(future: Future[Any]) -> Awaitable[Any]:
    """Return *future* so that the running event loop can await it."""
    import asyncio

    return asyncio.wrap_future(future)
