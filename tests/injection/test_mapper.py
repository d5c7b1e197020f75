"""From activation to tiers; and what a plan refuses to be made of."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.behaviors import BehaviorKind
from brim.errors import InputError
from brim.injection import ActivationTierMapper, Tier
from tests.injection.making import planned, rule


@pytest.mark.parametrize(
    ("activation", "tier"),
    [(1, 3), (0.7, 3), (0.6999, 2), (0.3, 2), (0.2999, 1), (0.1, 1), (0.0999, 0), (0, 0)],
)
def test_thresholds_are_inclusive(activation: float, tier: int) -> None:
    assert ActivationTierMapper().tier(activation, BehaviorKind.DIRECTIVE) == tier
    assert ActivationTierMapper().tier(activation, BehaviorKind.CONSTRAINT) == max(Tier.SUMMARY, tier)


@given(st.floats(0, 1), st.sampled_from(list(BehaviorKind)), st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_constraint_is_never_below_summary(activation: float, kind: BehaviorKind, marks: list[float]) -> None:
    name_only, summary, full = sorted(marks)
    tier = ActivationTierMapper(full, summary, name_only).tier(activation, kind)
    if kind is BehaviorKind.CONSTRAINT:
        assert tier >= Tier.SUMMARY


@pytest.mark.parametrize(
    "marks", [(0.3, 0.7, 0.1), (1.2, 0.3, 0.1), (0.7, 0.3, -0.1), (float("nan"), 0.3, 0.1), ("x", 0.3, 0.1)]
)
def test_thresholds_out_of_order_are_refused(marks: Any) -> None:
    with pytest.raises(InputError, match="name_only <= summary <= full"):
        ActivationTierMapper(*marks)


@pytest.mark.parametrize(
    ("results", "how", "says"),
    [
        ([("gone", 0.5)], {}, "no behavior is given for 'gone'"),
        ([("r", 1.5)], {}, "from 0 to 1"),
        ([("r", float("nan"))], {}, "from 0 to 1"),
        ([("r", "high")], {}, "from 0 to 1"),
        ([("r", 0.5)], {"budget": -1}, "budget must be a whole number"),
        ([("r", 0.5)], {"budget": 1.5}, "budget must be a whole number"),
        ([("r", 0.5)], {"max_chars": -1}, "max_chars must be"),
        ([("r", 0.5)], {"format": "html"}, "unknown format"),
    ],
)
def test_what_cannot_be_planned_is_named(results: Any, how: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        ActivationTierMapper().plan(results, [rule("r")], **how)


def test_an_unknown_strategy_is_named() -> None:
    with pytest.raises(InputError, match="lowest-first, level, optimal"):
        ActivationTierMapper(strategy="random")


def test_a_plan_takes_any_pairs_and_each_behavior_once() -> None:
    plan = ActivationTierMapper().plan([("r", 0.2), ["r", 0.9], ("r", 0)], {"r": rule("r")})
    assert [(item.id, item.tier) for item in plan.items] == [("r", Tier.FULL)]


def test_nothing_activated_is_an_empty_plan() -> None:
    plan = ActivationTierMapper().plan([], [], budget=500)
    assert (plan.items, plan.total_tokens, plan.over_budget) == ((), 0, False)


def test_every_item_says_why() -> None:
    pairs = [
        (rule("full"), 0.82),
        (rule("low"), 0.05),
        (rule("never", "Never push.", kind="constraint"), 0.02),
        (rule("note", status="pending"), 0.9),
        (rule("old", status="superseded"), 0.9),
    ]
    assert {item.id: item.reason for item in planned(pairs).items} == {
        "full": "activation 0.82 is at least 0.7",
        "low": "activation 0.05 is under 0.1",
        "never": "activation 0.02; a constraint is never below summary",
        "note": "nobody confirmed it yet: at most a summary",
        "old": "it is superseded",
    }


def test_a_plan_prints_itself() -> None:
    plan = planned([(rule("r", "Use uv."), 0.9)], budget=100)
    assert repr(plan) == "InjectionPlan(8 tokens of 100: 1 full, 0 summary, 0 name-only, 0 omitted)"
    assert repr(plan.items[0]) == "Item('r', full, 0.90, 4 tokens: activation 0.90 is at least 0.7)"
