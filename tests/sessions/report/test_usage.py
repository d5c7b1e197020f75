"""Requests are added up by day, block, model, session or project."""

from __future__ import annotations

from datetime import UTC, date, datetime
from functools import partial
from typing import Any

import pytest

from brim.errors import InputError
from brim.sessions.report.usage import BY, grouped, in_calendar, parse_day
from brim.sessions.session_files import slug_of
from brim.sessions.sums import UsageCell

NOW = 1_767_600_000.0


def cell(**fields: Any) -> UsageCell:
    """Return the sum of one request."""
    time = fields.pop("time", NOW)
    values: dict[str, Any] = {
        "name": "",
        "agent": "claude",
        "project": "p",
        "model": "m",
        "kind": "request",
        "session": "",
        "quarter": None if time is None else int(time // 900),
        "requests": 1,
        "unpriced": 0,
        "cost": 0,
        "estimated_cost": 0,
        "input": 10,
        "output": 5,
        "cache_read": 0,
        "write_5m": 0,
        "write_1h": 0,
        "first": time,
        "last": time,
    }
    return UsageCell(**(values | fields))


@pytest.mark.parametrize("by", BY)
def test_every_way_of_adding_up_has_the_same_sum(by: str) -> None:
    names = {"model": 3, "session": 4, "branch": 1}
    cells = [
        cell(
            name=f"n{i % names.get(by, 2)}",
            project=f"p{i % 2}",
            output=i,
            time=NOW + i * 40_000,
            cost=i,
        )
        for i in range(20)
    ]
    found = grouped(cells, by, partial(in_calendar, utc=True))
    assert sum(each.output_tokens for each in found) == sum(range(20))
    assert sum(each.cost for each in found) == sum(range(20))
    expected = {
        "day": 10,
        "week": 2,
        "month": 1,
        "model": 3,
        "session": 4,
        "project": 2,
        "branch": 2,
        "block": 20,
        "agent-type": 2,
        "skill": 2,
        "mcp": 2,
    }
    assert len(found) == expected[by]


def test_a_day_is_the_days_of_the_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    if not hasattr(time, "tzset"):
        pytest.skip("the zone of a process cannot be set here")
    late = datetime(2026, 1, 5, 23, 50, tzinfo=UTC).timestamp()
    try:
        monkeypatch.setenv("TZ", "Asia/Kathmandu")
        time.tzset()
        assert (in_calendar(late), partial(in_calendar, utc=True)(late), in_calendar(None)) == (
            "2026-01-06",
            "2026-01-05",
            "",
        )
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_folder_of_a_project_is_named_as_the_client_names_it() -> None:
    assert slug_of("/home/user/my_shop.v2") == "-home-user-my-shop-v2"


def test_weeks_begin_on_monday_and_months_have_their_name() -> None:
    times = [datetime(2026, 1, day, 12, tzinfo=UTC).timestamp() for day in (4, 5, 11)]
    requests = [cell(time=time) for time in (*times, None)]
    weeks = [
        (each.name, each.requests)
        for each in grouped(requests, "week", partial(in_calendar, utc=True))
    ]
    assert weeks == [("", 1), ("2025-12-29", 1), ("2026-01-05", 2)]
    assert [each.name for each in grouped(requests, "month", partial(in_calendar, utc=True))] == [
        "",
        "2026-01",
    ]


def test_a_block_is_five_hours_from_the_hour_of_its_first_request() -> None:
    begin = datetime(2026, 1, 5, 9, 50, tzinfo=UTC).timestamp()
    hours = (
        0,
        4,
        5.1,
        5.2,
        20,
    )  # the block of the first ends at 14:00, ten minutes past the fourth hour
    requests = [cell(time=begin + hour * 3600) for hour in hours]
    found = [
        (each.name, each.requests)
        for each in grouped(requests, "block", partial(in_calendar, utc=True))
    ]
    assert found == [("2026-01-05 09:00", 2), ("2026-01-05 14:00", 2), ("2026-01-06 05:00", 1)]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-11-15", "2026-11-15"),
        ("20261115", "2026-11-15"),
        ("0d", "2026-03-31"),
        ("7d", "2026-03-24"),
        ("2w", "2026-03-17"),
        ("1m", "2026-02-28"),
        ("13m", "2025-02-28"),
    ],
)
def test_a_day_is_a_date_or_some_time_ago(text: str, day: str) -> None:
    assert parse_day(text, date(2026, 3, 31)) == day


@pytest.mark.parametrize(
    "text",
    ["", "d", "yesterday", "7x", "-7d", "2026-13-01", "2026-1-1", "99999999d", "99999m", "٣d"],
)
def test_what_is_no_day_is_an_error(text: str) -> None:
    with pytest.raises(InputError, match="isn't a date"):
        parse_day(text, date(2026, 3, 31))
