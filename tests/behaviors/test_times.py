"""A time survives being written, and means the same on every machine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.behaviors.times import iso, seconds_of


@given(st.floats(-6e10, 2.5e11))
def test_time_is_read_as_it_was_written(seconds: float) -> None:
    assert seconds_of(iso(seconds)) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-01-29T20:22:55.64732705-08:00", 1769746975.64732705),
        ("1970-01-01", 0.0),
        ("1970-01-01T00:00:01", 1.0),
        ("1970-01-01T01:00:00+01:00", 0.0),
        ("0001-01-01T00:00:00Z", -62135596800.0),
    ],
)
def test_any_offset_and_any_number_of_digits_is_read(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "1970-01-01T00:00:01.", "1970-01-01T00:00:01.x", "1970-13-01", "٣"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        seconds_of(text)
