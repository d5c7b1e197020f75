"""The best choice of one option per slot within two limits: exact, or with a ceiling that says how far off it can be.

At given prices every slot has a favourite. Choosing anything else loses something, and whoever loses more than the
distance between the ceiling and the best choice known cannot be part of a better one. So only the slots that nearly do
not care are searched, those that care least first, until the next one cares too much.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from brim.injection.relaxation import Option, Options, Pair

    State = tuple[int, int, int, int, int]
    """Units, less value, characters (all against the favourites), the loss, and where its steps are noted."""
    Other = tuple[int, int, int, int, Option]
    """Loss, units, less value and characters against the favourite, and the option."""
    Core = Sequence[tuple[int, int, list[Other]]]
    """The least loss of a slot, its number, and its other options."""
    Rates = tuple[int, int, int, int]
    """What is lost at least to free a unit, to use one, to free a character, to use one."""

_NEVER = 1 << 400
"""More than any loss."""


class Effort:
    """How many partial choices may still be looked at: a limit that does not depend on the machine's speed."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left


class Search:
    """The search among slots at fixed prices, for a choice that is worth more than *floor*."""

    def __init__(self, slots: Sequence[Options], room: Pair, prices: Pair, floor: int, effort: Effort) -> None:
        self.prices = prices
        self.effort = effort
        self.floor = floor
        """What the best choice known is worth."""
        self.found = False
        """Whether it was found here."""
        self._favourites = [_favourite(options, prices) for options in slots]
        self._value = sum(option[0] for option in self._favourites)
        self._room = (
            room[0] - sum(option[1] for option in self._favourites),
            room[1] - sum(option[2] for option in self._favourites),
        )
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
        rates = self._rates(core)
        states = [start]
        for place, (least, number, others) in enumerate(core):
            if least >= self._most - self.floor:
                return self.floor
            if self.effort.left <= 0:
                rest = self._rest(rates[place], least)
                return max([self.floor, *(self._most - state[3] - rest(state) for state in states)])
            self.effort.left -= len(states) * len(others)
            further = core[place + 1][0] if place + 1 < len(core) else _NEVER
            states = self._step(states, number, others, rates[place + 1], further)
            if not states:
                return self.floor
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

    def _rates(self, core: Core) -> list[Rates]:
        """Return the rates for each place in the core: the lowest from there to its end."""
        rates = [(_NEVER, _NEVER, _NEVER, _NEVER)]
        for _, _, others in reversed(core):
            free, use, shorten, lengthen = rates[-1]
            for loss, more, _, longer, _ in others:
                if more < 0:
                    free = min(free, loss // -more)
                elif more:
                    use = min(use, loss // more)
                if longer < 0:
                    shorten = min(shorten, loss // -longer)
                elif longer:
                    lengthen = min(lengthen, loss // longer)
            rates.append((free, use, shorten, lengthen))
        rates.reverse()
        return rates

    def _step(
        self,
        states: list[State],
        number: int,
        others: list[Other],
        rates: Rates,
        further: int,
    ) -> list[State]:
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
        rest = self._rest(rates, further)
        return _undominated([state for state in grown if state[3] + rest(state) < allowed])

    def _rest(self, rates: Rates, further: int) -> Callable[[State], int]:
        """Return how to find what a state loses at least by whatever comes after it, or by what stays unused."""
        free, use, shorten, lengthen = rates
        spare, space = self._room
        idle, empty = min(use, self.prices[0]), min(lengthen, self.prices[1])

        def least(state: State) -> int:
            units, characters = spare - state[0], space - state[2]
            of_units = idle * units if units >= 0 else free * -units
            of_characters = empty * characters if characters >= 0 else shorten * -characters
            return max(further, of_units, of_characters)

        return least

    def _meet(self, state: State) -> None:
        """Keep a choice that is within the room and worth more than the best one known."""
        if state[0] <= self._room[0] and state[2] <= self._room[1] and self._value - state[1] > self.floor:
            self.floor = self._value - state[1]
            self.found = True
            self._best = state[4]


def _favourite(options: Options, prices: Pair) -> Option:
    """Return the option that is worth most after paying, of equals the one that takes less."""
    price, rate = prices
    return min(options, key=lambda o: (price * o[1] + rate * o[2] - o[0], o[1], o[2], o[4]))


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
