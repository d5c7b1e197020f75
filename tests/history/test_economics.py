"""How deep a cut should go, by hand arithmetic."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.history.draft import CachePrices
from brim.history.watermark import DEFAULT_LOW, MARKS, OVERHEAD, Outlook

CLAUDE = CachePrices(write=Decimal("3.75"), read=Decimal("0.3"))
GPT = CachePrices(write=Decimal("2.5"), read=Decimal("1.25"))
SAME = CachePrices(write=Decimal(1), read=Decimal(1))
OUTLOOK = Outlook(high=100_000, static=5_000, growth=2_000, turns=20, warm=True)

outlooks = st.builds(
    Outlook,
    high=st.integers(0, 10**6),
    static=st.integers(0, 10**6),
    growth=st.integers(0, 10**5),
    turns=st.integers(1, 1_000),
    warm=st.booleans(),
)
prices = st.builds(
    CachePrices,
    write=st.decimals(0, 100, places=2),
    read=st.decimals(0, 100, places=2),
)


def test_the_overhead_is_what_is_written_anew_by_what_the_turns_cost() -> None:
    # Down to 50,000, then 25 turns of 2,000 until the next cut: one cut in 20 turns, 75,000 tokens on the average.
    plain = 20 * (75_000 * 0.3 + 2_000 * 3.75)
    assert OUTLOOK.overhead(0.5, CLAUDE) == pytest.approx((50_000 - 5_000) * 3.45 / plain)


def test_a_shallow_cut_is_made_again_and_again() -> None:
    # Down to 90,000: five turns until the next cut, so four cuts in 20 turns.
    plain = 20 * (95_000 * 0.3 + 2_000 * 3.75)
    assert OUTLOOK.overhead(0.9, CLAUDE) == pytest.approx(4 * (90_000 - 5_000) * 3.45 / plain)


def test_what_never_changes_is_never_written_anew() -> None:
    assert replace(OUTLOOK, static=100_000).overhead(0.5, CLAUDE) == 0


def test_the_mark_is_the_highest_that_costs_little_enough() -> None:
    low, why = OUTLOOK.low_mark(CLAUDE)
    assert OUTLOOK.overhead(low, CLAUDE) <= OVERHEAD < OUTLOOK.overhead(MARKS[MARKS.index(low) - 1], CLAUDE)
    assert f"low mark {low}: with 2,000 tokens a turn and 20 turns to come" in why
    assert "at most 20% was sought" in why


def test_dear_writes_make_deeper_cuts() -> None:
    assert OUTLOOK.low_mark(CLAUDE)[0] < OUTLOOK.low_mark(GPT)[0] <= OUTLOOK.low_mark(SAME)[0]


def test_fast_growth_makes_deeper_cuts() -> None:
    slow, fast = (replace(OUTLOOK, growth=growth, turns=100).low_mark(GPT)[0] for growth in (500, 10_000))
    assert fast < slow


def test_a_cold_cache_makes_a_cut_free() -> None:
    low, why = replace(OUTLOOK, warm=False).low_mark(CLAUDE)
    assert (low, "the cache does not live until the next turn" in why) == (MARKS[0], True)


def test_writes_that_cost_no_more_than_reads_make_a_cut_free() -> None:
    low, why = OUTLOOK.low_mark(SAME)
    assert (low, "writing the cache costs no more than reading" in why) == (MARKS[0], True)


def test_unknown_prices_give_the_default_and_say_so() -> None:
    assert OUTLOOK.low_mark(None) == (DEFAULT_LOW, "low mark 0.6: the prices of the cache are not known")
    assert replace(OUTLOOK, warm=False).low_mark(None)[0] == DEFAULT_LOW


def test_where_no_mark_is_cheap_the_cheapest_is_taken_and_said() -> None:
    dear = CachePrices(write=Decimal(100), read=Decimal("0.01"))
    low, why = replace(OUTLOOK, turns=1).low_mark(dear)
    assert low == min(MARKS, key=lambda mark: replace(OUTLOOK, turns=1).overhead(mark, dear))
    assert "no mark comes down to 20%" in why


@given(outlook=outlooks, price=prices)
def test_any_outlook_has_a_mark_and_a_reason(outlook: Outlook, price: CachePrices) -> None:
    low, why = outlook.low_mark(price)
    assert low in MARKS
    assert why.startswith(f"low mark {low}: ")
