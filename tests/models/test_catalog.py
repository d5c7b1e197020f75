from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from brim.errors import InputError
from brim.models import Price, PriceTier, model, models


def rate(name: str, on: date | None = None) -> Decimal | None:
    price = model(name).price(on)
    return price.input if price else None


def test_a_full_record() -> None:
    found = model("gpt-4o")
    assert (found.name, found.provider, found.mode) == ("gpt-4o", "openai", "chat")
    assert (found.context_window, found.max_input, found.max_output) == (128_000, 128_000, 16_384)
    assert (found.encoding, found.resolved, found.source) == (
        "o200k_base",
        True,
        "litellm+genai-prices",
    )
    assert found.price() == Price(
        input=Decimal("2.5"),
        output=Decimal(10),
        cache_read=Decimal("1.25"),
        web_search=Decimal(10_000),
    )


def test_prices_are_dated_and_the_old_ones_stay() -> None:
    assert [(price.since, price.until) for price in model("o3").prices] == [
        (None, date(2025, 6, 10)),
        (date(2025, 6, 10), None),
    ]
    assert (rate("o3", date(2025, 6, 9)), rate("o3", date(2025, 6, 10))) == (
        Decimal(10),
        Decimal(2),
    )
    assert rate("o3", datetime(2025, 6, 9, 23, tzinfo=UTC)) == Decimal(10)


def test_a_long_prompt_is_charged_whole_at_its_tier() -> None:
    price = model("gemini-2.5-pro").price()
    assert price is not None
    tier = PriceTier(
        above=200_000,
        input=Decimal("2.5"),
        output=Decimal(15),
        cache_read=Decimal("0.25"),
        web_search=Decimal(35_000),
    )
    assert price.tiers == (tier,)
    assert price.at(200_000) is price
    assert price.at(200_001) == tier


def test_several_tiers_are_told_apart() -> None:
    price = model("dashscope/qwen3-max").price()
    assert price is not None
    assert [price.at(prompt).input for prompt in (1, 32_001, 128_001)] == [
        Decimal("1.2"),
        Decimal("2.4"),
        Decimal(3),
    ]


def test_the_callers_window_outranks_the_table() -> None:
    found = model("gpt-5", context_window=100_000)
    assert (found.context_window, found.max_input) == (100_000, 100_000)


@pytest.mark.parametrize("window", [0, -1, True, "200k", 1.5])
def test_a_window_that_is_no_number_is_refused(window: Any) -> None:
    with pytest.raises(InputError, match="context_window must be a positive whole number"):
        model("gpt-4o", context_window=window)


@pytest.mark.parametrize(
    ("name", "source"), [("gpt-4o-superfast", "family"), ("whatever", "default")]
)
def test_an_unknown_model_has_no_price(name: str, source: str) -> None:
    found = model(name)
    assert (found.name, found.prices, found.resolved, found.source) == (name, (), False, source)


@pytest.mark.parametrize(
    ("name", "price"),
    [
        ("openai/gpt-4o", "2.5"),
        ("litellm_proxy/openai/gpt-4o", "2.5"),
        ("google/gemini-2.5-pro", "1.25"),
        ("bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", "3.3"),
        ("us.anthropic.claude-fable-5-2", "8.8"),
        ("bedrock/eu.anthropic.claude-fable-5-2", "8.8"),
        ("global.anthropic.claude-fable-5-2", "8"),
        ("ft:gpt-4o:org::id", "3.75"),
        ("somebody/gpt-4o", None),
        ("eu.anthropic.claude-sonnet-4-5-20990929-v1:0", None),
        ("ft:gpt-5:org::id", None),
    ],
)
def test_a_price_holds_only_for_the_provider_that_charges_it(name: str, price: str | None) -> None:
    assert rate(name) == (Decimal(price) if price else None)
    assert model(name).resolved


def test_a_subscription_and_a_placeholder_are_unknown_and_a_local_model_is_free() -> None:
    assert model("github_copilot/gpt-4o").prices == ()
    assert rate("ollama/llama2") == 0


def test_search_by_part_of_a_name_and_by_pattern() -> None:
    assert "azure/gpt-4o" in [found.name for found in models("GPT-4O")]
    assert {found.name for found in models("gpt-4o")} > {found.name for found in models("gpt-4o*")}
    assert all(found.name.lower().startswith("claude-opus") for found in models("claude-opus-*"))
    assert models("no such model") == []
    names = [found.name.lower() for found in models()]
    assert len(names) > 3_000
    assert names == sorted(names)


def test_a_model_prints_itself() -> None:
    assert (
        str(model("whatever"))
        == "whatever: 8,192 tokens; cl100k_base; unknown price; name not known"
    )
    assert str(Price()) == "unknown per million tokens"


@pytest.mark.parametrize("wrong", [None, 5, b"gpt-4o", ["gpt-4o"]])
def test_a_model_is_given_by_its_name(wrong: Any) -> None:
    with pytest.raises(InputError, match="a model is given by its name"):
        model(wrong)
