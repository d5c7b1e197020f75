"""Requests are priced as the models' room prices them, counted once, and added up."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.errors import InputError
from brim.models import cost
from brim.models.price_list import PriceList
from brim.models.usage import Tokens
from brim.report.usage import (
    BY,
    Gathered,
    UsageSource,
    grouped,
    in_calendar,
    parse_day,
    priced,
    unattributed,
)
from brim.tracking.sessions import FileUsage, Request, Total, slug_of

COUNTS = st.integers(0, 400_000)
MODELS = [
    "claude-sonnet-4-5-20250929",
    "claude-opus-4-5",
    "gpt-5",
    "gemini-2.5-pro",
    "gpt-4o-mini",
    "nobody-knows-me",
]
NOW = 1_767_600_000.0


def request(key: str = "m:r", output: int = 5, **more: Any) -> Request:
    return Request(key, True, True, "m", NOW, "s", 10, output, 0, 0, 0)._replace(**more)


def file(*requests: Request) -> FileUsage:
    return FileUsage({each.key: each for each in requests})


def sums(gathered: Gathered) -> list[tuple[str, int, int]]:
    return sorted((each.key, each.output, each.prompt) for each, _ in gathered.requests())


@settings(deadline=None)
@given(
    st.lists(COUNTS, min_size=5, max_size=5),
    st.sampled_from(MODELS),
    st.booleans(),
    st.sampled_from([(), ("batch",), ("us",), ("fast", "us"), ("flex",)]),
    st.integers(1_700_000_000, 1_800_000_000),
)
def test_a_request_costs_what_the_models_room_says(
    counts: list[int], model: str, inclusive: bool, factors: tuple[str, ...], time: int
) -> None:
    input, output, read, minutes, hour = counts
    tokens = Tokens(
        input=input,
        output=output,
        cache_read=read,
        cache_write_5m=minutes,
        cache_write_1h=hour,
        writes_are_input=inclusive,
        factors=factors,
    )
    made = Request(
        "k", True, True, model, time, "s", input, output, read, minutes, hour, inclusive, factors
    )
    assert priced(made, PriceList()).cost == cost(
        tokens, model, on=datetime.fromtimestamp(time, UTC).date()
    )


def test_what_has_no_price_costs_what_its_client_says_else_nothing_is_known() -> None:
    requests = [request(model="nobody-knows-me", reported=7), request(model="nobody-knows-me")]
    assert [priced(each, PriceList()).cost for each in requests] == [7, None]


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.booleans(), st.integers(0, 3), st.integers(0, 3)),
        max_size=12,
    )
)
def test_the_order_of_the_files_changes_nothing(reports: list[tuple[str, bool, int, int]]) -> None:
    files = [
        file(request(f"{id}:{id}", output, main=main, time=NOW + time))
        for id, main, output, time in reports
    ]

    def outcome() -> list[tuple[str, int, int]]:
        gathered = Gathered()
        for file in files:
            gathered.add(file, UsageSource("claude", "p"))
        return sums(gathered)

    first = outcome()
    random.Random(1).shuffle(files)
    assert outcome() == first


def test_a_sub_agents_replay_of_the_main_thread_is_dropped() -> None:
    gathered = Gathered()
    gathered.add(
        file(request("m:r2", 90, main=False), request("n:r3", main=False)),
        UsageSource("claude", "p"),
    )
    gathered.add(file(request("m:r1", 5)), UsageSource("claude", "p"))
    assert [each[0] for each in sums(gathered)] == ["m:r1", "n:r3"]


def test_a_request_that_one_file_names_by_its_message_alone_counts_once() -> None:
    for short, full, kept in (
        (request("m", 1, final=False), request("m:r", 5), "m:r"),
        (request("m", 5), request("m:r", 1, final=False), "m"),
        (request("m", 5), request("m:r", 5), "m:r"),
        (request("m", 5, main=False), request("m:r", 5), "m:r"),
    ):
        for files in ([short, full], [full, short]):
            gathered = Gathered()
            for each in [*files, request("n", 3), request("o:r", 3)]:
                gathered.add(file(each), UsageSource("claude", "p"))
            assert [each[0] for each in sums(gathered)] == [kept, "n", "o:r"]


def test_requests_without_a_name_are_known_by_their_place() -> None:
    gathered = Gathered()
    for path, main in (("C:/a.jsonl", True), ("C:/b.jsonl", False)):
        gathered.add(file(request(f"@0:{path}", main=main)), UsageSource("claude", "p"))
    assert len(gathered.requests()) == 2


def test_the_report_with_more_output_counts_and_a_final_one_before_that() -> None:
    assert request(output=9).rank > request(output=5).rank
    assert request(output=5).rank > request(output=9, final=False).rank
    assert request(output=5, time=NOW).rank > request(output=5, time=NOW + 1).rank


@pytest.mark.parametrize("by", BY)
def test_every_way_of_adding_up_has_the_same_sum(by: str) -> None:
    requests = [
        (
            request(
                str(i), i, model=f"m{i % 3}", session=f"s{i % 4}", time=NOW + i * 40_000, cost=i
            ),
            UsageSource("claude", f"p{i % 2}"),
        )
        for i in range(20)
    ]
    found = grouped(requests, by, partial(in_calendar, utc=True))
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


def test_what_the_client_counts_beyond_its_lines_is_unattributed() -> None:
    requests = [
        request("a", 5, cost=100),
        request("b", 7, cost=50, time=NOW + 9),
        request("c", session="other"),
    ]
    totals = {
        "s": Total("s", 500, {"m": [20, 20, 0, 0, 0], "small": [1, 1, 0, 0, 0]}),
        "even": Total("even", 0, {}),
    }
    (rest,) = unattributed(requests, totals)
    assert (rest.session, rest.tokens, rest.cost, rest.time) == ("s", [1, 9, 0, 0, 0], 350, NOW + 9)


def test_a_total_of_all_models_is_compared_with_all_requests() -> None:
    (rest,) = unattributed(
        [request("a", 5), request("b", 5, model="n")],
        {"s": Total("s", None, {"": [30, 11, 0, 0, 0]})},
    )
    assert (rest.tokens, rest.cost) == ([10, 1, 0, 0, 0], None)


def test_a_total_below_the_requests_leaves_nothing() -> None:
    assert (
        unattributed([request("a", 5, cost=100)], {"s": Total("s", 40, {"m": [1, 1, 0, 0, 0]})})
        == []
    )


def test_the_folder_of_a_project_is_named_as_the_client_names_it() -> None:
    assert slug_of("/home/user/my_shop.v2") == "-home-user-my-shop-v2"


def test_weeks_begin_on_monday_and_months_have_their_name() -> None:
    times = [datetime(2026, 1, day, 12, tzinfo=UTC).timestamp() for day in (4, 5, 11)]
    requests = [
        (request(str(time), time=time), UsageSource("claude", "p")) for time in (*times, None)
    ]
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
    requests = [
        (request(str(hour), time=begin + hour * 3600), UsageSource("claude", "p")) for hour in hours
    ]
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
