"""What feedback does to a behavior.

A confirmation closes a fifth of the distance of its confidence to 1, an override takes a quarter of it away. So neither
ever reaches its end, and one of each leaves a behavior a little weaker. The same counts are what activation goes by.
"""

from __future__ import annotations

from brim.behaviors.kinds import BehaviorKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.behaviors.behavior import Behavior

GAIN = 0.2
"""Share of the distance to 1 that a confirmation closes."""
LOSS = 0.25
"""Share of the confidence that an override takes."""


def confirmed(behavior: Behavior, now: float) -> Behavior:
    """Return *behavior* after somebody said at the time *now* that it was right."""
    usage = behavior.usage
    return behavior.changed(
        confidence=behavior.confidence + GAIN * (1 - behavior.confidence),
        usage=usage.changed(confirmed=usage.confirmed + 1, last_used=max(now, usage.last_used or now)),
        updated_at=now,
    )


def overridden(behavior: Behavior, now: float, by_agent: bool = False) -> Behavior:
    """Return *behavior* after somebody did otherwise on purpose; an agent's word never lowers a constraint."""
    if by_agent and behavior.kind is BehaviorKind.CONSTRAINT:
        return behavior
    usage = behavior.usage
    return behavior.changed(
        confidence=behavior.confidence * (1 - LOSS),
        usage=usage.changed(overridden=usage.overridden + 1),
        updated_at=now,
    )
