"""Stand-ins for tests of plans: costs that are given instead of counted, and arrangements made by chance."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from brim.behaviors.behavior import Behavior, BehaviorKind, Status
from brim.injection.arrangement import Arrangement, Limits, Slot
from brim.injection.tiers import Section, Tier
from brim.tokens.count import Count


class GivenCosts:
    """Costs by ``(id, tier)`` and by section, in units that are tokens."""

    format = "markdown"
    counter = "given"
    additive = True

    def __init__(
        self,
        items: dict[tuple[str, Tier], tuple[int, int]],
        headings: dict[Section, tuple[int, int]],
        around: tuple[int, int] = (0, 0),
    ) -> None:
        self.around = around
        self.items = items
        self.headings = headings

    def item(self, behavior: Behavior, tier: Tier, /) -> tuple[int, int]:
        return self.items[behavior.id, tier]

    def heading(self, section: Section, /) -> tuple[int, int]:
        return self.headings[section]

    def frame(self, left: int, /, *, only_notes: bool = False) -> tuple[int, int]:
        return self.around

    def count(self, units: int, /) -> Count:
        return Count(units)

    def recount(self, text: str, /) -> Count:
        raise NotImplementedError


TIERS = (Tier.FULL, Tier.SUMMARY, Tier.NAME_ONLY, Tier.OMITTED)
KINDS = tuple(BehaviorKind)


def behavior(id: str, kind: BehaviorKind = BehaviorKind.DIRECTIVE, status: Status = Status.ACTIVE) -> Behavior:
    return Behavior(id=id, name=id, kind=kind, canonical=f"Text of {id}.", status=status)


def slot(behavior: Behavior, activation: float, allowed: Sequence[Tier] | None = None) -> Slot:
    """Return a slot with every tier that the kind of *behavior* may have, unless *allowed* says otherwise."""
    protected = behavior.kind is BehaviorKind.CONSTRAINT and behavior.status is Status.ACTIVE
    if allowed is None:
        allowed = TIERS[:2] if protected else TIERS[1:] if behavior.status is Status.PENDING else TIERS
    return Slot(behavior, activation, allowed, protected=protected, reason="")


def random_arrangement(random: Random, most: int = 6) -> Arrangement:
    """Return a few behaviors of all kinds at costs made by chance, mostly falling by tier, under limits that pinch."""
    slots = []
    items = {}
    for number in range(random.randint(1, most)):
        status = Status.PENDING if random.random() < 0.15 else Status.ACTIVE
        one = behavior(f"b{number}", random.choice(KINDS), status)
        made = slot(one, random.choice((0.0, 0.3, 0.5, round(random.random(), 2), random.random())))
        if random.random() < 0.3:
            made = slot(one, made.activation, made.allowed[random.randrange(len(made.allowed)) :])
        elif random.random() < 0.1:
            made = slot(one, made.activation, made.allowed[: random.randint(1, len(made.allowed))])
        slots.append(made)
        size = random.choice((3, 10, 40))
        for tier in TIERS[:3]:
            units = max(0, size * tier.value // 2 + random.randint(-3, 6))
            items[one.id, tier] = units, max(0, units * random.randint(2, 6) + random.randint(-4, 4))
    headings = {section: (random.randint(0, 8), random.randint(0, 30)) for section in Section}
    costs = GivenCosts(items, headings, (random.randint(0, 4), random.randint(0, 20)))
    everything = Arrangement(slots, costs, Limits(None, None))
    tokens = None if random.random() < 0.15 else int(everything.units * random.uniform(0.0, 1.1))
    characters = None if random.random() < 0.5 else int(everything.characters * random.uniform(0.0, 1.1))
    return Arrangement(slots, costs, Limits(tokens, characters))
