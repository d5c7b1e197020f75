"""``activate``: what matters now, and how much.

Seeds from the context, three steps of spreading, inhibition, and a curve that parts what matters from what does not.
"""

from __future__ import annotations

from brim._light import namedtuple
from brim.activation.parameters import DEFAULTS
from brim.activation.seeds import confirming
from brim.activation.spread import Course, Neighbourhood, squashed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import NamedTuple

    from brim.activation.context import Context
    from brim.activation.parameters import Parameters
    from brim.activation.source import Source
    from brim.behaviors.when import Condition

    class Activation(NamedTuple):
        """How much one behavior matters now, from 0 to 1, and why."""

        id: str
        value: float
        reasons: tuple[str, ...]
else:
    Activation = namedtuple("Activation", ("id", "value", "reasons"))


def activate(
    source: Source,
    context: Context,
    *,
    now: float | datetime,
    parameters: Parameters = DEFAULTS,
    reasons: bool = True,
) -> list[Activation]:
    """Return every behavior of *source* that matters in *context*, highest first, then by id.

    One that the context speaks for and others took everything from comes with a value of 0: a constraint is told even
    then. *now* is in seconds since 1970, or a time with its zone. The same graph, context and time give the same
    numbers, to the last bit. Who does not look at the *reasons* need not wait for them.
    """
    course = Course(Neighbourhood(source, context, now, parameters))
    values = {
        **dict.fromkeys(course.around.seeds, 0.0),
        **{id: squashed(raw, parameters) for id, raw in course.raw.items()},
    }
    ranked = sorted((-value, id) for id, value in values.items() if value > 0 or id in course.around.seeds)
    told: dict[Condition, str] = {}
    # Each as its fields in order: a hook makes hundreds.
    return [
        tuple.__new__(Activation, (id, -value, _reasons(course, id, context, told) if reasons else ()))
        for value, id in ranked
    ]


def _reasons(course: Course, id: str, context: Context, told: dict[Condition, str]) -> tuple[str, ...]:
    """Say in a few words what the value of *id* rests on: conditions, words, the strongest edge, what was lost."""
    reasons = []
    seed = course.around.seeds.get(id)
    if seed is not None:
        when = course.around.nodes[id].when
        for condition in when.conditions:
            if condition[0] in seed.confirmed:
                if condition not in told:
                    told[condition] = f"{condition[0]} {confirming(when, condition[0], context.facts)[0]}"
                reasons.append(told[condition])
        if seed.words:
            reasons.append(f"words {', '.join(seed.words)}")
        if not reasons:
            reasons.append("always")
    if id in course.origins:
        kind, giver = course.origins[id]
        reasons.append(f"{kind} {giver}")
    if id in course.losses:
        reasons.append(f"weakened by {course.losses[id]:.2f}")
    return tuple(reasons)
