"""The newest step, when it's too large to stay whole.

A pruner drops what doesn't fit. If that is the last step, the agent doesn't see what its tools said, and calls them
again. So the results of that step are shortened instead, in copies of their messages: beginning and end stay, and a
note says how much is gone between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from brim.history.cap import LEAST, Shortener
from brim.history.draft import Draft, Pin, draft
from brim.history.entries import Provider
from brim.history.receipt import Pruned
from brim.tokens.costs import message_costs

if TYPE_CHECKING:
    from brim.tokens.protocol import TokenCounter

ROUNDS = 12


def shorten(
    messages: Sequence[Any],
    target: int,
    *,
    model: str | None = None,
    tools: Sequence[Any] | None = None,
    provider: Provider | Literal["auto"] = "auto",
    counter: TokenCounter | None = None,
    pin: Pin | None = None,
) -> Pruned:
    """Return *messages* with the results of the newest step shortened, if they don't fit with the last user message.

    Nothing else changes and nothing leaves, except messages that the provider refuses. A pruner then keeps the step:
    ``FifoPruner().prune(messages, target, shorten=True)`` does both.
    """
    work = draft(messages, target, model=model, tools=tools, provider=provider, counter=counter, pin=pin)
    work = with_newest_step(work)
    return work.finish("shorten", range(len(work.units)))


def with_newest_step(work: Draft) -> Draft:
    """Return *work* with the results of its newest step as short as it takes for the step to stay."""
    step = work.last_step
    if step < 0 or step in work.required or step in work.pins:
        return work
    wanted = work.with_prompts({*work.pins, *work.prompts[-1:], step})
    over = work.price(wanted) - work.target
    places = [at for at in work.positions([step]) if work.entry_at(at).results]
    if step not in wanted or not places:
        return work
    taken = sum(work.costs.each[at] for at in places)
    results = sum(len(work.entry_at(at).results) for at in places)
    limit = max(LEAST, (taken - over) // results)
    for _ in range(ROUNDS):
        shortener = Shortener(limit, work.counter)
        short = {at: shortener.message(work.entry_at(at)) for at in places}
        changed = {at: message for at, message in short.items() if message is not work.entry_at(at).message}
        new = work.with_messages(changed, message_costs(work.counter, list(changed.values()))) if changed else work
        if new.price(wanted) <= new.target:
            places = [work.entry_at(at).index for at in changed]
            named = ", ".join(map(str, places))
            new = new.noted(f"the newest step didn't fit: its results were shortened in messages {named}")
            return new.stepped("shortened", places, work.total - new.total)
        if limit == LEAST:
            break
        limit = max(LEAST, int(limit * 0.8) - 1)
    return work.noted("the newest step doesn't fit, however short its results are")
