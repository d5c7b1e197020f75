"""Which counter for which model, in which mode."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import brim
from brim.errors import InputError, NoExactCounter
from brim.tokens import (
    MODES,
    ApiTokenCounter,
    ApproximateTokenCounter,
    CalibratedTokenCounter,
    Calibration,
    ExactTokenCounter,
    MemoryCalibrationStore,
    TokenCounter,
    counter_for,
)
from tests.conftest import Oracle

KINDS = {
    None: ExactTokenCounter,
    "gpt-4o": ExactTokenCounter,
    "gpt-4": ExactTokenCounter,
    "gpt-oss-20b": ExactTokenCounter,
    "azure_ai/Llama-3.3-70B-Instruct": ExactTokenCounter,
    "claude-sonnet-4-5": CalibratedTokenCounter,
    "gemini-2.5-pro": CalibratedTokenCounter,
    "gpt-4o-imagined": CalibratedTokenCounter,
    "nobody-knows-me": CalibratedTokenCounter,
}


@pytest.mark.parametrize("model", KINDS)
def test_auto_is_exact_where_the_vocabulary_is_here_and_calibrated_elsewhere(
    model: str | None,
) -> None:
    counter = counter_for(model)
    assert type(counter) is KINDS[model]
    assert counter.model == model
    assert counter_for(model, mode="auto").count("Hello world") == counter.count("Hello world")


@pytest.mark.parametrize(
    "model", ["", " ", "\ud800", "x" * 10_000, "a\0b", "🙂", "/", "[1m]", "models/"]
)
def test_auto_never_raises(model: str) -> None:
    assert counter_for(model).count("Hello world") > 0


@pytest.mark.parametrize("model", KINDS)
def test_exact_refuses_everything_else(model: str | None) -> None:
    if KINDS[model] is ExactTokenCounter:
        assert counter_for(model, mode="exact").count("Hello world") == 2
    else:
        with pytest.raises(NoExactCounter, match="'auto'"):
            counter_for(model, mode="exact")


def test_approximate_is_the_rule_of_thumb_for_any_model() -> None:
    for model in KINDS:
        counter = counter_for(model, mode="approximate")
        assert type(counter) is ApproximateTokenCounter
        assert counter.model == model
        assert counter.count("x" * 400) == 100


def test_api_asks_the_client_that_is_given() -> None:
    asked: list[Any] = []

    def count_tokens(**request: Any) -> Any:
        asked.append(request)
        return SimpleNamespace(input_tokens=77)

    client = SimpleNamespace(messages=SimpleNamespace(count_tokens=count_tokens))
    counter = counter_for("claude-sonnet-4-5", mode="api", client=client)
    assert type(counter) is ApiTokenCounter
    count = counter.count("Hello world")
    assert (count, count.basis) == (77, "exact")
    assert asked[0]["model"] == "claude-sonnet-4-5"


def test_api_falls_back_to_the_count_of_auto() -> None:
    def fails(**_: Any) -> Any:
        raise ConnectionError("nobody there")

    client = SimpleNamespace(messages=SimpleNamespace(count_tokens=fails))
    count = counter_for("claude-sonnet-4-5", mode="api", client=client).count("Hello world")
    auto = counter_for("claude-sonnet-4-5").count("Hello world")
    assert (count, count.basis, count.low, count.high) == (auto, auto.basis, auto.low, auto.high)
    assert "nobody there" in count.note


def test_api_needs_a_model() -> None:
    with pytest.raises(NoExactCounter, match="needs a model"):
        counter_for(mode="api")


def test_an_unknown_mode_is_refused_and_the_known_named() -> None:
    wrong: Any = "guess"
    with pytest.raises(ValueError, match="auto, approximate, exact, api"):
        counter_for("gpt-4o", mode=wrong)
    assert MODES == ("auto", "approximate", "exact", "api")


def test_calibrations_reach_the_counter() -> None:
    store = MemoryCalibrationStore()
    store.put("claude-sonnet-4-5", Calibration(1.5, 0.01, 50.0))
    assert (
        counter_for("claude-sonnet-4-5", calibrations=store).count("word\n" * 1_000).basis
        == "calibrated"
    )
    assert counter_for("gpt-4o", calibrations=store).count("Hello world").basis == "exact"


def test_count_counts_for_the_model(oracle: Oracle) -> None:
    text = "naïve façade 上下文窗口"
    assert brim.count("Hello world", model="gpt-4o") == 2
    assert brim.count(text) == oracle(text, "o200k_base")
    assert brim.count(text, "gpt-4") == oracle(text, "cl100k_base")
    assert brim.count(text, "gpt-oss-120b") == oracle(text, "o200k_harmony")
    assert brim.count(text, "nobody-knows-me") == oracle(text, "cl100k_base")
    assert brim.count("x" * 400, mode="approximate") == 100
    with pytest.raises(NoExactCounter):
        brim.count(text, "claude-sonnet-4-5", mode="exact")


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "gemini-2.5-pro", "nobody-knows-me"])
def test_what_is_not_exact_says_so_with_an_interval(model: str) -> None:
    count = brim.count("The quick brown fox. " * 50, model)
    assert count.basis == "estimated"
    assert count.low < count < count.high


@pytest.mark.parametrize("model", KINDS)
@pytest.mark.parametrize("mode", ["auto", "approximate"])
def test_every_counter_keeps_the_rules(model: str | None, mode: Any) -> None:
    counter = counter_for(model, mode=mode)
    assert isinstance(counter, TokenCounter)
    assert counter.count("") == (1 if mode == "approximate" else 0)
    for text in ("<|endoftext|>", "a\ud800b", "\0", "x"):
        assert counter.count(text) == counter.count(text) > 0
    messages: list[Any] = [
        "text",
        {"role": "user", "content": None},
        {"content": [{"type": "odd"}]},
    ]
    for message in messages:
        assert counter.count_messages([message]) >= 0


@pytest.mark.parametrize("mode", ["auto", "approximate"])
def test_only_text_is_counted(mode: Any) -> None:
    for wrong in (None, 5, b"bytes", ["text"]):
        with pytest.raises(
            InputError, match=f"count takes a text, not {type(wrong).__name__}; .*counter_for"
        ):
            brim.count(wrong, "gpt-4o", mode=mode)  # type: ignore[arg-type]
