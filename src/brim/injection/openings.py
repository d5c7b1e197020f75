"""Which sections to open: a heading is paid once, so the best choice is sought for each set of sections.

There are at most nine sections, so at most 512 sets. Prices give a ceiling of each set in one go; the sets are searched
from the highest ceiling down, until one is not above the best choice known.
"""

from __future__ import annotations

from brim.injection.knapsack import Search
from brim.injection.relaxation import prices

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brim.injection.knapsack import Effort
    from brim.injection.relaxation import Option, Options, Pair

IMPOSSIBLE = -(1 << 400)
"""Less than any choice is worth: what there is when none is within the room."""
_ROUNDS = 4
"""How often prices, and the set of sections that is best at them, are found in turn, at the most."""


class Openings:
    """The slots with all their options, the headings by section, the room, and the best choice known so far.

    The option to omit a slot is its last, as it is the least detailed one.
    """

    def __init__(
        self, slots: Sequence[Options], headings: Mapping[int, Pair], room: Pair, limited: tuple[bool, bool]
    ) -> None:
        self.headings = headings
        self.room = room
        self.limited = limited
        self.value = IMPOSSIBLE
        """What the best choice known is worth."""
        self._best: list[tuple[int, Option]] = []
        self._slots = slots
        self._places = [place for place, options in enumerate(slots) if len(options) > 1 or options[0][3]]
        """Which slots are still in question; the others are omitted in any better choice."""
        self._open = [slots[place] for place in self._places]
        self._rooms = self._possible()
        """The sets of sections that can be opened, each with the room that its headings leave."""

    def solve(self, effort: Effort) -> int:
        """Find the best choice, and return what no choice exceeds: the same value, unless the effort ran out."""
        sets = self._sets()
        most = IMPOSSIBLE
        for ceiling, opened in sets:
            if ceiling <= self.value:
                break
            most = max(most, self._search(opened, effort) if effort.left > 0 else ceiling)
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
            found, picked = prices(self._narrowed(opened), self._rooms[opened], self.limited, self.value)
            if picked is not None:
                self._keep(picked)
            at = self._ceilings(found)
            opened = min(at, key=lambda each: (-at[each], each))
            if not ceilings or at[opened] < max(ceilings.values()):
                ceilings = at
            self._drop_hopeless(at[opened], found)
        order = sorted((-ceiling, opened.bit_count(), opened) for opened, ceiling in ceilings.items())
        return [(-less, opened) for less, _, opened in order]

    def _search(self, opened: int, effort: Effort) -> int:
        """Look for a better choice that stands in *opened* alone; return what none of them exceeds."""
        slots, room = self._narrowed(opened), self._rooms[opened]
        found, picked = prices(slots, room, self.limited, self.value)
        if picked is not None:
            self._keep(picked)
        elif not all(self.limited):
            return IMPOSSIBLE
        search = Search(slots, room, found, self.value, effort)
        if search.found:
            self._keep(search.choice())
        return search.ceiling

    def _keep(self, picked: list[Option]) -> None:
        """Keep a choice of the slots in question, if it is within the room and better than the best one known."""
        value = sum(option[0] for option in picked)
        if value <= self.value:
            return
        units, characters = sum(option[1] for option in picked), sum(option[2] for option in picked)
        for section in {option[3] for option in picked if option[3]}:
            units += self.headings[section][0]
            characters += self.headings[section][1]
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
            reach = 0
            for option in options:
                reach |= option[3]
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
            reach = 0
            for option in options:
                reach |= option[3]
            parts = sums.get(reach)
            if parts is None:
                parts = sums[reach] = dict.fromkeys(_subsets(reach), 0)
            least = 0 if free else IMPOSSIBLE
            for opened in parts:
                parts[opened] += max([least, *[left for left, section in after if section & opened]])
        ceilings = {}
        for opened, (units, characters) in self._rooms.items():
            ceilings[opened] = price * units + rate * characters
            ceilings[opened] += sum(parts[opened & reach] for reach, parts in sums.items())
        return ceilings

    def _drop_hopeless(self, most: int, paid: Pair) -> None:
        """Leave out the options whose price is so far above their value that no better choice has them."""
        price, rate = paid
        lost = self.value - most
        places, slots = [], []
        for place, options in zip(self._places, self._open, strict=True):
            kept = options
            if not options[-1][3]:
                kept = [o for o in options if not o[3] or o[0] - price * o[1] - rate * o[2] > lost]
            if len(kept) > 1 or kept[0][3]:
                places.append(place)
                slots.append(kept)
        self._places, self._open = places, slots


def _subsets(sections: int) -> list[int]:
    """Return every set of some of *sections*."""
    found = []
    subset = sections
    while True:
        found.append(subset)
        if not subset:
            return found
        subset = (subset - 1) & sections
