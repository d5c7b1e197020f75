"""``Parameters``: every constant of activation, with the values that brim ships."""

from __future__ import annotations

import math

from brim._frozen import Frozen
from brim.errors import InputError


class Parameters(Frozen):
    """The constants of activation. All are numbers of at least 0; ``steps`` and ``inhibition_breadth`` are whole."""

    __slots__ = (
        "always",
        "seed_floor",
        "one_condition",
        "two_conditions",
        "three_conditions",
        "further_condition",
        "base_floor",
        "base_range",
        "never_used",
        "use_factor",
        "use_offset",
        "least_hours",
        "steps",
        "spread",
        "decay",
        "edge_fading",
        "inhibition_breadth",
        "inhibition_strength",
        "sigmoid_gain",
        "sigmoid_center",
        "least",
    )

    always: float
    """The seed of a behavior without conditions."""
    seed_floor: float
    """What a seed starts from before the share of confirmed conditions is added."""
    one_condition: float
    """The seed when the only condition is confirmed: a rule for one thing says more than a rule for everything."""
    two_conditions: float
    three_conditions: float
    further_condition: float
    """What each condition after the third adds, up to 1 in all."""
    base_floor: float
    """The factor of a behavior that was of use long ago and seldom."""
    base_range: float
    """How much of a factor recency and frequency can add to that."""
    never_used: float
    """The base level of a behavior that was never used: neither praise nor blame."""
    use_factor: float
    use_offset: float
    least_hours: float
    """Hours since the last use are at least this many."""
    steps: int
    spread: float
    """The share of its activation that a behavior passes on."""
    decay: float
    """What is left of it at the other end of an edge."""
    edge_fading: float
    """How fast an edge that carries nothing fades, per hour."""
    inhibition_breadth: int
    """How many of the strongest are spared."""
    inhibition_strength: float
    """The share of their distance to the strongest that all others lose."""
    sigmoid_gain: float
    sigmoid_center: float
    least: float
    """Under this an activation is 0."""

    def __init__(
        self,
        *,
        always: float = 0.3,
        seed_floor: float = 0.15,
        one_condition: float = 0.4,
        two_conditions: float = 0.6,
        three_conditions: float = 0.8,
        further_condition: float = 0.1,
        base_floor: float = 0.85,
        base_range: float = 0.3,
        never_used: float = 0.5,
        use_factor: float = 2.0,
        use_offset: float = 1.0,
        least_hours: float = 0.001,
        steps: int = 3,
        spread: float = 0.85,
        decay: float = 0.7,
        edge_fading: float = 0.01,
        inhibition_breadth: int = 7,
        inhibition_strength: float = 0.15,
        sigmoid_gain: float = 10.0,
        sigmoid_center: float = 0.3,
        least: float = 0.05,
    ) -> None:
        self._fill(
            always=_number("always", always),
            seed_floor=_number("seed_floor", seed_floor),
            one_condition=_number("one_condition", one_condition),
            two_conditions=_number("two_conditions", two_conditions),
            three_conditions=_number("three_conditions", three_conditions),
            further_condition=_number("further_condition", further_condition),
            base_floor=_number("base_floor", base_floor),
            base_range=_number("base_range", base_range),
            never_used=_number("never_used", never_used),
            use_factor=_number("use_factor", use_factor),
            use_offset=_number("use_offset", use_offset),
            least_hours=_number("least_hours", least_hours, above=True),
            steps=_whole("steps", steps),
            spread=_number("spread", spread),
            decay=_number("decay", decay),
            edge_fading=_number("edge_fading", edge_fading),
            inhibition_breadth=_whole("inhibition_breadth", inhibition_breadth, least=1),
            inhibition_strength=_number("inhibition_strength", inhibition_strength),
            sigmoid_gain=_number("sigmoid_gain", sigmoid_gain),
            sigmoid_center=_number("sigmoid_center", sigmoid_center),
            least=_number("least", least),
        )


def _number(name: str, value: float, *, above: bool = False) -> float:
    fits = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1e6
    if not fits or not math.isfinite(value) or (above and value == 0):
        raise InputError(
            f"activation: {name} must be a number {'above' if above else 'from'} 0 to 1,000,000, not {value!r}"
        )
    return float(value)


def _whole(name: str, value: int, least: int = 0) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= 1000:
        raise InputError(f"activation: {name} must be a whole number from {least} to 1,000, not {value!r}")
    return value


DEFAULTS = Parameters()
"""What brim ships."""
