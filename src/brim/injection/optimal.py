"""The strategy that keeps the most: the highest sum of activation times fidelity that fits.

It's a knapsack in which each behavior takes one of its tiers and each heading is paid once. The answer is proven: what
comes back with it is a value that no legal choice exceeds, and on all but strange inputs that is the value itself.

Three layers, top down: ``optimal`` turns an arrangement into whole numbers, so that sums are exact. ``Openings``
decides which sections to open: there are at most 512 sets, each with a ceiling from prices, searched from the highest
down. ``Search`` finds the best choice within one set.

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
from operator import or_

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
    State = tuple[int, int, int, int, int]
    """Units, less value, characters (all against the favourites), the loss, and where its steps are noted."""
    Other = tuple[int, int, int, int, Option]
    """Loss, units, less value and characters against the favourite, and the option."""
    Core = Sequence[tuple[int, int, list[Other]]]
    """The least loss of a slot, its number, and its other options."""

EFFORT = 300_000
"""Partial choices that are looked at before the proof is given up: a second or so."""
_MOST_BITS = 120
"""Values become whole numbers of at most so many bits: only what is a trillion trillionth of another is rounded."""
IMPOSSIBLE = -(1 << 400)
"""Less than any choice is worth: what there is when none is within the room."""
_ROUNDS = 4
"""How often prices, and the set of sections that is best at them, are found in turn, at the most."""
_HALVINGS = 14
"""How often the weighing of units against characters is refined when both are short."""
_FINE = 1 << 32
_NEVER = 1 << 400
"""More than any loss."""


def optimal(arrangement: Arrangement, *, effort: int = EFFORT) -> float:
    """Put every slot where the whole is worth most within the limits, and return what no legal choice exceeds.

    Never worse than the other strategies. If nothing fits, everything is demoted as far as it goes. Of options of equal
    value the cheaper one is taken, so what adds nothing is left out unless it must be there.
    """
    slots = sorted(arrangement.slots, key=lambda slot: (slot.id, slot.activation, slot.allowed))
    shift = _shift(slots)
    menu = [_options(arrangement, slot, shift) for slot in slots]
    start = arrangement.tiers()
    _place(arrangement, slots, [min(options, key=lambda o: (-o[0], o[1], o[2])) for options in menu])
    if arrangement.fits():
        return arrangement.value()
    # What isn't limited costs nothing.
    units, characters = arrangement.room is not None, arrangement.limits.characters is not None
    menu = [[(o[0], o[1] * units, o[2] * characters, o[3], o[4]) for o in options] for options in menu]
    reached = _reach([option for options in menu for option in options])
    costs = {1 << section: arrangement.costs.heading(section) for section in Section if reached >> section & 1}
    headings = {section: (cost[0] * units, cost[1] * characters) for section, cost in costs.items()}
    openings = Openings(menu, headings, (arrangement.room or 0, arrangement.limits.characters or 0), effort)
    most, choice = openings.solve(), openings.choice()
    if choice is not None:
        _place(arrangement, slots, choice)
    if choice is None or openings.value < most:
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
    """Return the tiers that *slot* may have, each with its value as a whole number, its cost and its section."""
    options = []
    kind, status = slot.behavior.kind, slot.behavior.status
    for tier in sorted(slot.allowed, reverse=True):
        value = int(ldexp(slot.activation * FIDELITY[tier], shift))
        units, characters = arrangement.costs.item(slot.behavior, tier) if tier else (0, 0)
        options.append((value, units, characters, 1 << section_of(kind, status, tier) if tier else 0, tier.value))
    return options


def _place(arrangement: Arrangement, slots: Sequence[Slot], choice: Sequence[Option]) -> None:
    for slot, option in zip(slots, choice, strict=True):
        if slot.tier != option[4]:
            arrangement.move(slot, Tier(option[4]))


class Openings:
    """The slots with all their options, the headings by section, the room, and the best choice known so far.

    The option to omit a slot is its last, as it is the least detailed one.
    """

    def __init__(self, slots: Sequence[Options], headings: Mapping[int, Pair], room: Pair, effort: int) -> None:
        self.headings, self.room = headings, room
        self.effort = effort
        """How many partial choices may still be looked at: a limit that doesn't depend on the machine's speed."""
        self.value = IMPOSSIBLE
        """What the best choice known is worth."""
        self._best: list[tuple[int, Option]] = []
        self._slots = slots
        self._places = [place for place, options in enumerate(slots) if len(options) > 1 or options[0][3]]
        """Which slots are still in question; the others are omitted in any better choice."""
        self._open = [slots[place] for place in self._places]
        self._rooms = self._possible()
        """The sets of sections that can be opened, each with the room that its headings leave."""

    def solve(self) -> int:
        """Find the best choice, and return what no choice exceeds: the same value, unless the effort ran out."""
        most = IMPOSSIBLE
        for ceiling, opened in self._sets():
            if ceiling <= self.value:
                break
            most = max(most, self._search(opened) if self.effort > 0 else ceiling)
        return max(most, self.value)

    def choice(self) -> list[Option] | None:
        """Return the option of each slot in the best choice known, or None if none is within the room."""
        if self.value == IMPOSSIBLE:
            return None
        chosen = [options[-1] for options in self._slots]  # what is no longer in question is omitted
        for place, option in self._best:
            chosen[place] = option
        return chosen

    def _sets(self) -> list[tuple[int, int]]:
        """Return the sets of sections that may hold a better choice, each with its ceiling, highest first."""
        if not self._rooms:
            return []
        opened = max(self._rooms, key=lambda each: (each.bit_count(), each))
        ceilings: dict[int, int] = {}
        seen: set[int] = set()
        while opened not in seen and len(seen) < _ROUNDS:
            seen.add(opened)
            found, picked = prices(self._narrowed(opened), self._rooms[opened], self.value)
            if picked is not None:
                self._keep(picked)
            at = self._ceilings(found)
            opened = min(at, key=lambda each: (-at[each], each))
            if not ceilings or at[opened] < max(ceilings.values()):
                ceilings = at
            self._drop_hopeless(at[opened], found)
        order = sorted((-ceiling, opened.bit_count(), opened) for opened, ceiling in ceilings.items())
        return [(-less, opened) for less, _, opened in order]

    def _search(self, opened: int) -> int:
        """Look for a better choice that stands in *opened* alone; return what none of them exceeds."""
        slots, room = self._narrowed(opened), self._rooms[opened]
        found, picked = prices(slots, room, self.value)
        if picked is not None:
            self._keep(picked)
        search = Search(slots, room, found, self.value, self.effort)
        self.effort = search.effort
        if search.found:
            self._keep(search.choice())
        return search.ceiling

    def _keep(self, picked: list[Option]) -> None:
        """Keep a choice of the slots in question, if it is within the room and better than the best one known."""
        value = sum(option[0] for option in picked)
        if value <= self.value:
            return
        opened = [self.headings[section] for section in {option[3] for option in picked if option[3]}]
        units = sum(option[1] for option in picked) + sum(heading[0] for heading in opened)
        characters = sum(option[2] for option in picked) + sum(heading[1] for heading in opened)
        if units <= self.room[0] and characters <= self.room[1]:
            self.value = value
            self._best = list(zip(self._places, picked, strict=True))

    def _narrowed(self, opened: int) -> list[Options]:
        return [[option for option in options if not option[3] or option[3] & opened] for options in self._open]

    def _possible(self) -> dict[int, Pair]:
        """Return the sets of sections that have an option for every slot, and room for the shortest of these."""
        needs: dict[int, dict[int, list[int]]] = {}
        for options in self._open:
            if not options[-1][3]:
                continue
            reach = _reach(options)
            for opened, least in needs.setdefault(reach, {opened: [0, 0] for opened in _subsets(reach)}).items():
                inside = [option for option in options if option[3] & opened]
                least[0] += min((option[1] for option in inside), default=-IMPOSSIBLE)
                least[1] += min((option[2] for option in inside), default=-IMPOSSIBLE)
        found = {}
        for opened in _subsets(sum(self.headings)):
            units, characters = self.room
            for section, (cost, length) in self.headings.items():
                if section & opened:
                    units, characters = units - cost, characters - length
            needed = [needs[reach][opened & reach] for reach in needs]
            if units >= sum(each[0] for each in needed) and characters >= sum(each[1] for each in needed):
                found[opened] = units, characters
        return found

    def _ceilings(self, paid: Pair) -> dict[int, int]:
        """Return what no choice in each set of sections exceeds, at prices *paid*."""
        price, rate = paid
        sums: dict[int, dict[int, int]] = {}
        for options in self._open:
            after = [
                (value - price * units - rate * characters, section) for value, units, characters, section, _ in options
            ]
            free = not options[-1][3]
            if free and max(after)[0] <= 0:
                continue
            reach = _reach(options)
            if reach not in sums:
                sums[reach] = dict.fromkeys(_subsets(reach), 0)
            parts = sums[reach]
            least = 0 if free else IMPOSSIBLE
            for opened in parts:
                parts[opened] += max([least, *[left for left, section in after if section & opened]])
        return {
            opened: price * room[0] + rate * room[1] + sum(parts[opened & reach] for reach, parts in sums.items())
            for opened, room in self._rooms.items()
        }

    def _drop_hopeless(self, most: int, paid: Pair) -> None:
        """Leave out the options whose price is so far above their value that no better choice has them."""
        price, rate = paid
        lost = self.value - most
        left = {}
        for place, options in zip(self._places, self._open, strict=True):
            kept = options
            if not options[-1][3]:
                kept = [o for o in options if not o[3] or o[0] - price * o[1] - rate * o[2] > lost]
            if len(kept) > 1 or kept[0][3]:
                left[place] = kept
        self._places, self._open = list(left), list(left.values())


def _reach(options: Options) -> int:
    """Return the sections that *options* stand in."""
    return reduce(or_, [option[3] for option in options], 0)


def _subsets(sections: int) -> list[int]:
    """Return every set of some of *sections*."""
    found = [sections]
    while found[-1]:
        found.append((found[-1] - 1) & sections)
    return found


class Search:
    """The search among slots at fixed prices, for a choice that is worth more than *floor*."""

    def __init__(self, slots: Sequence[Options], room: Pair, prices: Pair, floor: int, effort: int) -> None:
        self.prices, self.effort, self.floor = prices, effort, floor
        """What the best choice known is worth."""
        self.found = False
        """Whether it was found here."""
        price, rate = prices
        self._favourites = [
            min(options, key=lambda o: (price * o[1] + rate * o[2] - o[0], o[1], o[2], o[4])) for options in slots
        ]
        """The option of each slot that is worth most after paying; of equals the one that takes less."""
        self._value, units, characters = (sum(option[at] for option in self._favourites) for at in (0, 1, 2))
        self._room = room[0] - units, room[1] - characters
        self._most = self._value + prices[0] * self._room[0] + prices[1] * self._room[1]
        self._notes: list[tuple[int, int, Option]] = []
        self._best = -1
        self.ceiling = self._run(slots)
        """What no choice exceeds."""

    def choice(self) -> list[Option]:
        """Return the option of each slot in the best choice found."""
        chosen = list(self._favourites)
        note = self._best
        while note >= 0:
            note, number, option = self._notes[note]
            chosen[number] = option
        return chosen

    def _run(self, slots: Sequence[Options]) -> int:
        start: State = (0, 0, 0, 0, -1)
        self._meet(start)
        core = self._core(slots)
        states = [start]
        for place, (least, number, others) in enumerate(core):
            if least >= self._most - self.floor or not states:
                break
            if self.effort <= 0:
                return max([self.floor, *(self._most - state[3] - least for state in states)])
            self.effort -= len(states) * len(others)
            further = core[place + 1][0] if place + 1 < len(core) else _NEVER
            states = self._step(states, number, others, further)
        return self.floor

    def _core(self, slots: Sequence[Options]) -> Core:
        """Return the slots that may differ from their favourites, the ones that lose least by it first."""
        price, rate = self.prices
        allowed = self._most - self.floor
        core = []
        for number, (options, (value, units, characters, _, _)) in enumerate(zip(slots, self._favourites, strict=True)):
            others: list[Other] = []
            for option in options:
                more, less, longer = option[1] - units, value - option[0], option[2] - characters
                loss = less + price * more + rate * longer
                if loss < allowed and (less < 0 or more < 0 or longer < 0):
                    others.append((loss, more, less, longer, option))
            if others:
                core.append((min(other[0] for other in others), number, others))
        core.sort(key=lambda entry: entry[:2])
        return core

    def _step(self, states: list[State], number: int, others: list[Other], further: int) -> list[State]:
        """Return *states* and all that come of them with another option of slot *number*, without the hopeless ones."""
        notes = self._notes
        spare, space = self._room
        grown = list(states)
        for loss, more, less, longer, option in others:
            allowed = self._most - self.floor
            for units, worse, characters, lost, note in states:
                total = lost + loss
                if total >= allowed:
                    continue
                state = units + more, worse + less, characters + longer, total, len(notes)
                notes.append((note, number, option))
                grown.append(state)
                if state[0] <= spare and state[2] <= space:
                    self._meet(state)
                    allowed = self._most - self.floor
        allowed = self._most - self.floor
        return _undominated([state for state in grown if state[3] + further < allowed])

    def _meet(self, state: State) -> None:
        """Keep a choice that is within the room and worth more than the best one known."""
        if state[0] <= self._room[0] and state[2] <= self._room[1] and self._value - state[1] > self.floor:
            self.floor = self._value - state[1]
            self.found = True
            self._best = state[4]


def _undominated(states: list[State]) -> list[State]:
    """Return the states than which none is at most as large in both measures and worth at least as much."""
    states.sort()
    kept = []
    lengths: list[int] = []
    worse: list[int] = []
    for state in states:
        characters, less = state[2], state[1]
        at = bisect_right(lengths, characters)
        if at and worse[at - 1] <= less:
            continue
        kept.append(state)
        start = bisect_left(lengths, characters)
        end = start
        while end < len(worse) and worse[end] >= less:
            end += 1
        lengths[start:end] = [characters]
        worse[start:end] = [less]
    return kept


def ceiling(slots: Sequence[Options], room: Pair, prices: Pair) -> int:
    """Return a value that no choice within *room* exceeds, from any *prices* that are not negative."""
    price, rate = prices
    total = price * room[0] + rate * room[1]
    for options in slots:
        total += max([value - price * units - rate * characters for value, units, characters, _, _ in options])
    return total


def prices(slots: Sequence[Options], room: Pair, floor: int) -> tuple[Pair, list[Option] | None]:
    """Return prices at which what is chosen about fills *room*, and a good choice that is within it, if one was met.

    Units are weighed against characters by halving until both are used up alike, or only one is short. Prices are
    refined no further when they show that no choice is worth more than *floor*.
    """
    low, high = 0, _FINE
    share = _FINE // 2
    best = (0, 0)
    least = ceiling(slots, room, best)
    kept: list[Option] | None = None
    for _ in range(_HALVINGS):
        weights = share // max(1, room[0]), (_FINE - share) // max(1, room[1])
        price, picked, (units, characters) = _fill(slots, room, weights)
        found = price * weights[0], price * weights[1]
        most = ceiling(slots, room, found)
        if most < least:
            least, best = most, found
        if picked is not None and (kept is None or sum(o[0] for o in picked) > sum(o[0] for o in kept)):
            kept = picked
        short, other = units * room[1], characters * room[0]
        if least <= floor or short == other:
            break
        low, high = (share, high) if short > other else (low, share)
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
        picked.append(path[0])
        used, taken = used + path[0][1], taken + path[0][2]
        for k, (before, after) in enumerate(pairwise(path)):
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
            left, units, characters = left - cost, units + more, characters + longer
            if left < 0:
                price = (after[0] - before[0]) // cost
        if picked[number] is before and used + more <= room[0] and taken + longer <= room[1]:
            picked[number] = after
            used, taken = used + more, taken + longer
    fits = used <= room[0] and taken <= room[1]
    return price or 0, picked if fits else None, (units, characters)


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
