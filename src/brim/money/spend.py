"""One request's money: reserved before it's sent, settled by the response.

``Spend`` works with ``with`` and ``async with``.
"""

from __future__ import annotations

import os
from concurrent.futures import Future
from dataclasses import replace
from decimal import Decimal
from typing import Any, Self

from brim.errors import InputError, LimitReached, UnknownPrice
from brim.models.catalog import cost
from brim.models.usage import Reported, Tokens, read_response
from brim.money.amounts import TOKENS, USD, dollars
from brim.money.budget import smallest
from brim.money.ledger import LONG_LEASE, RESERVED, SETTLED, Ledger, Reservation
from brim.money.quote import Quote
from brim.money.scopes import paths
from brim.money.unsent import may_be_billed
from brim.money.workers import in_loop, on_worker
from brim.usd import Money, read_money


class Spend:
    """Money for one request: reserved on entry, settled by ``settle``.

    Leaving without it gives the money back if the request provably cost nothing, as
    ``may_be_billed`` says. Otherwise the reservation stays, and counts in full when its *lease*
    ends: the answer may have been written. *at_most* is a limit of the caller's own for everything
    in *scope*; the ledger's limits hold as well.

    If the limits leave less than the *quote*, its answers become shorter, with *shortest* tokens at
    the least. Without *shortest* they don't: then the caller sends a cap of its own.
    """

    def __init__(
        self,
        ledger: Ledger,
        scope: str,
        quote: Quote,
        *,
        shortest: int | None = None,
        lease: float = LONG_LEASE,
        at_most: Money | None = None,
        request_id: str | None = None,
        asks: bool = True,
    ) -> None:
        self.ledger: Ledger = ledger
        self.scope: str = scope
        self.quote: Quote = quote
        """What is reserved for."""
        self.amount: Money = quote.amount
        """What is reserved."""
        self.request_id: str = request_id or _new_id()
        self.reservation: Reservation | None = None
        """What was reserved, and what became of it; None before the entry."""
        self.asks: bool = asks
        """Whether a person is asked if it doesn't fit."""
        self._shortest = shortest
        self._lease = lease
        self._own_limit = at_most
        self._waiting: Future[Any] | None = None
        self._in_loop = False

    @property
    def cost(self) -> Money | None:
        """What the request cost; None until it is settled."""
        if self.reservation is None or self.reservation.state != SETTLED:
            return None
        return self.reservation.charged

    # Reserving

    def reserve(self) -> None:
        """Reserve the amount, or one for shorter answers; ``LimitReached`` if that doesn't fit."""
        if self._shortest is not None:
            try:  # most calls fit, and to look first would cost as much as to reserve
                return self._reserve(asks=False)
            except LimitReached:
                self._shorten_to_limits()
        while True:
            try:
                return self._reserve(asks=self.asks)
            except LimitReached as refused:
                # Others may have spent since: then there's less room.
                if not self._shorten(refused.room, refused.unit):
                    refused.args = (f"{refused}. {self._advice(refused)}",)
                    raise

    def _shorten_to_limits(self) -> None:
        statuses = [self.ledger.status(path) for path in paths(self.scope)]
        rooms: list[int | None] = [status.left for status in statuses]
        if self._own_limit is not None:
            own_status = statuses[0]
            rooms.append(self._own_limit - own_status.spent - own_status.reserved)
        self._shorten(smallest(rooms))
        self._shorten(smallest([status.left_tokens for status in statuses]), TOKENS)

    def _shorten(self, room: int | None, unit: str = USD) -> bool:
        """Ask for shorter answers, if *room* is for less and they're worth it; return whether."""
        if room is None or self._shortest is None:
            return False
        shorter = self.quote.within(room, unit)
        if not self._shortest <= shorter.output < self.quote.output:
            return False
        self.quote = shorter
        self.amount = shorter.amount
        return True

    def _advice(self, refused: LimitReached) -> str:
        fitting_output = self.quote.within(refused.room or 0, refused.unit).output
        if fitting_output:
            return f"It would fit with max_output={fitting_output}"
        prompt = replace(self.quote, output=0)
        size = dollars(prompt.amount)
        if refused.unit == TOKENS:
            size = f"{prompt.tokens:,} tokens"
        if not self.quote.terms.has_server_tools:
            return f"The prompt alone can take {size}"
        return (
            f"The model may read its prompt {self.quote.terms.prompts} times while the provider's"
            f" tools run, which can take {size}: allow fewer uses, or say what they may cost with"
            " tool_usd"
        )

    def _reserve(self, *, asks: bool) -> None:
        self.reservation = self.ledger.reserve(
            self.scope,
            self.amount,
            request_id=self.request_id,
            lease=self._lease,
            tokens=self.quote.tokens,
            model=self.quote.model,
            at_most=self._own_limit,
            asks=asks,
        )

    # Settling

    def settle(self, response: object) -> Money | None:
        """Say what the request took: the provider's response, its usage, or ``Money``.

        Returns the cost. Inside ``async with`` it is written by another thread before the block
        ends, and this returns None.
        """
        amount, tokens = self.price(response)
        if self._in_loop:
            self._waiting = on_worker(self.ledger, self._settle, amount, tokens)
            return None
        return self._settle(amount, tokens)

    def price(self, response: object) -> tuple[Money, int | None]:
        """Return the money and the tokens of *response*; ``UnknownPrice`` if it can't be
        priced."""
        if isinstance(response, int | float | str | Decimal):
            return read_money(response, "the cost"), None
        reported: Reported = response if isinstance(response, Reported) else read_response(response)
        tokens = self._with_tools(reported)
        # A provider may name a snapshot that isn't in the table.
        for name in (reported.model, self.quote.model):
            amount = cost(tokens, name) if name else None
            if amount is not None:
                return amount + self._unreported_fees(reported), tokens.fresh
        name = reported.model or self.quote.model
        raise UnknownPrice(
            f"the price of {name[:80]} is not known: settle an amount, as in settle('0.02')", name
        )

    def _with_tools(self, reported: Reported) -> Tokens:
        """Return the reported tokens; if they say nothing about tools, all uses that were reserved
        count."""
        tokens = reported.tokens
        terms = self.quote.terms
        if reported.reports_tools or tokens.tool_uses:
            return tokens
        prompt_sound, answer_sound, searches = tokens.extras or (0, 0, 0)
        extras = (prompt_sound, answer_sound, max(searches, terms.searches))
        return replace(tokens, extras=extras if any(extras) else (), tool_uses=terms.tool_uses)

    def _unreported_fees(self, reported: Reported) -> int:
        """Return what the caller said that tools cost, if the response doesn't say it."""
        names_all_fees = reported.reports_tools and not self.quote.terms.has_hidden_fee
        if names_all_fees:
            return 0
        return self.quote.terms.tool_cost or 0

    def _settle(self, amount: Money, tokens: int | None) -> Money:
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

    # Entering and leaving

    def _undo(self) -> None:
        if self.reservation is not None and self.reservation.state == RESERVED:
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
        except BaseException:
            # Cancelled while it waited: the worker may have reserved all the same.
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


def _new_id() -> str:
    return os.urandom(12).hex()
