"""The table of what happens at a limit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.money.decision import (
    ACTIONS,
    ALLOW,
    BELOW,
    BETWEEN,
    COMPACTION,
    DENY_TOOL,
    END_TURN,
    HARD,
    LAST_REQUEST,
    LEVELS,
    MOMENTS,
    NOTE,
    PROMPT,
    REFUSE_COMPACTION,
    REFUSE_PROMPT,
    SOFT,
    START,
    STOP,
    TOOL,
    WARN,
    WARNED,
    WRAP_UP_INSTEAD,
    LimitMoment,
    decide,
    level_of,
)

MONEY = st.integers(0, 10**9)


@pytest.mark.parametrize(
    ("kind", "soft", "hard"),
    [
        (PROMPT, REFUSE_PROMPT, REFUSE_PROMPT),
        (TOOL, WRAP_UP_INSTEAD, DENY_TOOL),
        (BETWEEN, LAST_REQUEST, END_TURN),
        (COMPACTION, ALLOW, REFUSE_COMPACTION),
        (START, NOTE, NOTE),
        (STOP, NOTE, NOTE),
    ],
)
def test_each_event(kind: str, soft: str, hard: str) -> None:
    assert decide(LimitMoment(kind), BELOW) == ALLOW
    assert decide(LimitMoment(kind), SOFT) == soft
    assert decide(LimitMoment(kind), HARD) == hard
    assert decide(LimitMoment(kind, refusals=1), SOFT) == hard


def test_a_person_may_not_compact_at_the_limit_and_the_agent_may() -> None:
    assert decide(LimitMoment(COMPACTION, is_manual=True), SOFT) == REFUSE_COMPACTION
    assert decide(LimitMoment(COMPACTION), SOFT) == ALLOW


def test_a_warning_comes_once_at_the_start_or_the_end_of_a_turn() -> None:
    assert decide(LimitMoment(START), WARNED) == WARN
    assert decide(LimitMoment(STOP), WARNED) == WARN
    assert decide(LimitMoment(STOP, was_warned=True), WARNED) == ALLOW
    assert decide(LimitMoment(TOOL), WARNED) == ALLOW


@given(st.sampled_from(MOMENTS), st.integers(0, 5), st.sampled_from(LEVELS), st.booleans())
def test_every_moment_has_an_action(kind: str, refusals: int, level: str, flag: bool) -> None:
    moment = LimitMoment(kind, refusals, is_manual=flag, was_warned=flag)
    action = decide(moment, level)
    assert action in ACTIONS
    if level in (BELOW, WARNED):
        assert action in (ALLOW, WARN)


@given(MONEY, MONEY, MONEY)
def test_levels(spent: int, amount: int, next_cost: int) -> None:
    set_aside = min(amount // 20, 500_000)
    level = level_of(spent, amount, set_aside=set_aside, next_cost=next_cost)
    assert (level == HARD) == (spent + next_cost > amount)
    if level == SOFT:
        assert amount - set_aside <= spent <= amount
    if level in (BELOW, WARNED):
        assert spent < amount - set_aside
        assert spent + next_cost <= amount


@given(MONEY, MONEY, MONEY, MONEY)
def test_more_spending_is_never_farther_from_the_limit(
    spent: int, more: int, amount: int, next_cost: int
) -> None:
    set_aside = min(amount // 20, 500_000)
    before = level_of(spent, amount, set_aside=set_aside, next_cost=next_cost)
    after = level_of(spent + more, amount, set_aside=set_aside, next_cost=next_cost)
    assert LEVELS.index(after) >= LEVELS.index(before)


def test_a_limit_of_nothing_stops_at_once() -> None:
    assert level_of(0, 0, set_aside=0) == SOFT


@given(
    st.integers(1_000_000, 10**8), st.lists(st.integers(1_000, 400_000), min_size=1, max_size=400)
)
def test_a_turn_that_only_calls_tools_goes_over_by_the_part_that_was_not_foreseen(
    amount: int, costs: list[int]
) -> None:
    set_aside = min(amount // 20, 500_000)
    spent = refusals = expected = 0
    for cost in costs * 400:
        level = level_of(spent, amount, set_aside=set_aside, next_cost=expected)
        action = decide(LimitMoment(BETWEEN, refusals), level)
        if action == END_TURN:
            break
        refusals += action == LAST_REQUEST
        unforeseen = max(0, cost - expected)
        spent += cost
        assert spent <= amount + unforeseen
        expected = cost
