"""The strategy that keeps the most: the highest sum of activation times fidelity that fits.

It's a knapsack in which each behavior takes one of its tiers and each heading is paid once. The answer is proven: what
comes back with it is a value that no legal choice exceeds, and on all but strange inputs that is the value itself.

``optimal`` turns an arrangement into whole numbers, so that sums are exact. ``Knapsack`` decides which sections to
open: there are at most 512 sets, each with a ceiling from prices, searched from the highest down.

Prices replace limits: put a price on each unit and each character, and every slot can choose for itself. What they then
make together, with the room sold at the same prices, no choice within the limits exceeds. Good prices come from the
linear relaxation: steps from a cheap option to a more expensive one, best value for the cost first, until the room is
used up.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import reduce
from itertools import pairwise
from math import frexp, ldexp
from operator import itemgetter, or_

from brim.injection.arrangement import level, lowest_first
from brim.injection.tiers import FIDELITY, Section, Tier, section_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brim.injection.arrangement import Arrangement, Slot

    Option = tuple[int, int, int, int, int]
    """Value, units, characters, the section that it stands in as a bit (0: in none), and the tier."""
    Options = Sequence[Option]
    Pair = tuple[int, int]
    """Something of units and of characters: a room, a price."""
    Note = tuple["Note", int, Option] | None
    """A choice: the one that it changes, the number of a slot, and its option; None is the favourite of every slot."""
    State = tuple[int, int, int, int, Note]
    """Units, less value, characters (all against the favourites), the loss, and the choice."""
    Other = tuple[int, int, int, int, Option]
    """Loss, units, less value and characters against the favourite, and the option."""

EFFORT = 300_000
"""Partial choices that are looked at before the proof is given up: a second or so."""
_MOST_BITS = 120
"""Values become whole numbers of at most so many bits: only what is a trillion trillionth of another is rounded."""
IMPOSSIBLE = -(1 << 400)
"""Less than any choice is worth: the value when none is within the room."""
_ROUNDS = 4
"""How often prices, and the set of sections that is best at them, are found in turn, at the most."""
_HALVINGS = 14
"""How often the weighing of units against characters is refined when both are short."""
_FINE = 1 << 32


def optimal(arrangement: Arrangement, *, effort: int = EFFORT) -> float:
    """Put every slot where the whole is worth most within the limits, and return what no legal choice exceeds.

    Never worse than the other strategies. If nothing fits, everything is demoted as far as it goes. Of options of equal
    value the cheaper one is taken, so what adds nothing is left out unless it must be there.
    """
    slots = sorted(arrangement.slots, key=lambda slot: (slot.id, slot.activation, slot.allowed))
    shift = _shift(slots)
    menu = [_options(arrangement, slot, shift) for slot in slots]
    start = arrangement.tiers()
    _place(arrangement, slots, [min(options, key=lambda o: (-o[0], o[1], o[2], o[4])) for options in menu])
    if arrangement.fits():
        return arrangement.value()
    reached = reduce(or_, map(_reach, menu), 0)
    headings = {1 << at: _limited(arrangement, arrangement.costs.heading(at)) for at in Section if reached >> at & 1}
    limits = arrangement.room or 0, arrangement.limits.characters or 0
    room, room_of_notes = (
        (limits[0] - units, limits[1] - characters)
        for units, characters in (
            _limited(arrangement, arrangement.largest_frame(only_notes=only_notes)) for only_notes in (False, True)
        )
    )
    knapsack = Knapsack(menu, headings, room, effort, room_of_notes=room_of_notes)
    most = knapsack.solve()
    if knapsack.choice is not None:
        _place(arrangement, slots, knapsack.choice)
    if knapsack.choice is None or knapsack.value < most:
        _take_best(arrangement, start)
    bound = most / (1 << shift) if shift >= 0 else float(most << -shift)
    return max(arrangement.value(), bound) if arrangement.fits() else arrangement.value()


def _take_best(arrangement: Arrangement, start: Sequence[Tier]) -> None:
    """Leave the best of what was found and of what the other strategies make; if nothing fits, all that can be cut."""
    found = [_merit(arrangement)] if arrangement.fits() else []
    for strategy in (lowest_first, level):
        arrangement.restore(start)
        steps = strategy(arrangement)
        while not arrangement.fits() and next(steps, None) is not None:
            pass
        if arrangement.fits():
            found.append(_merit(arrangement))
    arrangement.restore(max(found)[-1] if found else start)
    if not found:
        list(lowest_first(arrangement))


def _merit(arrangement: Arrangement) -> tuple[float, int, int, list[Tier]]:
    return arrangement.value(), -arrangement.units, -arrangement.characters, arrangement.tiers()


def _shift(slots: Sequence[Slot]) -> int:
    """Return how many binary places the values have, so that they become whole numbers and their sums are exact."""
    sizes = [abs(slot.activation) for slot in slots if slot.activation]
    if not sizes:
        return 0
    least, most = frexp(min(sizes) * FIDELITY[Tier.NAME_ONLY])[1], frexp(max(sizes))[1]
    return min(53 - least, _MOST_BITS - most)


def _options(arrangement: Arrangement, slot: Slot, shift: int) -> list[Option]:
    """Return the tiers that *slot* may have, each with its value as a whole number, its cost and its section.

    The option to omit it is the last, as it is the least detailed one.
    """
    options = []
    kind, status = slot.behavior.kind, slot.behavior.status
    for tier in sorted(slot.allowed, reverse=True):
        value = int(ldexp(slot.activation * FIDELITY[tier], shift))
        cost = _limited(arrangement, arrangement.costs.item(slot.behavior, tier)) if tier else (0, 0)
        options.append((value, *cost, 1 << section_of(kind, status, tier) if tier else 0, tier.value))
    return options


def _limited(arrangement: Arrangement, cost: Pair) -> Pair:
    """Return *cost* without what isn't limited: that costs nothing."""
    units, characters = cost
    return units * (arrangement.room is not None), characters * (arrangement.limits.characters is not None)


def _place(arrangement: Arrangement, slots: Sequence[Slot], choice: Sequence[Option]) -> None:
    for slot, option in zip(slots, choice, strict=True):
        if slot.tier != option[4]:
            arrangement.move(slot, Tier(option[4]))


class Knapsack:
    """The options of every slot, the headings by section, the room, and the best choice known so far."""

    def __init__(
        self,
        slots: Sequence[Options],
        headings: Mapping[int, Pair],
        room: Pair,
        effort: int,
        *,
        room_of_notes: Pair | None = None,
    ) -> None:
        """*room_of_notes* is the room if only the section of agents' notes is opened, which needs no introduction."""
        self.slots, self.headings, self.room = slots, headings, room
        self.room_of_notes = room if room_of_notes is None else room_of_notes
        self.effort = effort
        """How many partial choices may still be looked at: a limit that doesn't depend on the machine's speed."""
        self.value = IMPOSSIBLE
        """What the best choice known is worth."""
        self.choice: list[Option] | None = None
        """The option of each slot in it; None if none is within the room."""
        self._rooms = self._possible()
        """The sets of sections that can be opened, each with the room that its headings leave."""

    def solve(self) -> int:
        """Find the best choice, and return what no choice exceeds: the same value, unless the effort ran out."""
        most = IMPOSSIBLE
        ceilings = self._best_ceilings() if self._rooms else {}
        for opened in sorted(ceilings, key=lambda each: (-ceilings[each], each.bit_count(), each)):
            if ceilings[opened] <= self.value:
                break
            most = max(most, self._search(opened) if self.effort > 0 else ceilings[opened])
        return max(most, self.value)

    def _possible(self) -> dict[int, Pair]:
        """Return the sets of sections with an option for every slot, and room for the shortest options there are."""
        required = {_reach(options) for options in self.slots if options[-1][3]}
        units, characters = (sum(min(option[at] for option in options) for options in self.slots) for at in (1, 2))
        found = {}
        for opened in _subsets(sum(self.headings)):
            costs = [cost for section, cost in self.headings.items() if section & opened]
            room = self.room_of_notes if opened == 1 << Section.UNCONFIRMED_NOTES else self.room
            room = room[0] - sum(cost[0] for cost in costs), room[1] - sum(cost[1] for cost in costs)
            if units <= room[0] and characters <= room[1] and all(reach & opened for reach in required):
                found[opened] = room
        return found

    def _best_ceilings(self) -> dict[int, int]:
        """Return what no choice in each set of sections exceeds, at the best prices that a few rounds find."""
        opened = max(self._rooms, key=lambda each: (each.bit_count(), each))
        best: dict[int, int] = {}
        for _ in range(_ROUNDS):
            found = self._ceilings(self._prices(self._narrowed(opened), self._rooms[opened]))
            highest = min(found, key=lambda each: (-found[each], each))
            if not best or found[highest] < max(best.values()):
                best = found
            if highest == opened:
                break
            opened = highest
        return best

    def _ceilings(self, prices: Pair) -> dict[int, int]:
        """Return what no choice in each set of sections exceeds, at *prices*."""
        price, rate = prices
        sums: dict[int, dict[int, int]] = {}
        for options in self.slots:
            after = [(option[0] - price * option[1] - rate * option[2], option[3]) for option in options]
            least = IMPOSSIBLE if options[-1][3] else 0
            if not least and max(after)[0] <= 0:
                continue
            reach = _reach(options)
            parts = sums.setdefault(reach, {})
            for opened in parts or _subsets(reach):
                inside = [left for left, section in after if section & opened]
                parts[opened] = parts.get(opened, 0) + max([least, *inside])
        return {
            opened: price * room[0] + rate * room[1] + sum(parts[opened & reach] for reach, parts in sums.items())
            for opened, room in self._rooms.items()
        }

    def _narrowed(self, opened: int) -> list[Options]:
        return [[option for option in options if not option[3] or option[3] & opened] for options in self.slots]

    def _keep(self, picked: list[Option]) -> None:
        """Keep a choice if it is within the room and better than the best one known."""
        value = sum(option[0] for option in picked)
        if value <= self.value:
            return
        costs = [self.headings[section] for section in {option[3] for option in picked if option[3]}]
        units = sum(option[1] for option in picked) + sum(cost[0] for cost in costs)
        characters = sum(option[2] for option in picked) + sum(cost[1] for cost in costs)
        if units <= self.room[0] and characters <= self.room[1]:
            self.value, self.choice = value, picked

    def _prices(self, slots: Sequence[Options], room: Pair) -> Pair:
        """Return prices at which what *slots* choose about fills *room*, and keep good choices that are met.

        Units are weighed against characters by halving until both are used up alike, or only one is short. Prices are
        refined no further when they show that no choice is worth more than the best one known.
        """
        low, share, high = 0, _FINE // 2, _FINE
        best: tuple[int, Pair] | None = None
        for _ in range(_HALVINGS):
            weights = share // max(1, room[0]), (_FINE - share) // max(1, room[1])
            price, picked, (units, characters) = _fill(slots, room, weights)
            self._keep(picked)
            a, b = found = price * weights[0], price * weights[1]
            most = a * room[0] + b * room[1]
            most += sum([max([o[0] - a * o[1] - b * o[2] for o in options]) for options in slots])
            best = min(best or (most, found), (most, found), key=itemgetter(0))
            short, other = units * room[1], characters * room[0]
            if best[0] <= self.value or short == other:
                break
            low, high = (share, high) if short > other else (low, share)
            share = (low + high) // 2
        return best[1] if best else (0, 0)

    def _search(self, opened: int) -> int:
        """Look for a better choice that stands in *opened* alone; return what none of them exceeds."""
        slots, room = self._narrowed(opened), self._rooms[opened]
        prices = price, rate = self._prices(slots, room)
        # The option of each slot that is worth most after paying; of equals the one that takes less.
        favourites = [
            min(options, key=lambda o: (price * o[1] + rate * o[2] - o[0], o[1], o[2], o[4])) for options in slots
        ]
        self._keep(favourites)
        value, units, characters = (sum(option[at] for option in favourites) for at in (0, 1, 2))
        spare, space = room[0] - units, room[1] - characters
        most = value + price * spare + rate * space
        core = _core(slots, favourites, prices, most - self.value)
        states: list[State] = [(0, 0, 0, 0, None)]
        for place, (least, number, others) in enumerate(core):
            if least >= most - self.value:
                break
            if self.effort <= 0:
                return max([self.value, *(most - state[3] - least for state in states)])
            self.effort -= len(states) * len(others)
            grown = list(states)
            for loss, more, less, longer, option in others:
                allowed = most - self.value
                for taken, worse, length, lost, note in states:
                    if lost + loss < allowed:
                        state = taken + more, worse + less, length + longer, lost + loss, (note, number, option)
                        grown.append(state)
                        if state[0] <= spare and state[2] <= space and value - state[1] > self.value:
                            self._keep(_chosen(favourites, state[4]))
                            allowed = most - self.value
            further = core[place + 1][0] if place + 1 < len(core) else allowed
            states = _undominated([state for state in grown if state[3] + further < most - self.value])
        return self.value


def _reach(options: Options) -> int:
    """Return the sections that *options* stand in."""
    return reduce(or_, [option[3] for option in options], 0)


def _subsets(sections: int) -> list[int]:
    """Return every set of some of *sections*."""
    found = [sections]
    while found[-1]:
        found.append((found[-1] - 1) & sections)
    return found


def _core(
    slots: Sequence[Options], favourites: Options, prices: Pair, allowed: int
) -> list[tuple[int, int, list[Other]]]:
    """Return the slots that may differ from their favourites for less than *allowed*: least loss, number, options."""
    core = []
    for number, (options, (value, units, characters, _, _)) in enumerate(zip(slots, favourites, strict=True)):
        others: list[Other] = []
        for option in options:
            more, less, longer = option[1] - units, value - option[0], option[2] - characters
            loss = less + prices[0] * more + prices[1] * longer
            if loss < allowed and (less < 0 or more < 0 or longer < 0):
                others.append((loss, more, less, longer, option))
        if others:
            core.append((min(other[0] for other in others), number, others))
    return sorted(core, key=itemgetter(0, 1))


def _chosen(favourites: Options, note: Note) -> list[Option]:
    """Return the option of each slot in the choice *note*."""
    chosen = list(favourites)
    while note is not None:
        note, number, option = note
        chosen[number] = option
    return chosen


def _undominated(states: list[State]) -> list[State]:
    """Return the states than which none is at most as large in both measures and worth at least as much."""
    kept = []
    lengths: list[int] = []
    worse: list[int] = []
    for state in sorted(states, key=itemgetter(0, 1, 2)):
        characters, less = state[2], state[1]
        at = bisect_right(lengths, characters)
        if at and worse[at - 1] <= less:
            continue
        kept.append(state)
        start = end = bisect_left(lengths, characters)
        while end < len(worse) and worse[end] >= less:
            end += 1
        lengths[start:end], worse[start:end] = [characters], [less]
    return kept


def _fill(slots: Sequence[Options], room: Pair, weights: Pair) -> tuple[int, list[Option], Pair]:
    """Fill *room* step by step, the best value for its weight first.

    Returns the price of the first step that no longer fits (0 if all do), what was chosen, which is within the room if
    the lightest options are, and what the choice that just overflows would take.
    """
    heavy, light = weights
    paths = [_frontier(options, weights) for options in slots]
    picked = [path[0] for path in paths]
    used, taken = (sum(option[at] for option in picked) for at in (1, 2))
    steps = []
    for number, path in enumerate(paths):
        for k, (before, after) in enumerate(pairwise(path)):
            cost = heavy * (after[1] - before[1]) + light * (after[2] - before[2])
            steps.append(((before[0] - after[0]) / cost, number, k, cost, before, after))
    left = heavy * (room[0] - used) + light * (room[1] - taken)
    price = None
    units, characters = used, taken
    for _, number, _, cost, before, after in sorted(steps):
        more, longer = after[1] - before[1], after[2] - before[2]
        if price is None:
            left, units, characters = left - cost, units + more, characters + longer
            if left < 0:
                price = (after[0] - before[0]) // cost
        if picked[number] is before and used + more <= room[0] and taken + longer <= room[1]:
            picked[number] = after
            used, taken = used + more, taken + longer
    return price or 0, picked, (units, characters)


def _frontier(options: Options, weights: Pair) -> list[Option]:
    """Return the options worth their weight, lightest first: each step up gives less for its weight than the last."""
    heavy, light = weights
    path: list[tuple[int, int, Option]] = []
    for weight, value, option in sorted((heavy * o[1] + light * o[2], -o[0], o) for o in options):
        if path and (-value <= path[-1][1] or weight == path[-1][0]):
            continue
        while len(path) > 1:
            (w0, v0, _), (w1, v1, _) = path[-2], path[-1]
            if (-value - v1) * (w1 - w0) < (v1 - v0) * (weight - w1):
                break
            path.pop()
        path.append((weight, -value, option))
    return [option for _, _, option in path]
