"""A ratio is learned from reports, stays within what vocabularies can differ by, and says how sure
it is."""

from __future__ import annotations

import math
import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.tokens.calibrate import (
    MAX_RATIO,
    MIN_RATIO,
    Calibration,
    MemoryCalibrationStore,
    Ratio,
    learn,
    prior_for,
    ratio_for,
)
from brim.tokens.count import Count

numbers = st.one_of(st.integers(-(10**6), 10**9), st.floats(), st.just(10**400))


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("claude", Ratio(1.27, 1.0, 1.5, "estimated")),
        ("claude-4.7", Ratio(1.6, 1.3, 1.9, "estimated")),
        ("gemini", Ratio(1.0, 0.8, 1.3, "estimated")),
        ("o200k_base", Ratio(1.0, 1.0, 1.0, "exact")),
        ("cl100k_base", Ratio(1.0, 1.0, 1.0, "exact")),
        ("grok", Ratio(1.0, 0.7, 1.5, "estimated")),
        ("", Ratio(1.0, 0.7, 1.5, "estimated")),
    ],
)
def test_priors(encoding: str, expected: Ratio) -> None:
    assert prior_for(encoding) == expected == ratio_for("some-model", encoding)


@given(st.lists(st.tuples(numbers, numbers)))
def test_the_ratio_never_leaves_its_bounds(reports: list[tuple[float, float]]) -> None:
    known = Calibration(1.27)
    for reported, local in reports:
        known = known.observe(reported, local)
        assert MIN_RATIO <= known.ratio <= MAX_RATIO
        assert 0 <= known.spread <= MAX_RATIO - MIN_RATIO
        assert math.isfinite(known.samples)


@pytest.mark.parametrize(
    ("reported", "local"),
    [(10, 0), (10, -1), (0, 10), (-5, 10), (math.inf, 10), (10, math.nan), (10, 10**400)],
)
def test_what_says_nothing_teaches_nothing(reported: float, local: float) -> None:
    known = Calibration(1.3, 0.1, 5)
    assert known.observe(reported, local) is known


@given(
    st.floats(0.55, 1.95),
    st.floats(0.5, 2.0),
    st.lists(st.integers(2_000, 200_000), min_size=60, max_size=60),
)
def test_it_converges_to_a_constant_ratio(
    true_ratio: float, prior: float, sizes: list[int]
) -> None:
    known = Calibration(prior)
    for local in sizes:
        known = known.observe(true_ratio * local, local)
    assert known.ratio == pytest.approx(true_ratio, rel=1e-6)
    assert known.spread == pytest.approx(0, abs=1e-6)


@given(st.lists(st.floats(1.0, 1.6), min_size=3, max_size=9), st.randoms(use_true_random=False))
def test_the_first_ten_may_come_in_any_order(ratios: list[float], rng: random.Random) -> None:
    first = second = Calibration(1.27)
    for ratio in ratios:
        first = first.observe(ratio * 5_000, 5_000)
    rng.shuffle(ratios)
    for ratio in ratios:
        second = second.observe(ratio * 5_000, 5_000)
    assert first.ratio == pytest.approx(second.ratio) == pytest.approx(sum(ratios) / len(ratios))
    assert first.spread == pytest.approx(second.spread, abs=1e-6)


@given(st.lists(st.floats(1.1, 1.4), min_size=20, max_size=60), st.randoms(use_true_random=False))
def test_any_order_stays_between_the_extremes(ratios: list[float], rng: random.Random) -> None:
    rng.shuffle(ratios)
    known = Calibration(1.9)
    for ratio in ratios:
        known = known.observe(ratio * 5_000, 5_000)
    assert min(ratios) - 1e-9 <= known.ratio <= max(ratios) + 1e-9


def test_a_tiny_request_weighs_little() -> None:
    overhead = 60
    known = Calibration(1.27)
    for local in (10, 20, 40, 15, 30):  # fixed overhead makes these look like ratios of 2 and more
        known = known.observe(1.27 * local + overhead, local)
    assert known.ratio == pytest.approx(1.27, abs=0.06)
    assert known.samples < 0.1
    assert known.observe(1.30 * 50_000 + overhead, 50_000).ratio == pytest.approx(1.30, abs=0.01)


def test_one_odd_request_spoils_little() -> None:
    known = Calibration(1.27)
    for _ in range(30):
        known = known.observe(12_700, 10_000)
    assert known.observe(20_000, 10_000).ratio < 1.36


def test_ratio_is_calibrated_from_three_full_observations_on() -> None:
    store = MemoryCalibrationStore()
    bases = []
    for _ in range(4):
        learn(store, "claude-sonnet-4-5", "claude", reported=13_000, local=10_000)
        bases.append(ratio_for("claude-sonnet-4-5", "claude", store).basis)
    assert bases == ["estimated", "estimated", "calibrated", "calibrated"]
    assert ratio_for("claude-opus-4-5", "claude", store) == prior_for("claude")


def test_before_that_the_value_follows_and_the_interval_is_the_priors() -> None:
    store = MemoryCalibrationStore()
    learn(store, "m", "claude", reported=19_000, local=10_000)
    assert ratio_for("m", "claude", store) == Ratio(1.9, 1.0, 1.9, "estimated")


def test_the_spread_is_the_interval() -> None:
    steady, scattered = MemoryCalibrationStore(), MemoryCalibrationStore()
    for number in range(20):
        learn(steady, "m", "claude", reported=13_000, local=10_000)
        learn(
            scattered,
            "m",
            "claude",
            reported=13_000 + (1_500 if number % 2 else -1_500),
            local=10_000,
        )
    narrow, wide = ratio_for("m", "claude", steady), ratio_for("m", "claude", scattered)
    assert 0.03 < narrow.high - narrow.low < 0.15 < wide.high - wide.low < 0.8
    assert wide.low < 1.15 < 1.45 < wide.high


@given(
    st.floats(0.5, 2),
    st.floats(0, 1.5),
    st.floats(0.001, 1000),
    st.sampled_from(["claude", "gemini", "", "grok"]),
)
def test_any_stored_calibration_gives_a_usable_ratio(
    ratio: float, spread: float, samples: float, family: str
) -> None:
    store = MemoryCalibrationStore()
    store.put("m", Calibration(ratio, spread, samples))
    found = ratio_for("m", family, store)
    assert 0 < found.low <= found.value <= found.high
    scaled = Count(1_000).scaled(*found)
    assert scaled.low <= scaled <= scaled.high


def test_a_public_vocabulary_has_nothing_to_learn() -> None:
    store = MemoryCalibrationStore()
    learn(store, "gpt-4o", "o200k_base", reported=13_000, local=10_000)
    assert store.get("gpt-4o") is None


@pytest.mark.parametrize(
    "row", [(0.4, 0, 0), (2.1, 0, 0), (1, -1, 0), (1, 0, -1), (math.nan, 0, 0), (1, 0, math.inf)]
)
def test_a_calibration_out_of_bounds_is_refused(row: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="a calibration needs"):
        Calibration(*row)


def test_values_are_plain_tuples() -> None:
    known = Calibration(1.3, 0.05, 4)
    assert Calibration(*tuple(known)) == known == pickle.loads(pickle.dumps(known))
    ratio = Ratio(1.3, 1.2, 1.4, "calibrated")
    assert pickle.loads(pickle.dumps(ratio)) == ratio
    assert repr(ratio) == "Ratio(1.3, calibrated, 1.2 to 1.4)"
    with pytest.raises(ValueError, match="low <= value <= high"):
        Ratio(1.0, 1.1, 1.2, "estimated")
    with pytest.raises(AttributeError):
        known.ratio = 1.0  # type: ignore[misc]
