"""Makes an arrangement fit, by a strategy, and says what became of every behavior."""

from __future__ import annotations

from brim.injection.demotion import level, lowest_first
from brim.injection.plan import InjectionPlan, Item
from brim.injection.tiers import Tier
from brim.tokens.count import Count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.injection.arrangement import Arrangement, Slot

STRATEGIES = ("lowest-first", "level", "optimal")
"""Who gives way when it is too much: see ``demotion`` and ``optimal``."""

MOST_TRIES = 32
"""How often a counter that does not add up is asked again before the step-by-step strategy takes over."""

MOST_BY_TEXT = 64
"""Up to so many behaviors a counter that does not add up is asked for the whole text at every step. Of more, the sums
of their lines say which tiers are cheaper, and whole texts are counted only to find where to stop."""


def fit(arrangement: Arrangement, strategy: str, *, fill: bool, off: str = "") -> InjectionPlan:
    """Return the plan that *strategy* makes of *arrangement*; *off* is what switched injection off, if anything did."""
    reasons: list[str] = []
    bound: float | None = None
    limited = arrangement.limits.tokens is not None or arrangement.limits.characters is not None
    if strategy == "optimal" and not off and limited and (fill or not _fits(arrangement)):
        bound = _best(arrangement, fill=fill)
    elif not _fits(arrangement):
        _demote(arrangement, strategy)
    elif strategy == "optimal" and arrangement.costs.additive and not fill:
        bound = arrangement.value()  # everything is where its activation puts it: there is nothing better
    if fill and not off and _fits(arrangement):
        _fill(arrangement)
    if off:
        reasons.append(f"{off} is 0: injection is off, constraints too")
    total = _total(arrangement)
    over = bool(arrangement.slots) and any(slot.tier for slot in arrangement.slots) and not _fits(arrangement, total)
    limits = arrangement.limits
    overflow = max(0, int(total) - limits.tokens) if over and limits.tokens is not None else 0
    reasons += _reasons(arrangement, total, over=over)
    return InjectionPlan(
        items=tuple(_item(arrangement, slot) for slot in arrangement.slots),
        total_tokens=total,
        token_budget=limits.tokens,
        characters=arrangement.characters,
        max_chars=limits.characters,
        format=arrangement.costs.format,
        counter=arrangement.costs.counter,
        strategy=strategy,
        over_budget=over,
        overflow=overflow,
        reasons=tuple(reasons),
        upper_bound=bound,
        evaluated=arrangement.evaluated,
    )


def _demote(arrangement: Arrangement, strategy: str) -> None:
    """Demote until it fits. A counter that does not add up is asked for whole texts."""
    if not arrangement.costs.additive and len(arrangement.slots) <= MOST_BY_TEXT:
        arrangement.count_by_text()
    steps = level(arrangement) if strategy == "level" else lowest_first(arrangement)
    if arrangement.costs.additive or arrangement.by_text:
        for _ in steps:
            if arrangement.fits():
                return
        return
    start = arrangement.tiers()
    taken = [(slot, slot.tier) for slot in steps]

    def after(count: int) -> bool:
        """Go to where *count* steps lead, and say whether the whole text fits there."""
        tiers = dict(zip(map(id, arrangement.slots), start, strict=True))
        tiers.update((id(slot), tier) for slot, tier in taken[:count])
        arrangement.restore([tiers[id(slot)] for slot in arrangement.slots])
        return _fits(arrangement)

    low, high = 0, len(taken)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if after(middle) else (middle, high)
    while not after(high) and high < len(taken):  # a whole text that grows when a line leaves it
        high += 1


def _best(arrangement: Arrangement, *, fill: bool) -> float | None:
    """Find the highest value that fits; return the proven bound, which only costs that add up can have."""
    from brim.injection.optimal import optimal

    if fill:
        for slot in arrangement.slots:
            slot.allowed = (*slot.promotable, *slot.allowed)
    if arrangement.costs.additive:
        return optimal(arrangement)
    room, start = arrangement.room, arrangement.tiers()
    for _ in range(MOST_TRIES):
        arrangement.restore(start)
        optimal(arrangement)
        limit = arrangement.limits.tokens
        if limit is None or arrangement.room is None or _fits(arrangement):
            break
        arrangement.room -= max(1, int(_total(arrangement)) - limit)
    arrangement.room = room
    found = [(arrangement.value(), arrangement.tiers())] if _fits(arrangement) else []
    for strategy in ("level", "lowest-first"):
        arrangement.restore(start)
        if not _fits(arrangement):
            _demote(arrangement, strategy)
        if _fits(arrangement):
            found.append((arrangement.value(), arrangement.tiers()))
    if found:
        arrangement.restore(max(found)[1])
    return None


def _fill(arrangement: Arrangement) -> None:
    """Promote the highest activations into what is left, each as far as it goes."""
    for slot in arrangement.slots:
        for tier in (*slot.promotable, *slot.allowed):
            if tier <= slot.tier:
                break
            before = slot.tier
            arrangement.move(slot, tier)
            if _fits(arrangement):
                break
            arrangement.move(slot, before)


def _fits(arrangement: Arrangement, total: Count | None = None) -> bool:
    """Whether the text is within its limits, by what the counter says of the whole of it."""
    if arrangement.costs.additive:
        return arrangement.fits()
    limits = arrangement.limits
    if limits.characters is not None and arrangement.characters > limits.characters:
        return False
    return limits.tokens is None or (_total(arrangement) if total is None else total) <= limits.tokens


def _total(arrangement: Arrangement) -> Count:
    if arrangement.costs.additive:
        return arrangement.tokens()
    return arrangement.costs.recount(arrangement.text())


def _item(arrangement: Arrangement, slot: Slot) -> Item:
    costs = arrangement.costs
    tokens = Count(0) if slot.tier is Tier.OMITTED else costs.count(costs.item(slot.behavior, slot.tier)[0])
    reason = slot.reason
    if slot.tier < slot.mapped:
        gone = "left out" if slot.tier is Tier.OMITTED else f"cut from {slot.mapped}"
        reason = f"{reason}; {gone}: over budget"
    elif slot.tier > slot.mapped:
        reason = f"{reason}; promoted into spare budget"
    return Item(
        id=slot.id,
        tier=slot.tier,
        activation=slot.activation,
        tokens=tokens,
        mapped=slot.mapped,
        reason=reason,
        behavior=slot.behavior,
    )


def _reasons(arrangement: Arrangement, total: Count, *, over: bool) -> list[str]:
    limits = arrangement.limits
    found = []
    cut = sum(slot.tier < slot.mapped for slot in arrangement.slots)
    if cut:
        found.append(f"{cut} of {len(arrangement.slots)} were cut or left out to fit {_limit(arrangement)}")
    if over:
        held = sum(slot.protected for slot in arrangement.slots)
        least = (
            "1 constraint, not below summary, takes" if held == 1 else f"{held} constraints, none below summary, take"
        )
        if limits.tokens is not None and total > limits.tokens:
            found.append(f"{least} {int(total):,} tokens: {int(total) - limits.tokens:,} over the budget")
        if limits.characters is not None and arrangement.characters > limits.characters:
            more = arrangement.characters - limits.characters
            found.append(f"{least} {arrangement.characters:,} characters: {more:,} over max_chars")
    return found


def _limit(arrangement: Arrangement) -> str:
    """Return the limit that binds, in words: of two, the one that the text without it would exceed by more."""
    limits = arrangement.limits
    if limits.characters is None:
        return f"{limits.tokens:,} token{'s' if limits.tokens != 1 else ''}"
    if limits.tokens is None:
        return f"{limits.characters:,} characters"
    tiers = arrangement.tiers()
    arrangement.restore([slot.mapped for slot in arrangement.slots])
    by_tokens = int(_total(arrangement)) / limits.tokens
    by_characters = arrangement.characters / limits.characters
    arrangement.restore(tiers)
    if by_characters > by_tokens:
        return f"{limits.characters:,} characters (max_chars), the smaller limit"
    return f"{limits.tokens:,} tokens, the smaller limit"
