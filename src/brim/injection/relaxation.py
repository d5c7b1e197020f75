"""What the best text could be worth at most: the knapsack with prices instead of limits.

Each slot has options, and takes one. Put a price on each unit and each character, and every slot can choose for itself:
what they then make together, with the room sold at the same prices, no choice within the limits exceeds. Any prices
give such a ceiling. Good ones come from the linear relaxation: the steps from a cheap option to a dearer one, best
value for the cost first, until the room is used up.

Values are whole numbers, so that sums are exact and do not depend on an order.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Option = tuple[int, int, int, int, int]
    """Value, units, characters, the section that it stands in as a bit (0: in none), and the tier."""
    Options = Sequence[Option]
    Pair = tuple[int, int]
    """Something of units and of characters: a room, a price."""

_HALVINGS = 14
"""How often the weighing of units against characters is refined when both are short."""
_FINE = 1 << 32


def ceiling(slots: Sequence[Options], room: Pair, prices: Pair) -> int:
    """Return a value that no choice within *room* exceeds, from any *prices* that are not negative."""
    price, rate = prices
    total = price * room[0] + rate * room[1]
    for options in slots:
        total += max([value - price * units - rate * characters for value, units, characters, _, _ in options])
    return total


def prices(
    slots: Sequence[Options], room: Pair, limited: tuple[bool, bool], floor: int
) -> tuple[Pair, list[Option] | None]:
    """Return prices at which what is chosen about fills *room*, and a good choice that is within it, if one was met.

    Prices are refined no further when they show that no choice is worth more than *floor*.
    """
    if not all(limited):
        weights = (1, 0) if limited[0] else (0, 1)
        price, picked, _ = _fill(slots, room, weights)
        return (price * weights[0], price * weights[1]), picked
    return _balanced(slots, room, floor)


def _balanced(slots: Sequence[Options], room: Pair, floor: int) -> tuple[Pair, list[Option] | None]:
    """Weigh units against characters by halving until both are used up alike, or only one is short."""
    low, high = 0, _FINE
    share = _FINE // 2
    best = (0, 0)
    least = ceiling(slots, room, best)
    worth, kept = None, None
    for _ in range(_HALVINGS):
        weights = share // max(1, room[0]), (_FINE - share) // max(1, room[1])
        price, picked, (units, characters) = _fill(slots, room, weights)
        found = price * weights[0], price * weights[1]
        most = ceiling(slots, room, found)
        if most < least:
            least, best = most, found
        if picked is not None:
            value = sum(option[0] for option in picked)
            if worth is None or value > worth:
                worth, kept = value, picked
        if least <= floor:
            break
        if units * room[1] > characters * room[0]:
            low = share
        else:
            high = share
        share = (low + high) // 2
    return best, kept


def _fill(slots: Sequence[Options], room: Pair, weights: Pair) -> tuple[int, list[Option] | None, Pair]:
    """Fill *room* step by step, the best value for its weight first.

    Returns the price of the first step that no longer fits (0 if all do), what was chosen if it is within the room,
    and what the choice that just overflows would take.
    """
    heavy, light = weights
    picked = []
    steps = []
    used = taken = 0
    for number, options in enumerate(slots):
        path = _frontier(options, weights)
        lowest = path[0]
        picked.append(lowest)
        used += lowest[1]
        taken += lowest[2]
        for k in range(1, len(path)):
            before, after = path[k - 1], path[k]
            cost = heavy * (after[1] - before[1]) + light * (after[2] - before[2])
            steps.append(((before[0] - after[0]) / cost, number, k, before, after))
    steps.sort()
    left = heavy * (room[0] - used) + light * (room[1] - taken)
    price = None
    units, characters = used, taken
    for _, number, _, before, after in steps:
        more, longer = after[1] - before[1], after[2] - before[2]
        if price is None:
            cost = heavy * more + light * longer
            left -= cost
            units += more
            characters += longer
            if left < 0:
                price = (after[0] - before[0]) // cost
        if picked[number] is before and used + more <= room[0] and taken + longer <= room[1]:
            picked[number] = after
            used += more
            taken += longer
    fits = used <= room[0] and taken <= room[1]
    return price or 0, picked if fits else None, (units, characters)


def _frontier(options: Options, weights: Pair) -> list[Option]:
    """Return the options worth their weight, lightest first: each step up gives less for its weight than the last."""
    heavy, light = weights
    if len(options) == 1:
        return [options[0]]
    path: list[tuple[int, int, Option]] = []
    for weight, value, option in sorted((heavy * o[1] + light * o[2], -o[0], o) for o in options):
        if path and -value <= path[-1][1]:
            continue
        if path and weight == path[-1][0]:
            continue
        while len(path) > 1:
            (w0, v0, _), (w1, v1, _) = path[-2], path[-1]
            if (-value - v1) * (w1 - w0) < (v1 - v0) * (weight - w1):
                break
            path.pop()
        path.append((weight, -value, option))
    return [option for _, _, option in path]
