"""A limit counts the same sum as brim usage, looks one request ahead, and says what it means."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.models.price_list import PriceList
from brim.models.usage import Tokens
from brim.money.decision import BELOW, HARD, SOFT, WARNED
from brim.money.forecast import forecast
from brim.money.limits import Spender, SpendingLimit, read_limit
from brim.money.standing import (
    LimitStanding,
    PlanReading,
    most_next_cost,
    nearest,
    next_cost,
    standings,
)
from brim.money.words import (
    compaction_refused,
    go_on,
    prompt_refused,
    tool_denied,
    turn_ended,
    warning,
)
from brim.sessions.requests import IndexedRequest
from tests.sessions.tree import open_index, update
from tests.sessions.window.transcripts import FOLDER, MODEL, answer, usage, write

NOW = 1_767_610_000.0
"""2026-01-05, 10:46:40 UTC."""
SPENDER = Spender(FOLDER, "s-1")


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def standing(text: str, spent: int, *, ahead: int = 0, project: str = FOLDER) -> LimitStanding:
    limit = read_limit(text, project=project)
    return LimitStanding(limit, spent, NOW, ahead, limit.resets_at(NOW))


def test_limits_count_what_the_index_has(tmp_path: Path) -> None:
    root = tmp_path / "projects"
    yesterday = answer("msg_2", used=usage(0, 100_000), time="2026-01-04T10:00:00.000Z")
    other = answer("msg_3", used=usage(0, 100_000), cwd="/home/user/other", session="s-2")
    write(root / "p" / "s-1.jsonl", yesterday, answer(used=usage(7, 100_000, 20, 30)))
    write(root / "q" / "s-2.jsonl", other)
    limits = [
        read_limit(text, project=project)
        for text, project in [
            ("5/day", FOLDER),
            ("5/week", FOLDER),
            ("50", FOLDER),
            ("1M tokens/day", "*"),
            ("5/session", "*"),
            ("90%/5h", "*"),
            ("1/subagent", "*"),
        ]
    ]
    plan = PlanReading(91, NOW, NOW + 60)
    with open_index(tmp_path) as index:
        update(index, root)
        found = standings(limits, index, SPENDER, NOW, plans=lambda _: plan)
        spent = {each.limit.text: each.spent for each in found}
    today = 1_500_000 + 21 + 75 + 9
    assert spent == {
        "5/day": today,
        "5/week": today,
        "50": today + 1_500_000,
        "1M tokens/day": 200_027,
        "5/session": today + 1_500_000,
        "90%/5h": 91,
    }


@pytest.mark.parametrize("later", [10, 400, 4_000])
@pytest.mark.parametrize("model", [MODEL, "claude-opus-4-5", "gpt-5", "gpt-4o", "gemini-2.5-pro"])
@given(
    contexts=st.lists(st.integers(15_000, 900_000), min_size=1, max_size=10),
    output=st.integers(0, 60_000),
    is_for_hour=st.booleans(),
)
def test_more_than_the_next_request_costs_is_known_without_prices(
    model: str, later: float, contexts: list[int], output: int, *, is_for_hour: bool
) -> None:
    prices = PriceList()
    last = []
    for place, context in enumerate(contexts):
        cost = prices.request(Tokens(10, output, context), model, NOW)
        written = int(is_for_hour and place == 0)
        last.append(
            IndexedRequest(
                f"m{place}",
                model=model,
                time=NOW - place,
                input=10,
                output=output,
                cache_read=context,
                write_1h=written,
                cost=cost,
            )
        )
    most = most_next_cost(last)
    assert most is not None
    assert most >= next_cost(last, prices, NOW + later)


@pytest.mark.parametrize(
    "last",
    [
        [],
        [IndexedRequest("m", model=MODEL, cache_read=99_000)],
        [IndexedRequest("m", model=MODEL, cost=5, cache_read=9)],
        [
            IndexedRequest("m", model=MODEL, cost=5, cache_read=99_000),
            IndexedRequest("n", model="gpt-5", cost=5, cache_read=99_000),
        ],
    ],
)
def test_without_a_long_context_and_a_price_it_is_not(last: list[IndexedRequest]) -> None:
    assert most_next_cost(last) is None


@pytest.mark.parametrize(
    ("spent", "ahead", "level"),
    [
        (3_999_999, 0, BELOW),
        (4_000_000, 0, WARNED),
        (4_750_000, 0, SOFT),
        (5_000_001, 0, HARD),
        (3_000_000, 2_000_001, HARD),
    ],
)
def test_levels_of_five_dollars(spent: int, ahead: int, level: str) -> None:
    assert standing("5/day", spent, ahead=ahead).level == level


def test_the_nearest_limit_holds() -> None:
    far, near = standing("100/month", 5_000_000), standing("5/day", 4_800_000)
    assert nearest([far, near]) == near
    assert nearest([]) is None


def requests(*costs: int, step: float = 60.0, **fields: Any) -> list[IndexedRequest]:
    """Return requests that cost so much, the newest first."""
    return [
        IndexedRequest(f"m{place}", model=MODEL, time=NOW - place * step, cost=cost, **fields)
        for place, cost in enumerate(costs)
    ]


def test_the_next_request_reads_its_context_and_answers_at_length() -> None:
    last = requests(1, 1, 1, cache_read=100_000, output=1_000)
    prices = PriceList()
    warm = next_cost(last, prices, NOW + 10)
    cold = next_cost(last, prices, NOW + 400)
    assert warm == 101_000 * 0.3 + 1_500 * 3.75 + 1_000 * 15
    assert cold == 102_500 * 3.75 + 1_000 * 15
    hour = requests(1, write_1h=10)
    assert next_cost(hour, prices, NOW + 400) < next_cost(hour, prices, NOW + 4_000)
    assert next_cost([], prices, NOW) == 0
    assert next_cost([IndexedRequest("m", model="nobody-knows-me", time=NOW)], prices, NOW) == 0


def test_a_refused_prompt_says_how_to_go_on() -> None:
    assert prompt_refused(standing("5/day", 5_020_000)) == (
        "$5.02 of $5.00 spent today. Your prompt wasn't sent. "
        "Go on for today: brim limit +10%. For good: brim limit raise 8/day"
    )
    assert prompt_refused(standing("5/day", 4_600_000, ahead=500_000)) == (
        "$4.60 of $5.00 spent today. The next request would take about $0.50 more. "
        "Your prompt wasn't sent. Go on for today: brim limit +20%. For good: brim limit raise 8/day"
    )
    assert "Go on: brim limit raise 30/day" in prompt_refused(
        standing("5/day", 4_600_000, ahead=8_000_000)
    )


@pytest.mark.parametrize("spent", [0, 90_000, 138_000, 470_000])
@pytest.mark.parametrize("ahead", [0, 9_000, 50_000, 100_000])
def test_the_percent_that_is_offered_is_enough_for_the_next_request(spent: int, ahead: int) -> None:
    before = standing("0.138", spent, ahead=ahead)
    raised = before.limit.raised_by(before.percent_to_go_on, spent, NOW)
    assert not replace(before, limit=raised).is_stopped


def test_the_agent_never_reads_how_a_limit_is_lifted() -> None:
    for text, spent in (("5/day", 5_030_000), ("0", 0), ("90%/5h", 95), ("2M tokens", 3_000_000)):
        for wraps_up in (True, False):
            said = tool_denied(standing(text, spent), wraps_up=wraps_up)
            assert "brim limit" not in said
            assert said.startswith("Stopped by your user's limit: ")
    assert tool_denied(standing("5/day", 5_030_000), wraps_up=True).startswith(
        "Stopped by your user's limit: $5.03 of $5.00 spent today; it resets at midnight. "
        "No tool runs now. Wrap up now without tools"
    )
    assert tool_denied(standing("5/day", 4_000_000, ahead=1_500_000), wraps_up=True).startswith(
        "Stopped by your user's limit: $4.00 of $5.00 spent today; it resets at midnight. "
        "The next request would take about $1.50 more. No tool runs now."
    )


def test_other_sentences() -> None:
    over = standing("100/month", 100_000_000, project="*")
    assert turn_ended(over) == (
        "$100.00 of $100.00 spent this month in all projects. The turn was ended. "
        "Go on for now: brim limit --all +10%. For good: brim limit raise --all 200/month"
    )
    assert compaction_refused(standing("2/session", 2_000_000)).startswith(
        "$2.00 of $2.00 spent in this session. The conversation wasn't compacted. Go on for now"
    )
    assert warning(standing("5/day", 4_100_000)) == (
        "$4.10 of $5.00 spent today (82%); it resets at midnight."
    )
    assert warning(standing("2M tokens/week", 1_700_000)) == (
        "1.7M of 2M tokens spent this week (85%); it resets on 2026-01-12."
    )
    assert go_on(standing("90%/5h", 95)) == ("Go on without this limit: brim limit remove 90%/5h")
    assert go_on(standing("0", 0)) == "Go on: brim limit remove 0"


def test_a_sum_under_a_cent_is_never_more_exact_than_that() -> None:
    assert warning(standing("0.01", 9_999)).startswith("$0.01 of $0.01")
    assert warning(standing("0.01", 4_000)).startswith("<$0.01 of $0.01")


def test_how_many_more_requests_fit() -> None:
    last = requests(*[100_000, 300_000] * 10)
    found = forecast(standing("5/day", 2_750_000), last)
    assert found is not None
    assert str(found) == "roughly 10 more requests like the last 20 (6 to 20)"
    assert found.earliest_words == "without pauses, at about 10:56 at the earliest"


def test_a_limit_that_the_next_request_may_reach_says_so() -> None:
    found = forecast(standing("5/day", 4_740_000), requests(*[100_000] * 12))
    assert found is not None
    assert str(found) == "the next request may reach it"
    assert found.earliest_words == ""
    found = forecast(standing("5/day", 4_000_000), requests(*[100_000] * 12))
    assert str(found).startswith("roughly 8 more requests like the last 12 (")


def test_nothing_is_foretold_of_few_requests_or_far_limits() -> None:
    assert forecast(standing("5/day", 0), requests(*[100_000] * 9)) is None
    assert forecast(standing("5/day", 0), requests(*[10] * 20)) is None
    assert forecast(standing("5/day", 0), requests(*[0] * 20)) is None


def test_pauses_are_no_pace() -> None:
    found = forecast(standing("5/day", 0), requests(*[100_000] * 20, step=3_600.0))
    assert found is not None
    assert found.earliest is None


def test_a_raise_leaves_room() -> None:
    for spent in (0, 4_999_999, 80_000_000):
        high = SpendingLimit(5_000_000, period="day", project=FOLDER)
        from brim.money.words import higher_limit

        raised = higher_limit(LimitStanding(high, spent, NOW))
        assert raised.amount - raised.set_aside_at(NOW) > spent
