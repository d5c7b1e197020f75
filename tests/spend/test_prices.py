"""A request costs what its day's price says, or nobody knows."""

from __future__ import annotations

import pytest

from brim.errors import InputError, UnknownPrice
from brim.models import Tokens, cost
from brim.spend import PriceList, estimate_cost
from brim.tokens.count import Count

DAY = 86_400.0


def test_a_request_costs_what_cost_says() -> None:
    tokens = Tokens(input=1_000, output=100, cache_read=5_000, cache_write_5m=300)
    assert PriceList().request(tokens, "claude-sonnet-4-5", None) == cost(tokens, "claude-sonnet-4-5")


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
