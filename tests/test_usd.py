"""Money is a number of micro-dollars that is read and printed in dollars, and stays money."""

from __future__ import annotations

import copy
import json
import pickle
from decimal import Decimal
from typing import Any

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

import brim
from brim import Guard, Money, cost, open_ledger
from brim.errors import InputError
from brim.money import CostBudget, Raise

AMOUNTS = st.integers(-(10**12), 10**12).map(Money)


def test_money_is_printed_and_formatted_in_dollars() -> None:
    assert repr(Money(29_100)) == "Money($0.0291)"
    assert repr(Money.from_usd("1234567.5")) == "Money($1,234,567.50)"
    assert repr(Money(-10_000)) == "Money(-$0.01)"
    assert (str(Money(5_000_000)), f"{Money(29_100)}") == ("$5.00", "$0.0291")
    assert (f"{Money(29_100):.2f}", f"{Money(29_100):>8.4f}") == ("0.03", "  0.0291")
    assert Money(29_100).usd == Decimal("0.0291")


def test_money_is_an_int_of_micro_dollars() -> None:
    assert isinstance(Money(5), int)
    assert Money.from_usd("0.0291") == 29_100
    assert sorted([Money(3), Money(1)]) == [1, 3]
    assert json.dumps({"cost": Money(29_100)}) == '{"cost": 29100}'


@given(AMOUNTS, AMOUNTS, st.integers(1, 1_000))
def test_arithmetic_keeps_the_type(one: Money, other: Money, number: int) -> None:
    results: list[Any] = [
        one + other,
        one - other,
        0 + one,
        sum([one, other]),
        one * number,
        number * one,
        one / number,
        one // number,
        -one,
        abs(one),
        max(one, other),
    ]
    assert [type(result) for result in results] == [Money] * len(results)
    assert one + other - other == one
    assert one * number // number == one


def test_money_divided_by_money_is_a_plain_number() -> None:
    share = Money.from_usd("1") / Money.from_usd("4")
    assert (type(share), share) == (float, 0.25)
    assert type(Money.from_usd("1") // Money.from_usd("0.3")) is int


def test_money_divided_by_any_number_is_money() -> None:
    assert repr(Money(3_000_000) / 1_000_000) == "Money($0.000003)"
    assert repr(Money(3_000_000) // 1_000_000) == "Money($0.000003)"


def test_a_multiple_is_rounded_to_a_micro_dollar() -> None:
    assert Money(100) * 1.1 == 110
    assert Money(10) * Decimal("0.25") == 2
    with pytest.raises(TypeError):
        Money(1) * Money(1)
    with pytest.raises(TypeError, match=r"Money\.from_usd"):
        Money(1) + 0.5


@given(AMOUNTS)
def test_money_is_copied_and_pickled(money: Money) -> None:
    for same in (copy.deepcopy(money), pickle.loads(pickle.dumps(money))):
        assert (type(same), same) == (Money, money)


def test_money_is_a_field_of_pydantic_models() -> None:
    class Bill(pydantic.BaseModel):
        total: Money

    assert Bill(total="0.25").total == Money(250_000)  # type: ignore[arg-type]
    bill = Bill(total=Money(29_100))
    assert Bill.model_validate_json(bill.model_dump_json()).total == Money(29_100)


BARE_NUMBERS = [5, 5.0, 5_000_000, True]


@pytest.mark.parametrize("number", BARE_NUMBERS)
def test_a_bare_number_is_refused_wherever_money_is_meant(number: Any, tmp_path: Any) -> None:
    with open_ledger(f"{tmp_path}/spend.db") as ledger:
        reserved = ledger.reserve("shop", "1")
        refusing = [
            lambda: Money.from_usd(number),
            lambda: Guard("gpt-4o", limit_usd=number),
            lambda: Guard("gpt-4o", tool_usd=number),
            lambda: CostBudget(limit=number),
            lambda: CostBudget(limit="5").add(number),
            lambda: Raise(number),
            lambda: ledger.limit("shop", number),
            lambda: ledger.reserve("shop", number),
            lambda: ledger.record("shop", "r1", number),
            lambda: ledger.settle(reserved, number),
        ]
        for call in refusing:
            with pytest.raises(InputError, match="must be dollars in a text, a Decimal or Money"):
                call()  # type: ignore[no-untyped-call]


def test_the_refusal_says_what_to_write() -> None:
    with pytest.raises(InputError) as caught:
        Guard("gpt-4o", limit_usd=5)  # type: ignore[arg-type]
    assert str(caught.value) == (
        "limit_usd must be dollars in a text, a Decimal or Money, not 5: write '5' for $5, or"
        " Money(5) for 5 micro-dollars"
    )
    with pytest.raises(InputError, match=r"for dollars, write Money\.from_usd\('5'\)"):
        Money("5")  # type: ignore[arg-type]


def test_limits_take_text_decimals_and_money() -> None:
    for five in ("5", "$5.00", Decimal(5), Money(5_000_000), Money.from_usd("5")):
        assert Guard("gpt-4o", limit_usd=five).limit == Money(5_000_000)
        assert CostBudget(limit=five).limit == Money(5_000_000)


def test_what_is_said_about_money_is_money(tmp_path: Any) -> None:
    with open_ledger(f"{tmp_path}/spend.db") as ledger:
        status = ledger.limit("shop", "10")
        reserved = ledger.reserve("shop/job", "0.25")
        settled = ledger.settle(reserved, "0.18")
        amounts: list[Any] = [status.limit, status.left, reserved.amount, settled.charged]
        amounts += [ledger.status("shop").spent, *(day.amount for day in ledger.days())]
        with pytest.raises(brim.LimitReached) as refused:
            ledger.reserve("shop", "10")
        amounts += [refused.value.room, refused.value.amount, refused.value.limit]
    assert {type(amount) for amount in amounts} == {Money}
    assert type(cost({"input_tokens": 1_000, "output_tokens": 100}, "claude-sonnet-4-5")) is Money
