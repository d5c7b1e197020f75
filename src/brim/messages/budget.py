"""How many tokens of a model's window are left for memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from brim.errors import InputError
from brim.models.light import lookup
from brim.record import PlainData
from brim.tokens.count import Count
from brim.tokens.counters import local_counter
from brim.tokens.messages import Framing

MODEL_CONTEXT_WINDOWS: dict[str, int] = {
    name: lookup(name).context_window
    for name in (
        "gpt-4o",
        "gpt-4o-mini",
        "gpt-4-turbo",
        "gpt-4",
        "gpt-3.5-turbo",
        "gpt-3.5-turbo-16k",
    )
}
"""The models that the allocation was first written for; any other is looked up in the same table.

What you set here outranks that table.
"""
_SHIPPED = dict(MODEL_CONTEXT_WINDOWS)

DEFAULT_CONTEXT_WINDOW = 8_192
"""The window of an unknown model: small, so that nothing overflows."""

RESPONSE_RESERVE_RATIO = 0.15
"""The share of the window that is kept for the response."""

RESPONSE_RESERVE_MIN = 500
"""The least that is kept for the response, in tokens."""

RESPONSE_RESERVE_MAX = 4_096
"""The most that is kept for the response, in tokens."""

SAFETY_BUFFER_RATIO = 0.05
"""The share of the window that stays empty."""

CONSTRAINED_BELOW = 1_000
"""With fewer tokens than this left for memory, a budget is constrained."""

FRAMING = Framing(priming=3, message=4, roles=True)
"""3 tokens to prime the response, 4 around each message, and its role."""


NO_FRAMING = Framing(priming=0, message=0, roles=False)
NOTHING = Count(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserves(PlainData):
    """What of a window is not for the prompt."""

    response_reserve_ratio: float = RESPONSE_RESERVE_RATIO
    """The share of the window that is kept for the response,"""
    response_reserve_min: int = RESPONSE_RESERVE_MIN
    """but at least so many tokens,"""
    response_reserve_max: int = RESPONSE_RESERVE_MAX
    """and at most so many."""
    safety_buffer_ratio: float = SAFETY_BUFFER_RATIO
    """The share of the window that stays empty."""

    def response(self, window: int) -> int:
        """Return what is kept for the response in *window*."""
        share = int(window * self.response_reserve_ratio)
        return max(self.response_reserve_min, min(self.response_reserve_max, share))

    def safety(self, window: int) -> int:
        """Return what stays empty in *window*."""
        return int(window * self.safety_buffer_ratio)

    def room(self, model: str) -> int:
        """Return what a request may take: the window minus the reserves.

        At most that is the largest input that *model* takes.
        """
        facts = lookup(model)
        window = window_of(model)
        room = max(0, window - self.response(window) - self.safety(window))
        if window == facts.context_window:
            return min(room, facts.max_input)

        return room


def window_of(model: str) -> int:
    """Return the window of *model*: what ``MODEL_CONTEXT_WINDOWS`` was set to, else what is
    known."""
    window = MODEL_CONTEXT_WINDOWS.get(model)
    if window is None or window == _SHIPPED.get(model):
        return lookup(model).context_window

    return window


@dataclass(frozen=True)
class TokenBudget(PlainData):
    """How a model's window is divided.

    The parts may add up to more than the window; ``memory_tokens`` is then 0.

    What was counted is a ``Count``: a whole number that also says what it rests on.
    """

    model: str
    context_window: int
    """All the tokens that the model can hold."""
    messages_tokens: Count
    """What the messages take."""
    directive_tokens: Count
    """What the directive takes: it always goes in whole."""
    response_reserve: int
    """What is kept for the model's answer."""
    safety_buffer: int
    """What stays empty, because something is always forgotten."""
    memory_tokens: int
    """What is left for memory; never negative."""
    is_constrained: bool
    """Whether that is very little: less than 1,000 tokens."""
    tools_tokens: Count = NOTHING
    """What the tool schemas take, if any were given."""

    @property
    def fits(self) -> bool:
        """Whether messages, directive, tools and response go into the window.

        That holds even if the counts are at their highest.

        A request that does not fit is an error at the provider, so here the upper end of the
        interval decides.
        """
        counted = self.messages_tokens + self.directive_tokens + self.tools_tokens
        return counted.high + self.response_reserve <= self.context_window


class TokenBudgetCalculator:
    """Calculates how much of a model's window is left for memory.

    >>> messages = [{"role": "user", "content": "Hello world"}]
    >>> budget = TokenBudgetCalculator().calculate("gpt-4o", messages)
    >>> budget.memory_tokens
    117494
    """

    def __init__(self, *, reserves: Reserves | None = None) -> None:
        self.reserves = reserves or Reserves()

    def count_tokens(self, text: str, model: str) -> Count:
        """Return the tokens of *text*; an unknown model is counted with cl100k_base."""
        return local_counter(model).count(text)

    def count_messages_tokens(self, messages: Sequence[Any], model: str) -> Count:
        """Return the tokens of *messages*.

        Those are 3, plus 4 for each message, its content and its role. A message is a dict, or an
        object with ``role`` and ``content``. The formula is the same for every model; for the
        framing that a provider publishes, use ``counter_for(model).count_messages``.
        """
        return local_counter(model).count_messages(messages, framing=FRAMING)

    def calculate(
        self,
        model: str,
        messages: Sequence[Any],
        directive: str = "",
        *,
        tools: Sequence[Any] | None = None,
        max_output: int | None = None,
        context_window: int | None = None,
    ) -> TokenBudget:
        """Return the budget of a request to *model* with *messages* and *directive*.

        *tools* are schemas that go with the request; *max_output* is the response that will be
        asked for, in place of the reserve; *context_window* is the window that the provider
        reported, in place of the table's.
        """
        if max_output is not None and max_output < 0:
            raise InputError(f"max_output must be 0 or more, not {max_output}")

        if context_window is not None and context_window < 1:
            raise InputError(f"context_window must be 1 or more, not {context_window}")

        window = window_of(model) if context_window is None else context_window
        reserve = self.reserves.response(window) if max_output is None else max_output
        safety = self.reserves.safety(window)
        messages_tokens = self.count_messages_tokens(messages, model)
        directive_tokens = NOTHING
        if directive:
            directive_tokens = self.count_tokens(directive, model)

        tools_tokens = NOTHING
        if tools:
            tools_tokens = local_counter(model).count_messages([], tools, framing=NO_FRAMING)

        prompt = int(messages_tokens + directive_tokens + tools_tokens)
        memory = max(0, window - prompt - reserve - safety)
        return TokenBudget(
            model=model,
            context_window=window,
            messages_tokens=messages_tokens,
            directive_tokens=directive_tokens,
            response_reserve=reserve,
            safety_buffer=safety,
            memory_tokens=memory,
            is_constrained=memory < CONSTRAINED_BELOW,
            tools_tokens=tools_tokens,
        )
