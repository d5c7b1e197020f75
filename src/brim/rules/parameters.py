"""The constants of activation, with the values that brim ships."""

from __future__ import annotations

from dataclasses import dataclass

from brim.errors import InputError
from brim.record import PlainData


@dataclass(frozen=True)
class Parameters(PlainData):
    """The constants of activation: numbers from 0; ``steps`` and ``inhibition_breadth`` are
    whole."""

    always: float = 0.3
    """Seed of a behavior without conditions."""
    seed_floor: float = 0.15
    """What a seed starts from, before the share of confirmed conditions is added."""
    one_condition: float = 0.4
    """Seed when the only condition is confirmed: a rule for one thing says more than a rule for
    everything."""
    two_conditions: float = 0.6
    three_conditions: float = 0.8
    further_condition: float = 0.1
    """What each condition after the third adds, up to 1 in all."""
    base_floor: float = 0.85
    """Factor of a behavior that was used long ago and seldom."""
    base_range: float = 0.3
    """How much recent and frequent use can add to that factor."""
    never_used: float = 0.5
    """Base level of a behavior that was never used: neither good nor bad."""
    use_factor: float = 2.0
    use_offset: float = 1.0
    least_hours: float = 0.001
    """Lower bound for the hours since the last use; above 0."""
    steps: int = 3
    """How many edges activation travels along."""
    spread: float = 0.85
    """Share of its activation that a behavior passes on."""
    decay: float = 0.7
    """What is left of it at the other end of an edge."""
    edge_fading: float = 0.01
    """How fast an edge that carries nothing fades, per hour."""
    inhibition_breadth: int = 7
    """How many of the strongest are spared."""
    inhibition_strength: float = 0.15
    """Share of their distance to the strongest that all others lose."""
    sigmoid_gain: float = 10.0
    sigmoid_center: float = 0.3
    least: float = 0.05
    """An activation below this is 0."""

    def __post_init__(self) -> None:
        for name in self.__match_args__:
            value = getattr(self, name)
            if name in ("steps", "inhibition_breadth"):
                least = 0 if name == "steps" else 1
                if type(value) is not int or not least <= value <= 1000:
                    raise InputError(
                        f"activation: {name} must be a whole number from {least} to 1,000, not {value!r}"
                    )
                continue
            start = "above" if name == "least_hours" else "from"
            if (
                type(value) not in (int, float)
                or not 0 <= value <= 1e6
                or (start == "above" and value == 0)
            ):
                raise InputError(
                    f"activation: {name} must be a number {start} 0 to 1,000,000, not {value!r}"
                )
            self.__dict__[name] = float(value)


DEFAULTS = Parameters()
