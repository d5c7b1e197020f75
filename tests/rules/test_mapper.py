"""From activation to tiers; and what a plan refuses to be made of."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.errors import InputError
from brim.rules import (
    ActivationTierMapper,
    BehaviorKind,
    Context,
    Edge,
    Graph,
    InjectionPlan,
    Rule,
    Tier,
    activate,
    render,
)
from brim.tokens import ExactTokenCounter
from tests.rules.making import planned, rule


@pytest.mark.parametrize(
    ("activation", "tier"),
    [(1, 3), (0.7, 3), (0.6999, 2), (0.3, 2), (0.2999, 1), (0.1, 1), (0.0999, 0), (0, 0)],
)
def test_thresholds_are_inclusive(activation: float, tier: int) -> None:
    assert ActivationTierMapper().tier(activation, BehaviorKind.DIRECTIVE) == tier
    assert ActivationTierMapper().tier(activation, BehaviorKind.CONSTRAINT) == max(
        Tier.SUMMARY, tier
    )


@given(
    st.floats(0, 1),
    st.sampled_from(list(BehaviorKind)),
    st.lists(st.floats(0, 1), min_size=3, max_size=3),
)
def test_constraint_is_never_below_summary(
    activation: float, kind: BehaviorKind, marks: list[float]
) -> None:
    name_only, summary, full = sorted(marks)
    tier = ActivationTierMapper(full, summary, name_only).tier(activation, kind)
    if kind is BehaviorKind.CONSTRAINT:
        assert tier >= Tier.SUMMARY


@pytest.mark.parametrize(
    "marks",
    [(0.3, 0.7, 0.1), (1.2, 0.3, 0.1), (0.7, 0.3, -0.1), (float("nan"), 0.3, 0.1), ("x", 0.3, 0.1)],
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
    ],
)
def test_what_cannot_be_planned_is_named(results: Any, how: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        ActivationTierMapper().plan(results, [rule("r")], **how)


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
        "note": "not confirmed yet: at most a summary",
        "old": "it is superseded",
    }


def test_a_plan_prints_itself() -> None:
    plan = planned([(rule("r", "Use uv."), 0.9)], budget=100)
    assert (
        repr(plan) == "InjectionPlan(17 tokens of 100: 1 full, 0 summary, 0 name-only, 0 omitted)"
    )
    assert repr(plan.items[0]) == "Item('r', full, 0.90, 4 tokens: activation 0.90 is at least 0.7)"


def test_constraints_that_silence_each_other_are_told_all_the_same() -> None:
    behaviors = [
        rule("squash", "Never merge without squashing.", kind="constraint"),
        rule("keep", "Never squash a release branch.", kind="constraint"),
        rule("strong", "Ask before merging.", when={"task": "git"}),
    ]
    edges = [
        Edge("squash", "keep", "conflicts"),
        Edge("strong", "squash", "overrides"),
        Edge("strong", "keep", "overrides"),
    ]
    results = activate(Graph(behaviors, edges), Context(task="git"), now=0)
    assert [(result.id, result.value > 0) for result in results] == [
        ("strong", True),
        ("keep", False),
        ("squash", False),
    ]
    plan = ActivationTierMapper().plan(results, behaviors)
    assert {item.id: item.tier for item in plan.items}["keep"] is Tier.SUMMARY
    assert "Never squash a release branch." in render(plan)


def test_a_directive_that_was_silenced_is_not_told_and_the_plan_says_so() -> None:
    behaviors = [rule("old", "Use pip."), rule("new", "Use uv.", when={"language": "python"})]
    edges = [Edge("new", "old", "overrides")]
    results = activate(Graph(behaviors, edges), Context(file="a.py"), now=0)
    plan = ActivationTierMapper().plan(results, behaviors)
    assert [item.id for item in plan.included] == ["new"]
    assert plan.omitted[0].reason == "activation 0.00 is under 0.1"


TEXT = "Install packages with uv, pin what you install, and write down why each one is needed in the project."
FULL, SUMMARY, NAME, OUT = Tier.FULL, Tier.SUMMARY, Tier.NAME_ONLY, Tier.OMITTED


def three() -> list[tuple[Rule, float]]:
    return [
        (
            rule(f"r{n}", f"{TEXT} {n}", summary=f"Install with uv, and pin it ({n})."),
            0.95 - n / 100,
        )
        for n in range(3)
    ]


def tiers(plan: InjectionPlan) -> list[Tier]:
    return [item.tier for item in sorted(plan.items, key=lambda item: item.id)]


def walk(pairs: list[tuple[Rule, float]]) -> list[list[Tier]]:
    """Every state that a shrinking budget leads through."""
    seen: list[list[Tier]] = []
    for budget in range(int(planned(pairs).total_tokens), 0, -1):
        found = tiers(planned(pairs, budget=budget))
        if not seen or seen[-1] != found:
            seen.append(found)
    return seen


def test_lowest_first_takes_each_all_the_way_down_before_the_next() -> None:
    assert walk(three()) == [
        [FULL, FULL, FULL],
        [FULL, FULL, SUMMARY],
        [FULL, FULL, OUT],  # its name alone would need a heading of its own, and save nothing
        [FULL, SUMMARY, OUT],
        [FULL, OUT, OUT],
        [SUMMARY, OUT, OUT],
        [NAME, OUT, OUT],
        [OUT, OUT, OUT],
    ]


def test_ties_are_broken_by_id() -> None:
    pairs = [(behavior, 0.9) for behavior, _ in three()]
    assert walk(pairs)[1] == [SUMMARY, FULL, FULL]


def test_a_tier_that_would_not_be_cheaper_is_skipped() -> None:
    dear = rule(
        "dear",
        "Use uv.",
        summary="Use uv.",
        tags=("python", "packaging", "dependencies", "tooling"),
    )
    other = rule("other", TEXT, summary="Pin.")
    for budget in range(1, 40):
        plan = planned([(dear, 0.75), (other, 0.9)], budget=budget)
        assert {item.id: item.tier for item in plan.items}["dear"] in (FULL, OUT)


def test_a_heading_that_would_come_counts() -> None:
    pairs = [
        (rule("stays"), 0.95),
        (rule("goes", "Run the tests first.", summary="Run the tests."), 0.9),
    ]
    plan = planned(pairs, budget=int(planned(pairs).total_tokens) - 1)
    assert tiers(plan) == [SUMMARY, FULL]  # under the same heading
    plan = planned(pairs, budget=int(plan.total_tokens) - 1)
    # Its name is shorter than the summary, but it would bring a heading with it.
    assert tiers(plan) == [OUT, FULL]


def test_constraints_are_cut_only_when_everything_else_is_gone() -> None:
    low = rule(
        "low", f"Never push to main. {TEXT}", kind="constraint", summary="Never push to main."
    )
    pairs = [(low, 0.71), *three()]
    for budget in range(int(planned(pairs).total_tokens), 0, -1):
        found = {item.id: item.tier for item in planned(pairs, budget=budget).items}
        others = [found[id] for id in ("r0", "r1", "r2")]
        assert found["low"] is FULL or others == [OUT, OUT, OUT]
        assert found["low"] >= SUMMARY
    plan = planned(pairs, budget=3)
    assert plan.over_budget
    assert plan.overflow == plan.total_tokens - 3
    assert "1 constraint, not below summary, takes" in " ".join(plan.reasons)


def test_a_budget_of_nothing_switches_injection_off_constraints_too() -> None:
    plan = planned([(rule("c", kind="constraint"), 0.9), *three()], budget=0)
    assert tiers(plan) == [OUT] * 4
    assert not plan.over_budget
    assert {item.reason for item in plan.items} == {"the budget is 0: injection is off"}
    assert render(plan) == ""


def test_the_smaller_of_two_limits_wins_and_is_named() -> None:
    by_chars = planned(three(), budget=10_000, max_chars=200)
    assert len(render(by_chars)) <= 200
    assert "200 characters (max_chars), the smaller limit" in by_chars.reasons[0]
    by_tokens = planned(three(), budget=30, max_chars=10_000)
    assert by_tokens.total_tokens <= 30
    assert "30 tokens, the smaller limit" in by_tokens.reasons[0]


def test_demotion_counts_each_line_once() -> None:
    counted: list[str] = []

    class Counting(ExactTokenCounter):
        def units(self, text: str) -> int:
            counted.append(text)
            return super().units(text)

    many = [
        (rule(f"r{n}", f"Rule {n}: {TEXT}", summary=f"Rule {n}."), 0.7 + n / 10_000)
        for n in range(1_000)
    ]
    assert planned(many, budget=50, counter=Counting()).total_tokens <= 50
    assert len(counted) == len(set(counted)) <= 3 * len(many) + 10


def test_fill_promotes_the_highest_into_what_is_left() -> None:
    pairs = [(behavior, value - 0.5) for behavior, value in three()]
    assert tiers(planned(pairs, budget=200)) == [SUMMARY] * 3
    full = planned(pairs, budget=200, fill=True)
    assert tiers(full) == [FULL] * 3
    assert full.total_tokens <= 200
    some = planned(pairs, budget=75, fill=True)
    assert tiers(some)[0] is FULL
    assert some.total_tokens <= 75
    assert "promoted into spare budget" in some.items[0].reason


def test_whole_tells_each_in_full_or_not_at_all() -> None:
    never = rule(
        "never", f"Never push to main. {TEXT}", kind="constraint", summary="Never push to main."
    )
    pairs = [(never, 0.2), *three(), (rule("low", TEXT), 0.06)]
    plan = planned(pairs, whole=True)
    assert tiers(plan) == [FULL] * 5
    for budget in range(int(plan.total_tokens), 20, -7):
        found = {item.id: item.tier for item in planned(pairs, whole=True, budget=budget).items}
        assert set(found.values()) <= {FULL, OUT} or [found[f"r{n}"] for n in range(3)] == [OUT] * 3
        assert found["never"] >= SUMMARY


def test_a_project_cannot_crowd_out_the_users_own_constraints() -> None:
    mine = rule("mine", "Never push to main.", kind="constraint")
    theirs = [
        rule(f"t{n}", f"Never do thing number {n} here.", kind="constraint", scope="project")
        for n in range(30)
    ]
    pairs = [(mine, 0.2), *((behavior, 0.9) for behavior in theirs)]
    plan = planned(pairs, budget=60)
    assert plan.total_tokens <= 60
    assert not plan.over_budget
    assert {item.id: item.tier for item in plan.items}["mine"] is SUMMARY
    assert plan.reasons[-1] == "the project's constraints gave way to your own"
    alone = planned(pairs[1:], budget=60)
    assert (
        alone.over_budget
    )  # where there are none of the user's, the project's are protected as ever
    assert planned(pairs[:1], budget=3).over_budget


@pytest.mark.parametrize("fill", [False, True])
@pytest.mark.parametrize("budget", [None, 1_000])
def test_where_everything_fits_nothing_is_cut_not_even_what_is_worth_nothing(
    fill: bool, budget: int | None
) -> None:
    pairs = [
        (
            rule("never", f"Never push to main. {TEXT}", kind="constraint", summary="Never push."),
            0.0,
        ),
        *three(),
    ]
    plan = planned(pairs, budget=budget, whole=True, fill=fill)
    assert tiers(plan) == [FULL] * 4
    assert plan.reasons == ()
