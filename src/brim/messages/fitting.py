"""``fit``: a request that the model takes, with a receipt for what had to leave."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

import brim.messages
from brim.errors import InputError
from brim.messages.arguments import TOKENS, as_list, whole_number
from brim.messages.budget import Reserves, window_of
from brim.messages.draft import Pin
from brim.messages.entries import Provider
from brim.messages.formats import SCALARS
from brim.messages.markers import MOST_MARKERS, count_markers, within_limit
from brim.messages.outcome import THINKING_STAYS
from brim.messages.pruners import Pruner, Strategy
from brim.messages.receipt import Pruned, Receipt, Step
from brim.messages.thinking import has_thinking, without_thinking
from brim.models.light import UNKNOWN_WINDOW, lookup
from brim.record import PlainData
from brim.tokens.costs import MessageCosts, message_costs
from brim.tokens.count import Count
from brim.tokens.counters import counter_for
from brim.tokens.messages.fields import is_mapping
from brim.tokens.protocol import TokenCounter

M = TypeVar("M")

Name = Literal["fifo", "sliding", "summarize", "watermark", "cap", "tiered"]
STRATEGIES: dict[str, str] = {
    "fifo": "FifoPruner",
    "sliding": "SlidingWindowPruner",
    "summarize": "SummarizePruner",
    "watermark": "WatermarkPruner",
    "cap": "ToolResultCap",
    "tiered": "TieredPruner",
}
"""The pruners of ``brim.messages`` by name; each is made with its defaults."""
WITHOUT_THINKING = "without thinking"
"""What a receipt calls leaving out thinking."""
THINKING_LEFT_OUT = (
    "thinking made before the cut is left out: the model accepts it only with the exact messages "
    "that it was made with"
)
ROUNDS = 8
"""How often the target is lowered until the upper end of the count fits."""


@dataclass(frozen=True, slots=True)
class Fitted(PlainData, Generic[M]):
    """A request that fits, as far as possible, and the receipt."""

    messages: list[M]
    """What to send: the caller's own objects, in order, except where the receipt says that a result
    was changed."""
    tokens: Count
    """The whole prompt: messages, system and tools."""
    fits: bool
    """Whether that is at most the target; if not, the provider would refuse it."""
    receipt: Receipt
    """What left or was changed, and why."""
    max_output: int
    """What is kept for the answer: send it as ``max_tokens``."""
    system: Any = None
    """The system prompt that was counted."""

    @property
    def is_cut(self) -> bool:
        """Whether something left or was changed to make it fit, other than what the provider would
        refuse."""
        if self.receipt.steps:
            return True

        return any(unit.kind != "broken" for unit in self.receipt.dropped)

    @property
    def target(self) -> int:
        """The most tokens that the prompt may take."""
        return self.receipt.target

    def without_thinking(self, request: FitRequest) -> Fitted[M]:
        """Return a copy without any thinking: the model accepts it only with the *request* as it
        was before."""
        thinking = self._places_of_thinking(request)
        if not thinking:
            return self

        messages = []
        for message in self.messages:
            stripped = without_thinking(message)
            if stripped is not None:
                messages.append(stripped)

        tokens = request.counter.count_messages(messages, request.tools)
        saved = max(0, int(self.tokens) - int(tokens))
        step = Step(WITHOUT_THINKING, thinking, saved, None)
        notes = [note for note in self.receipt.notes if note != THINKING_STAYS]
        receipt = replace(
            self.receipt,
            after=tokens,
            steps=(*self.receipt.steps, step),
            notes=(*notes, THINKING_LEFT_OUT),
        )
        return replace(self, messages=messages, tokens=tokens, receipt=receipt)

    def _places_of_thinking(self, request: FitRequest) -> tuple[int, ...]:
        """Return the places, in the *request*, of the messages with thinking that stay."""
        gone: set[int] = set()
        for unit in self.receipt.dropped:
            gone.update(unit.indices)

        places = []
        for at, message in enumerate(request.messages):
            if at not in gone and has_thinking(message):
                places.append(at)

        return tuple(places)

    def with_few_markers(self, tools: Sequence[Any] | None) -> Fitted[M]:
        """Return a copy with as many cache markers as the provider accepts, and a note if some had
        to go."""
        if self.receipt.provider != "anthropic":
            return self

        other_markers = count_markers(self.system) + count_markers(tools)
        messages, removed = within_limit(self.messages, other_markers)
        if not removed:
            return self

        note = (
            f"{removed} of the cache markers were removed, the oldest first: "
            f"the API accepts {MOST_MARKERS}"
        )
        return replace(self, messages=messages, receipt=self.receipt.with_note(note))


def fit(
    messages: Sequence[M],
    *,
    model: str,
    system: Any = None,
    tools: Sequence[Any] | None = None,
    max_output: int | None = None,
    target: int | None = None,
    conservative: bool = False,
    strategy: Name | Pruner = "tiered",
    provider: Provider | Literal["auto"] = "auto",
    counter: TokenCounter | None = None,
    pin: Pin | None = None,
    fill: bool = False,
) -> Fitted[M]:
    """Drop or shorten messages until they fit the model's window.

    The result is always a history that the provider accepts. If even the system prompt and the last
    user message are too large, ``fits`` is False and ``receipt`` says by how much.

    The target is the *model*'s window minus *max_output* tokens for the answer (by default 15% of
    the window, at most 4,096) and minus 5%, because most counts are estimates. *target* overrides
    it. With *conservative*, the upper end of the count has to fit, not the count itself. *strategy*
    is a pruner or the name of one: ``"fifo"`` only drops the oldest messages. The newest tool call
    always stays: if its results are too large, brim shortens copies of them.

    >>> history = [{"role": "user", "content": f"message {n}"} for n in range(10)]
    >>> fitted = fit(history, model="gpt-4o", target=30)
    >>> [message["content"] for message in fitted.messages], fitted.tokens
    (['message 7', 'message 8', 'message 9'], Count(24))
    """
    output, prompt_limit = room_for(model, max_output, target)
    request_counter = in_request(counter or counter_for(model), system)
    history = as_list(messages)
    request = FitRequest(
        history,
        model,
        system,
        tools,
        provider,
        request_counter,
    )
    fitted = request.fit(
        named(strategy),
        prompt_limit,
        output,
        conservative=conservative,
        pin=pin,
        fill=fill,
    )
    for note in guessed(model, target):
        fitted = replace(fitted, receipt=fitted.receipt.with_note(note))

    if fitted.is_cut and lookup(model).binds_thinking:
        fitted = fitted.without_thinking(request)

    return fitted.with_few_markers(tools)


def room_for(
    model: str, max_output: int | None = None, target: int | None = None
) -> tuple[int, int]:
    """Return how many tokens the answer may take, and how many the prompt."""
    if not isinstance(model, str):
        raise InputError(f"model must be a name such as claude-sonnet-4-5, not {model!r}")

    facts = lookup(model)
    window = window_of(model)
    reserves = Reserves()
    if max_output is None:
        output = min(reserves.response(window), facts.max_output or window)
    else:
        output = max_output

    whole_number("max_output", output, 0, TOKENS)
    room = window - output - reserves.safety(window)
    if target is not None:
        return output, whole_number("target", target, 0, TOKENS)

    if model and max_output is not None and room <= 0:
        # An adapter's guard learns its model, which is empty until then, with each request.
        hints = guessed(model, target) or [f"its window has {window:,} tokens, so give less"]
        raise InputError(
            f"max_output {output:,} leaves no room for a prompt to {model}: {hints[0]}"
        )

    longest = facts.max_input if window == facts.context_window else window
    return output, max(0, min(room, longest))


def guessed(model: str, target: int | None) -> list[str]:
    """Return a note if the window of *model* is a guess, and the *target* rests on it."""
    if target is not None or window_of(model) != UNKNOWN_WINDOW or lookup(model).resolved:
        return []

    window = f"{UNKNOWN_WINDOW:,} tokens"
    return [f"{model} isn't a known model, so its window is taken to be {window}: give target"]


def named(strategy: str | Pruner) -> Pruner:
    """Return the pruner called *strategy*, or *strategy* itself if it is one."""
    if isinstance(strategy, str) and strategy in STRATEGIES:
        pruner: Pruner = getattr(brim.messages, STRATEGIES[strategy])()
        return pruner

    if not isinstance(strategy, Pruner):
        names = ", ".join(STRATEGIES)
        raise InputError(f"strategy must be a pruner or one of {names}, not {strategy!r}")

    return strategy


@dataclass(frozen=True, slots=True)
class FitRequest:
    """What is to be sent, before it's fitted."""

    messages: list[Any]
    model: str
    system: Any
    tools: Sequence[Any] | None
    provider: Provider | Literal["auto"]
    counter: TokenCounter
    """Counts the messages with the system prompt."""

    def __post_init__(self) -> None:
        if isinstance(self.system, SCALARS):
            kind = type(self.system).__name__
            raise InputError(f"system: expected text or a list of parts, not {kind}")

        if isinstance(self.tools, (str, *SCALARS)) or is_mapping(self.tools):
            raise InputError(f"tools: expected a list of tools, not {type(self.tools).__name__}")

    def fit(
        self,
        pruner: Pruner,
        target: int,
        max_output: int,
        *,
        conservative: bool = False,
        pin: Pin | None = None,
        fill: bool = False,
    ) -> Fitted[Any]:
        """Return the request in at most *target* tokens, if possible.

        With *conservative*, the upper end of the count is at most *target*.
        """
        goal = target
        for _ in range(ROUNDS):
            # A pruner with a memory must not remember an attempt that was too large.
            attempt = copy.copy(pruner)
            pruned = self._pruned(attempt, goal, pin, fill)
            high = pruned.tokens.high
            if not conservative or high <= target or not pruned.fits:
                break

            goal = min(goal - 1, int(pruned.tokens) * target // high)

        if isinstance(pruner, Strategy):
            pruner.remember(attempt)

        size = high if conservative else int(pruned.tokens)
        fits = size <= target
        reason = ""
        if not fits:
            too_large = f"the count may be up to {size:,} tokens, and {target:,} is the target"
            reason = pruned.receipt.reason or too_large

        receipt = replace(pruned.receipt, target=target, fits=fits, reason=reason)
        return Fitted(
            pruned.messages,
            pruned.tokens,
            fits,
            receipt,
            max_output,
            self.system,
        )

    def _pruned(
        self,
        pruner: Pruner,
        goal: int,
        pin: Pin | None,
        fill: bool,
    ) -> Pruned:
        return pruner.prune(
            self.messages,
            goal,
            model=self.model,
            tools=self.tools,
            provider=self.provider,
            counter=self.counter,
            fill=fill,
            pin=pin,
            shorten=True,
        )


class RequestCounter:
    """Counts messages as part of a request that has a *system* prompt."""

    def __init__(self, counter: TokenCounter, system: Any) -> None:
        self.inner: TokenCounter = counter
        """Counts messages on their own."""
        self.model: str | None = counter.model
        self._system_message = {"role": "system", "content": system}

    def count(self, text: str, /) -> Count:
        """Return the number of tokens of *text*."""
        return self.inner.count(text)

    def count_messages(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> Count:
        """Return the tokens of the request."""
        return self.inner.count_messages([self._system_message, *messages], tools)

    def costs(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> MessageCosts:
        """Return the tokens of each message; the system prompt belongs to what every request
        has."""
        costs = message_costs(self.inner, [self._system_message, *messages], tools)

        def count_of(places: Sequence[int]) -> Count:
            return costs.count([0, *(at + 1 for at in places)])

        return MessageCosts(costs.each[1:], costs.fixed + costs.each[0], count_of)


def in_request(counter: TokenCounter, system: Any) -> TokenCounter:
    """Return *counter*, with *system* in everything that it counts."""
    if system is None or system == "":
        return counter

    return RequestCounter(counter, system)
