"""Times are read from ISO 8601 texts and from numbers, in whatever time zone the test runs."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.agents.times import seconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-15T06:39:07.416Z", 1794724747.416),
        ("2026-11-15T06:39:07Z", 1794724747),
        ("2026-11-15 06:39:07", 1794724747),
        ("2026-11-15T08:39:07+02:00", 1794724747),
        ("2026-11-15T01:09:07-0530", 1794724747),
        ("2026-11-15T06:39", 1794724740),
        ("2026-11-15", 1794700800),
        ("1970-01-01T00:00:00Z", 0),
        (1794724747, 1794724747),
        (1794724747416, 1794724747.416),
        (1794724747416000, 1794724747.416),
    ],
)
def test_every_way_of_writing_a_time_is_read(text: object, expected: float) -> None:
    assert seconds(text) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "yesterday",
        "2026-13-01",
        "2026-02-29",
        "2026-11-15T25:00:00Z",
        "2026-11-15T06:61:00Z",
        "x" * 1000,
        "٢٠٢٦-11-15",
        *(None, True, -1, math.nan, math.inf, 10**40, [], {}),
    ],
)
def test_what_is_no_time_is_none(bad: object) -> None:
    assert seconds(bad) is None


@given(
    st.datetimes(min_value=datetime(1970, 1, 2), max_value=datetime(9999, 12, 30)),
    st.integers(-14 * 60, 14 * 60),
)
def test_times_agree_with_the_calendar(naive: datetime, minutes: int) -> None:
    zoned = naive.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert seconds(zoned.isoformat()) == pytest.approx(zoned.timestamp(), abs=1e-3)
    assert seconds(naive.isoformat()) == pytest.approx(
        naive.replace(tzinfo=UTC).timestamp(), abs=1e-3
    )


@given(st.text(alphabet="0123456789-:TZ+. ", max_size=40))
def test_no_text_raises(text: str) -> None:
    seconds(text)


_WRITTEN = st.sampled_from(
    [
        "2026-11-15T06:39:07Z",
        "2026-11-15T06:39:07.416Z",
        "2026-02-30T24:59:60.5Z",
        "2024-02-29T00:00:00.123456Z",
    ]
)


@given(
    _WRITTEN,
    st.lists(
        st.tuples(st.integers(0, 30), st.sampled_from("0129-:T.Zz +,٣"), st.booleans()), max_size=3
    ),
)
def test_the_usual_way_is_read_as_every_other(
    text: str, changes: list[tuple[int, str, bool]]
) -> None:
    for at, letter, instead in changes:
        text = text[:at] + letter + text[at + instead :]
    spaced = f" {text}"  # which no client writes, so that it goes the long way
    assert seconds(text) == (seconds(spaced) if len(text) < 63 else None)
