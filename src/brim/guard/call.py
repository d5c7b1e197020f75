"""One call of a conversation: what to send, what it may cost, and what came of it."""

from __future__ import annotations

import logging
import warnings
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from brim.agents.events import Usage
from brim.agents.readers import AnyReader
from brim.errors import BrimError, DoesNotFit
from brim.guard.requests import with_system
from brim.messages.budget import window_of
from brim.messages.fitting import Fitted
from brim.messages.markers import FIELD as MARKER_FIELD
from brim.messages.receipt import Receipt
from brim.messages.threads import in_thread
from brim.models.catalog import cost
from brim.models.terms import Terms, keeps_prompt, read_terms
from brim.models.usage import Reported, read_response
from brim.money.quote import Quote, is_for_an_hour
from brim.money.spend import Spend
from brim.tokens.count import Count
from brim.tokens.messages.request import with_options
from brim.usd import Money

if TYPE_CHECKING:
    from brim.guard.conversation import Guard

LOG = logging.getLogger("brim.guard")
OnCall = Callable[[Receipt, Money | None], object]
"""What is called after every answer, with the call's receipt and its cost."""
M = TypeVar("M")
E = TypeVar("E")


class Call(Generic[M]):
    """One call of a conversation: what to send, and what came of it.

    Leaving the block without ``done`` gives the money back if the request provably cost nothing (no
    connection, or an answer of 400 to 499), and otherwise keeps it reserved until its lease ends:
    the answer may have been written.
    """

    messages: list[M]
    """What to send."""
    system: Any
    """The system prompt, with the guard's rules."""
    max_output: int
    """What to send as ``max_tokens``."""
    is_lowered: bool = False
    """Whether a limit lowered ``max_output``: then send it in any case."""
    tokens: Count
    """The size of the prompt."""
    receipt: Receipt
    """What left or was changed, and why."""

    def __init__(
        self,
        guard: Guard,
        messages: Sequence[M],
        system: Any,
        tools: Sequence[Any] | None,
        *,
        max_output: int | None = None,
        min_output: int | None = None,
        billed_output: int | None = None,
        answers: int = 1,
        has_unseen: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.guard: Guard = guard
        self.tools: Sequence[Any] | None = tools
        """The tools to send."""
        self._transcript = messages
        self._system = system
        self._max_output = max_output
        self._min_output = min_output
        self._billed_output = billed_output
        self._answers = answers
        self._options: Mapping[str, Any] = options or {}
        self._has_unseen = has_unseen or keeps_prompt(self._options)
        self._counted_tools = with_options(tools, self._options)
        self._spend: Spend | None = None
        self.reported: Reported | None = None
        """What the provider reported; None before ``done``."""
        self._cost: Money | None = None

    if not TYPE_CHECKING:  # a type checker still reports names that don't exist

        def __getattr__(self, name: str) -> Any:
            """Say what to do about what a call has only inside its block."""
            problem = f"a Call has no {name!r}"
            if name in Call.__annotations__:
                problem += ", which it has inside its block: with guard.call(...) as call:"

            raise AttributeError(problem)

    @property
    def model(self) -> str:
        """The model to call."""
        return self.guard.model

    @property
    def reserved(self) -> Money:
        """What was reserved for the call."""
        if self._spend is None:
            return Money(0)

        return self._spend.amount

    @property
    def cost(self) -> Money | None:
        """What the call cost; None before ``done``, and if the price is unknown."""
        if self._spend is not None and self._spend.cost is not None:
            return self._spend.cost

        return self._cost

    def done(self, response: object) -> None:
        """Take the provider's response, or its usage: settle the cost, anchor the count, feed the
        gauge.

        Inside ``async with``, the cost is settled by another thread before the block ends.
        """
        if isinstance(response, Reported):
            reported = response
        else:
            reported = read_response(response)

        if self._spend is not None:
            self._cost, _ = self._spend.price(reported)
            self._spend.settle(reported)
        else:
            self._cost = cost(reported.tokens, reported.model or self.model)

        is_first = self.reported is None
        self.reported = reported
        if self._has_unseen:
            self.guard.measure(reported)
        else:
            request = with_system(self.messages, self.system)
            self.guard.measure(reported, request, self._counted_tools)

        if is_first and self.guard.on_call is not None:
            self._tell(self.guard.on_call)

    def _tell(self, on_call: OnCall) -> None:
        """Call *on_call*; the answer is there, so its errors are only logged."""
        try:
            on_call(self.receipt, self.cost)
        except Exception:
            LOG.exception("on_call failed")

    def release(self) -> None:
        """Give back the money: you decided not to send the request."""
        if self._spend is not None:
            self._spend.release()

    async def finish(self) -> None:
        """Wait until what was settled or released after ``async with`` is written."""
        if self._spend is not None:
            await self._spend.finish()

    def stream(self, events: Any) -> Any:
        """Pass on the *events* of a streamed response, sync or async, and call ``done`` with the
        usage at their end.

        OpenAI's chat reports usage only with ``stream_options={"include_usage": True}``.
        """
        if hasattr(events, "__aiter__"):
            return self._astream(events)

        return self._stream(events)

    def _stream(self, events: Iterable[E]) -> Iterator[E]:
        usage = StreamedUsage()
        for event in events:
            usage.take(event)
            yield event

        self._streamed(usage)

    async def _astream(self, events: Any) -> AsyncIterator[Any]:
        usage = StreamedUsage()
        async for event in events:
            usage.take(event)
            yield event

        self._streamed(usage)
        await self.finish()

    def _streamed(self, usage: StreamedUsage) -> None:
        if usage.reported is not None:
            self.done(usage.reported)
        elif self.reported is None:
            consequence = "its money stays reserved and counts in full when the lease ends"
            hint = StreamedUsage.__doc__
            warnings.warn(f"the stream ended without usage, so {consequence}: {hint}", stacklevel=3)

    def _prepare(self) -> None:
        guard = self.guard
        fit = guard.fit_unseen if self._has_unseen else guard.fit
        fitted = fit(
            self._transcript,
            system=self._system,
            tools=self._counted_tools,
            max_output=self._max_output,
        )
        if not fitted.fits:
            raise DoesNotFit(
                f"the request doesn't fit {self.model}: {fitted.receipt.reason}", fitted
            )

        if self._options.get(MARKER_FIELD) is not None:  # the provider marks the last block by it
            fitted = fitted.with_few_markers([*(self.tools or ()), self._options])

        self.messages = fitted.messages
        self.system = fitted.system
        self.max_output = fitted.max_output
        self.tokens = fitted.tokens
        self.receipt = fitted.receipt
        if guard.ledger is None:
            return

        quote = self._quote(fitted)
        self._asked = quote.output
        self._spend = Spend(
            guard.ledger,
            guard.scope,
            quote,
            shortest=self._min_output,
            lease=guard.lease,
            at_most=guard.limit,
        )

    def _quote(self, fitted: Fitted[M]) -> Quote:
        """Return the most that the call can cost."""
        output = fitted.max_output
        if self._billed_output is not None:
            output = self._billed_output

        parts = (fitted.system, self.tools, self._options, *fitted.messages)
        caches_for_an_hour = any(is_for_an_hour(part) for part in parts)
        return Quote.of_request(
            self.model,
            fitted.tokens,
            output,
            self._terms(fitted),
            answers=self._answers,
            hour=caches_for_an_hour,
        )

    def _terms(self, fitted: Fitted[M]) -> Terms:
        """Return what the request asks for that changes its price."""
        guard = self.guard
        terms = read_terms(self._options, self.model, self.tools, fitted.messages)
        terms = replace(terms, standing=guard.standing_factors(self.model))
        if terms.has_server_tools and guard.tool_cost is not None:
            return terms.with_tool_cost(guard.tool_cost)

        return terms

    def _lower_max_output(self) -> None:
        """Ask for a shorter answer if money was reserved for a shorter one only."""
        if self._spend is None:
            return

        paid = self._spend.quote.output
        if paid >= self._asked:
            return

        room = window_of(self.model) - self.tokens.high
        self.max_output = min(paid, max(self.max_output, room))
        self.is_lowered = True
        note = (
            f"an answer may take {self.max_output:,} tokens, not {self._asked:,}: "
            "the limit leaves no more"
        )
        self.receipt = self.receipt.with_note(note)

    def __enter__(self) -> Self:
        try:
            self._prepare()
            if self._spend is not None:
                self._spend.__enter__()
        except BrimError as error:
            LOG.info("%s: refused: %s", self.model, error)
            raise

        self._lower_max_output()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._spend is not None:
            self._spend.__exit__(kind, error, trace)

    async def __aenter__(self) -> Self:
        try:
            await in_thread(self._prepare)
            if self._spend is not None:
                await self._spend.__aenter__()
        except BrimError as error:
            LOG.info("%s: refused: %s", self.model, error)
            raise

        self._lower_max_output()
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._spend is not None:
            await self._spend.__aexit__(kind, error, trace)


class StreamedUsage:
    """Usage comes at the end of a stream; OpenAI's chat needs ``stream_options={"include_usage":
    True}`` for it."""

    def __init__(self) -> None:
        self._reader = AnyReader()
        self.reported: Reported | None = None
        """The last usage that was final."""

    def take(self, event: Any) -> None:
        """Read one event: an object of an SDK, or a dict."""
        dump = getattr(event, "model_dump", None)
        line = event
        if callable(dump):
            line = dump(by_alias=True, exclude_none=True, mode="json", warnings=False)

        if not isinstance(line, Mapping):
            return

        for usage in self._reader.events(line):
            if isinstance(usage, Usage) and usage.final:
                self.reported = _reported(line, usage)


def _reported(line: Mapping[str, Any], usage: Usage) -> Reported:
    """Return the final *usage* of a stream, with what its last *line* says besides."""
    response = line.get("response")
    if isinstance(response, Mapping) and response.get("object") == "response":
        return read_response(response)  # its output says which tools ran

    is_anthropic = str(line.get("type")).startswith("message_")
    return Reported(usage.tokens, usage.model, usage.request, is_anthropic)
