"""One request's money: reserved before it's sent, settled by the response.

``Spend`` works with ``with`` and ``async with``.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any, Self

from brim.errors import InputError, LimitReached, UnknownPrice
from brim.models.catalog import cost
from brim.models.catalog import model as model_record
from brim.models.light import lookup
from brim.models.terms import Terms
from brim.models.usage import Reported, Tokens, read_response
from brim.record import PlainData
from brim.spend.ledger import LONG_LEASE, Ledger, Reservation
from brim.spend.money import estimate_cost, in_dollars
from brim.spend.unsent import may_be_billed
from brim.tokens.count import Count
from brim.tokens.messages.fields import get, is_sequence, string

LEAST_OUTPUT = 1_024
"""Tokens of an answer that are worth its prompt: no cap is lowered below that."""
DEEPEST_MARKER = 4
"""How deep cache markers are looked for: a message, its blocks, the content of a result."""


@dataclass(frozen=True)
class Quote(PlainData):
    """The most that one request can cost.

    All of its prompt is written to a cache, its answers are as long as they may be, and its
    ``terms`` are used up. ``amount`` raises ``UnknownPrice`` if the model has no price for that, or
    if nothing limits the provider's tools.
    """

    model: str
    prompt: int
    """Tokens of all prompts that the model may read."""
    output: int
    """The most tokens of one answer."""
    answers: int = 1
    """How many answers are asked for."""
    hour: bool = False
    """Whether the cache is kept for an hour, which costs more."""
    terms: Terms = Terms()
    """What the request asks for that changes its price."""
    summaries: int = 0
    """The most tokens that the provider writes to compact the prompt."""

    @classmethod
    def of_request(
        cls,
        model: str,
        tokens: Count,
        output: int,
        terms: Terms,
        *,
        answers: int = 1,
        hour: bool = False,
    ) -> Quote:
        """Return the quote of a request with a prompt of so many *tokens*."""
        sizes = lookup(model)
        prompt = tokens.high
        if sizes.resolved:
            prompt = min(prompt, sizes.max_input)
        if terms.prompts > 1:
            prompt = sizes.max_input * terms.prompts
        summaries = 0
        if terms.compacts(prompt):
            # Each prompt may be read once more for a summary, which is an answer of the model's.
            summaries = (sizes.max_output or sizes.context_window) * terms.prompts
            prompt *= 2
        answers = max(answers, terms.answers)
        return cls(model, prompt, output, answers, hour, terms, summaries)

    @property
    def tokens(self) -> int:
        """Tokens of prompt and answers."""
        return self.prompt + self.written

    @property
    def written(self) -> int:
        """The most tokens that the model writes."""
        return self.output * self.answers + self.summaries

    @property
    def amount(self) -> int:
        """Micro-dollars."""

        if self.terms.unlimited:
            raise UnknownPrice(
                f"the limit doesn't allow this request: {self.terms.unlimited}", self.model
            )
        amounts = []
        for tokens in self._dearest_tokens():
            amount = cost(tokens, self.model)
            if amount is None:
                raise self._unknown_price()
            amounts.append(amount)
        amounts.append(cost(self._written_tokens(), self.model) or 0)
        return max(amounts) + (self.terms.tool_cost or 0)

    def _dearest_tokens(self) -> Iterator[Tokens]:
        """Yield the ways in which the tokens may be charged: as text or as sound."""

        output = self.written
        terms = self.terms
        for heard in (0, self.prompt) if terms.hears else (0,):
            for spoken in (0, output) if terms.speaks else (0,):
                sound_and_searches = (heard, spoken, terms.searches)
                yield Tokens(
                    input=self.prompt,
                    output=output,
                    factors=terms.factors,
                    extras=sound_and_searches if any(sound_and_searches) else (),
                    tool_uses=terms.tool_uses,
                )

    def _written_tokens(self) -> Tokens:
        """Return the tokens with a prompt that is written to a cache."""

        output = self.written
        spoken = output if self.terms.speaks else 0
        return Tokens(
            output=output,
            cache_write_5m=0 if self.hour else self.prompt,
            cache_write_1h=self.prompt if self.hour else 0,
            factors=self.terms.factors,
            extras=(0, spoken, self.terms.searches) if spoken or self.terms.searches else (),
            tool_uses=self.terms.tool_uses,
        )

    def _unknown_price(self) -> UnknownPrice:
        """Return the error that names what has no price."""

        estimate_cost(
            self.model, input_tokens=1, output_tokens=1
        )  # raises if the model has no price at all
        record = model_record(self.model)
        factor_fields = {"fast": "speed", "us": "inference_geo"}
        for name in self.terms.factors:
            if name != "us" and not record.prices_service(name):
                field = factor_fields.get(name, "service_tier")
                problem = f"the price of {field}={name!r} is not known for {self.model[:80]}"
                return UnknownPrice(
                    f"{problem}, so nothing is reserved: set {field} to the standard one",
                    self.model,
                )
        problem = f"the price of sound or of a search is not known for {self.model[:80]}"
        remedy = "put input_audio, output_audio or web_search under 'models' in the configuration, or set tool_usd"
        return UnknownPrice(f"{problem}, so nothing is reserved: {remedy}", self.model)

    def within(self, room: int, unit: str = "usd") -> Quote:
        """Return it with the longest answers that *room* allows: micro-dollars, or tokens if *unit*
        says so.

        If not even the prompt fits, they have 0 tokens.
        """

        def size(output: int) -> int:
            quote = replace(self, output=output)
            return quote.tokens if unit == "tokens" else quote.amount

        return replace(
            self, output=max(0, bisect_right(range(self.output + 1), room, key=size) - 1)
        )


class Spend:
    """Money for one request: reserved on entry, settled by ``settle``.

    Leaving without it gives the money back if the request provably cost nothing, as
    ``may_be_billed`` says. Otherwise the reservation stays, and counts in full when its *lease*
    ends: the answer may have been written. *at_most* is a limit of the caller's own for everything
    in *scope*, in micro-dollars; the ledger's limits hold as well.

    If the limits leave less than the *quote*, its answers become shorter, with *least* tokens at
    the least. Without *least* they don't: then the caller sends a cap of its own.
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
            self._shorten(
                min((room for room in (own, status.left) if room is not None), default=None)
            )
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
        alone = replace(self.quote, output=0)
        size = f"{alone.tokens:,} tokens" if refused.unit == "tokens" else in_dollars(alone.amount)
        if self.quote.terms.has_server_tools:
            uses = f"The model may read its prompt {self.quote.terms.prompts} times while the provider's tools run"
            return f"{uses}, which can take {size}: allow fewer uses, or say what they may cost with tool_usd"
        return f"The prompt alone can take {size}"

    def _reserve(self) -> None:
        quote, amount, limit = self.quote, self.amount, self._at_most
        about: Any = {
            "request_id": self.request_id,
            "lease": self._lease,
            "tokens": quote.tokens,
            "model": quote.model,
        }
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
            sums: Any = {
                "limit": limit,
                "spent": status.spent,
                "reserved": status.reserved - amount,
            }
            raise LimitReached(
                f"{text} of {in_dollars(limit)} is spent or reserved: raise limit_usd, or stop here",
                **{"scope": self.scope, "amount": amount, "room": max(0, limit - taken), **sums},
            )

    def settle(self, response: object) -> int | None:
        """Say what the request took: the provider's response, its usage, or the micro-dollars.

        Returns the cost. Inside ``async with`` it is written by another thread before the block
        ends, and this returns None.
        """
        amount, tokens = self.price(response)
        if self._in_loop:
            self._waiting = on_worker(self.ledger, self._settle, amount, tokens)
            return None
        return self._settle(amount, tokens)

    def price(self, response: object) -> tuple[int, int | None]:
        """Return the micro-dollars and tokens of *response*; ``UnknownPrice`` if it can't be
        priced."""

        if isinstance(response, int) and not isinstance(response, bool):
            return response, None
        reported: Reported = response if isinstance(response, Reported) else read_response(response)
        tokens = self._with_tools(reported)
        # A provider may name a snapshot that isn't in the table.
        for name in (reported.model, self.quote.model):
            amount = cost(tokens, name) if name else None
            if amount is not None:
                return amount + self._unreported_fees(reported), tokens.fresh
        name = reported.model or self.quote.model
        raise UnknownPrice(
            f"the price of {name[:80]} is not known: settle the amount in micro-dollars", name
        )

    def _with_tools(self, reported: Reported) -> Tokens:
        """Return the reported tokens; if they say nothing about tools, all uses that were reserved
        count."""
        tokens = reported.tokens
        terms = self.quote.terms
        if reported.reports_tools or tokens.tool_uses:
            return tokens
        heard, spoken, searches = tokens.extras or (0, 0, 0)
        searches = max(searches, terms.searches)
        extras = (heard, spoken, searches) if heard or spoken or searches else ()
        return replace(tokens, extras=extras, tool_uses=terms.tool_uses)

    def _unreported_fees(self, reported: Reported) -> int:
        """Return what the caller said that tools cost, if the response doesn't say it."""
        tool_cost = self.quote.terms.tool_cost
        if not tool_cost:
            return 0
        names_all_fees = reported.reports_tools and not self.quote.terms.has_hidden_fee
        return 0 if names_all_fees else tool_cost

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


def is_for_an_hour(part: Any, depth: int = 0) -> bool:
    """Whether a request asks somewhere for a cache that is kept for an hour, which costs more to
    write."""
    if string(get(get(part, "cache_control"), "ttl")) == "1h":
        return True
    if depth >= DEEPEST_MARKER:
        return False
    blocks: Any = part if is_sequence(part) else get(part, "content")
    if not is_sequence(blocks):
        return False
    return any(is_for_an_hour(block, depth + 1) for block in blocks)


def on_worker(ledger: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """Run *function* in a thread of *ledger*'s own: one, or as many as it has ``workers``. A fork
    has others."""
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
