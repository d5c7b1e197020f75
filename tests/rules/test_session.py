"""How much one window is told, and how soon again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.errors import InputError
from brim.rules import ActivationTierMapper, InjectionPlan, Session, Tier
from tests.rules.making import rule

LONG = rule("long", "Use uv to install packages. " * 12, summary="Use uv.")


def told(session: Session, value: float = 0.9, **how: int) -> InjectionPlan:
    return ActivationTierMapper().plan(
        [("long", value)], [LONG], budget=session.budget(**how), session=session
    )


def test_the_second_waits_five_prompts_and_the_third_ten() -> None:
    session = Session(max_tokens=100_000)
    shown = []
    for prompt in range(40):
        session.next_prompt()
        plan = told(session)
        if plan.included:
            session.charge(plan)
            shown.append(prompt)
    assert shown == [0, 5, 15, 30]


def test_more_detail_than_ever_before_is_let_through_at_once() -> None:
    session = Session()
    session.charge(told(session, 0.4))
    assert session.allows("long", Tier.FULL)
    assert not session.allows("long", Tier.SUMMARY)
    session.charge(told(session, 0.9))
    assert not session.allows("long", Tier.FULL)


def test_what_may_be_shown_again_only_in_full_is_left_out_when_full_does_not_fit() -> None:
    session = Session(max_per_injection=20)
    session.charge(told(session, 0.4))
    plan = told(session, 0.9)
    assert [item.tier for item in plan.items] == [Tier.OMITTED]
    assert "over budget" in plan.items[0].reason


def test_a_constraint_that_was_shown_waits_too() -> None:
    session = Session()
    never = rule("never", "Never push to main.", kind="constraint")
    mapper = ActivationTierMapper()
    session.charge(mapper.plan([("never", 0.9)], [never], session=session))
    plan = mapper.plan([("never", 0.9)], [never], session=session)
    assert plan.omitted[0].reason == "shown once in this session; again in 5 prompts"


def test_the_total_is_never_exceeded_by_one_batch() -> None:
    session = Session(max_tokens=30)
    plan = ActivationTierMapper().plan([("long", 0.9)], [LONG])
    assert plan.total_tokens > 30
    with pytest.raises(InputError, match="30 tokens left"):
        session.charge(plan)
    assert (session.used, session.shown) == (0, {})


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 300), st.booleans()), max_size=30),
    st.integers(0, 400),
)
def test_the_total_is_never_exceeded(events: list[tuple[float, int, bool]], most: int) -> None:
    session = Session(max_tokens=most, backoff=0)
    spent = 0
    for value, dynamic, typed in events:
        if typed:
            session.next_prompt()
        plan = told(session, value, dynamic=dynamic)
        session.charge(plan)
        spent += int(plan.total_tokens)
        assert plan.total_tokens <= dynamic
        assert spent == session.used <= most


@pytest.mark.parametrize(
    ("how", "used", "allowed"), [("clear", 0, True), ("compact", 0, True), ("resume", 90, False)]
)
def test_what_a_new_beginning_renews(how: str, used: int, allowed: bool) -> None:
    session = Session()
    session.charge(told(session))
    session.spent = 90
    session.begin(how)
    assert session.used == used
    assert session.allows("long", Tier.FULL) is allowed


def test_what_goes_in_at_the_start_is_remembered_and_not_charged() -> None:
    session = Session()
    session.record(told(session))
    assert session.used == 0
    assert not session.allows("long", Tier.FULL)


def test_a_sub_agent_has_its_own_backoff_and_its_parents_total() -> None:
    parent = Session(max_tokens=200)
    child = Session(max_tokens=1_000_000, parent=parent)
    parent.charge(told(parent))
    assert child.allows("long", Tier.FULL)
    child.charge(told(child))
    assert parent.used == child.used == 2 * told(Session()).total_tokens
    assert child.remaining == parent.remaining == 200 - parent.used


def test_the_state_survives_a_store() -> None:
    session = Session()
    session.next_prompt()
    session.charge(told(session))
    again = Session()
    again.load(json.loads(json.dumps(session.to_dict())))
    assert again.to_dict() == session.to_dict()
    assert not again.allows("long", Tier.FULL)


@pytest.mark.parametrize(
    "wrong", [{"max_tokens": -1}, {"backoff": 1.5}, {"max_per_injection": "many"}]
)
def test_a_wrong_limit_is_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"session.{next(iter(wrong))}"):
        Session(**wrong)


def test_a_session_prints_what_is_used() -> None:
    session = Session(max_tokens=100)
    session.next_prompt()
    session.charge(told(session, 0.4))
    assert repr(session) == f"Session({session.used} tokens of 100, 1 prompts, 1 shown)"
    assert repr(session.shown) == "{'long': Shown(1 times, at prompt 1, summary)}"


def test_what_is_not_a_plan_is_spent_from_the_same_total() -> None:
    session = Session(max_tokens=10)
    session.spend(7)
    assert (session.used, session.remaining) == (7, 3)
    with pytest.raises(InputError, match="3 tokens left, and the text takes 4"):
        session.spend(4)
    assert session.used == 7
