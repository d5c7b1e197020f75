"""The strategy that keeps the most: the highest sum of activation times fidelity that fits.

It is a knapsack in which each behavior takes one of its tiers and each heading is paid once. The answer is proven: what
comes back with it is a value that no legal choice exceeds, and on all but strange inputs that is the value itself.
"""

from __future__ import annotations

from math import frexp, ldexp

from brim.injection.demotion import level, lowest_first
from brim.injection.knapsack import Effort
from brim.injection.openings import IMPOSSIBLE, Openings
from brim.injection.sections import Section, section_of
from brim.injection.tiers import FIDELITY, Tier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from brim.injection.arrangement import Arrangement, Slot
    from brim.injection.relaxation import Option, Options, Pair

EFFORT = 300_000
"""Partial choices that are looked at before the proof is given up: a second or so."""
_MOST_BITS = 120
"""Values become whole numbers of at most so many bits: only what is a trillion trillionth of another is rounded."""


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
    headings = _headings(arrangement, menu)
    most = -IMPOSSIBLE
    for limited in _relaxations(arrangement):
        openings = _openings(arrangement, menu, headings, limited)
        most = min(most, openings.solve(Effort(effort)))
        choice = openings.choice()
        if choice is not None:
            _place(arrangement, slots, choice)
        if arrangement.fits() or most == IMPOSSIBLE:
            break
    if most == IMPOSSIBLE:
        _cut_all(arrangement, start)
    elif not (arrangement.fits() and openings.value == most):
        _take_best(arrangement, start)
    return max(arrangement.value(), _as_float(most, shift)) if arrangement.fits() else arrangement.value()


def _relaxations(arrangement: Arrangement) -> list[tuple[bool, bool]]:
    """Return which limits to heed: where there are two, each alone first, since one is mostly the narrower by far."""
    if arrangement.room is None:
        return [(False, True)]
    if arrangement.limits.characters is None:
        return [(True, False)]
    return [(True, False), (False, True), (True, True)]


def _openings(
    arrangement: Arrangement, menu: Sequence[Options], headings: dict[int, Pair], limited: tuple[bool, bool]
) -> Openings:
    """Return the problem with the limits in *limited*; what is not limited costs nothing."""
    units, characters = limited
    room = arrangement.room or 0, arrangement.limits.characters or 0
    if not all(limited):
        menu = [[(o[0], o[1] * units, o[2] * characters, o[3], o[4]) for o in options] for options in menu]
        headings = {section: (cost[0] * units, cost[1] * characters) for section, cost in headings.items()}
        room = room[0] * units, room[1] * characters
    return Openings(menu, headings, room, limited)


def _take_best(arrangement: Arrangement, start: Sequence[Tier]) -> None:
    """Leave the best of what was found and of what the other strategies make; if nothing fits, all that can be cut."""
    found = []
    if arrangement.fits():
        found.append(_merit(arrangement))
    for strategy in (lowest_first, level):
        arrangement.restore(start)
        steps = strategy(arrangement)
        while not arrangement.fits() and next(steps, None) is not None:
            pass
        if arrangement.fits():
            found.append(_merit(arrangement))
    if found:
        arrangement.restore(max(found)[-1])
    else:
        _cut_all(arrangement, start)


def _cut_all(arrangement: Arrangement, start: Sequence[Tier]) -> None:
    arrangement.restore(start)
    for _ in lowest_first(arrangement):
        pass


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
        if tier is Tier.OMITTED:
            options.append((value, 0, 0, 0, 0))
        else:
            units, characters = arrangement.costs.item(slot.behavior, tier)
            options.append((value, units, characters, 1 << section_of(kind, status, tier), tier.value))
    return options


def _headings(arrangement: Arrangement, menu: Sequence[Options]) -> dict[int, Pair]:
    """Return what each section costs once, of those that something can stand in."""
    reached = 0
    for options in menu:
        for option in options:
            reached |= option[3]
    return {1 << section: arrangement.costs.heading(section) for section in Section if reached >> section & 1}


def _place(arrangement: Arrangement, slots: Sequence[Slot], choice: Sequence[Option]) -> None:
    for slot, option in zip(slots, choice, strict=True):
        if slot.tier != option[4]:
            arrangement.move(slot, Tier(option[4]))


def _as_float(value: int, shift: int) -> float:
    return value / (1 << shift) if shift >= 0 else float(value << -shift)
