from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from brim.behaviors.behavior import Behavior
from brim.behaviors.feedback import confirmed, overridden
from brim.behaviors.kinds import BehaviorKind

RULE = Behavior(id="a", name="a", kind="directive", canonical="Use uv")


def test_confirmation_raises_confidence_and_counts_as_a_use() -> None:
    after = confirmed(RULE, 5.0)
    assert after.confidence > RULE.confidence
    assert (after.usage.confirmed, after.usage.last_used, after.updated_at) == (1, 5.0, 5.0)


def test_override_lowers_confidence_and_is_no_use() -> None:
    after = overridden(RULE, 5.0)
    assert after.confidence < RULE.confidence
    assert (after.usage.overridden, after.usage.last_used, after.updated_at) == (1, None, 5.0)


def test_agent_never_lowers_a_constraint() -> None:
    constraint = RULE.changed(kind=BehaviorKind.CONSTRAINT)
    assert overridden(constraint, 5.0, by_agent=True) == constraint
    assert overridden(constraint, 5.0).confidence < constraint.confidence
    assert overridden(RULE, 5.0, by_agent=True).confidence < RULE.confidence


@given(st.lists(st.booleans(), max_size=60), st.floats(0, 1))
def test_confidence_stays_between_0_and_1(said: list[bool], start: float) -> None:
    behavior = RULE.changed(confidence=start)
    for now, right in enumerate(said):
        behavior = confirmed(behavior, float(now)) if right else overridden(behavior, float(now))
        assert 0 <= behavior.confidence <= 1


def test_clock_that_goes_back_does_not_undo_a_use() -> None:
    assert confirmed(confirmed(RULE, 9.0), 5.0).usage.last_used == 9.0
