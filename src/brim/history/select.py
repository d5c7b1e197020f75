"""Which units stay? The longest legal run of the newest that fits, and beyond it what must not leave."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TYPE_CHECKING, Any, Literal

from brim.history.draft import draft
from brim.history.joins import may_follow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from brim.history.draft import Draft
    from brim.history.types import Pin, Provider, Pruned
    from brim.tokens.counters import TokenCounter


def select(draft: Draft, limit: int, *, oldest: int = 0, fill: bool = False) -> set[int]:
    """Return the units to keep, so that they take at most *limit* tokens if that can be.

    It is the longest legal run of newest units that fits, together with what stays anyway: pins, the last prompt, and
    the last complete step where that fits too. No unit before *oldest* is taken, unless it stays anyway. With *fill*
    older units follow, newest first, as far as they fit.
    """
    must = required(draft, limit)
    cut = longest_run(draft, must, limit, oldest)
    kept = sorted({*must, *range(cut, len(draft.units))})
    if fill:
        add_older(draft, kept, cut, limit, oldest)
    return set(kept)


def required(draft: Draft, limit: int) -> list[int]:
    """Return, in order, the units that stay whatever the limit is, with the last step if *limit* allows.

    A unit that cannot legally stand where it would then stand brings the prompt of its turn along.
    """
    last_prompt = draft.prompts[-1:]
    if draft.last_step is not None:
        both = legal(draft, {*draft.pins, *last_prompt, draft.last_step})
        if draft.last_step in both and price(draft, both) <= limit:
            return both
    return legal(draft, {*draft.pins, *last_prompt})


def legal(draft: Draft, wanted: Iterable[int]) -> list[int]:
    """Return *wanted* in order, with what it takes to be legal, without what cannot be."""
    kept: list[int] = []
    for unit in sorted(wanted):
        before = kept[-1] if kept else None
        if follows(draft, before, unit):
            kept.append(unit)
            continue
        prompt = _prompt_before(draft, unit)
        if prompt is not None and (before is None or prompt > before):
            kept += [prompt, unit]
    return kept


def price(draft: Draft, kept: Iterable[int]) -> int:
    """Return the tokens of the units *kept*, with what belongs to none."""
    return draft.fixed + sum(draft.sizes[at] for at in kept)


def follows(draft: Draft, before: int | None, after: int) -> bool:
    """Whether the unit *after* may stand next to *before*, or first if that is None."""
    if before is None:
        return may_follow(None, draft.units[after].first, draft.provider)
    return after == before + 1 or may_follow(draft.units[before].last, draft.units[after].first, draft.provider)


def cut_for_turns(draft: Draft, must: list[int], turns: int, limit: int) -> int | None:
    """Return where a run begins that holds as many of the newest *turns* as fit into *limit*; None if not one does.

    Where a turn begins inside a step (the user spoke with the results), the run begins at a legal place before that.
    """
    furthest = len(draft.units)
    tokens, stays = price(draft, must), set(must)
    while furthest and tokens <= limit:
        furthest -= 1
        tokens += 0 if furthest in stays else draft.sizes[furthest]
    furthest += tokens > limit
    for number in range(min(turns, len(draft.prompts)), 0, -1):
        cut = draft.prompts[-number]
        while cut > furthest and not may_cut(draft, must, cut):
            cut -= 1
        if cut >= furthest and may_cut(draft, must, cut):
            return cut
    return None


def newest(
    messages: Sequence[Any],
    at_least: int,
    *,
    counter: TokenCounter | None = None,
    model: str | None = None,
    provider: Provider | Literal["auto"] = "auto",
    pin: Pin | None = None,
) -> Pruned:
    """Return the shortest legal run of the newest messages of at least *at_least* tokens; everything if it is less."""
    work = draft(messages, at_least, model=model, provider=provider, counter=counter, pin=pin)
    must = required(work, at_least)
    stays = set(must)
    tokens = price(work, must) - work.fixed
    enough, cut = tokens, len(work.units)
    for place in range(len(work.units) - 1, -1, -1):
        if enough >= at_least:
            break
        tokens += 0 if place in stays else work.sizes[place]
        if may_cut(work, must, place):
            enough, cut = tokens, place
    return work.finish("newest", stays.union(range(cut, len(work.units))), reason="older than what must stay")


def longest_run(draft: Draft, must: list[int], limit: int, oldest: int = 0) -> int:
    """Return the smallest legal cut at which everything from there on, and what *must* stay, fits."""
    stays = set(must)
    tokens = price(draft, must)
    best = len(draft.units)
    for cut in range(len(draft.units) - 1, oldest - 1, -1):
        tokens += 0 if cut in stays else draft.sizes[cut]
        if tokens > limit:
            break
        if may_cut(draft, must, cut):
            best = cut
    return best


def may_cut(draft: Draft, must: list[int], cut: int) -> bool:
    """Whether the run that begins at *cut* may stand after what *must* stay before it."""
    before = bisect_left(must, cut)
    return follows(draft, must[before - 1] if before else None, cut)


def add_older(draft: Draft, kept: list[int], cut: int, limit: int, oldest: int = 0) -> None:
    """Add units older than *cut* to *kept*, which is in order, newest first, each with the prompt it needs."""
    room = limit - price(draft, kept)
    for unit in range(cut - 1, oldest - 1, -1):
        place = bisect_left(kept, unit)
        if draft.sizes[unit] > room or (place < len(kept) and kept[place] == unit):
            continue
        before = kept[place - 1] if place else None
        after = kept[place] if place < len(kept) else None
        if after is not None and not follows(draft, unit, after):
            continue
        bundle = [unit]
        if not follows(draft, before, unit):
            prompt = _prompt_before(draft, unit)
            if prompt is None or prompt < oldest or (before is not None and prompt <= before):
                continue
            bundle.append(prompt)
        tokens = sum(draft.sizes[at] for at in bundle)
        if tokens <= room:
            room -= tokens
            for at in bundle:
                insort(kept, at)


def _prompt_before(draft: Draft, unit: int) -> int | None:
    """Return the nearest prompt before *unit* that can stand first and before anything."""
    at = bisect_left(draft.prompts, unit)
    while at > 0:
        at -= 1
        if draft.units[draft.prompts[at]].first.is_prompt and draft.units[draft.prompts[at]].last.role == "user":
            return draft.prompts[at]
    return None
