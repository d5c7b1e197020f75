"""Limits per period in the ledger: what counts, when it starts over, and that nothing is admitted
above them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brim.errors import InputError, LimitReached
from brim.money import Raise, SpendingLimit, lineage, open_ledger, read_limit
from brim.money.allowances import bounds
from brim.money.stored_ledger import StoredLedger
from brim.notices import Notice
from brim.usd import Money
from tests.money.ledger_contract import Clock, kinds
from tests.money.server import empty_schema

DAY = 86_400.0


@pytest.fixture
def clock() -> Clock:
    clock = Clock()
    clock.now = 20_000 * DAY + 100
    return clock


@pytest.fixture(params=["sqlite", "postgres"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Any:
    address = str(tmp_path / "money.db") if request.param == "sqlite" else empty_schema()
    with open_ledger(address, clock=clock) as ledger:
        yield ledger


def only(ledger: StoredLedger, scope: str) -> Any:
    (found,) = ledger.allowances(scope)
    return found


def refused(ledger: StoredLedger, scope: str, amount: int = 1, **more: Any) -> LimitReached:
    with pytest.raises(LimitReached) as caught:
        ledger.reserve(scope, Money(amount), **more)
    return caught.value


def test_a_limit_per_day_starts_over_at_midnight(ledger: StoredLedger, clock: Clock) -> None:
    ledger.allow("shop", "0.001/day")
    ledger.settle(ledger.reserve("shop/a", Money(950)), Money(950))
    said = refused(ledger, "shop/b")
    assert (said.scope, said.reason, said.limit, said.spent, said.room) == (
        "shop",
        "limit",
        1_000,
        950,
        0,
    )
    assert "is spent today" in str(said)
    clock.now = 20_001 * DAY - 1
    refused(ledger, "shop/b")
    clock.now += 1
    assert ledger.reserve("shop/b", Money(950)).state == "open"
    assert only(ledger, "shop").ends == 20_002 * DAY


def test_an_ended_lease_is_charged_with_its_tokens(ledger: StoredLedger, clock: Clock) -> None:
    ledger.allow("shop", "100 tokens/day")
    made = ledger.reserve("shop", Money(5), tokens=90, lease=1)
    clock.now += 5
    assert refused(ledger, "shop", 1, tokens=10).spent == 90
    assert ledger.settle(made, Money(5), tokens=20).charged_tokens == 20
    assert only(ledger, "shop").used == 20


def test_tokens_that_another_request_took_meanwhile_are_an_overrun(ledger: StoredLedger) -> None:
    ledger.allow("shop", "100 tokens/day")
    first = ledger.reserve("shop", Money(5), tokens=90)
    ledger.settle(first, Money(5), tokens=10)
    ledger.settle(ledger.reserve("shop", Money(5), tokens=80), Money(5))
    again = ledger.settle(first, Money(5), tokens=90)
    assert (again.overrun, only(ledger, "shop").spent) == (True, 170)
    assert ledger.settle(ledger.reserve("free", Money(5), tokens=50), Money(5), tokens=60).overrun
    assert not ledger.settle(
        ledger.reserve("free", Money(5)), Money(5), tokens=60
    ).overrun  # none were set aside


def test_several_limits_hold_at_once(ledger: StoredLedger, clock: Clock) -> None:
    for text in ("0.001/day", "0.0015/week", "1", "10k tokens/day"):
        ledger.allow("shop", text)
    ledger.record("shop", "a", Money(900))
    clock.now += DAY
    assert refused(ledger, "shop", 600).limit == 1_500
    ledger.record("shop", "b", Money(500))
    clock.now += 7 * DAY
    assert ledger.reserve("shop", Money(900), tokens=9_500).state == "open"
    assert {(each.period, each.unit): each.used for each in ledger.allowances("shop")} == {
        ("day", "usd"): 900,
        ("week", "usd"): 900,
        ("total", "usd"): 2_300,
        ("day", "tokens"): 9_500,
    }


def test_the_same_period_again_replaces_the_limit(ledger: StoredLedger, clock: Clock) -> None:
    ledger.allow("shop", "5/day")
    ledger.record("shop", "a", Money(1_000_000))
    clock.now += 1
    ledger.allow("shop", "3/day")
    assert (only(ledger, "shop").limit.amount, only(ledger, "shop").spent) == (3_000_000, 0)


def test_it_counts_from_now_unless_the_past_is_included(ledger: StoredLedger, clock: Clock) -> None:
    ledger.record("shop/a", "old", Money(700))
    clock.now += DAY
    ledger.record("shop/a", "today", Money(200))
    ledger.reserve("shop/a", Money(100), lease=600)
    clock.now += 10
    for scope in ("shop", "*"):
        sums = {}
        for text in ("1/day", "1/week", "1"):
            now, past = (
                ledger.allow(scope, text, including_past=each).used for each in (False, True)
            )
            sums[text] = (now, past)
        assert sums == {"1/day": (0, 300), "1/week": (0, 1_000), "1": (0, 1_000)}
    assert ledger.allow("other", "1", including_past=True).used == 0


def test_what_was_reserved_before_the_limit_does_not_count(
    ledger: StoredLedger, clock: Clock
) -> None:
    early = ledger.reserve("shop", Money(500), lease=600)
    clock.now += 1
    ledger.allow("shop", "0.001/day")
    ledger.settle(early, Money(400))
    assert only(ledger, "shop").used == 0


def test_a_call_counts_for_the_period_in_which_it_was_made(
    ledger: StoredLedger, clock: Clock
) -> None:
    ledger.allow("shop", "0.001/day")
    clock.now = 20_001 * DAY - 1
    late = ledger.reserve("shop", Money(800), lease=60)
    clock.now += 2
    assert ledger.reserve("shop", Money(950), lease=60).state == "open"
    ledger.settle(late, Money(800))
    assert only(ledger, "shop").used == 950
    clock.now += DAY
    ledger.settle(late, Money(10))  # a correction of what another day has paid
    assert only(ledger, "shop").used == 0
    ledger.record("shop", "yesterday", Money(950), at=clock.now - DAY)
    assert only(ledger, "shop").spent == 0
    ledger.record("shop", "ahead", Money(5), at=clock.now + 1e9)
    assert only(ledger, "shop").spent == 5


def test_two_zones_have_two_midnights(ledger: StoredLedger, clock: Clock) -> None:
    clock.now += 9 * 3600
    ledger.allow("east", "0.001/day", zone="Asia/Tokyo")
    ledger.allow("west", "0.001/day", zone="America/Los_Angeles")
    for scope in ("east", "west"):
        ledger.record(scope, scope, Money(1_000))
    clock.now = 20_000 * DAY + 15 * 3600  # midnight in Tokyo
    assert ledger.reserve("east", Money(1)).state == "open"
    refused(ledger, "west")


@pytest.mark.parametrize("back", [DAY, 3600.0, 10 * DAY])
def test_a_clock_that_is_set_back_gives_no_money_back(
    ledger: StoredLedger, clock: Clock, back: float
) -> None:
    ledger.allow("shop", "0.001/day")
    ledger.record("shop", "a", Money(500))
    clock.now -= back
    ledger.record("shop", "b", Money(450))
    refused(ledger, "shop")


@pytest.mark.parametrize("back", [DAY, 3600.0, 10 * DAY, 400 * DAY])
def test_money_is_not_forgotten_when_the_clock_is_put_right(
    ledger: StoredLedger, clock: Clock, back: float
) -> None:
    ledger.allow("shop", "0.001/day")
    ledger.record("shop", "a", Money(950))
    for jump in (-back, back):
        clock.now += jump
        refused(ledger, "shop")
        ledger.record("shop", f"while at {clock.now}", Money(1))
    clock.now += DAY
    assert ledger.reserve("shop", Money(1)).state == "open"


@pytest.mark.parametrize("ahead", [DAY, 10 * DAY, 400 * DAY])
def test_money_is_not_forgotten_after_a_clock_was_ahead(
    ledger: StoredLedger, clock: Clock, ahead: float
) -> None:
    ledger.allow("shop", "0.001/day")
    ledger.record("shop", "a", Money(950))
    clock.now += ahead
    ledger.record("shop", "b", Money(1))
    ledger.fold()
    clock.now -= ahead
    assert only(ledger, "shop").spent == 951
    refused(ledger, "shop")
    clock.now += DAY
    assert only(ledger, "shop").spent == (1 if ahead == DAY else 0)


def test_a_clock_that_is_corrected_does_not_count_what_was_spent_before_the_limit(
    ledger: StoredLedger, clock: Clock
) -> None:
    ledger.record("shop", "a", Money(5_000))
    clock.now += 3600
    ledger.allow("shop", "0.001/day")
    clock.now -= 2
    ledger.record("shop", "b", Money(10))
    assert only(ledger, "shop").spent == 10


@pytest.mark.parametrize("text", ["90%/5h", "5/3h"])
def test_what_only_coding_agents_can_have_is_refused(ledger: StoredLedger, text: str) -> None:
    with pytest.raises(InputError, match="without --store"):
        ledger.allow("shop", text)


def test_everything_is_a_scope(ledger: StoredLedger) -> None:
    ledger.allow("*", "0.001/day")
    ledger.record("shop/a", "a", Money(500))
    ledger.record("web", "b", Money(450))
    assert refused(ledger, "third").scope == "*"
    assert ledger.status("third").left == 0
    assert [each.scope for each in ledger.statuses()] == ["shop", "shop/a", "web"]


def test_each_session_has_the_limit_of_its_project(ledger: StoredLedger, clock: Clock) -> None:
    ledger.record("shop/one/main", "before", Money(900))
    clock.now += 1
    ledger.allow("shop", "0.001/session")
    assert ledger.status("shop/one").left == 950
    ledger.record("shop/one/main", "a", Money(960))
    assert refused(ledger, "shop/one/main").scope == "shop/one"
    assert refused(ledger, "shop/one/other").scope == "shop/one"
    assert ledger.reserve("shop/two/main", Money(900)).state == "open"
    assert ledger.reserve("shop", Money(5_000)).state == "open"
    ledger.answer("shop/one", "continue")
    assert ledger.reserve("shop/one", Money(50)).state == "open"
    ledger.disallow("shop")
    assert ledger.allowances() == []
    assert ledger.reserve("shop/one/main", Money(5_000)).state == "open"


def test_who_raises_the_limit_of_sessions_raises_those_that_run(ledger: StoredLedger) -> None:
    for scope in ("shop", "*"):
        ledger.allow(scope, "0.001/session")
        ledger.record("shop/one/main", scope, Money(990))
        refused(ledger, "shop/one/main")
        ledger.answer(scope, Raise(Money(5_000), per="session"))
        assert ledger.reserve("shop/one/main", Money(500)).state == "open"
        ledger.disallow(scope)


def test_a_session_that_is_under_way_counts_in_full_if_the_past_is_included(
    ledger: StoredLedger,
) -> None:
    ledger.record("shop/one/main", "before", Money(900))
    ledger.allow("shop", "0.001/session", including_past=True)
    assert ledger.status("shop/one").left == 50


def test_each_sub_agent_has_a_limit_and_the_main_thread_none(ledger: StoredLedger) -> None:
    ledger.allow("*", read_limit("200k tokens", subagent=True))
    ledger.record("shop/one/main", "m", Money(1), tokens=900_000)
    ledger.record("shop/one/a1", "a", Money(1), tokens=199_000)
    assert ledger.reserve("shop/one/main", Money(1), tokens=10**6).state == "open"
    said = refused(ledger, "shop/one/a1", tokens=1)
    assert (said.scope, said.unit, said.limit) == ("shop/one/a1", "tokens", 200_000)
    assert "200k tokens is spent by this sub-agent" in str(said)
    assert ledger.reserve("shop/one/a2", Money(1), tokens=100_000).state == "open"


def test_the_strictest_of_two_session_limits_counts(ledger: StoredLedger) -> None:
    ledger.allow("*", "0.0005/session")
    ledger.allow("shop", "0.001/session")
    assert refused(ledger, "shop/one", 600).limit == 500


def test_tokens_are_reserved_and_settled(ledger: StoredLedger) -> None:
    ledger.allow("shop", "1k tokens/day")
    made = ledger.reserve("shop/a", Money(10), tokens=900, request_id="r")
    assert ledger.reserve("shop/a", Money(10), tokens=900, request_id="r") == made
    with pytest.raises(InputError, match="another request id"):
        ledger.reserve("shop/a", Money(10), tokens=901, request_id="r")
    assert refused(ledger, "shop/a", tokens=51).unit == "tokens"
    assert ledger.settle(made, Money(5), tokens=300).charged_tokens == 300
    assert only(ledger, "shop").used == 300
    assert (
        ledger.settle(ledger.reserve("shop", Money(0), tokens=100), Money(0)).charged_tokens == 100
    )
    assert only(ledger, "shop").used == 400
    ledger.release(ledger.reserve("shop", Money(0), tokens=100))
    assert only(ledger, "shop").used == 400
    for tokens in (-1, 1.5, True, "1", 10**16):
        with pytest.raises(InputError, match="tokens"):
            ledger.reserve("shop", Money(1), tokens=tokens)  # type: ignore[arg-type]


def test_a_warning_and_a_question_come_once_per_period(ledger: StoredLedger, clock: Clock) -> None:
    told: list[Notice] = []
    ledger.subscribe(told.append)
    ledger.allow("shop", "0.001/day")
    for day in range(2):
        for number in range(4):
            ledger.record("shop", f"{day} {number}", Money(300))
        assert kinds(told) == ["COST_WARNING", "COST_LIMIT", "INPUT_REQUESTED"]
        assert "is spent today" in str(told[0])
        told.clear()
        clock.now += DAY


def test_continue_adds_a_tenth_for_this_period_and_raise_stays(
    ledger: StoredLedger, clock: Clock
) -> None:
    for text in ("0.001/day", "0.002/week"):
        ledger.allow("shop", text)
    ledger.record("shop", "a", Money(1_000))
    ledger.answer("shop", "continue")
    assert {each.period: each.limit.amount for each in ledger.allowances()} == {
        "day": 1_100,
        "week": 2_000,
    }
    with pytest.raises(InputError, match="nothing was asked"):
        ledger.answer("shop", "continue")
    with pytest.raises(InputError, match="which limit"):
        ledger.answer("shop", Raise(Money(9_000)))
    ledger.answer("shop", Raise(Money(9_000), per="week"))
    clock.now += 7 * DAY
    assert {each.period: each.limit.amount for each in ledger.allowances()} == {
        "day": 1_000,
        "week": 9_000,
    }


def test_the_only_limit_is_raised_without_its_name(ledger: StoredLedger) -> None:
    ledger.allow("shop", "0.001/day")
    ledger.answer("shop", Raise(Money(2_000), per="total"))
    assert only(ledger, "shop").limit.amount == 2_000
    with pytest.raises(InputError, match="no such limit"):
        ledger.answer("shop", Raise(Money(2_000), per="month"))
    with pytest.raises(InputError, match="no such limit"):
        ledger.answer("*", Raise(Money(2_000), per="month"))


def test_the_wrap_up_may_take_what_a_period_holds_back(ledger: StoredLedger) -> None:
    ledger.allow("shop", "0.001/day")
    ledger.record("shop", "a", Money(950))
    refused(ledger, "shop", purpose="wrap_up")
    assert ledger.answer("shop", "wrap_up").left == 50
    assert ledger.reserve("shop", Money(50), purpose="wrap_up").state == "open"
    refused(ledger, "shop", purpose="wrap_up")


def test_a_limit_of_nothing_admits_nothing_and_a_billion_everything(ledger: StoredLedger) -> None:
    ledger.allow("shut", "0/day")
    refused(ledger, "shut")
    ledger.allow("rich", "1e9/day")
    assert ledger.reserve("rich", Money(9 * 10**14)).state == "open"


def test_old_entries_become_sums_per_day_and_nothing_is_counted_twice(
    ledger: StoredLedger, clock: Clock
) -> None:
    for number in range(10):
        model = "small" if number % 4 else "large"
        ledger.record("shop/a", f"r{number}", Money(10), tokens=3, model=model, branch="main")
        clock.now += DAY / 4
    before, days = ledger.statuses(), ledger.days()
    assert ledger.fold() == 0
    clock.now += 89 * DAY
    assert ledger.fold() == 6
    assert ledger.fold() == 0
    assert ledger.statuses() == before
    assert ledger.days() == ledger.days("shop") == days
    assert ledger.days("shops") == []
    assert [(each.day, each.model, each.branch, each.amount, each.tokens) for each in days][:3] == [
        (20_000, "large", "main", 10, 3),
        (20_000, "small", "main", 30, 9),
        (20_001, "large", "main", 10, 3),
    ]
    ledger.record("shop/a", "r0", Money(10), tokens=3)
    assert ledger.status("shop").spent == 100
    folded = ledger.database.row("SELECT count(*), sum(amount), sum(tokens) FROM spend_days")
    assert folded == (4, 60, 18)
    assert ledger.allow("shop", "1", including_past=True).spent == 100
    ledger.record("shop/a", "r1", Money(15))  # a correction of what was folded
    clock.now += DAY
    ledger.fold()
    assert sum(each.amount for each in ledger.days()) == 105
    first = ledger.days()[:2]
    assert [(each.model, each.amount) for each in first] == [("large", 10), ("small", 35)]


@settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_what_is_admitted_never_exceeds_a_limit_in_any_period(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    clock = Clock()
    clock.now = 20_000 * DAY
    scopes = ("a", "a/b", "a/b/c", "d/e/f")
    limits = {
        (scope, period, unit): data.draw(st.integers(0, 200), label=f"{scope} {period} {unit}")
        for scope, period, unit in (
            ("*", "day", "usd"),
            ("a", "day", "usd"),
            ("a", "week", "tokens"),
            ("a/b", "day", "tokens"),
            ("*", "session", "usd"),
            ("a", "subagent", "tokens"),
            ("d", "total", "usd"),
        )
    }
    step = st.tuples(
        st.sampled_from(
            ["reserve", "reserve", "reserve", "settle", "settle", "release", "wait", "day"]
        ),
        st.sampled_from(scopes),
        st.integers(0, 80),
        st.integers(0, 100),
    )
    with open_ledger(str(tmp_path_factory.mktemp("ledger") / "money.db"), clock=clock) as ledger:
        for (scope, period, unit), amount in limits.items():
            ledger.allow(scope, SpendingLimit(amount, unit, period))
        known: dict[str, Any] = {}
        for action, scope, number, percent in data.draw(st.lists(step, min_size=20, max_size=40)):
            made = known[sorted(known)[number % len(known)]] if known else None
            with suppress(LimitReached, InputError):
                if action in ("wait", "day"):
                    clock.now += number if action == "wait" else number * 1000
                elif action == "reserve":
                    id = f"r{len(known):03}"
                    known[id] = ledger.reserve(
                        scope, Money(number), tokens=percent, request_id=id, lease=60
                    )
                elif made and action == "settle":
                    ledger.settle(
                        made,
                        Money(made.amount * percent // 100),
                        tokens=made.tokens * percent // 100,
                    )
                elif made:
                    ledger.release(made)
            rows = [ledger.reservation(id) for id in known]
            for each in ledger.allowances():
                counted = [
                    row
                    for row in rows
                    if row is not None
                    and row.made_at >= each.starts
                    and each.scope in ("*", *lineage(row.scope))
                    and not each.is_pattern
                ]
                used = sum(
                    (row.tokens if row.state == "open" else row.charged_tokens)
                    if each.unit == "tokens"
                    else (row.amount if row.state == "open" else row.charged)
                    for row in counted
                )
                assert each.used == used
                assert each.used <= (each.limit.amount or 0) + sum(
                    row.charged_tokens if each.unit == "tokens" else row.charged
                    for row in counted
                    if row.overrun
                )


_JUMPS = st.sampled_from([-400.0, -31, -8, -1, -0.04, 0, 0.04, 1, 8, 31, 400])


@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
@given(
    steps=st.lists(st.tuples(_JUMPS, st.integers(0, 9), st.booleans()), min_size=3, max_size=20),
    zone=st.sampled_from(["UTC", "Europe/Berlin", "Asia/Tokyo", "America/Los_Angeles"]),
    is_folded=st.booleans(),
)
def test_no_change_of_the_clock_makes_a_limit_forget_what_was_recorded_in_its_period(
    steps: list[tuple[float, int, bool]],
    zone: str,
    is_folded: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    clock, made = Clock(), []
    clock.now = 20_000 * DAY + 100
    with open_ledger(str(tmp_path_factory.mktemp("ledger") / "money.db"), clock=clock) as ledger:
        for ceiling in ("1/day", "1/week", "1/month", "1"):
            ledger.allow("*" if ceiling == "1/week" else "shop", ceiling, zone=zone)
        for number, (days, amount, is_read) in enumerate(steps):
            clock.now += days * DAY
            if amount:
                ledger.record("shop/a", f"r{number}", Money(amount))
                made.append((clock.now, amount))
            if is_folded:
                ledger.fold()
            for each in ledger.allowances() if is_read else ():
                starts, ends = bounds(each.period, zone, clock.now)
                inside = [cost for time, cost in made if ends is None or starts <= time < ends]
                assert each.spent >= sum(inside), each
                assert ends is None or each.ends == ends
