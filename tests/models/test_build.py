"""The script that builds the table, on small made-up registries."""

from __future__ import annotations

import importlib.util
import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/build_models.py"


def load() -> Any:
    spec = importlib.util.spec_from_file_location("build_models", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


script = load()


def entry(**fields: Any) -> dict[str, Any]:
    return {"litellm_provider": "openai", "mode": "chat", "max_input_tokens": 1_000, **fields}


def build(
    registry: dict[str, Any],
    *providers: Any,
    earlier: dict[str, Any] | None = None,
    on: str = "2030-01-01",
) -> Any:
    return script.build(registry, providers, earlier or {}, on)[0]


def priced(input_: float, output: float = 1e-05, **fields: Any) -> dict[str, Any]:
    return entry(input_cost_per_token=input_, output_cost_per_token=output, **fields)


def genai(
    id_: str, *rows: tuple[date | None, Any], window: int | None = None, provider: str = "openai"
) -> Any:
    prices = [
        SimpleNamespace(constraint=SimpleNamespace(start_date=start) if start else None, prices=p)
        for start, p in rows
    ]
    model = SimpleNamespace(id=id_, context_window=window, prices=prices)
    return SimpleNamespace(
        id=provider, models=[model], find_model=lambda name: model if name.startswith(id_) else None
    )


def mtok(input_: str, output: str = "10", **more: Any) -> Any:
    return SimpleNamespace(input_mtok=Decimal(input_), output_mtok=Decimal(output), **more)


@pytest.mark.parametrize(
    ("per_token", "per_million"),
    [
        (2.5e-06, "2.5"),
        (1.25e-07, "0.125"),
        (7.500000000000001e-08, "0.075"),
        (2.9999900000000002e-06, "2.99999"),
        (9.499999999999999e-07, "0.95"),
        (1e-05, "10"),
        (0.00015, "150"),
        (3e-09, "0.003"),
        (0, "0"),
        (0.0, "0"),
    ],
)
def test_prices_are_exact_decimal_texts(per_token: float, per_million: str) -> None:
    assert script.per_million(per_token) == per_million


def test_only_models_of_text_are_kept() -> None:
    registry = {
        "a": entry(),
        "b": entry(mode="image_generation"),
        "c": entry(mode="embedding"),
        "d": {"max_tokens": 3},
    }
    assert list(build(registry)) == ["a", "c"]


def test_the_legacy_field_is_not_a_window() -> None:
    assert (
        "context_window"
        not in build({"a": priced(1e-06, max_input_tokens=None, max_tokens=4_096)})["a"]
    )


@pytest.mark.parametrize(
    ("max_input", "max_output", "window", "prompt"),
    [
        (272_000, 128_000, 400_000, 272_000),
        (400_000, 128_000, 400_000, 272_000),
        (922_000, 128_000, 1_050_000, 922_000),
        (128_000, 16_384, 128_000, 128_000),
    ],
)
def test_a_split_window_is_the_sum(
    max_input: int, max_output: int, window: int, prompt: int
) -> None:
    record = build({"gpt-5.9": entry(max_input_tokens=max_input, max_output_tokens=max_output)})[
        "gpt-5.9"
    ]
    assert (record["context_window"], record["max_input"]) == (window, prompt)


def test_a_record_without_a_window_takes_the_one_of_the_same_model() -> None:
    registry = {
        "gpt-4o": entry(max_output_tokens=50),
        "azure/gpt-4o": priced(1e-06, max_input_tokens=None),
    }
    record = build(registry)["azure/gpt-4o"]
    assert (record["context_window"], record["max_output"], record["window_of"]) == (
        1_000,
        50,
        "gpt-4o",
    )


def test_tiers_of_both_kinds_are_complete() -> None:
    by_suffix = priced(
        1e-06, cache_read_input_token_cost=1e-07, input_cost_per_token_above_200k_tokens=2e-06
    )
    by_range = entry(
        tiered_pricing=[
            {
                "range": [32_000.0, 64_000.0],
                "input_cost_per_token": 4e-06,
                "output_cost_per_token": 8e-06,
            },
            {"range": [0, 32_000.0], "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06},
        ]
    )
    records = build({"a": by_suffix, "b": by_range})
    assert records["a"]["prices"] == [
        {
            "from": None,
            "input": "1",
            "output": "10",
            "cache_read": "0.1",
            "tiers": [{"above": 200_000, "input": "2", "output": "10", "cache_read": "0.1"}],
        }
    ]
    assert records["b"]["prices"] == [
        {
            "from": None,
            "input": "1",
            "output": "2",
            "tiers": [{"above": 32_000, "input": "4", "output": "8"}],
        }
    ]


def test_a_zero_is_a_placeholder_unless_the_model_runs_locally() -> None:
    records = build(
        {
            "paid": priced(0.0, 0.0),
            "half": priced(1e-06, 0.0),
            "ollama/x": priced(0.0, 0.0, litellm_provider="ollama"),
            "embed": priced(1e-07, 0.0, mode="embedding"),
        }
    )
    assert records["paid"]["prices"] == []
    assert records["half"]["prices"] == [{"from": None, "input": "1"}]
    assert records["ollama/x"]["prices"] == [{"from": None, "input": "0", "output": "0"}]
    assert records["embed"]["prices"] == [{"from": None, "input": "0.1", "output": "0"}]


def test_an_old_price_stays_and_a_new_one_starts_on_the_build_date() -> None:
    first = build({"m": priced(1e-06)}, on="2030-01-01")
    same = build({"m": priced(1e-06)}, earlier=first, on="2030-02-01")
    dearer = build({"m": priced(2e-06)}, earlier=same, on="2030-03-01")
    back = build({"m": priced(1e-06)}, earlier=dearer, on="2030-04-01")
    assert same == first
    assert dearer["m"]["prices"] == [
        {"from": None, "input": "1", "output": "10"},
        {"from": "2030-03-01", "input": "2", "output": "10"},
    ]
    assert back["m"]["prices"][:2] == dearer["m"]["prices"]
    assert [row["from"] for row in back["m"]["prices"]] == [None, "2030-03-01", "2030-04-01"]
    assert build({"m": priced(1e-06)}, earlier=back, on="2030-05-01") == back


def test_a_price_that_was_unknown_starts_on_the_build_date() -> None:
    first = build({"m": entry()})
    assert (
        build({"m": priced(1e-06)}, earlier=first, on="2030-03-01")["m"]["prices"][0]["from"]
        == "2030-03-01"
    )


def test_a_price_that_is_no_longer_listed_and_a_model_that_is_gone_stay() -> None:
    first = build({"m": priced(1e-06), "old": priced(1e-06)})
    assert build({"m": entry()}, earlier=first, on="2030-03-01") == first


def test_history_comes_from_the_registry_that_has_dates() -> None:
    dated = genai(
        "m", (None, mtok("3")), (date(2029, 5, 1), mtok("1")), (date(2031, 1, 1), mtok("2"))
    )
    rows = build({"m": priced(1e-06)}, dated)["m"]["prices"]
    assert [(row["from"], row["input"]) for row in rows] == [
        (None, "3"),
        ("2029-05-01", "1"),
        ("2031-01-01", "2"),
    ]


def test_a_dated_change_that_is_learned_later_keeps_its_own_date() -> None:
    first = build({"m": priced(3e-06)}, on="2029-01-01")
    dated = genai("m", (None, mtok("3")), (date(2029, 5, 1), mtok("1")))
    rows = build({"m": priced(1e-06)}, dated, earlier=first, on="2030-01-01")["m"]["prices"]
    assert [(row["from"], row["input"]) for row in rows] == [(None, "3"), ("2029-05-01", "1")]


def test_where_two_registries_disagree_one_wins_and_it_is_told() -> None:
    other = genai("m", (None, mtok("9")))
    records, told = script.build({"m": priced(1e-06)}, [other], {}, "2030-01-01")
    assert records["m"]["prices"] == [{"from": None, "input": "1", "output": "10"}]
    assert told == [("m", "input", "1", "9", "litellm")]


def test_a_price_that_has_ended_on_a_date_loses() -> None:
    dated = genai("m", (None, mtok("1")), (date(2029, 5, 1), mtok("2")))
    records, told = script.build({"m": priced(1e-06)}, [dated], {}, "2030-01-01")
    assert [row["input"] for row in records["m"]["prices"]] == ["1", "2"]
    assert told == [("m", "input", "1", "2", "genai-prices")]


def test_a_model_that_was_matched_by_pattern_only_is_no_disagreement() -> None:
    records, told = script.build(
        {"m-large": priced(1e-06)}, [genai("m", (None, mtok("9")))], {}, "2030-01-01"
    )
    assert (records["m-large"]["prices"][0]["input"], told) == ("1", [])


def test_a_model_that_only_the_second_registry_has_is_added() -> None:
    record = build({}, genai("gpt-4-old", (None, mtok("30")), window=8_192))["gpt-4-old"]
    assert (record["context_window"], record["encoding"], record["source"]) == (
        8_192,
        "cl100k_base",
        "genai-prices",
    )


def test_factors_are_read_where_the_registry_has_them() -> None:
    one = priced(
        2e-06,
        input_cost_per_token_batches=1e-06,
        output_cost_per_token_batches=5e-06,
        provider_specific_entry={"us": 1.1},
    )
    assert build({"m": one})["m"]["factors"] == {"us": "1.1", "batch": "0.5"}
    assert (
        "factors"
        not in build(
            {
                "m": priced(
                    2e-06, input_cost_per_token_batches=1e-06, output_cost_per_token_batches=9e-06
                )
            }
        )["m"]
    )


def service(**costs: float) -> dict[str, Any]:
    """One model at 2 and 10 with a cache at 0.2, and the prices of its flex tier."""
    named = {f"{kind}_flex": value for kind, value in costs.items()}
    return priced(2e-06, cache_read_input_token_cost=2e-07, **named)


FLEX = {"input_cost_per_token": 1e-06, "output_cost_per_token": 5e-06}


def test_a_service_is_a_factor_only_if_it_gives_every_price() -> None:
    halved = build({"m": service(**FLEX, cache_read_input_token_cost=1e-07)})["m"]
    assert (halved["factors"], "services" in halved["prices"][0]) == ({"flex": "0.5"}, False)
    rounded = build({"m": service(**FLEX, cache_read_input_token_cost=1.1e-07)})["m"]
    assert "factors" not in rounded
    assert rounded["prices"][0]["services"] == {
        "flex": {"input": "1", "output": "5", "cache_read": "0.11"}
    }
    unlisted = build({"m": service(**FLEX)})["m"]
    assert unlisted["prices"][0]["services"] == {"flex": {"input": "1", "output": "5"}}
    assert "services" not in build({"m": service(input_cost_per_token=1e-06)})["m"]["prices"][0]


def test_the_rates_of_a_service_for_long_prompts_are_those_that_are_listed() -> None:
    long = {"input_cost_per_token_above_200k_tokens": 4e-06}
    uneven = {"cache_read_input_token_cost": 1.1e-07}
    row = build({"m": {**service(**FLEX, **uneven), **long}})["m"]["prices"][0]
    assert row["services"]["flex"]["tiers"] == [{"above": 200_000}]
    listed = {**long, "input_cost_per_token_above_200k_tokens_flex": 2e-06}
    row = build({"m": {**service(**FLEX, **uneven), **listed}})["m"]["prices"][0]
    assert row["services"]["flex"]["tiers"] == [{"above": 200_000, "input": "2"}]


def test_services_come_to_the_row_in_force_and_a_new_price_of_one_starts_on_the_build_date() -> (
    None
):
    plain = build({"m": service()}, on="2030-01-01")
    first = build({"m": service(**FLEX)}, earlier=plain, on="2030-02-01")
    assert [row["from"] for row in first["m"]["prices"]] == [None]
    dearer = build(
        {"m": service(**{**FLEX, "input_cost_per_token": 1.5e-06})}, earlier=first, on="2030-03-01"
    )
    rows = dearer["m"]["prices"]
    assert [(row["from"], row["services"]["flex"]["input"]) for row in rows] == [
        (None, "1"),
        ("2030-03-01", "1.5"),
    ]


def test_a_second_registry_adds_services() -> None:
    other = genai("m", (None, mtok("2")))
    variants = [
        SimpleNamespace(when={"service_tier": "flex"}, prices=mtok("1.5", "5"), constraint=None),
        SimpleNamespace(when={"speed": "fast"}, prices=mtok("4", "20"), constraint=None),
        SimpleNamespace(
            when={"service_tier": "priority"},
            prices=mtok("3"),
            constraint=SimpleNamespace(start_date=date(2031, 1, 1)),
        ),
        SimpleNamespace(when={"route": "eu"}, prices=mtok("9"), constraint=None),
    ]
    other.models[0].price_variants = variants
    record = build({"m": priced(2e-06)}, other)["m"]
    assert record["factors"] == {"fast": "2"}
    assert record["prices"][0]["services"] == {"flex": {"input": "1.5", "output": "5"}}


def test_corrections_replace_the_data_of_another_model_in_earlier_rows_too() -> None:
    flash = priced(3e-07, 2.5e-06, max_input_tokens=1_048_576, max_output_tokens=65_535)
    wrong = {"from": None, "input": "0.3", "output": "2.5"}
    earlier = {
        "gemini-exp-1206": {
            "provider": "openai",
            "mode": "chat",
            "encoding": "gemini",
            "prices": [wrong],
        }
    }
    record = build({"gemini-exp-1206": flash}, earlier=earlier)["gemini-exp-1206"]
    assert (record["context_window"], record["max_output"], record["prices"]) == (
        2_097_152,
        8_192,
        [],
    )


def test_the_files_are_sorted_one_model_per_line_and_the_same_each_time() -> None:
    records = build({"gpt-4o": priced(1e-06), "Azure/B": priced(2e-06)})
    header = {"built": "2030-01-01", "sha256": {}}
    text = script.models_json(header, records)
    assert text == script.models_json(
        header, build({"Azure/B": priced(2e-06), "gpt-4o": priced(1e-06)})
    )
    assert [line.split(b":")[0] for line in text.split(b"\n") if b"provider" in line] == [
        b'"Azure/B"',
        b'"gpt-4o"',
    ]
    assert list(json.loads(text)["models"]) == ["Azure/B", "gpt-4o"]
    assert script.index_tsv(records).decode().split("\n")[1:3] == [
        "azure/b\t\t1000\t1000\t0\tAzure/B",
        "gpt-4o\to200k_base\t1000\t1000\t0\t",
    ]
