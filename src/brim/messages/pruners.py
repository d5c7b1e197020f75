"""What a pruner is, and the two simplest ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, Protocol, cast, runtime_checkable

from brim.messages.arguments import as_list, whole_number
from brim.messages.draft import Draft, Pin
from brim.messages.drafting import draft
from brim.messages.entries import Provider
from brim.messages.outcome import Outcome
from brim.messages.receipt import Pruned
from brim.tokens.protocol import TokenCounter


@runtime_checkable
class Pruner(Protocol):
    """Makes a history fit into a target.

    The rules that every pruner keeps:

    - The result is valid for the provider: ``validate`` finds nothing. What is broken in the given
      history is dropped, with the reason, even if everything fits.
    - It is at most the target, counted by the same counter; or ``fits`` is False and the receipt
      says why. Then only what is never dropped is left: system messages, pins and the last user
      message.
    - It returns a new list and changes neither the given one nor a message. Kept messages are the
      same objects, in order. Only ``SummarizePruner``, ``ToolResultCap`` and *shorten* make new
      ones, in place of what doesn't fit.
    - A unit stands or falls whole: a call, its parallel calls, all their results, and the reasoning
      before them.
    - System and developer messages stay, and so does what the caller pins.
    - The last user message and the last complete step stay whenever they fit at all.
    - Each message is counted once. The counter must give messages costs that add up, as all of
      brim's do.
    - The same input gives the same result, and pruning the result again changes nothing.
    """

    def prune(
        self,
        messages: Sequence[Any],
        target: int,
        *,
        model: str | None = None,
        tools: Sequence[Any] | None = None,
        provider: Provider | Literal["auto"] = "auto",
        counter: TokenCounter | None = None,
        fill: bool = False,
        pin: Pin | None = None,
        shorten: bool = False,
    ) -> Pruned:
        """Return *messages* pruned to *target* tokens, *tools* included, as *model* counts them.

        *provider* is inferred from the messages unless you name it. *counter* overrides *model*.
        *pin* names messages that stay. By default the newest messages that fit stay; *fill* also
        adds older ones, newest first, where there's room. With *shorten*, if the newest tool call
        and its results don't fit, copies of the results are shortened instead of dropping the call.
        """
        strategy = cast("Strategy", self)  # only a Strategy inherits this body
        history = as_list(messages)
        work = draft(
            history,
            target,
            model=model,
            tools=tools,
            provider=provider,
            counter=counter,
            pin=pin,
            only=strategy.view(history),
        )
        if shorten and work.loses_last_step:
            from brim.messages.cap import with_newest_step  # it uses the cap, which is a pruner

            work = with_newest_step(work)

        return strategy.choose(work, fill)


class Strategy(Pruner, ABC):
    """A pruner whose whole judgement is ``choose``.

    It keeps the rules of ``Pruner``.
    """

    def view(self, messages: list[Any]) -> list[int] | None:  # noqa: ARG002
        """Return the places of the *messages* to look at; None for all."""
        return None

    def remember(self, attempt: Pruner) -> None:
        """Take over what a copy of this pruner learned; most pruners learn nothing."""

    async def aprune(
        self,
        messages: Sequence[Any],
        target: int,
        *,
        model: str | None = None,
        tools: Sequence[Any] | None = None,
        provider: Provider | Literal["auto"] = "auto",
        counter: TokenCounter | None = None,
        fill: bool = False,
        pin: Pin | None = None,
        shorten: bool = False,
    ) -> Pruned:
        """Prune in another thread, so that the event loop goes on; an async summarizer runs in the
        loop."""
        from brim.messages.threads import in_thread  # asyncio takes longer to load than all of this

        return await in_thread(
            self.prune,
            messages,
            target,
            model=model,
            tools=tools,
            provider=provider,
            counter=counter,
            fill=fill,
            pin=pin,
            shorten=shorten,
        )

    @abstractmethod
    def choose(self, work: Draft, fill: bool) -> Pruned:
        """Return what stays of *work*.

        *fill* asks for older units where there is room.
        """


class FifoPruner(Strategy):
    """Drops the oldest units until the newest fit.

    What stays is the longest legal run of the newest.

    >>> history = [{"role": "user", "content": f"message {n}"} for n in range(10)]
    >>> pruned = FifoPruner().prune(history, 30, model="gpt-4o")
    >>> [message["content"] for message in pruned.messages], pruned.tokens
    (['message 7', 'message 8', 'message 9'], Count(24))
    """

    def choose(self, work: Draft, fill: bool) -> Pruned:
        """Return the longest legal run of the newest units that fits.

        With *fill*, older ones follow.
        """
        units = work.select(work.target, fill=fill)
        return Outcome(pruner="fifo", draft=work, units=frozenset(units)).pruned()


class SlidingWindowPruner(Strategy):
    """Keeps the newest *turns*, and of these what fits.

    A turn begins when a person speaks.

    >>> history = [{"role": "user", "content": f"message {n}"} for n in range(10)]
    >>> pruned = SlidingWindowPruner(turns=2).prune(history, 1_000, model="gpt-4o")
    >>> [message["content"] for message in pruned.messages]
    ['message 8', 'message 9']
    """

    def __init__(self, turns: int = 10) -> None:
        self.turns = whole_number("turns", turns, 1)

    def choose(self, work: Draft, fill: bool) -> Pruned:
        """Return what fits of the newest turns; *fill* stays within them too."""
        oldest = 0
        if len(work.prompts) >= self.turns:
            oldest = work.prompts[-self.turns]

        units = work.select(work.target, oldest=oldest, fill=fill)
        too_old = dict.fromkeys(range(oldest), f"older than the newest {self.turns} turns")
        return Outcome(
            pruner="sliding",
            draft=work,
            units=frozenset(units),
            reasons=too_old,
        ).pruned()


"""Drops the oldest units until the newest fit. ``brim.fit`` takes the target from the model."""
