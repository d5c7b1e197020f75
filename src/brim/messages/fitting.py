"""``fit``: a request that the model takes, with a receipt for what had to leave."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from brim.errors import InputError
from brim.messages.budget import Reserves, window_of
from brim.messages.cap import ToolResultCap
from brim.messages.draft import THINKING_STAYS, Pin, whole_number
from brim.messages.entries import Provider
from brim.messages.formats import SCALARS, as_list
from brim.messages.markers import MOST_MARKERS, count_markers, within_limit
from brim.messages.pruners import FifoPruner, Pruner, SlidingWindowPruner
from brim.messages.receipt import Receipt, Step
from brim.messages.summarize import SummarizePruner
from brim.messages.thinking import has_thinking, without_thinking
from brim.messages.tiers import TieredPruner
from brim.messages.watermark import WatermarkPruner
from brim.models.light import UNKNOWN_WINDOW, lookup
from brim.record import PlainData
from brim.tokens.costs import MessageCosts, message_costs
from brim.tokens.count import Count
from brim.tokens.counters import counter_for
from brim.tokens.messages.fields import is_mapping
from brim.tokens.protocol import TokenCounter

M = TypeVar("M")

Name = Literal["fifo", "sliding", "summarize", "watermark", "cap", "tiered"]
STRATEGIES: dict[str, Callable[[], Pruner]] = {
    "fifo": FifoPruner,
    "sliding": SlidingWindowPruner,
    "summarize": SummarizePruner,
    "watermark": WatermarkPruner,
    "cap": ToolResultCap,
    "tiered": TieredPruner,
}
"""The pruners by name, each with its defaults."""
WITHOUT_THINKING = "without thinking"
"""What a receipt calls leaving out thinking."""
THINKING_LEFT_OUT = "thinking made before the cut is left out: the model accepts it only with the exact messages that it was made with"
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
        return bool(self.receipt.steps) or any(
            unit.kind != "broken" for unit in self.receipt.dropped
        )

    @property
    def target(self) -> int:
        """The most tokens that the prompt may take."""
        return self.receipt.target

    def without_thinking(self, request: GuardRequest) -> Fitted[M]:
        """Return a copy without any thinking: the model accepts it only with the *request* as it
        was before."""
        gone = {at for unit in self.receipt.dropped for at in unit.indices}
        thinking = [
            at
            for at, message in enumerate(request.messages)
            if at not in gone and has_thinking(message)
        ]
        if not thinking:
            return self
        stripped = (without_thinking(message) for message in self.messages)
        messages = [message for message in stripped if message is not None]
        tokens = request.counter.count_messages(messages, request.tools)
        step = Step(WITHOUT_THINKING, tuple(thinking), max(0, int(self.tokens) - int(tokens)), None)
        notes = [note for note in self.receipt.notes if note != THINKING_STAYS]
        receipt = replace(
            self.receipt,
            after=tokens,
            steps=(*self.receipt.steps, step),
            notes=(*notes, THINKING_LEFT_OUT),
        )
        return replace(self, messages=messages, tokens=tokens, receipt=receipt)

    def with_few_markers(self, tools: Sequence[Any] | None) -> Fitted[M]:
        """Return a copy with as many cache markers as the provider accepts, and a note if some had
        to go."""
        if self.receipt.provider != "anthropic":
            return self
        messages, removed = within_limit(
            self.messages, count_markers(self.system) + count_markers(tools)
        )
        if not removed:
            return self
        note = f"{removed} of the cache markers were removed, the oldest first: the API accepts {MOST_MARKERS}"
        return replace(self, messages=messages, receipt=self.receipt.with_note(note))


def fit(
    messages: Sequence[M],
    *,
    model: str,
    system: Any = None,
    tools: Sequence[Any] | None = None,
    max_output: int | None = None,
    target: int | None = None,
    sure: bool = False,
    strategy: Name | Pruner = "fifo",
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
    it. With *sure*, the upper end of the count has to fit, not the count itself. *strategy* is a
    pruner or the name of one. The newest tool call always stays: if its results are too large, brim
    shortens copies of them.

    >>> history = [{"role": "user", "content": f"message {n}"} for n in range(10)]
    >>> fitted = fit(history, model="gpt-4o", target=30)
    >>> [message["content"] for message in fitted.messages], fitted.tokens
    (['message 7', 'message 8', 'message 9'], Count(24))
    """
    output, most = room_for(model, max_output, target)
    request = GuardRequest(
        as_list(messages),
        model,
        system,
        tools,
        provider,
        in_request(counter or counter_for(model), system),
    )
    fitted = request.fit(named(strategy), most, output, sure=sure, pin=pin, fill=fill)
    notes = (*fitted.receipt.notes, *guessed(model, target))
    fitted = replace(fitted, receipt=replace(fitted.receipt, notes=notes))
    if fitted.is_cut and lookup(model).binds_thinking:
        fitted = fitted.without_thinking(request)
    return fitted.with_few_markers(tools)


def room_for(
    model: str, max_output: int | None = None, target: int | None = None
) -> tuple[int, int]:
    """Return how many tokens the answer may take, and how many the prompt."""
    if not isinstance(model, str):
        raise InputError(f"model must be a name such as claude-sonnet-4-5, not {model!r}")
    known, window, reserves = lookup(model), window_of(model), Reserves()
    given = max_output is not None
    if max_output is None:
        max_output = min(reserves.response(window), known.max_output or window)
    whole_number("max_output", max_output, 0, "a whole number of tokens")
    room = window - max_output - reserves.safety(window)
    if (
        model and given and target is None and room <= 0
    ):  # an adapter's guard learns its model with each request
        hint = guessed(model, target) or [f"its window has {window:,} tokens, so give less"]
        raise InputError(
            f"max_output {max_output:,} leaves no room for a prompt to {model}: {hint[0]}"
        )
    longest = known.max_input if window == known.context_window else window
    most = max(0, min(room, longest)) if target is None else target
    return max_output, whole_number("target", most, 0, "a whole number of tokens")


def guessed(model: str, target: int | None) -> list[str]:
    """Return a note if the window of *model* is a guess, and the *target* rests on it."""
    if target is not None or window_of(model) != UNKNOWN_WINDOW or lookup(model).resolved:
        return []
    return [
        f"{model} isn't a known model, so its window is taken to be {UNKNOWN_WINDOW:,} tokens: give target"
    ]


def named(strategy: str | Pruner) -> Pruner:
    """Return the pruner called *strategy*, or *strategy* itself if it is one."""
    if isinstance(strategy, str) and strategy in STRATEGIES:
        return STRATEGIES[strategy]()
    if not isinstance(strategy, Pruner):
        raise InputError(
            f"strategy must be a pruner or one of {', '.join(STRATEGIES)}, not {strategy!r}"
        )
    return strategy


@dataclass(frozen=True, slots=True)
class GuardRequest:
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
            raise InputError(
                f"system: expected text or a list of parts, not {type(self.system).__name__}"
            )
        if isinstance(self.tools, (str, *SCALARS)) or is_mapping(self.tools):
            raise InputError(f"tools: expected a list of tools, not {type(self.tools).__name__}")

    def fit(
        self,
        pruner: Pruner,
        target: int,
        max_output: int,
        *,
        sure: bool = False,
        pin: Pin | None = None,
        fill: bool = False,
    ) -> Fitted[Any]:
        """Return the request in at most *target* tokens, if possible."""
        goal = target
        about: Any = {
            "model": self.model,
            "tools": self.tools,
            "provider": self.provider,
            "counter": self.counter,
        }
        for _ in range(ROUNDS):
            attempt = copy.copy(
                pruner
            )  # a pruner with a memory must not remember an attempt that was too large
            pruned = attempt.prune(self.messages, goal, fill=fill, pin=pin, shorten=True, **about)
            high = pruned.tokens.high
            if not sure or high <= target or not pruned.fits:
                break
            goal = min(goal - 1, int(pruned.tokens) * target // high)
        if isinstance(pruner, WatermarkPruner):
            vars(pruner).update(vars(attempt))
        size = high if sure else int(pruned.tokens)
        reason = pruned.receipt.reason
        if size > target and not reason:
            reason = f"the count may be up to {size:,} tokens, and {target:,} is the target"
        receipt = replace(
            pruned.receipt,
            target=target,
            fits=size <= target,
            reason=reason if size > target else "",
        )
        return Fitted(
            pruned.messages, pruned.tokens, size <= target, receipt, max_output, self.system
        )


class RequestCounter:
    """Counts messages as part of a request that has a *system* prompt."""

    def __init__(self, counter: TokenCounter, system: Any) -> None:
        self.inner: TokenCounter = counter
        """Counts messages on their own."""
        self.model: str | None = counter.model
        self._first = {"role": "system", "content": system}

    def count(self, text: str, /) -> Count:
        """Return the number of tokens of *text*."""
        return self.inner.count(text)

    def count_messages(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> Count:
        """Return the tokens of the request."""
        return self.inner.count_messages([self._first, *messages], tools)

    def costs(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> MessageCosts:
        """Return the tokens of each message; the system prompt belongs to what every request
        has."""
        found = message_costs(self.inner, [self._first, *messages], tools)

        def count_of(kept: Sequence[int]) -> Count:
            return found.count([0, *(at + 1 for at in kept)])

        return MessageCosts(found.each[1:], found.fixed + found.each[0], count_of)


def in_request(counter: TokenCounter, system: Any) -> TokenCounter:
    """Return *counter*, with *system* in everything that it counts."""
    return counter if system is None or system == "" else RequestCounter(counter, system)
