"""Periods begin at this machine's midnights, as the days of brim usage do."""

from __future__ import annotations

import time
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.money.periods import begin_of, end_of, hours_of, when

ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Apia", "UTC")
MOMENTS = st.integers(1_600_000_000, 2_000_000_000)


@given(st.sampled_from(ZONES), MOMENTS)
def test_a_period_holds_its_moment_and_has_one_name(name: str, now: int) -> None:
    zone = ZoneInfo(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", name)
        time.tzset()
        assert_names(zone, float(now))
    time.tzset()


def assert_names(zone: ZoneInfo, now: float) -> None:
    """Check that the periods of *now* begin and end where their names change."""
    for period, form in (("day", "%Y-%m-%d"), ("week", "%G-%V"), ("month", "%Y-%m")):
        begin, end = begin_of(period, now), end_of(period, now)
        assert begin is not None
        assert end is not None
        assert begin <= now < end
        name = datetime.fromtimestamp(now, zone).strftime(form)
        assert datetime.fromtimestamp(begin, zone).strftime(form) == name
        assert datetime.fromtimestamp(begin - 1, zone).strftime(form) != name
        assert datetime.fromtimestamp(end - 1, zone).strftime(form) == name
        assert datetime.fromtimestamp(end, zone).strftime(form) != name


@given(MOMENTS)
def test_every_day_begins_on_a_quarter_hour(now: int) -> None:
    for period in ("day", "week", "month"):
        begin = begin_of(period, now)
        assert begin is not None
        assert begin % 900 == 0


def test_what_has_no_period() -> None:
    for period in ("session", "subagent", "total"):
        assert begin_of(period, 1e9) is None
        assert end_of(period, 1e9) is None
    assert begin_of("5h", 100_000.0) == 100_000.0 - 5 * 3_600
    assert end_of("5h", 100_000.0) is None


def test_hours_and_words() -> None:
    assert (hours_of("5h"), hours_of("7d")) == (5, 168)
    assert (when("day"), when("total"), when("5h")) == (" today", "", " in 5 hours")
    for text in ("0h", "h", "5m", "9999d"):
        with pytest.raises(ValueError, match=r"^"):
            hours_of(text)
