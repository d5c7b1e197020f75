"""A request that belongs to several scopes: a person's and a project's, in every ledger alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brim.errors import InputError, LimitReached
from brim.money import lineage, open_ledger
from brim.usd import Money
from tests.money.ledger_contract import Clock
from tests.money.server import empty_schema

LIMITS = st.dictionaries(
    st.sampled_from(["acme", "acme/ann", "acme/bob", "acme/shop", "acme/ann/s1", "else"]),
    st.integers(0, 250),
    min_size=1,
)
SPENDERS = (
    "acme/ann",
    "acme/ann+acme/shop",
    "acme/shop+acme/ann",
    "acme/ann/s1+acme/shop",
    "acme/ann/s1+acme/ann",
    "acme/bob+acme/shop+else",
    "else+acme/ann/s1",
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["reserve", "reserve", "reserve", "settle", "settle", "release"]),
        st.sampled_from(SPENDERS),
        st.integers(1, 90),
    ),
    min_size=10,
    max_size=50,
)


class PlainLedger:
    """The rules in plain Python: nothing is kept but limits and requests, and all sums are made of
    these each time."""

    def __init__(self) -> None:
        self.limits: dict[str, int] = {}
        self.requests: dict[str, list[Any]] = {}
        """By id: scopes, what is reserved, and what is spent."""

    def used(self, scope: str) -> int:
        total = 0
        for scopes, reserved, spent in self.requests.values():
            if scope in scopes:
                total += reserved + spent
        return total

    def room(self, scope: str) -> int | None:
        limit = self.limits.get(scope)
        if limit is None:
            return None
        return max(0, limit - limit // 20 - self.used(scope))

    def reserve(self, id: str, scope: str, amount: int) -> bool:
        counted = set()
        for path in scope.split("+"):
            segments = path.split("/")
            for depth in range(1, len(segments) + 1):
                counted.add("/".join(segments[:depth]))
        for name in counted:
            room = self.room(name)
            if room is not None and amount > room:
                return False
        self.requests[id] = [counted, amount, 0]
        return True

    def settle(self, id: str, amount: int) -> None:
        self.requests[id][1:] = [0, amount]


def reserved(ledger: Any, id: str, scope: str, amount: int) -> bool:
    try:
        ledger.reserve(scope, Money(amount), request_id=id, asks=amount % 2 == 0)
    except LimitReached:
        return False
    return True


@settings(max_examples=20, suppress_health_check=list(HealthCheck), deadline=None)
@given(limits=LIMITS, steps=STEPS)
def test_python_sqlite_and_postgresql_admit_the_same(
    tmp_path_factory: pytest.TempPathFactory, limits: dict[str, int], steps: list[Any]
) -> None:
    path = str(tmp_path_factory.mktemp("ledger") / "money.db")
    plain = PlainLedger()
    plain.limits = limits
    clock = Clock()
    with open_ledger(path, clock=clock) as file, open_ledger(empty_schema(), clock=clock) as server:
        for scope, limit in limits.items():
            file.limit(scope, Money(limit))
            server.limit(scope, Money(limit))
        held: list[tuple[str, int]] = []
        for number, (action, scope, amount) in enumerate(steps):
            id = f"r{number}"
            if action == "reserve":
                admitted = plain.reserve(id, scope, amount)
                assert reserved(file, id, scope, amount) is admitted
                assert reserved(server, id, scope, amount) is admitted
                if admitted:
                    held.append((id, amount))
                continue
            if not held:
                continue
            id, most = held.pop(amount % len(held))
            cost = 0
            if action == "settle":
                cost = most * amount // 90
            plain.settle(id, cost)
            for ledger in (file, server):
                if action == "settle":
                    ledger.settle(id, Money(cost))
                else:
                    ledger.release(id)
        assert server.statuses() == file.statuses()
        assert server.days() == file.days()
        for status in file.statuses():
            assert status.spent + status.reserved == plain.used(status.scope)
            assert status.spent + status.reserved <= limits.get(status.scope, 10**9)


@pytest.fixture(params=["file", "server"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    address = empty_schema()
    if request.param == "file":
        address = str(tmp_path / "money.db")
    with open_ledger(address, clock=Clock()) as ledger:
        yield ledger


def test_what_is_above_both_counts_once_and_a_bill_is_one_entry(ledger: Any) -> None:
    ledger.limit("acme", Money(1_000))
    made = ledger.reserve("acme/ann/s1+acme/shop", Money(100), model="small")
    assert [status.reserved for status in ledger.statuses()] == [100, 100, 100, 100]
    ledger.settle(made, Money(60))
    sums = {status.scope: status.spent for status in ledger.statuses()}
    assert sums == {"acme": 60, "acme/ann": 60, "acme/ann/s1": 60, "acme/shop": 60}
    assert [(day.scope, day.amount) for day in ledger.days()] == [("acme/ann/s1+acme/shop", 60)]
    assert [day.amount for day in ledger.days("acme/shop")] == [60]
    assert [day.amount for day in ledger.days("acme/ann")] == [60]
    assert ledger.days("acme/an") == []


@pytest.mark.parametrize("limited", ["acme", "acme/ann", "acme/shop"])
def test_all_of_them_must_have_room(ledger: Any, limited: str) -> None:
    ledger.limit(limited, Money(100))
    ledger.reserve("acme/ann+acme/shop", Money(60))
    with pytest.raises(LimitReached) as caught:
        ledger.reserve("acme/ann+acme/shop", Money(60))
    assert caught.value.scope == limited
    assert [status.reserved for status in ledger.statuses()] == [60, 60, 60]


def test_a_limit_that_begins_later_counts_what_both_spent_before(ledger: Any) -> None:
    ledger.settle(ledger.reserve("acme/ann+acme/shop", Money(60)), Money(60))
    ledger.settle(ledger.reserve("acme/ann+acme/shop2", Money(5)), Money(5))
    assert ledger.allow("acme/shop", "5/day", including_past=True).spent == 60
    assert ledger.allow("acme/ann", "5/day", including_past=True).spent == 65


def test_a_pattern_limits_only_what_is_below_it(ledger: Any) -> None:
    ledger.allow("acme", "1/session")
    ledger.reserve("acme/ann+other/shop", Money(100))
    scopes = [(allowance.scope, allowance.reserved) for allowance in ledger.allowances()]
    assert scopes == [("acme", 0), ("acme/ann", 100)]


def test_an_id_belongs_to_its_scopes(ledger: Any) -> None:
    made = ledger.reserve("acme/ann+acme/shop", Money(60), request_id="r1")
    assert ledger.reserve("acme/ann+acme/shop", Money(60), request_id="r1") == made
    with pytest.raises(InputError, match="another request id"):
        ledger.reserve("acme/ann", Money(60), request_id="r1")


@pytest.mark.parametrize("scope", ["a+", "+a", "a++b", "a/+b", "a+b+c+d+e"])
def test_what_is_no_list_of_scopes_is_an_error(scope: str) -> None:
    with pytest.raises(InputError, match="scope"):
        lineage(scope)


def test_a_limit_stands_on_one_scope(ledger: Any) -> None:
    with pytest.raises(InputError, match="isn't a scope"):
        ledger.limit("a+b", Money(1))
    with pytest.raises(InputError, match="isn't a scope"):
        ledger.allow("a+b", "5/day")
