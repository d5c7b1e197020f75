"""What one request can cost at most: ``Quote``, and the amount to reserve for it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from brim.errors import InputError, UnknownPrice
from brim.models.catalog import cost, unknown_price
from brim.models.catalog import model as model_record
from brim.models.light import lookup
from brim.models.terms import Terms, read_terms
from brim.models.usage import Tokens
from brim.money.amounts import TOKENS, USD
from brim.record import PlainData
from brim.tokens.count import Count
from brim.tokens.counters import counter_for
from brim.tokens.messages.fields import get, is_sequence, string
from brim.tokens.messages.request import with_options
from brim.usd import Money

LEAST_OUTPUT = 1_024
"""Tokens of an answer that are worth its prompt: no cap is lowered below that."""
DEEPEST_MARKER = 4
"""How deep cache markers are looked for: a message, its blocks, the content of a result."""
FACTOR_FIELDS = {"fast": "speed", "us": "inference_geo"}
"""The field of a request that a factor of its price stands for; otherwise ``service_tier``."""


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
    def amount(self) -> Money:
        """The money to reserve."""
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
        amounts.append(cost(self._written_tokens(), self.model) or Money(0))
        return max(amounts) + (self.terms.tool_cost or 0)

    def _dearest_tokens(self) -> Iterator[Tokens]:
        """Yield the ways in which the tokens may be charged: as text or as sound."""
        terms = self.terms
        prompts_as_sound = (0, self.prompt) if terms.hears else (0,)
        answers_as_sound = (0, self.written) if terms.speaks else (0,)
        for prompt_sound in prompts_as_sound:
            for answer_sound in answers_as_sound:
                extras = (prompt_sound, answer_sound, terms.searches)
                yield Tokens(
                    input=self.prompt,
                    output=self.written,
                    factors=terms.factors,
                    extras=extras if any(extras) else (),
                    tool_uses=terms.tool_uses,
                )

    def _written_tokens(self) -> Tokens:
        """Return the tokens with a prompt that is written to a cache."""
        answer_sound = self.written if self.terms.speaks else 0
        extras = (0, answer_sound, self.terms.searches)
        return Tokens(
            output=self.written,
            cache_write_5m=0 if self.hour else self.prompt,
            cache_write_1h=self.prompt if self.hour else 0,
            factors=self.terms.factors,
            extras=extras if any(extras) else (),
            tool_uses=self.terms.tool_uses,
        )

    def _unknown_price(self) -> UnknownPrice:
        """Return the error that names what has no price."""
        estimate_cost(self.model, input_tokens=1, output_tokens=1)  # raises if nothing has a price
        record = model_record(self.model)
        for name in self.terms.factors:
            if name != "us" and not record.prices_service(name):
                field = FACTOR_FIELDS.get(name, "service_tier")
                return UnknownPrice(
                    f"the price of {field}={name!r} is not known for {self.model[:80]}, so nothing"
                    f" is reserved: set {field} to the standard one",
                    self.model,
                )
        return UnknownPrice(
            f"the price of sound or of a search is not known for {self.model[:80]}, so nothing is"
            " reserved: put input_audio, output_audio or web_search under 'models' in the"
            " configuration, or set tool_usd",
            self.model,
        )

    def within(self, room: int, unit: str = USD) -> Quote:
        """Return it with the longest answers that *room* allows: micro-dollars, or tokens if *unit*
        says so.

        If not even the prompt fits, they have 0 tokens.
        """

        def size(output: int) -> int:
            quote = replace(self, output=output)
            if unit == TOKENS:
                return quote.tokens
            return quote.amount

        longest = bisect_right(range(self.output + 1), room, key=size) - 1
        return replace(self, output=max(0, longest))


def quote_messages(
    model: str,
    messages: Sequence[Any],
    max_output: int,
    tools: Sequence[Any] | None,
    options: Mapping[str, Any],
) -> Quote:
    """Return the quote of a request with *messages* and *tools*; *options* are its other fields."""
    tokens = counter_for(model).count_messages(messages, with_options(tools, options))
    terms = read_terms(options, model, tools, messages)
    hour = any(is_for_an_hour(part) for part in (options, tools, messages))
    return Quote.of_request(model, tokens, max_output, terms, hour=hour)


def is_for_an_hour(part: Any, depth: int = 0) -> bool:
    """Whether a request asks somewhere for a cache that is kept for an hour, which costs more to
    write."""
    for marker in ("cache_control", "cachePoint"):  # the second is Bedrock's
        if string(get(get(part, marker), "ttl")) == "1h":
            return True
    if depth >= DEEPEST_MARKER:
        return False
    blocks: Any = part
    if not is_sequence(part):
        blocks = get(part, "content")
    if not is_sequence(blocks):
        return False
    return any(is_for_an_hour(block, depth + 1) for block in blocks)


def estimate_cost(
    model: str,
    *,
    input_tokens: int = 0,
    output_tokens: int = 0,
    cache_read_tokens: int = 0,
    cache_write_tokens: int = 0,
    on: date | None = None,
) -> Money:
    """Return the money to reserve for a request.

    Raises ``UnknownPrice`` if no price is known.

    A ``Count`` is taken at its ``high`` end: a reservation has to be large enough. *output_tokens*
    is the most that may come back.

    >>> estimate_cost("claude-sonnet-4-5", input_tokens=10_000, output_tokens=2_000)
    Money($0.06)
    """
    tokens = Tokens(
        input=_high(input_tokens),
        output=_high(output_tokens),
        cache_read=_high(cache_read_tokens),
        cache_write_5m=_high(cache_write_tokens),
    )
    amount = cost(tokens, model, on=on)
    if amount is None:
        raise unknown_price(model)
    return amount


def _high(count: int) -> int:
    tokens = getattr(count, "high", count)
    if not isinstance(tokens, int) or tokens < 0:
        raise InputError("tokens must be whole numbers, 0 or more")
    return tokens
