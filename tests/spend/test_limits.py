"""The rules of one limit, whoever keeps it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.errors import InputError
from brim.spend import Limit, Raise

amounts = st.integers(0, 10**9)


@pytest.mark.parametrize(
    ("limit", "held"), [(5_000_000, 250_000), (20_000_000, 500_000), (10**9, 500_000), (19, 0), (0, 0)]
)
def test_a_twentieth_is_held_back_at_most_half_a_dollar(limit: int, held: int) -> None:
    assert Limit(limit).held == held
    assert Limit(limit).pause_at == limit - held


def test_no_limit_holds_nothing_back_and_never_asks() -> None:
    limit = Limit(None)
    assert (limit.held, limit.pause_at, limit.warn_at(), limit.room(10**12)) == (0, None, None, None)
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
    asked = Limit(given).changed(state="asked")
    room = asked.answered("continue", taken).room(taken)
    assert room is not None
    assert room > 0


def test_continue_adds_a_tenth_of_the_limit_each_time_it_is_asked() -> None:
    limit = Limit(5_000_000)
    for expected in (5_500_000, 6_000_000):
        limit, _, asks = limit.reached(limit.pause_at or 0)
        assert asks
        limit = limit.answered("continue", limit.pause_at or 0)
        assert (limit.amount, limit.held) == (expected, 250_000)


def test_continue_answers_a_question_once() -> None:
    limit = Limit(100).changed(state="asked").answered("continue", 100)
    for standing in (limit, Limit(110), limit.answered("stop", 100)):
        with pytest.raises(InputError, match="nothing was asked"):
            standing.answered("continue", 100)


def test_continue_goes_on_where_nothing_is_left_though_nobody_has_asked_yet() -> None:
    assert Limit(100).answered("continue", 95).room(95) == 10


def test_raising_to_what_is_spent_already_is_no_answer() -> None:
    asked = Limit(100).changed(state="asked")
    with pytest.raises(InputError, match="leaves no room"):
        asked.answered(Raise(200), 190)
    assert asked.answered(Raise(200), 189).room(189) == 1


def test_a_request_that_did_not_fit_does_not_keep_the_warning_from_coming() -> None:
    asked = Limit(100).changed(state="asked")
    limit, warns, asks = asked.reached(80)
    assert (warns, asks, limit.state) == (True, False, "asked")
    assert limit.reached(81)[1:] == (False, False)


@pytest.mark.parametrize(
    ("state", "then"),
    [("open", "open"), ("asked", "open"), ("stopped", "stopped"), ("closed", "closed"), ("wrapping_up", "wrapping_up")],
)
def test_another_default_does_not_undo_what_a_person_said(state: str, then: str) -> None:
    renewed = Limit(100).changed(state=state).renewed(50)
    assert (renewed.given, renewed.amount, renewed.state) == (50, 50, then)


def test_what_is_held_back_is_there_when_another_limit_of_the_path_is_wrapped_up() -> None:
    limit = Limit(5_000_000)
    assert limit.room(4_750_000, "wrap_up", ending=True) == 250_000
    assert limit.room(4_750_000, ending=True) == 0
    assert limit.answered("stop", 0).room(0, "wrap_up", ending=True) == 0


def test_a_tenth_of_nothing_is_no_answer() -> None:
    with pytest.raises(InputError, match="raise it"):
        Limit(0).changed(state="asked").answered("continue", 0)


def test_raising_needs_a_higher_limit_and_opens_whatever_was_closed() -> None:
    for state in ("asked", "stopped", "closed", "wrapping_up"):
        raised = Limit(100).changed(state=state).answered(Raise(200), 100)
        assert (raised.given, raised.amount, raised.state) == (100, 200, "open")
    with pytest.raises(InputError, match="does not raise"):
        Limit(100).answered(Raise(100), 0)
    with pytest.raises(InputError, match="no limit to raise"):
        Limit(None).answered(Raise(100), 0)


@pytest.mark.parametrize("answer", ["", "yes", "raise", None, 5])
def test_another_answer_is_an_error(answer: str) -> None:
    with pytest.raises(InputError, match="no answer"):
        Limit(100).answered(answer, 0)
