"""The rules of one limit, whoever keeps it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.errors import InputError
from brim.money import (
    CostBudget,
    CostLimit,
    CostWarning,
    InputRequested,
    Limit,
    Raise,
    build_wrap_up_prompt,
)
from brim.notices import Notice
from brim.usd import Money

amounts = st.integers(0, 10**9)


@pytest.mark.parametrize(
    ("limit", "held"),
    [(5_000_000, 250_000), (20_000_000, 500_000), (10**9, 500_000), (19, 0), (0, 0)],
)
def test_a_twentieth_is_held_back_at_most_half_a_dollar(limit: int, held: int) -> None:
    assert Limit(limit).set_aside == held
    assert Limit(limit).pause_at == limit - held


def test_no_limit_holds_nothing_back_and_never_asks() -> None:
    limit = Limit(None)
    assert (limit.set_aside, limit.pause_at, limit.warn_at(), limit.room(10**12)) == (
        0,
        None,
        None,
        None,
    )
    assert limit.reached(10**12) == (limit, False, False)


def test_the_warning_comes_at_exactly_its_share_of_the_limit() -> None:
    assert Limit(5_000_000).warn_at(0.8) == 4_000_000
    assert Limit(10**15).warn_at(0.8) == 8 * 10**14
    assert Limit(3).warn_at(0.5) == 2


@given(amounts, amounts, st.sampled_from(["", "wrap_up"]))
def test_what_fits_never_exceeds_the_limit(limit: int, taken: int, purpose: str) -> None:
    for standing in (Limit(limit), Limit(limit).answered("wrap_up", taken)):
        room = standing.room(taken, purpose)
        assert room is not None
        assert room == 0 or taken + room <= limit


def test_only_the_wrap_up_may_take_what_is_held_back() -> None:
    limit = Limit(5_000_000)
    assert limit.room(4_750_000) == limit.room(4_750_000, "wrap_up") == 0
    wrapping = limit.answered("wrap_up", 4_750_000)
    assert wrapping.room(4_750_000, "wrap_up") == 250_000
    assert wrapping.room(1_000_000) == 0


@given(st.integers(1, 10**9), amounts)
def test_continue_always_makes_room(given: int, over: int) -> None:
    taken = given + over
    asked = replace(Limit(given), state="asked")
    room = asked.answered("continue", taken).room(taken)
    assert room is not None
    assert room > 0


def test_continue_adds_a_tenth_of_the_limit_each_time_it_is_asked() -> None:
    limit = Limit(5_000_000)
    for expected in (5_500_000, 6_000_000):
        limit, _, asks = limit.reached(limit.pause_at or 0)
        assert asks
        limit = limit.answered("continue", limit.pause_at or 0)
        assert (limit.amount, limit.set_aside) == (expected, 250_000)


def test_continue_answers_a_question_once() -> None:
    limit = replace(Limit(100), state="asked").answered("continue", 100)
    for standing in (limit, Limit(110), limit.answered("stop", 100)):
        with pytest.raises(InputError, match="nothing was asked"):
            standing.answered("continue", 100)


def test_continue_goes_on_where_nothing_is_left_though_nobody_has_asked_yet() -> None:
    assert Limit(100).answered("continue", 95).room(95) == 10


def test_raising_to_what_is_spent_already_is_no_answer() -> None:
    asked = replace(Limit(100), state="asked")
    with pytest.raises(InputError, match="leaves no room"):
        asked.answered(Raise(Money(200)), 190)
    assert asked.answered(Raise(Money(200)), 189).room(189) == 1


def test_a_request_that_did_not_fit_does_not_keep_the_warning_from_coming() -> None:
    asked = replace(Limit(100), state="asked")
    limit, warns, asks = asked.reached(80)
    assert (warns, asks, limit.state) == (True, False, "asked")
    assert limit.reached(81)[1:] == (False, False)


def test_what_is_held_back_is_there_when_another_limit_of_the_path_is_wrapped_up() -> None:
    limit = Limit(5_000_000)
    assert limit.room(4_750_000, "wrap_up", ending=True) == 250_000
    assert limit.room(4_750_000, ending=True) == 0
    assert limit.answered("stop", 0).room(0, "wrap_up", ending=True) == 0


def test_a_tenth_of_nothing_is_no_answer() -> None:
    with pytest.raises(InputError, match="raise it"):
        replace(Limit(0), state="asked").answered("continue", 0)


def test_raising_needs_a_higher_limit_and_opens_whatever_was_stopped() -> None:
    for state in ("asked", "stopped", "wrapping_up"):
        raised = replace(Limit(100), state=state).answered(Raise(Money(200)), 100)
        assert (raised.original, raised.amount, raised.state) == (100, 200, "open")
    with pytest.raises(InputError, match="does not raise"):
        Limit(100).answered(Raise(Money(100)), 0)
    with pytest.raises(InputError, match="no limit to raise"):
        Limit(None).answered(Raise(Money(100)), 0)


@pytest.mark.parametrize("answer", ["", "yes", "raise", None, 5])
def test_another_answer_is_an_error(answer: str) -> None:
    with pytest.raises(InputError, match="isn't an answer"):
        Limit(100).answered(answer, 0)


def kinds(notices: list[Notice]) -> list[str]:
    return [notice.kind for notice in notices]


def test_it_warns_at_80_per_cent_and_asks_when_only_the_wrap_up_is_left() -> None:
    budget = CostBudget(limit=Money(5_000_000))
    assert budget.add(Money(3_999_999)) == []
    assert budget.add(Money(1)) == [CostWarning(4_000_000, 5_000_000)]
    assert budget.add(Money(749_999)) == []
    assert budget.add(Money(1)) == [
        CostLimit(4_750_000, 5_000_000, set_aside=250_000),
        InputRequested(4_750_000, 5_000_000),
    ]
    assert budget.add(Money(100)) == []
    assert not budget.may_spend


def test_a_sum_that_jumps_over_both_marks_asks_and_does_not_warn() -> None:
    budget = CostBudget(Money(100))
    assert kinds(budget.add(Money(100))) == ["COST_LIMIT", "INPUT_REQUESTED"]
    assert budget.add(Money(100)) == []


def test_without_a_limit_nothing_is_ever_told() -> None:
    budget = CostBudget(None)
    assert budget.add(Money(10**14)) == []
    assert budget.may_spend
    assert (budget.left, budget.overshoot) == (None, 0)


def test_at_a_limit_of_0_nothing_may_be_spent() -> None:
    budget = CostBudget(Money(0))
    assert not budget.may_spend
    assert budget.add(Money(0)) == []
    assert kinds(budget.add(Money(1))) == ["COST_LIMIT", "INPUT_REQUESTED"]
    budget.answer(Raise(Money(100)))
    assert budget.may_spend


def test_a_raised_limit_warns_and_asks_anew() -> None:
    budget = CostBudget(Money(1_000_000))
    budget.add(Money(1_000_000))
    budget.answer(Raise(Money(2_000_000)))
    assert budget.add(Money(599_999)) == []
    assert kinds(budget.add(Money(1))) == ["COST_WARNING"]
    assert kinds(budget.add(Money(400_000))) == ["COST_LIMIT", "INPUT_REQUESTED"]


def test_who_has_just_answered_is_not_warned_of_what_they_know() -> None:
    budget = CostBudget(Money(1_000_000))
    budget.add(Money(960_000))
    budget.answer("continue")
    assert budget.limit == 1_100_000
    assert budget.add(Money(10_000)) == []
    assert kinds(budget.add(Money(80_000))) == ["COST_LIMIT", "INPUT_REQUESTED"]


def test_the_wrap_up_is_paid_from_what_was_held_back_and_then_it_is_over() -> None:
    budget = CostBudget(Money(5_000_000))
    budget.add(Money(4_750_000))
    assert budget.left == 0
    budget.answer("wrap_up")
    assert (budget.left, budget.may_spend) == (250_000, True)
    assert budget.add(Money(250_000)) == []
    assert (budget.state, budget.may_spend, budget.overshoot) == ("stopped", False, 0)


@pytest.mark.parametrize("told", ["project", "agent"])
def test_the_wrap_up_is_paid_when_agent_and_project_ran_out_together(told: str) -> None:
    project = CostBudget(Money(1_000_000), scope="shop")
    agent = CostBudget(Money(1_000_000), scope="shop/a", parent=project)
    assert len(agent.add(Money(960_000))) == 4
    assert (agent.left, project.left) == (0, 0)
    (project if told == "project" else agent).answer("wrap_up")
    assert agent.left == 40_000
    assert agent.add(Money(40_000)) == []
    assert not agent.may_spend


def test_who_wraps_the_project_up_is_not_asked_about_its_agents() -> None:
    project = CostBudget(Money(1_000_000), scope="shop")
    agent = CostBudget(Money(100_000), scope="shop/a", parent=project)
    project.answer("wrap_up")
    assert agent.add(Money(100_000)) == []


def test_a_job_that_is_resumed_at_its_limit_can_go_on() -> None:
    budget = CostBudget(Money(1_000_000), spent=Money(1_000_000))
    assert not budget.may_spend
    budget.answer("continue")
    assert budget.may_spend


def test_after_stop_nothing_may_be_spent_and_what_was_in_flight_still_counts() -> None:
    budget = CostBudget(Money(100))
    budget.answer("stop")
    assert not budget.may_spend
    assert budget.add(Money(150)) == []
    assert (budget.spent, budget.overshoot) == (150, 50)


def test_a_resumed_job_goes_on_where_it_was() -> None:
    budget = CostBudget(Money(1_000_000), spent=Money(900_000))
    assert kinds(budget.add(Money(60_000))) == ["COST_LIMIT", "INPUT_REQUESTED"]


def test_what_an_agent_spends_counts_against_its_project() -> None:
    project = CostBudget(Money(1_000), scope="shop")
    agents = [CostBudget(None, scope=f"shop/{name}", parent=project) for name in "ab"]
    assert agents[0].add(Money(500)) == []
    assert agents[1].add(Money(400)) == [CostWarning(900, 1_000, "shop")]
    assert kinds(agents[0].add(Money(60))) == ["COST_LIMIT", "INPUT_REQUESTED"]
    assert not agents[1].may_spend


def test_subscribers_are_told_each_notice_until_they_end_it() -> None:
    told: list[Notice] = []
    budget = CostBudget(Money(100))
    end = budget.subscribe(told.append)
    returned = budget.add(Money(85))
    end()
    budget.add(Money(100))
    assert told == returned == [CostWarning(85, 100)]


def test_a_correction_takes_back() -> None:
    budget = CostBudget(Money(100))
    budget.add(Money(50))
    budget.add(Money(-20))
    assert budget.spent == 30
    budget.add(Money(-100))
    assert budget.spent == 0


@pytest.mark.parametrize("limit", [-1, 1.5, True, "5"])
def test_a_limit_that_is_no_amount_is_an_error(limit: Any) -> None:
    with pytest.raises(InputError):
        CostBudget(Money(limit))


@pytest.mark.parametrize("warn", [-0.1, 1.1, True, "0.8", float("nan")])
def test_a_share_is_from_0_to_1(warn: Any) -> None:
    with pytest.raises(InputError):
        CostBudget(Money(100), warn)


@given(
    st.integers(0, 1_000),
    st.lists(st.integers(0, 300) | st.sampled_from(["continue", "wrap_up", "stop"])),
)
def test_each_notice_comes_at_most_once_per_limit(limit: int, steps: list[int | str]) -> None:
    budget = CostBudget(Money(limit))
    seen: list[tuple[str, int]] = []
    for step in steps:
        if isinstance(step, int):
            seen += [
                (notice.kind, notice.limit)
                for notice in budget.add(Money(step))
                if hasattr(notice, "limit")
            ]
        elif step != "continue" or budget.state == "asked":
            if step == "continue" and limit == 0:
                continue
            budget.answer(step)
    assert len(seen) == len(set(seen))


def test_notices_say_what_happened() -> None:
    assert str(CostWarning(4_200_000, 5_000_000, "shop")) == "shop: $4.20 of $5.00 is spent (84%)"
    assert str(CostLimit(4_800_000, 5_000_000, set_aside=250_000)) == (
        "the cost limit is reached: $4.80 of $5.00 is spent, $0.20 is held back for the wrap-up"
    )
    assert (
        str(CostLimit(5_100_000, 5_000_000, set_aside=250_000))
        == "the cost limit is reached: $5.10 of $5.00 is spent"
    )
    assert str(CostLimit(200_000, 5_000_000, "shop", wanted=4_900_000)) == (
        "shop: another $4.90 does not fit under the cost limit: $0.20 of $5.00 is spent"
    )
    assert str(CostLimit(1_900_000, 2_000_000, "shop", "tokens", " today", set_aside=100_000)) == (
        "shop: the limit is reached: 1.9M of 2M tokens is spent today, 100k tokens is held back for the wrap-up"
    )
    assert "wrap up" in str(InputRequested(1, 1))
    assert "raise" not in str(InputRequested(1, None))
    assert InputRequested(1, 1).answers == ("continue", "raise", "wrap_up", "stop")


def test_it_says_what_is_spent_and_what_is_left_for_it() -> None:
    text = build_wrap_up_prompt(
        Money(4_750_000),
        Money(5_000_000),
        set_aside=Money(250_000),
        scratch_path=".context/scratch.md",
    )
    assert "$4.75 of $5.00" in text
    assert "This turn may cost $0.25." in text
    assert ".context/scratch.md" in text


def test_it_says_that_the_limit_is_reached_only_if_it_is() -> None:
    assert "limit is reached" in build_wrap_up_prompt(Money(4_750_000), Money(5_000_000))
    assert build_wrap_up_prompt(Money(1_000_000), Money(5_000_000)).startswith(
        "$1.00 of $5.00 is spent. Wrap up now."
    )
    assert build_wrap_up_prompt(Money(1_000_000), None).startswith("$1.00 is spent. Wrap up now.")


def test_a_task_is_folded_to_one_short_line() -> None:
    text = build_wrap_up_prompt(Money(1), Money(2), task="fix\n\n" + "the parser " * 100)
    assert len(text.split("\n")) == 3
    assert len(text.split("\n")[0]) < 300
    assert "may cost" not in text
