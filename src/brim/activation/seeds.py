"""The seed of a behavior: how much the context alone speaks for it, before anything spreads."""

from __future__ import annotations

from math import exp, sqrt

from brim._light import namedtuple
from brim.behaviors.when import PATTERNS, When

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NamedTuple

    from brim.activation.parameters import Parameters
    from brim.activation.source import Node
    from brim.behaviors.when import Match

    class Seed(NamedTuple):
        """What the context says of one behavior."""

        value: float
        """Where spreading starts; 0 if it is reachable by edges only, or out."""
        confirmed: tuple[str, ...]
        contradicted: tuple[str, ...]
        """One of these, and the behavior is out: it neither gets nor gives."""
        absent: tuple[str, ...]
        words: tuple[str, ...]
        """The stems that prompt or command share with it, in order."""
        unweighted: float
        """The seed before recency and frequency."""
        base_level: float
        factor: float
else:
    Seed = namedtuple(
        "Seed", ("value", "confirmed", "contradicted", "absent", "words", "unweighted", "base_level", "factor")
    )

SECONDS = 3600


def seed_of(
    node: Node,
    facts: Mapping[str, tuple[str, ...]],
    words: frozenset[str],
    now: float,
    parameters: Parameters,
    *,
    match: Match | None = None,
) -> Seed:
    """Return how much *facts* and *words* speak for *node*, and why.

    Without conditions it is a fixed value. Else it grows with the share of conditions that are confirmed, and with how
    many there are: a rule that asks for much and gets it is the more likely one. Shared words are one more confirmed
    condition. If nothing is confirmed there is no seed. *match* is how *facts* meet its conditions, if that is known.
    """
    confirmed, contradicted, absent = node.when.match(facts) if match is None else match
    shared = tuple(sorted(common)) if words and (common := node.words & words) else ()
    unweighted = 0.0
    hits = len(confirmed) + bool(shared)
    total = hits + len(absent)
    if contradicted:
        pass
    elif not total:
        unweighted = parameters.always
    elif hits:
        ceiling = ceiling_for(total, parameters)
        unweighted = parameters.seed_floor + (hits / total) * (ceiling - parameters.seed_floor)
    level = base_level(node.uses, node.last_used, now, parameters)
    factor = parameters.base_floor + parameters.base_range * level
    # A ``Seed`` as its fields in order: a hook makes hundreds.
    fields = (unweighted * factor, confirmed, contradicted, absent, shared, unweighted, level, factor)
    return tuple.__new__(Seed, fields)


def ceiling_for(conditions: int, parameters: Parameters) -> float:
    """Return the seed of a behavior all of whose so many conditions are confirmed."""
    first = (parameters.one_condition, parameters.two_conditions, parameters.three_conditions)
    if conditions <= 3:
        return first[conditions - 1]
    return max(first[2], min(1.0, first[2] + parameters.further_condition * (conditions - 3)))


def base_level(uses: int, last_used: float | None, now: float, parameters: Parameters) -> float:
    """Return what recency and frequency make of a behavior, from 0 to 1.

    This is ``1 / (1 + e^-(ln(2n / sqrt(h)) + 1))`` for *n* uses and *h* hours since the last, written without the
    logarithm, which has no value for 0 uses.
    """
    if last_used is None:
        return parameters.never_used
    hours = max(parameters.least_hours, (now - last_used) / SECONDS)
    odds = parameters.use_factor * uses / sqrt(hours) * exp(parameters.use_offset)
    return odds / (1 + odds)


def confirming(when: When, key: str, facts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return which of several facts meet the condition *key*."""
    known = facts.get(key, ())
    if len(known) == 1:
        return known
    wanted = dict(when.conditions)[key]
    if key not in PATTERNS:
        folded = {value.casefold() for value in wanted}
        return tuple(fact for fact in known if fact.casefold() in folded)
    alone = When(conditions=((key, wanted),))
    return tuple(fact for fact in known if alone.match({key: (fact,)}).confirmed)
