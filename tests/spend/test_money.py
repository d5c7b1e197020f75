"""Amounts are exact, and what is rounded is rounded to the safe side."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.errors import InputError
from brim.spend import in_dollars, micro_dollars
from brim.spend.money import MOST, checked_amount

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


@pytest.mark.parametrize("text", ["", "-1", "ten", "nan", "inf", "1e12", "$", "1.2.3", "0x10", "1e999999999", *COMMAS])
def test_what_is_no_amount_is_an_error(text: str) -> None:
    with pytest.raises(InputError, match="US dollars"):
        micro_dollars(text)


@given(st.integers(0, MOST))
def test_what_is_shown_is_read_back_exactly(amount: int) -> None:
    assert micro_dollars(in_dollars(amount)) == amount


@pytest.mark.parametrize("amount", [-1, 1.5, True, "1", None, MOST + 1])
def test_only_whole_amounts_can_be_kept(amount: object) -> None:
    with pytest.raises(InputError, match="micro-dollars"):
        checked_amount(amount)
