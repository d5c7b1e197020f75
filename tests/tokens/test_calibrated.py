"""A stand-in's tokens times what is known of the ratio, with an interval that says how sure that
is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from brim.tokens import (
    CalibratedTokenCounter,
    Calibration,
    MemoryCalibrationStore,
    TokenCounter,
    blocks,
)
from tests.conftest import Oracle
from tests.texts import ANY_TEXT, documents

TEXT = "The quick brown fox jumps over the lazy dog.\n" * 100
PRIORS = {
    "claude-sonnet-4-5": (127, 100, 150),
    "claude-opus-4-1": (127, 100, 150),
    "claude-opus-4-7": (160, 130, 190),
    "gemini-2.5-pro": (100, 80, 130),
}
"""Hundredths of an o200k token: the ratio, the least and the most."""


@pytest.mark.parametrize("model", PRIORS)
def test_without_a_report_the_prior_of_the_family_is_the_ratio(model: str, oracle: Oracle) -> None:
    local = oracle(TEXT, "o200k_base")
    count = CalibratedTokenCounter(model).count(TEXT)
    ratio, low, high = PRIORS[model]
    assert count == -(-local * ratio // 100)
    assert (count.basis, count.low, count.high) == (
        "estimated",
        local * low // 100,
        -(-local * high // 100),
    )


def test_an_unknown_model_is_cl100k_with_a_wide_interval(oracle: Oracle) -> None:
    count = CalibratedTokenCounter("nobody-knows-me").count(TEXT)
    assert (count, count.basis) == (oracle(TEXT, "cl100k_base"), "estimated")
    assert count.low < 0.8 * count
    assert count.high > 1.3 * count


def test_a_name_of_a_known_family_is_counted_with_its_vocabulary(oracle: Oracle) -> None:
    count = CalibratedTokenCounter("gpt-4o-imagined").count(TEXT)
    assert (count, count.basis) == (oracle(TEXT, "o200k_base"), "estimated")
    assert count.low < count < count.high


def test_what_was_learned_takes_the_place_of_the_prior(oracle: Oracle) -> None:
    store = MemoryCalibrationStore()
    store.put("claude-sonnet-4-5", Calibration(1.4, 0.02, 50.0))
    counter = CalibratedTokenCounter("claude-sonnet-4-5", calibrations=store)
    count, local = counter.count(TEXT), oracle(TEXT, "o200k_base")
    assert (count, count.basis) == (-(-local * 14 // 10), "calibrated")
    prior = CalibratedTokenCounter("claude-sonnet-4-5").count(TEXT)
    assert count.high - count.low < prior.high - prior.low


def test_what_is_learned_later_counts_from_then_on() -> None:
    store = MemoryCalibrationStore()
    counter = CalibratedTokenCounter("claude-sonnet-4-5", calibrations=store)
    assert counter.count(TEXT).basis == "estimated"
    store.put("claude-sonnet-4-5", Calibration(1.1, 0.02, 50.0))
    assert counter.count(TEXT).basis == "calibrated"


@given(text=ANY_TEXT)
@settings(deadline=None)
def test_the_count_lies_in_its_interval_and_empty_is_0(text: str) -> None:
    count = CalibratedTokenCounter("claude-sonnet-4-5").count(text)
    assert 0 <= count.low <= count <= count.high
    assert (count == 0) == (text == "")


@pytest.mark.parametrize(
    "model", ["claude-sonnet-4-5", "nobody-knows-me", "mistral-7b", "llama-2-70b"]
)
def test_blocks_count_as_the_text_and_are_rounded_once(model: str) -> None:
    text = "".join(documents(seed=41, number=20))
    counter = CalibratedTokenCounter(model)
    pieces = list(blocks([text[at : at + 500] for at in range(0, len(text), 500)], block=1_000))
    assert len(pieces) > 5
    streamed, whole = counter.count_blocks(pieces), counter.count(text)
    assert (streamed, streamed.low, streamed.high) == (whole, whole.low, whole.high)


def test_messages_are_estimated_with_an_interval() -> None:
    chat = [{"role": "user", "content": TEXT}]
    counter = CalibratedTokenCounter("claude-sonnet-4-5")
    count = counter.count_messages(chat)
    assert count.basis == "estimated"
    assert counter.count(TEXT) <= count <= counter.count(TEXT) + 20
    assert count.low < count < count.high


def test_it_is_a_token_counter() -> None:
    assert isinstance(CalibratedTokenCounter("claude-sonnet-4-5"), TokenCounter)
