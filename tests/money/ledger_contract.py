"""What every engine that keeps a ledger has to do, whatever it is made of.

A test module of an engine subclasses ``LedgerContract`` and says how the ledger is opened: the same
one each time it is called, with the clock of the test.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brim.errors import InputError, LimitReached
from brim.money import Raise, lineage
from brim.notices import Notice
from brim.usd import Money

Open = Callable[..., Any]


class Clock:
    """Time that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def kinds(notices: list[Notice]) -> list[str]:
    return [notice.kind for notice in notices]


class LedgerContract:
    """The rules of a ledger. ``opened`` opens the same ledger anew each time it is called."""

    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    def opened(self, tmp_path: Any, clock: Clock) -> Open:
        raise NotImplementedError

    @pytest.fixture
    def ledger(self, opened: Open) -> Any:
        with opened() as ledger:
            yield ledger

    # Reserve, settle, release ---------------------------------------------------------------------

    def test_what_is_reserved_is_settled_at_what_it_cost(self, ledger: Any) -> None:
        ledger.limit("shop", Money(10_000_000))
        reserved = ledger.reserve("shop/job-7/agent-2", Money(250_000), request_id="r1", lease=60)
        assert (reserved.request_id, reserved.scope, reserved.amount) == (
            "r1",
            "shop/job-7/agent-2",
            250_000,
        )
        assert (reserved.state, reserved.lease_end) == ("open", 1_060.0)
        status = ledger.status("shop")
        assert (status.spent, status.reserved, status.left) == (0, 250_000, 9_250_000)
        assert ledger.settle(reserved, Money(180_000)).charged == 180_000
        for scope in lineage("shop/job-7/agent-2"):
            status = ledger.status(scope)
            assert (status.spent, status.reserved, status.left) == (180_000, 0, 9_320_000)

    def test_what_is_released_is_free_again(self, ledger: Any) -> None:
        ledger.limit("shop", Money(100))
        reserved = ledger.reserve("shop", Money(95))
        with pytest.raises(LimitReached):
            ledger.reserve("shop", Money(1))
        assert ledger.release(reserved).state == "released"
        assert ledger.release(reserved).state == "released"
        assert ledger.reserve("shop", Money(95)).amount == 95

    @pytest.mark.parametrize("limited", ["a", "a/b", "a/b/c"])
    def test_every_scope_above_must_have_room(self, ledger: Any, limited: str) -> None:
        ledger.limit(limited, Money(100))
        ledger.reserve("a/b/c", Money(90))
        with pytest.raises(LimitReached) as caught:
            ledger.reserve("a/b/c", Money(6))
        assert (caught.value.scope, caught.value.reason) == (limited, "limit")
        assert (caught.value.room, caught.value.reserved, caught.value.limit) == (5, 90, 100)
        assert ledger.status("a").reserved == 90

    def test_a_limit_of_the_callers_own_is_for_all_of_the_scope(self, ledger: Any) -> None:
        ledger.limit("a", Money(1_000))
        ledger.reserve("a/b", Money(60), at_most=Money(100))
        with pytest.raises(LimitReached, match="caller's limit") as caught:
            ledger.reserve("a/b", Money(41), at_most=Money(100))
        assert (caught.value.scope, caught.value.room, caught.value.limit) == ("a/b", 40, 100)
        assert ledger.reserve("a/b", Money(40), at_most=Money(100)).state == "open"
        assert ledger.reserve("a/b", Money(500)).state == "open"
        assert ledger.status("a").limit == 1_000

    def test_who_asks_nothing_is_only_refused(self, ledger: Any) -> None:
        notices: list[Notice] = []
        ledger.subscribe(notices.append)
        ledger.limit("a", Money(100))
        with pytest.raises(LimitReached):
            ledger.reserve("a/b", Money(500), asks=False)
        assert (notices, ledger.status("a").state) == ([], "open")
        with pytest.raises(LimitReached):
            ledger.reserve("a/b", Money(500))
        assert ledger.status("a").state == "asked"

    def test_a_scope_beside_it_does_not_count(self, ledger: Any) -> None:
        ledger.limit("a/b", Money(100))
        assert ledger.reserve("a/bc", Money(500)).state == "open"
        assert ledger.reserve("a", Money(500)).state == "open"
        assert ledger.status("a/b").left == 100 - 5

    def test_no_limit_admits_everything_and_0_nothing(self, ledger: Any) -> None:
        assert ledger.reserve("free", Money(10**12)).state == "open"
        ledger.limit("shut", Money(0))
        with pytest.raises(LimitReached):
            ledger.reserve("shut", Money(1))
        assert ledger.reserve("shut", Money(0)).state == "open"

    # Leases ---------------------------------------------------------------------------------------

    def test_a_lease_that_ends_is_charged_in_full_and_a_later_settle_corrects_it(
        self, ledger: Any, clock: Clock
    ) -> None:
        ledger.limit("shop", Money(100))
        reserved = ledger.reserve("shop/a", Money(80), lease=60)
        clock.now += 59.9
        assert ledger.status("shop").reserved == 80
        clock.now += 0.1
        status = ledger.status("shop")
        assert (status.spent, status.reserved) == (80, 0)
        assert ledger.reservation(reserved.request_id).state == "expired"
        assert ledger.settle(reserved, Money(30)).state == "settled"
        assert (ledger.status("shop").spent, ledger.status("shop/a").spent) == (30, 30)

    def test_a_call_that_was_not_sent_can_be_released_after_its_lease(
        self, ledger: Any, clock: Clock
    ) -> None:
        reserved = ledger.reserve("shop", Money(80), lease=1)
        clock.now += 5
        assert ledger.status("shop").spent == 80
        assert ledger.release(reserved).charged == 0
        assert ledger.status("shop").spent == 0

    def test_a_lease_that_ended_keeps_its_room(self, ledger: Any, clock: Clock) -> None:
        ledger.limit("shop", Money(100))
        ledger.reserve("shop", Money(90), lease=1)
        clock.now += 5
        with pytest.raises(LimitReached):
            ledger.reserve("shop", Money(10))

    def test_a_reservation_of_a_clock_that_was_far_ahead_is_not_kept_until_then(
        self, ledger: Any, clock: Clock
    ) -> None:
        right, year = clock.now, 365 * 86_400
        clock.now += year
        reserved = ledger.reserve("shop", Money(80), lease=60)
        clock.now = right
        status = ledger.status("shop")
        assert (status.spent, status.reserved) == (80, 0)
        assert ledger.settle(reserved, Money(30)).charged == 30

    def test_the_longest_lease_is_kept(self, ledger: Any, clock: Clock) -> None:
        ledger.reserve("shop", Money(80), lease=7 * 86_400)
        clock.now -= 3_600
        assert ledger.status("shop").reserved == 80

    @pytest.mark.parametrize("lease", [0, -1, 1e9, float("nan"), "60", True, None])
    def test_a_lease_is_a_time(self, ledger: Any, lease: Any) -> None:
        with pytest.raises(InputError, match="lease"):
            ledger.reserve("shop", Money(1), lease=lease)

    # The same again -------------------------------------------------------------------------------

    def test_the_same_reservation_again_is_the_same(self, ledger: Any) -> None:
        ledger.limit("shop", Money(100))
        first = ledger.reserve("shop", Money(80), request_id="r1")
        assert ledger.reserve("shop", Money(80), request_id="r1") == first
        assert ledger.status("shop").reserved == 80
        ledger.settle(first, Money(70))
        assert ledger.reserve("shop", Money(80), request_id="r1").state == "settled"

    def test_an_id_that_was_used_for_something_else_is_an_error(self, ledger: Any) -> None:
        released = ledger.reserve("shop", Money(80), request_id="r1")
        for scope, amount, purpose in (
            ("other", 80, ""),
            ("shop", 81, ""),
            ("shop", 80, "wrap_up"),
        ):
            with pytest.raises(InputError, match="another request id"):
                ledger.reserve(scope, Money(amount), request_id="r1", purpose=purpose)
        ledger.release(released)
        with pytest.raises(InputError, match="released already"):
            ledger.reserve("shop", Money(80), request_id="r1")

    def test_settling_twice_is_harmless_and_another_amount_corrects(self, ledger: Any) -> None:
        reserved = ledger.reserve("shop", Money(80))
        assert ledger.settle(reserved, Money(50)) == ledger.settle(reserved.request_id, Money(50))
        assert ledger.status("shop").spent == 50
        ledger.settle(reserved, Money(60))
        assert ledger.status("shop").spent == 60
        assert ledger.status("shop").state == "open"

    def test_what_was_settled_cannot_be_released(self, ledger: Any) -> None:
        reserved = ledger.reserve("shop", Money(80))
        ledger.settle(reserved, Money(50))
        with pytest.raises(InputError, match="was settled"):
            ledger.release(reserved)
        assert ledger.status("shop").spent == 50

    def test_an_unknown_id_is_an_error(self, ledger: Any) -> None:
        with pytest.raises(InputError, match="nothing is reserved"):
            ledger.settle("nobody", Money(1))
        with pytest.raises(InputError, match="nothing is reserved"):
            ledger.release("nobody")
        assert ledger.reservation("nobody") is None

    @pytest.mark.parametrize("id", ["", "x" * 201, "a\nb", 5])
    def test_an_id_is_a_short_printable_text(self, ledger: Any, id: Any) -> None:
        with pytest.raises(InputError, match="request id"):
            ledger.reserve("shop", Money(1), request_id=id)

    @pytest.mark.parametrize("amount", [-1, 1.5, True, None, 10**16])
    def test_an_amount_is_whole_micro_dollars(self, ledger: Any, amount: Any) -> None:
        for call in (ledger.reserve, lambda scope, given: ledger.record(scope, "r", Money(given))):
            with pytest.raises(InputError):
                call("shop", amount)
        assert ledger.statuses() == []

    # Overruns -------------------------------------------------------------------------------------

    def test_more_than_was_reserved_is_recorded_and_counts(self, ledger: Any) -> None:
        ledger.limit("shop", Money(1_000))
        reserved = ledger.reserve("shop/a", Money(100))
        settled = ledger.settle(reserved, Money(150))
        assert (settled.charged, settled.overrun) == (150, True)
        assert (ledger.status("shop").spent, ledger.status("shop/a").state) == (150, "open")
        assert ledger.reserve("shop/a", Money(800)).state == "open"
        with pytest.raises(LimitReached):
            ledger.reserve("shop/a", Money(1))

    def test_an_overrun_that_reaches_the_limit_stops_the_scope(self, ledger: Any) -> None:
        told: list[Notice] = []
        ledger.subscribe(told.append)
        ledger.limit("shop", Money(1_000))
        ledger.settle(ledger.reserve("shop", Money(900)), Money(1_200))
        assert kinds(told) == ["COST_LIMIT", "INPUT_REQUESTED"]
        assert (ledger.status("shop").state, ledger.status("shop").overshoot) == ("asked", 200)
        with pytest.raises(LimitReached):
            ledger.reserve("shop", Money(1))

    def test_a_settle_after_a_release_is_an_overrun(self, ledger: Any) -> None:
        reserved = ledger.reserve("shop", Money(100))
        ledger.release(reserved)
        assert ledger.settle(reserved, Money(40)).overrun
        assert (ledger.status("shop").spent, ledger.status("shop").state) == (40, "open")

    @pytest.mark.parametrize(
        "freed", [("release", "settle"), ("settle",), ("expire", "release", "settle")]
    )
    def test_room_that_was_given_back_and_taken_is_not_spent_twice(
        self, ledger: Any, clock: Clock, freed: tuple[str, ...]
    ) -> None:
        ledger.limit("shop", Money(1_000))
        first = ledger.reserve("shop/a", Money(900), lease=60)
        for step in freed:
            if step == "expire":
                clock.now += 61
            else:
                ledger.release(first) if step == "release" else ledger.settle(first, Money(0))
        ledger.settle(ledger.reserve("shop/b", Money(900)), Money(900))
        settled = ledger.settle(first, Money(900))
        assert (settled.charged, settled.overrun) == (900, True)
        status = ledger.status("shop")
        assert (status.spent, status.overshoot, status.state) == (1_800, 800, "asked")

    def test_a_correction_that_fits_is_not_an_overrun(self, ledger: Any) -> None:
        ledger.limit("shop", Money(1_000))
        first = ledger.reserve("shop", Money(500))
        ledger.settle(first, Money(100))
        ledger.reserve("shop", Money(400))
        assert not ledger.settle(first, Money(500)).overrun
        assert ledger.status("shop").state == "open"

    # Spends that nobody stood before --------------------------------------------------------------

    def test_a_recorded_spend_counts_once_and_may_go_over(self, ledger: Any) -> None:
        ledger.limit("shop", Money(100))
        for _ in range(2):
            ledger.record("shop/a", "msg:req", Money(120))
        status = ledger.status("shop")
        assert (status.spent, status.overshoot, status.left, status.state) == (120, 20, 0, "asked")
        ledger.record("shop/a", "msg:req", Money(90))
        assert ledger.status("shop").spent == 90
        with pytest.raises(InputError, match="belongs to"):
            ledger.record("shop/b", "msg:req", Money(90))

    def test_a_recorded_spend_settles_the_reservation_of_its_id(self, ledger: Any) -> None:
        ledger.reserve("shop", Money(100), request_id="r1")
        assert ledger.record("shop", "r1", Money(70)).state == "settled"
        status = ledger.status("shop")
        assert (status.spent, status.reserved) == (70, 0)

    # Limits and answers ---------------------------------------------------------------------------

    def test_limits_and_answers_outlast_the_process(self, opened: Open) -> None:
        with opened() as ledger:
            ledger.limit("shop", Money(1_000))
            ledger.record("shop", "a", Money(1_000))
            ledger.answer("shop", Raise(Money(2_000)))
        with opened() as ledger:
            ledger.limit("shop", Money(1_000))  # what a job does at every start
            status = ledger.status("shop")
            assert (status.limit, status.original, status.spent) == (2_000, 1_000, 1_000)
            ledger.answer("shop", "stop")
        with opened() as ledger:
            ledger.limit("shop", Money(1_000))
            with pytest.raises(LimitReached) as caught:
                ledger.reserve("shop", Money(1))
            assert caught.value.reason == "stopped"
            ledger.limit("shop", Money(1_000), anew=True)
            status = ledger.status("shop")
            assert (status.limit, status.state) == (1_000, "asked")  # all of it is spent already

    def test_a_limit_below_what_is_spent_asks_at_once_and_can_be_answered(
        self, ledger: Any
    ) -> None:
        told: list[Notice] = []
        ledger.subscribe(told.append)
        ledger.record("shop", "a", Money(500))
        assert (ledger.limit("shop", Money(100)).state, ledger.status("shop").overshoot) == (
            "asked",
            400,
        )
        assert kinds(told) == ["COST_LIMIT", "INPUT_REQUESTED"]
        assert ledger.answer("shop", "continue").left == 5
        with pytest.raises(InputError, match="leaves no room"):
            ledger.answer("shop", Raise(Money(525)))

    def test_continue_adds_a_tenth_once_per_question(self, ledger: Any) -> None:
        ledger.limit("shop", Money(1_000))
        with pytest.raises(InputError, match="nothing was asked"):
            ledger.answer("shop", "continue")
        ledger.record("shop", "a", Money(990))
        assert ledger.answer("shop", "continue").limit == 1_100
        with pytest.raises(InputError, match="nothing was asked"):
            ledger.answer("shop", "continue")

    def test_the_wrap_up_is_paid_from_what_was_held_back(self, ledger: Any) -> None:
        ledger.limit("shop", Money(5_000_000))
        ledger.settle(ledger.reserve("shop/a", Money(4_750_000)), Money(4_750_000))
        for purpose in ("", "wrap_up"):
            with pytest.raises(LimitReached):
                ledger.reserve("shop/a", Money(1), purpose=purpose)
        ledger.answer("shop", "wrap_up")
        with pytest.raises(LimitReached) as caught:
            ledger.reserve("shop/a", Money(1))
        assert caught.value.reason == "wrapping_up"
        wrap_up = ledger.reserve("shop/a", Money(250_000), purpose="wrap_up")
        with pytest.raises(LimitReached):
            ledger.reserve("shop/a", Money(1), purpose="wrap_up")
        ledger.settle(wrap_up, Money(250_000))
        status = ledger.status("shop")
        assert (status.spent, status.overshoot, status.state) == (5_000_000, 0, "stopped")

    @pytest.mark.parametrize("told", ["shop", "shop/a"])
    def test_the_wrap_up_is_paid_when_parent_and_child_ran_out_together(
        self, ledger: Any, told: str
    ) -> None:
        for scope in ("shop", "shop/a"):
            ledger.limit(scope, Money(1_000))
        ledger.record("shop/a", "work", Money(950))
        with pytest.raises(LimitReached):
            ledger.reserve("shop/a", Money(1), purpose="wrap_up")
        assert ledger.answer(told, "wrap_up").left == 50
        assert ledger.status("shop/a").left == 50
        with pytest.raises(LimitReached):
            ledger.reserve("shop/a", Money(1))
        wrap_up = ledger.reserve("shop/a", Money(50), purpose="wrap_up")
        with pytest.raises(LimitReached):
            ledger.reserve("shop/a", Money(1), purpose="wrap_up")
        ledger.settle(wrap_up, Money(50))
        assert [(each.spent, each.overshoot) for each in ledger.statuses()] == [(1_000, 0)] * 2

    def test_who_wraps_a_project_up_is_not_asked_about_what_is_below_it(self, ledger: Any) -> None:
        told: list[Notice] = []
        ledger.subscribe(told.append)
        ledger.limit("shop", Money(1_000))
        ledger.limit("shop/a", Money(100))
        ledger.answer("shop", "wrap_up")
        ledger.settle(ledger.reserve("shop/a", Money(100), purpose="wrap_up"), Money(100))
        assert told == []

    def test_an_unknown_purpose_is_an_error(self, ledger: Any) -> None:
        with pytest.raises(InputError, match="purpose"):
            ledger.reserve("shop", Money(1), purpose="fun")

    # What is told ---------------------------------------------------------------------------------

    def test_each_notice_comes_once_per_limit_whichever_process_is_first(
        self, opened: Open
    ) -> None:
        told: list[Notice] = []
        for number in range(12):
            with opened() as ledger:
                ledger.subscribe(told.append)
                ledger.limit("shop", Money(1_000))
                ledger.record(f"shop/{number}", f"r{number}", Money(100))
        assert kinds(told) == ["COST_WARNING", "COST_LIMIT", "INPUT_REQUESTED"]
        assert [notice.scope for notice in told if hasattr(notice, "scope")] == ["shop"] * 3

    def test_a_refused_reservation_asks(self, ledger: Any) -> None:
        told: list[Notice] = []
        ledger.subscribe(told.append)
        ledger.limit("shop", Money(1_000))
        for _ in range(2):
            with pytest.raises(LimitReached):
                ledger.reserve("shop", Money(960))
        assert kinds(told) == ["COST_LIMIT", "INPUT_REQUESTED"]
        assert "another <$0.01 does not fit" in str(told[0])
        ledger.settle(ledger.reserve("shop", Money(900)), Money(900))
        assert kinds(told) == ["COST_LIMIT", "INPUT_REQUESTED", "COST_WARNING"]

    # Looking --------------------------------------------------------------------------------------

    def test_statuses_lists_a_scope_and_what_is_below_it(self, ledger: Any) -> None:
        for number, scope in enumerate(("a", "a-b", "a/b", "a.x", "ab", "b/c")):
            ledger.record(scope, str(number), Money(1))
        assert [each.scope for each in ledger.statuses()] == [
            "a",
            "a-b",
            "a.x",
            "a/b",
            "ab",
            "b",
            "b/c",
        ]
        assert [each.scope for each in ledger.statuses("a")] == ["a", "a/b"]
        assert ledger.statuses("nobody") == []
        assert ledger.status("nobody").spent == 0

    def test_looking_changes_nothing(self, ledger: Any) -> None:
        ledger.status("shop")
        assert ledger.statuses() == []

    # Promises -------------------------------------------------------------------------------------

    @settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
    @given(data=st.data())
    def test_what_is_admitted_never_exceeds_a_limit_and_the_sums_agree(
        self, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        self.check_that_sums_agree(data, tmp_path_factory)

    def check_that_sums_agree(
        self, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        clock = Clock()
        scopes = ("a", "a/b", "a/c", "a/b/d", "e")
        limits = {
            scope: data.draw(st.none() | st.integers(0, 200), label=scope) for scope in scopes
        }
        step = st.tuples(
            st.sampled_from(
                ["reserve", "reserve", "settle", "settle", "release", "wait", "continue"]
            ),
            st.sampled_from(scopes),
            st.integers(0, 80),
            st.sampled_from([0, 30, 100, 100, 110]),
        )
        with self.new(tmp_path_factory.mktemp("ledger"), clock) as ledger:
            for scope, limit in limits.items():
                ledger.limit(scope, None if limit is None else Money(limit))
            known: dict[str, Any] = {}
            for action, scope, number, percent in data.draw(
                st.lists(step, min_size=20, max_size=40)
            ):
                made = known[sorted(known)[number % len(known)]] if known else None
                with suppress(LimitReached, InputError):
                    # No room; settled already; nothing was asked.
                    if action == "wait":
                        clock.now += number
                    elif action == "continue":
                        ledger.answer(scope, "continue")
                    elif action == "reserve":
                        id = f"r{len(known):03}"
                        known[id] = ledger.reserve(scope, Money(number), request_id=id, lease=60)
                    elif made and action == "settle":
                        ledger.settle(made, Money(made.amount * percent // 100))
                    elif made:
                        ledger.release(made)
                rows = [ledger.reservation(id) for id in known]
                for status in ledger.statuses():
                    below = [row for row in rows if status.scope in lineage(row.scope)]
                    assert status.spent == sum(row.charged for row in below)
                    assert status.reserved == sum(
                        row.amount for row in below if row.state == "open"
                    )
                    overrun = sum(row.charged for row in below if row.overrun)
                    assert (
                        status.limit is None
                        or status.spent + status.reserved <= status.limit + overrun
                    )

    def new(self, folder: Any, clock: Clock) -> Any:
        """Open a new, empty ledger in *folder*."""
        raise NotImplementedError
