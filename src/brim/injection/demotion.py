"""Who gives way when it is too much: the two strategies that demote step by step.

Both go by activation, lowest first, ties by id; both skip a tier at which the whole text would not get smaller; both
touch constraints only when everything else is gone, and then cut them to a summary and no further.
"""

from __future__ import annotations

from brim.injection.tiers import Tier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from brim.injection.arrangement import Arrangement, Slot

    Steps = Iterator[Slot]


def lowest_first(arrangement: Arrangement) -> Steps:
    """Demote the lowest behavior one tier, recount, repeat: each goes all the way down before the next one gives way.

    Yields after each demotion; the caller stops when it fits.
    """
    for slot in _in_order(arrangement, protected=False):
        while arrangement.demote(slot):
            yield slot
    yield from _constraints(arrangement)


def level(arrangement: Arrangement) -> Steps:
    """Demote every behavior one tier, lowest first; then every one by another tier, until nothing is left."""
    falling = _in_order(arrangement, protected=False)
    while falling:
        lasting = []
        for slot in falling:
            if arrangement.demote(slot):
                yield slot
                if slot.tier is not Tier.OMITTED:
                    lasting.append(slot)
        falling = lasting
    yield from _constraints(arrangement)


def _constraints(arrangement: Arrangement) -> Steps:
    for slot in _in_order(arrangement, protected=True):
        if arrangement.demote(slot):
            yield slot


def _in_order(arrangement: Arrangement, *, protected: bool) -> list[Slot]:
    slots = [slot for slot in arrangement.slots if slot.protected is protected and slot.tier is not Tier.OMITTED]
    return sorted(slots, key=lambda slot: (slot.activation, slot.id))
