"""Amounts are exact, and what is rounded is rounded to the safe side."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.errors import InputError, UnknownPrice
from brim.models import Tokens, cost
from brim.models.price_list import PriceList
from brim.money import estimate_cost
from brim.money.amounts import checked_amount, dollars
from brim.tokens.count import Count
from brim.usd import MOST, micro_dollars

COMMAS = ("0,25", "1,5", "1,0000", ",5", "1,", "1.000,5", "10,00", "1000,000", "1.5,000")
"""A comma that stands for the point somewhere, or where none belongs."""


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1,234,567.80", 1_234_567_800_000),
        ("0.25", 250_000),
        ("$0.25", 250_000),
        (" $1,000 ", 10**9),
        ("0", 0),
        ("2e-3", 2_000),
        (".5", 500_000),
    ],
)
def test_an_amount_is_read_as_people_write_it(text: str, amount: int) -> None:
    assert micro_dollars(text) == amount


def test_more_than_six_places_are_rounded_up_and_down_for_a_limit() -> None:
    assert micro_dollars("0.1234561") == 123_457
    assert micro_dollars("0.1234569", up=False) == 123_456
    assert micro_dollars("0.3" + 40 * "0" + "1") == 300_001
    assert micro_dollars("0." + 40 * "9", up=False) == 999_999


@pytest.mark.parametrize(
    "text", ["", "-1", "ten", "nan", "inf", "1e12", "$", "1.2.3", "0x10", "1e999999999", *COMMAS]
)
def test_what_is_no_amount_is_an_error(text: str) -> None:
    with pytest.raises(InputError, match="US dollars"):
        micro_dollars(text)


@given(st.integers(1, 4_999))
def test_less_than_half_a_cent_is_not_shown_as_nothing(amount: int) -> None:
    assert dollars(amount) == "<$0.01"


@given(st.integers(5_000, MOST))
def test_a_larger_amount_is_shown_to_the_nearest_cent(amount: int) -> None:
    shown = dollars(amount)
    assert len(shown.partition(".")[2]) == 2
    assert abs(micro_dollars(shown) - amount) <= 5_000


@pytest.mark.parametrize("amount", [-1, 1.5, True, "1", None, MOST + 1])
def test_only_whole_amounts_can_be_kept(amount: object) -> None:
    with pytest.raises(InputError, match="micro-dollars"):
        checked_amount(amount)


DAY = 86_400.0


def test_a_request_costs_what_cost_says() -> None:
    tokens = Tokens(input=1_000, output=100, cache_read=5_000, cache_write_5m=300)
    assert PriceList().request(tokens, "claude-sonnet-4-5", None) == cost(
        tokens, "claude-sonnet-4-5"
    )


def test_an_unknown_model_has_no_price() -> None:
    prices = PriceList()
    assert prices.request(Tokens(input=1), "nobody-knows-me", 0.0) is None
    assert prices.sum({"nobody-knows-me": Tokens(input=1), "gpt-4o": Tokens(input=1)}, None) is None


@pytest.mark.parametrize("time", [None, -1e300, 1e300, float("nan"), float("inf"), 0.0, 4e9])
def test_any_time_has_a_price(time: float | None) -> None:
    assert PriceList().request(Tokens(input=1_000), "claude-sonnet-4-5", time) is not None


def test_a_sum_is_priced_without_the_tiers_that_no_single_request_may_have_reached() -> None:
    many = Tokens(input=1_000_000)
    at_least = PriceList().sum({"gemini-2.5-pro": many}, None)
    one = cost(Tokens(input=100_000), "gemini-2.5-pro")
    assert one is not None
    assert at_least == 10 * one
    assert (cost(many, "gemini-2.5-pro") or 0) > at_least


def test_an_estimate_takes_the_high_end_of_a_count() -> None:
    count = Count(1_000, "estimated", low=800, high=1_500)
    assert estimate_cost("claude-sonnet-4-5", input_tokens=count) == 4_500


def test_an_estimate_of_an_unknown_price_is_refused() -> None:
    with pytest.raises(UnknownPrice, match="nobody-knows-me") as caught:
        estimate_cost("nobody-knows-me", input_tokens=1)
    assert caught.value.model == "nobody-knows-me"


def test_negative_tokens_are_an_error() -> None:
    with pytest.raises(InputError):
        estimate_cost("gpt-4o", input_tokens=-1)


def test_numbers_are_amounts_too() -> None:
    assert micro_dollars(0.25) == micro_dollars(Decimal("0.25")) == 250_000
    assert micro_dollars(3) == 3_000_000
    several: list[Any] = [None, True, [], b"1"]
    for wrong in several:
        with pytest.raises(InputError, match="must be a number or a text"):
            micro_dollars(wrong)
