from __future__ import annotations

from datetime import date
from decimal import ROUND_CEILING, Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.errors import InputError
from brim.models import Price, Tokens, cost, model, use

counts = st.integers(min_value=0, max_value=10**9)


@pytest.mark.parametrize(
    ("usage", "name", "micro_dollars"),
    [
        ({"input_tokens": 1_000, "output_tokens": 100}, "claude-sonnet-4-5", 3_000 + 1_500),
        (
            {
                "input_tokens": 10,
                "cache_read_input_tokens": 1_000,
                "cache_creation_input_tokens": 100,
                "output_tokens": 1,
            },
            "claude-sonnet-4-5",
            30 + 300 + 375 + 15,
        ),
        (
            {
                "input_tokens": 0,
                "cache_creation": {"ephemeral_1h_input_tokens": 100},
                "output_tokens": 0,
            },
            "claude-sonnet-4-5",
            600,
        ),
        (
            {
                "prompt_tokens": 1_000,
                "prompt_tokens_details": {"cached_tokens": 800},
                "completion_tokens": 10,
            },
            "gpt-4o",
            500 + 1_000 + 100,
        ),
        (
            {"promptTokenCount": 1_000, "candidatesTokenCount": 3, "thoughtsTokenCount": 7},
            "gemini-2.5-pro",
            1_250 + 100,
        ),
        ({"input_tokens": 1, "output_tokens": 0}, "gpt-4o-mini", 1),
        ({"input_tokens": 0, "output_tokens": 0}, "whatever", 0),
    ],
)
def test_cost_in_micro_dollars(usage: dict[str, Any], name: str, micro_dollars: int) -> None:
    assert cost(usage, name) == micro_dollars
    assert cost(usage, model(name)) == micro_dollars


def test_a_prompt_over_the_mark_is_charged_whole_at_the_higher_rate() -> None:
    below = {"input_tokens": 0, "cache_read_input_tokens": 100_000, "output_tokens": 1_000}
    above = {"input_tokens": 1, "cache_read_input_tokens": 100_000, "output_tokens": 1_000}
    assert cost(below, "claude-haiku-5-5") == 1_000 + 500
    assert cost(above, "claude-haiku-5-5") == 5_000 + 2_500 + 1


def test_the_price_of_the_day_of_the_request_counts() -> None:
    usage = {"input_tokens": 1_000, "output_tokens": 0}
    assert (cost(usage, "o3", on=date(2025, 6, 9)), cost(usage, "o3", on=date(2025, 6, 10))) == (
        10_000,
        2_000,
    )


def test_a_price_that_is_needed_and_unknown_makes_the_cost_unknown() -> None:
    assert cost({"input_tokens": 1, "output_tokens": 0}, "whatever") is None
    assert cost({"input_tokens": 1, "output_tokens": 0}, "gpt-4o-superfast") is None
    use({"half": {"prices": {"input": 1}}})
    assert cost({"input_tokens": 7, "output_tokens": 0}, "half") == 7
    assert cost({"input_tokens": 7, "output_tokens": 1}, "half") is None
    assert cost({"input_tokens": 7, "cache_read_input_tokens": 1}, "half") is None
    assert cost({"input_tokens": 7, "cache_creation_input_tokens": 1}, "half") is None


def test_cache_writes_without_a_price_are_input_in_openais_form_only() -> None:
    codex = {
        "input_tokens": 100,
        "cached_input_tokens": 0,
        "cache_write_input_tokens": 40,
        "output_tokens": 0,
    }
    assert cost(codex, "gpt-4o") == 250
    assert (
        cost({"input_tokens": 60, "cache_creation_input_tokens": 40, "output_tokens": 0}, "gpt-4o")
        is None
    )
    assert cost(codex, "gpt-5.6-sol", on=date(2026, 11, 15)) == cost(
        Tokens(input=60, cache_write_5m=40), "gpt-5.6-sol", on=date(2026, 11, 15)
    )


@pytest.mark.parametrize(
    ("extra", "micro_dollars"),
    [
        ({"service_tier": "batch"}, 2_500),
        ({"inference_geo": "us"}, 5_500),
        ({"speed": "fast"}, 10_000),
        ({"speed": "fast", "inference_geo": "us"}, 11_000),
        ({"service_tier": "priority"}, None),
    ],
)
def test_batches_fast_mode_and_us_only_inference(
    extra: dict[str, Any], micro_dollars: int | None
) -> None:
    assert (
        cost({"input_tokens": 1_000, "output_tokens": 0, **extra}, "claude-opus-5") == micro_dollars
    )


def test_us_only_inference_costs_more_only_where_the_table_says_so() -> None:
    assert (
        cost(
            {"input_tokens": 1_000, "output_tokens": 0, "inference_geo": "us"}, "claude-sonnet-4-5"
        )
        == 3_000
    )


def test_garbage_is_a_clear_error_and_never_a_negative_cost() -> None:
    with pytest.raises(InputError, match=r"usage\.input_tokens"):
        cost({"input_tokens": -1_000_000, "output_tokens": 1}, "gpt-4o")


@given(counts, counts, counts, counts, counts)
def test_the_sum_is_exact_and_rounded_up_once(a: int, b: int, c: int, d: int, e: int) -> None:
    price = Price(
        input=Decimal("0.1"),
        output=Decimal("0.37"),
        cache_read=Decimal("0.003"),
        cache_write_5m=Decimal("0.125"),
        cache_write_1h=Decimal("0.2"),
    )
    tokens = Tokens(input=a, output=b, cache_read=c, cache_write_5m=d, cache_write_1h=e)
    exact = (100 * a + 370 * b + 3 * c + 125 * d + 200 * e) / Decimal(1_000)
    use({"priced": {"prices": {field: getattr(price, field) for field in FIELDS}}})
    assert cost(tokens, "priced") == int(exact.to_integral_value(ROUND_CEILING))


FIELDS = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")


@given(
    st.sampled_from(["claude-haiku-5-5", "gemini-2.5-pro", "claude-opus-4-8"]),
    counts,
    counts,
    counts,
    counts,
)
def test_more_tokens_never_cost_less(
    name: str, input_: int, output: int, read: int, more: int
) -> None:
    less = cost(Tokens(input=input_, output=output, cache_read=read), name)
    assert less is not None
    assert less >= 0
    for grown in (
        Tokens(input=input_ + more, output=output, cache_read=read),
        Tokens(input=input_, output=output + more, cache_read=read),
        Tokens(input=input_, output=output, cache_read=read + more),
    ):
        assert (cost(grown, name) or 0) >= less


@given(counts, counts, counts, counts)
def test_two_requests_cost_at_most_one_micro_dollar_more_than_their_sum(
    a: int, b: int, c: int, d: int
) -> None:
    parts = [cost(Tokens(input=i, output=o), "gpt-4o-mini") or 0 for i, o in ((a, b), (c, d))]
    whole = cost(Tokens(input=a + c, output=b + d), "gpt-4o-mini") or 0
    assert whole <= sum(parts) <= whole + 1
