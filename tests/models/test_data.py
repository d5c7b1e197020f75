"""The table as it is shipped: whole, ordered, and in agreement with a second registry."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import brim.models
from brim.models import Tokens, cost, lookup, model
from tests.models.test_build import script

DATA = Path(brim.models.__file__).parent / "data"

TABLE: dict[str, Any] = json.loads((DATA / "models.json").read_bytes())
HEADER, RECORDS = TABLE["header"], TABLE["models"]
BUILT = date.fromisoformat(HEADER["built"])
RATES = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")


def rows(name: str) -> list[list[str]]:
    lines = (DATA / name).read_bytes().decode().split("\n")
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def test_the_shipped_bytes_are_the_built_bytes() -> None:
    body = (DATA / "models.json").read_bytes().split(b'"models": {\n', 1)[1].removesuffix(b"\n}}\n")
    assert hashlib.sha256(body).hexdigest() == HEADER["sha256"]["body"]
    assert (
        hashlib.sha256((DATA / "index.tsv").read_bytes()).hexdigest() == HEADER["sha256"]["index"]
    )


def test_the_header_names_its_sources() -> None:
    assert [(source["name"], source["licence"]) for source in HEADER["sources"]] == [
        ("litellm", "MIT"),
        ("genai-prices", "MIT"),
    ]
    assert HEADER["models"] == len(RECORDS)
    assert {"litellm", "genai-prices"} <= set(HEADER["sha256"])


def test_the_light_table_says_the_same_as_the_full_one() -> None:
    for key, encoding, window, max_input, max_output, name in rows("index.tsv"):
        record = RECORDS[name or key]
        sizes = [str(record.get(size, 0)) for size in ("context_window", "max_input", "max_output")]
        assert [encoding, window, max_input, max_output] == [record["encoding"], *sizes], key
    keys = [key.encode() for key, *_ in rows("index.tsv")]
    assert keys == sorted(keys)
    assert {name.lower() for name in RECORDS} <= {key.decode() for key in keys}


def test_every_alias_and_family_leads_to_a_model() -> None:
    for alias, name in rows("aliases.tsv"):
        assert (lookup(alias).name, lookup(alias).resolved) == (name, True)
    for prefix, name in rows("families.tsv"):
        assert name in RECORDS
        assert lookup(f"{prefix}-zz").context_window == RECORDS[name]["context_window"]


def test_every_record_is_plausible() -> None:
    for name, record in RECORDS.items():
        assert record["mode"] in ("chat", "responses", "completion", "embedding"), name
        assert record.get("max_input", 0) <= record.get("context_window", 0), name
        starts = [row["from"] or "" for row in record["prices"]]
        assert starts == sorted(set(starts)), name
        for row in record["prices"]:
            marks = [tier["above"] for tier in row.get("tiers", [])]
            assert marks == sorted(set(marks)), name
            for rates in (row, *row.get("tiers", [])):
                prices = [Decimal(rates[rate]) for rate in RATES if rate in rates]
                assert all(0 <= price < 10_000 for price in prices), name
                assert not any(
                    "e" in rates[rate].lower() or rates[rate].endswith(".")
                    for rate in RATES
                    if rate in rates
                )


def test_nothing_that_is_charged_for_is_listed_as_free() -> None:
    def free(record: dict[str, Any]) -> bool:
        return any(
            row.get("input") == "0" and row.get("output", "0") == "0" for row in record["prices"]
        )

    names = [name for name, record in RECORDS.items() if free(record)]
    assert all(
        name.startswith(("ollama/", "lemonade/")) or name.endswith(":free") for name in names
    )


FLAGSHIPS = {
    "anthropic": "claude-sonnet-4-5 claude-haiku-4-5 claude-opus-4-5 claude-opus-4-6 claude-opus-4-8 claude-sonnet-5 "
    "claude-opus-5 claude-opus-5-5 claude-haiku-5-5 claude-sonnet-5-5 claude-fable-5-2",
    "openai": "gpt-4o gpt-4o-mini gpt-4.1 o3 o4-mini gpt-5 gpt-5-mini gpt-5.1 gpt-5.2 gpt-5.4 gpt-5.6-sol gpt-6-sol",
    "google": "gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite",
}


@pytest.mark.parametrize(
    ("provider", "name"), [(p, name) for p, names in FLAGSHIPS.items() for name in names.split()]
)
def test_flagships_agree_with_a_second_registry(provider: str, name: str) -> None:
    from genai_prices.data import providers

    built_with = next(
        source["version"] for source in HEADER["sources"] if source["name"] == "genai-prices"
    )
    assert metadata.version("genai-prices") == built_with, (
        "scripts/build_models.py has to run again"
    )
    registry = next(each for each in providers if each.id == provider)
    theirs = registry.find_model(name)
    ours = model(name).price(BUILT)
    assert theirs is not None
    assert ours is not None
    price = theirs.get_prices(datetime.combine(BUILT, datetime.min.time(), UTC))
    told = {field for disagreeing, field, *_ in rows("disagreements.tsv") if disagreeing == name}
    for field, their_field in (
        ("input", "input_mtok"),
        ("output", "output_mtok"),
        ("cache_read", "cache_read_mtok"),
    ):
        value = getattr(price, their_field)
        for prompt in (1, 10**6):
            base = value.base if hasattr(value, "base") else value
            tier = [tier.price for tier in getattr(value, "tiers", ()) if prompt > tier.start]
            assert field in told or getattr(ours.at(prompt), field) == (tier[-1] if tier else base)


def test_every_model_of_a_second_registry_that_charges_by_tokens_has_a_price() -> None:
    """Names that end in a dash stand for a group of models, and some models have no price in that
    registry either."""
    from genai_prices.data import providers

    asked = [
        f"{provider.id}{mark}{each.id}"
        for provider in providers
        for each in provider.models
        for mark in "/:"
        if script.is_charged_by_tokens(each.id.lower(), each)
        and each.id[-1].isalnum()
        and script.genai_rows(each)
        if any("input" in row or "output" in row for row in script.genai_rows(each))
    ]
    assert len(asked) > 3_500
    assert [name for name in asked if model(name).price(BUILT) is None] == []


NO_WINDOW_ANYWHERE = {
    "anthropic": {"claude-v1"},
    "google": {
        *(
            "gemini-3-pro-preview",
            "gemini-flash-1.5",
            "gemini-nano-banana-2.1",
            "gemini-omni-1.1-flash",
        ),
        *("gemini-robotics-er-2-streaming-preview", "gemma-2-27b-it"),
    },
    "openai": {
        *(
            "ada",
            "babbage",
            "curie",
            "davinci",
            "gpt-3.5-0301",
            "gpt-4.5-preview",
            "gpt-5.5-cyber",
            "gpt-6-cyber",
        ),
        *(
            "gpt-4o-mini-tts",
            "gpt-chat-latest",
            "gpt-rosalind-discovery",
            "gpt-rosalind-research",
            "text-davinci-002",
        ),
        "text-davinci-003",
    },
    "x-ai": set(),
    "deepseek": set(),
}
"""Models for which no registry gives a window: brim has their prices, and the window of the nearest
family."""


def test_every_model_of_a_second_registry_that_charges_by_tokens_has_a_window() -> None:
    from genai_prices.data import providers

    unresolved: dict[str, set[str]] = {provider: set() for provider in NO_WINDOW_ANYWHERE}
    for provider in providers:
        for registered in provider.models:
            name = registered.id.lower()
            if not script.is_charged_by_tokens(name, registered) or not name[-1].isalnum():
                continue
            if not script.genai_rows(registered):
                continue
            ours = model(f"{provider.id}/{registered.id}")
            if registered.context_window:
                assert ours.resolved, (provider.id, registered.id)
            elif not ours.resolved and provider.id in unresolved:
                unresolved[provider.id].add(registered.id)
    assert unresolved == NO_WINDOW_ANYWHERE


@pytest.mark.parametrize(
    ("name", "output"),
    [("gemini-2.5-flash-tts", "10"), ("gemini-3.8-flash-tts", "9"), ("gpt-4o-mini-tts", "12")],
)
def test_speech_costs_what_a_model_for_speech_writes(name: str, output: str) -> None:
    price = model(name).price(BUILT)
    assert price is not None
    assert price.output == price.output_audio == Decimal(output)


@pytest.mark.parametrize("name", ["gemini-2.5-flash-image", "gpt-realtime", "whisper-1", "tts-1"])
def test_what_is_not_charged_by_tokens_alone_has_no_price(name: str) -> None:
    assert model(name).price(BUILT) is None


@pytest.mark.parametrize(
    "name", ["claude-fable-5-2", "claude-mythos-5-2", "claude-fable-5-2-20261109", "fable"]
)
def test_the_newest_claude_has_prices_a_window_and_bound_thinking(name: str) -> None:
    found = model(name)
    price = found.price(BUILT)
    assert price is not None
    assert (price.input, price.output, price.cache_read) == (
        Decimal(8),
        Decimal(40),
        Decimal("0.2"),
    )
    assert (price.cache_write_5m, price.cache_write_1h, price.web_search) == (
        Decimal(10),
        Decimal(16),
        Decimal(10_000),
    )
    assert (found.context_window, found.max_output, found.resolved) == (1_000_000, 128_000, True)
    assert found.binds_thinking
    assert (found.factor("batch"), found.factor("fast")) == (Decimal("0.5"), Decimal(2))


def test_an_experimental_model_has_its_own_window_and_no_price_of_another() -> None:
    found = model("gemini-exp-1206")
    assert (found.context_window, found.max_output, found.prices) == (2_097_152, 8_192, ())


@pytest.mark.parametrize(
    "name", ["gemini-2.5-pro-preview-tts", "gemini/gemini-2.5-pro-preview-tts"]
)
def test_a_model_of_speech_has_its_own_window_and_price(name: str) -> None:
    found = model(name)
    assert (found.context_window, found.max_input, found.max_output) == (8_192, 8_192, 16_384)
    price = found.price(BUILT)
    assert price is not None
    assert (price.input, price.output, price.cache_read, price.tiers) == (
        Decimal(1),
        Decimal(20),
        None,
        (),
    )


@pytest.mark.parametrize(
    "name",
    ["gemini-2.9-flash-preview-tts", "gemini-9-pro-tts", "gpt-4o-transcribe-new", "gpt-6-realtime"],
)
def test_an_unknown_model_of_speech_is_no_relative_of_a_text_model(name: str) -> None:
    found = model(name)
    assert (found.context_window, found.resolved, found.price()) == (8_192, False, None)


def recorded_service_prices() -> list[list[str]]:
    lines = (Path(__file__).parent / "service_prices.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def test_every_recorded_price_of_a_service_tier_is_charged() -> None:
    table = recorded_service_prices()
    assert {"gpt-5.4", "o4-mini"} <= {name for name, *_ in table}
    for name, service, *prices in table:
        for field, price in zip(("input", "output", "cache_read"), prices, strict=True):
            tokens = Tokens(**{field: 100_000}, factors=(service,))  # type: ignore[arg-type]
            expected = None if price == "-" else Decimal(price) * 100_000
            assert cost(tokens, name, on=BUILT) == expected, (name, service, field)


def test_services_of_a_second_registry_are_charged_at_its_prices() -> None:
    from genai_prices.data import providers

    compared = 0
    makers = [provider for provider in providers if provider.id in ("anthropic", "openai")]
    for registered in (registered for provider in makers for registered in provider.models):
        for service, rates in script.genai_services(registered, BUILT.isoformat()).items():
            for field in ("input", "output", "cache_read"):
                charged = cost(
                    Tokens(**{field: 100_000}, factors=(service,)),  # type: ignore[arg-type]
                    registered.id,
                    on=BUILT,
                )
                if field in rates and charged is not None:
                    compared += 1
                    assert charged == Decimal(rates[field]) * 100_000, (
                        registered.id,
                        service,
                        field,
                    )
    assert compared > 200


def test_a_long_prompt_has_the_rates_of_its_service() -> None:
    assert cost(Tokens(input=300_000, factors=("flex",)), "gpt-5.4", on=BUILT) == 750_000
    assert (
        cost(Tokens(input=300_000, factors=("flex",)), "gemini-2.5-pro", on=BUILT) is None
    )  # not listed
    assert cost(Tokens(input=300_000, factors=("flex",)), model("gpt-5.4"), on=BUILT) == 750_000


@pytest.mark.parametrize(
    "name",
    [
        *(
            "mistral-large-latest",
            "grok-4",
            "xai/grok-4",
            "x-ai:grok-4",
            "kimi-k2-thinking",
            "openai:gpt-5",
        ),
        *(
            "google-cloud:gemini-2.5-pro",
            "google-gla:gemini-2.5-flash",
            "google-vertex:gemini-2.5-pro",
        ),
        "google-cloud:claude-sonnet-4-5",
    ],
)
def test_names_as_frameworks_spell_them(name: str) -> None:
    found = model(name)
    assert found.resolved
    assert found.price(BUILT) is not None


def test_gpt_5_pro_splits_its_window() -> None:
    found = model("gpt-5-pro")
    assert (found.context_window, found.max_input, found.max_output) == (400_000, 272_000, 272_000)
