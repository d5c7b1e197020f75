"""When a limit's period begins and ends in a ledger."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.money import Allowance, Limit
from brim.money.allowances import bounds, is_zone, local_zone

HOUR, DAY = 3600.0, 86_400.0


def at(zone: str, *when: int) -> float:
    return datetime(*when, tzinfo=ZoneInfo(zone)).timestamp()  # type: ignore[misc,arg-type]


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Berlin", (2026, 3, 29), 23),
        ("Europe/Berlin", (2026, 10, 25), 25),
        ("America/New_York", (2026, 3, 8), 23),
        ("Australia/Lord_Howe", (2026, 4, 5), 24.5),
        ("America/Havana", (2026, 3, 8), 23),  # there is no midnight on this day
        ("Asia/Kathmandu", (2026, 3, 8), 24),
    ],
)
def test_a_day_is_as_long_as_its_zone_says(
    zone: str, day: tuple[int, int, int], hours: float
) -> None:
    starts, ends = bounds("day", zone, at(zone, *day, 12))
    assert ends is not None
    assert ends - starts == hours * HOUR
    assert bounds("day", zone, ends)[0] == ends
    assert bounds("day", zone, starts) == (starts, ends)


def test_weeks_begin_on_monday_and_months_on_the_first() -> None:
    sunday = at("Europe/Berlin", 2026, 11, 15, 23, 59)
    assert bounds("week", "Europe/Berlin", sunday) == (
        at("Europe/Berlin", 2026, 11, 9),
        at("Europe/Berlin", 2026, 11, 16),
    )
    december = at("Europe/Berlin", 2026, 12, 31, 23)
    assert bounds("month", "Europe/Berlin", december) == (
        at("Europe/Berlin", 2026, 12, 1),
        at("Europe/Berlin", 2027, 1, 1),
    )


ZONES = (
    "Europe/Berlin",
    "America/Havana",
    "Africa/Cairo",
    "Asia/Beirut",
    "Pacific/Apia",
    "America/St_Johns",
    "UTC",
)


@given(st.sampled_from(("day", "week", "month")), st.sampled_from(ZONES), st.floats(0, 4e9))
def test_periods_follow_each_other_without_gap_or_overlap(
    period: str, zone: str, now: float
) -> None:
    starts, ends = bounds(period, zone, now)
    assert ends is not None
    assert starts <= now < ends
    assert bounds(period, zone, ends)[0] == ends
    assert bounds(period, zone, ends - 0.001) == (starts, ends)


def test_two_zones_end_their_day_at_different_times() -> None:
    now = at("UTC", 2026, 6, 1, 12)
    east, west = bounds("day", "Asia/Tokyo", now), bounds("day", "America/Los_Angeles", now)
    assert (east[1], west[1]) == (at("UTC", 2026, 6, 1, 15), at("UTC", 2026, 6, 2, 7))


@pytest.mark.parametrize(
    ("zone", "found"), [("Europe/Berlin", "Europe/Berlin"), (":Asia/Tokyo", "Asia/Tokyo")]
)
def test_the_zone_of_the_machine_is_what_it_says(zone: str, found: str) -> None:
    assert local_zone({"TZ": zone}) == found


@pytest.mark.parametrize(
    "zone", ["../../etc/passwd", "Nowhere/None", "", "/etc/localtime", "CET-1CEST\0", "a" * 5000]
)
def test_what_is_not_a_zone_is_not_taken_for_one(zone: str) -> None:
    assert not is_zone(zone)
    assert is_zone(local_zone({"TZ": zone}))


def allowance(period: str = "day", zone: str = "UTC", now: float = 100 * DAY + HOUR) -> Allowance:
    starts, ends = bounds(period, zone, now)
    return Allowance(
        "shop", period, "usd", Limit(100, state="asked", amount=110), 99, 1, zone, starts, ends
    )


def test_the_next_period_begins_with_nothing_spent_and_the_limit_as_it_was_set() -> None:
    begun = allowance().at(101 * DAY)
    assert (begun.spent, begun.reserved, begun.starts, begun.ends) == (0, 0, 101 * DAY, 102 * DAY)
    assert (begun.limit.amount, begun.limit.state) == (100, "open")
    assert allowance().at(101 * DAY - 1) == allowance()


@pytest.mark.parametrize("period", ["day", "week", "month", "session", "total"])
@pytest.mark.parametrize("days", [1, 0.5])
def test_a_clock_that_is_set_back_gives_nothing_back(period: str, days: float) -> None:
    before = allowance(period)
    now = before.starts - days * DAY
    back = before.at(now)
    assert (back.spent, back.limit, back.ends) == (99, before.limit, bounds(period, "UTC", now)[1])
    assert back.starts <= now  # what is spent now counts


def test_a_period_that_a_wrong_clock_began_years_ahead_ends_soon() -> None:
    back = allowance(now=5000 * DAY).at(100 * DAY + HOUR)
    assert (back.spent, back.ends) == (99, 101 * DAY)


def test_a_zone_that_this_machine_lost_counts_as_utc() -> None:
    begun = replace(allowance(), zone="Mars/Olympus").at(101 * DAY)
    assert begun.ends == 102 * DAY
