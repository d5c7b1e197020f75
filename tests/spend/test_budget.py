"""A budget warns once, asks once, and does what it is told."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.errors import InputError
from brim.notices import Notice
from brim.spend import CostBudget, CostLimit, CostWarning, InputRequested, Raise


def kinds(notices: list[Notice]) -> list[str]:
    return [notice.kind for notice in notices]


def test_it_warns_at_80_per_cent_and_asks_when_only_the_wrap_up_is_left() -> None:
    budget = CostBudget(limit=5_000_000)
    assert budget.add(3_999_999) == []
    assert budget.add(1) == [CostWarning(4_000_000, 5_000_000)]
    assert budget.add(749_999) == []
    assert budget.add(1) == [
        CostLimit(4_750_000, 5_000_000, held=250_000),
        InputRequested(4_750_000, 5_000_000),
    ]
    assert budget.add(100) == []
    assert not budget.may_spend


def test_a_sum_that_jumps_over_both_marks_asks_and_does_not_warn() -> None:
    budget = CostBudget(100)
    assert kinds(budget.add(100)) == ["COST_LIMIT", "INPUT_REQUESTED"]
    assert budget.add(100) == []


def test_without_a_limit_nothing_is_ever_told() -> None:
    budget = CostBudget(None)
    assert budget.add(10**14) == []
    assert budget.may_spend
    assert (budget.left, budget.overshoot) == (None, 0)


def test_at_a_limit_of_0_nothing_may_be_spent() -> None:
    budget = CostBudget(0)
    assert not budget.may_spend
    assert budget.add(0) == []
    assert kinds(budget.add(1)) == ["COST_LIMIT", "INPUT_REQUESTED"]
    budget.answer(Raise(100))
    assert budget.may_spend


def test_a_raised_limit_warns_and_asks_anew() -> None:
    budget = CostBudget(1_000_000)
    budget.add(1_000_000)
    budget.answer(Raise(2_000_000))
    assert budget.add(599_999) == []
    assert kinds(budget.add(1)) == ["COST_WARNING"]
    assert kinds(budget.add(400_000)) == ["COST_LIMIT", "INPUT_REQUESTED"]


def test_who_has_just_answered_is_not_warned_of_what_they_know() -> None:
    budget = CostBudget(1_000_000)
    budget.add(960_000)
    budget.answer("continue")
    assert budget.limit == 1_100_000
    assert budget.add(10_000) == []
    assert kinds(budget.add(80_000)) == ["COST_LIMIT", "INPUT_REQUESTED"]


def test_the_wrap_up_is_paid_from_what_was_held_back_and_then_it_is_over() -> None:
    budget = CostBudget(5_000_000)
    budget.add(4_750_000)
    assert budget.left == 0
    budget.answer("wrap_up")
    assert (budget.left, budget.may_spend) == (250_000, True)
    assert budget.add(250_000) == []
    assert (budget.state, budget.may_spend, budget.overshoot) == ("stopped", False, 0)


@pytest.mark.parametrize("told", ["project", "agent"])
def test_the_wrap_up_is_paid_when_agent_and_project_ran_out_together(told: str) -> None:
    project = CostBudget(1_000_000, scope="shop")
    agent = CostBudget(1_000_000, scope="shop/a", parent=project)
    assert len(agent.add(960_000)) == 4
    assert (agent.left, project.left) == (0, 0)
    (project if told == "project" else agent).answer("wrap_up")
    assert agent.left == 40_000
    assert agent.add(40_000) == []
    assert not agent.may_spend


def test_who_wraps_the_project_up_is_not_asked_about_its_agents() -> None:
    project = CostBudget(1_000_000, scope="shop")
    agent = CostBudget(100_000, scope="shop/a", parent=project)
    project.answer("wrap_up")
    assert agent.add(100_000) == []


def test_a_job_that_is_resumed_at_its_limit_can_go_on() -> None:
    budget = CostBudget(1_000_000, spent=1_000_000)
    assert not budget.may_spend
    budget.answer("continue")
    assert budget.may_spend


def test_after_stop_nothing_may_be_spent_and_what_was_in_flight_still_counts() -> None:
    budget = CostBudget(100)
    budget.answer("stop")
    assert not budget.may_spend
    assert budget.add(150) == []
    assert (budget.spent, budget.overshoot) == (150, 50)


def test_a_resumed_job_goes_on_where_it_was() -> None:
    budget = CostBudget(1_000_000, spent=900_000)
    assert kinds(budget.add(60_000)) == ["COST_LIMIT", "INPUT_REQUESTED"]


def test_what_an_agent_spends_counts_against_its_project() -> None:
    project = CostBudget(1_000, scope="shop")
    agents = [CostBudget(None, scope=f"shop/{name}", parent=project) for name in "ab"]
    assert agents[0].add(500) == []
    assert agents[1].add(400) == [CostWarning(900, 1_000, "shop")]
    assert kinds(agents[0].add(60)) == ["COST_LIMIT", "INPUT_REQUESTED"]
    assert not agents[1].may_spend


def test_subscribers_are_told_each_notice_until_they_end_it() -> None:
    told: list[Notice] = []
    budget = CostBudget(100)
    end = budget.subscribe(told.append)
    returned = budget.add(85)
    end()
    budget.add(100)
    assert told == returned == [CostWarning(85, 100)]


def test_a_correction_takes_back() -> None:
    budget = CostBudget(100)
    budget.add(50)
    budget.add(-20)
    assert budget.spent == 30
    budget.add(-100)
    assert budget.spent == 0


@pytest.mark.parametrize("limit", [-1, 1.5, True, "5"])
def test_a_limit_that_is_no_amount_is_an_error(limit: Any) -> None:
    with pytest.raises(InputError):
        CostBudget(limit)


@pytest.mark.parametrize("warn", [-0.1, 1.1, True, "0.8", float("nan")])
def test_a_share_is_from_0_to_1(warn: Any) -> None:
    with pytest.raises(InputError):
        CostBudget(100, warn)


@given(st.integers(0, 1_000), st.lists(st.integers(0, 300) | st.sampled_from(["continue", "wrap_up", "stop"])))
def test_each_notice_comes_at_most_once_per_limit(limit: int, steps: list[int | str]) -> None:
    budget = CostBudget(limit)
    seen: list[tuple[str, int]] = []
    for step in steps:
        if isinstance(step, int):
            seen += [(notice.kind, notice.limit) for notice in budget.add(step) if hasattr(notice, "limit")]
        elif step != "continue" or budget.state == "asked":
            if step == "continue" and limit == 0:
                continue
            budget.answer(step)
    assert len(seen) == len(set(seen))


def test_notices_say_what_happened() -> None:
    assert str(CostWarning(4_200_000, 5_000_000, "shop")) == "shop: $4.20 of $5.00 is spent (84 %)"
    assert str(CostLimit(4_800_000, 5_000_000, held=250_000)) == (
        "the cost limit is reached: $4.80 of $5.00 is spent, $0.25 is held back for the wrap-up"
    )
    assert str(CostLimit(200_000, 5_000_000, "shop", wanted=4_900_000)) == (
        "shop: another $4.90 does not fit under the cost limit: $0.20 of $5.00 is spent"
    )
    assert str(CostLimit(200_000, None, "shop", overrun=100_000)) == (
        "shop: closed, because a request cost $0.10 more than was reserved for it: $0.20 is spent"
    )
    assert "wrap up" in str(InputRequested(1, 1))
    assert "raise" not in str(InputRequested(1, None))
    assert InputRequested(1, 1).answers == ("continue", "raise", "wrap_up", "stop")
