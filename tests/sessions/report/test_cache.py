"""A request that writes again what had been cached is found, with its likely cause and what it
cost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from brim.agents.call import Event, ToolCall
from brim.agents.events import Compaction, RunTotal, Usage
from brim.models import cost
from brim.models.price_list import PriceList
from brim.models.usage import Tokens
from brim.sessions.report.cache import LEAST, CacheBreak, CacheReader
from brim.sessions.requests import IndexedRequest

MODEL = "claude-sonnet-4-5"
WARM = Tokens(input=10, cache_read=20_000, cache_write_5m=500)
"""Reads all that ``before`` left."""
ENDED = RunTotal(session="s", cost=1)
"""Stands for the end of the client's process."""
COLD = Tokens(input=10, cache_read=0, cache_write_5m=20_500)


def request(
    key: str, tokens: Tokens, time: float | None = 0.0, model: str = MODEL, agent: str = ""
) -> Usage:
    return Usage(session="s", agent=agent, time=time, tokens=tokens, model=model, request=key)


FIRST = Tokens(input=10, cache_write_5m=20_000)


def first(tokens: Tokens = FIRST) -> Usage:
    return request("m1:r1", tokens)


def found(*events: Event) -> list[CacheBreak]:
    reader = CacheReader()
    for event in events:
        if event is ENDED:
            reader.end_process()
        else:
            reader.take(event)
    return reader.finish()


def causes(*events: Event) -> list[str]:
    return [each.cause for each in found(*events)]


EDIT = ToolCall(session="s", kind="edit", input={"file_path": "/home/user/shop/CLAUDE.md"})
COMPACTED = Compaction(session="s")


def test_requests_that_read_what_was_cached_break_nothing() -> None:
    assert (
        causes(first(), request("m2", WARM, 10), request("m3", Tokens(cache_read=20_500), 20)) == []
    )


def test_a_break_says_what_was_written_again() -> None:
    (only,) = found(first(), request("m2:r2", COLD, 100.0))
    assert only == CacheBreak("m2:r2", "s", "", 100.0, MODEL, 20_000, "unknown", 100.0)


@pytest.mark.parametrize(
    ("between", "last", "cause"),
    [
        ([COMPACTED], request("m2", COLD, 10), "compaction"),
        ([], request("m2", COLD, 10, model="claude-opus-4-5"), "model"),
        ([], request("m2", COLD, 301), "pause"),
        ([], request("m2", COLD, 299), "unknown"),
        ([], replace(request("m2", COLD, 10), compacts=True), "compaction"),
        ([ENDED], request("m2", COLD, 10), "resume"),
        ([ENDED], request("m2", COLD, 3_000), "resume"),
        ([EDIT], request("m2", COLD, 10), "memory"),
        ([EDIT, ENDED], request("m2", COLD, 10), "memory"),
        ([ENDED, COMPACTED], request("m2", COLD, 10), "compaction"),
    ],
)
def test_the_likely_cause(between: list[Event], last: Usage, cause: str) -> None:
    assert causes(first(), *between, last) == [cause]


def test_what_was_cached_for_an_hour_is_there_after_ten_minutes() -> None:
    hour = first(Tokens(input=10, cache_write_1h=20_000))
    assert causes(hour, request("m2", COLD, 600)) == ["unknown"]
    assert causes(hour, request("m2", COLD, 3_700)) == ["pause"]


def test_an_edit_counts_when_memory_is_read_again() -> None:
    later = request("m2", WARM, 10), request("m3", Tokens(cache_read=20_500), 20)
    again = request("m4", COLD, 30)
    assert causes(first(), EDIT, *later, again) == ["unknown"]
    assert causes(first(), EDIT, *later, ENDED, again) == ["memory"]


def test_each_thread_has_its_own_cache() -> None:
    other = request("m2", Tokens(input=10, cache_write_5m=9_000), 5, agent="a1")
    assert causes(first(), other, request("m3", WARM, 10)) == []


def test_the_same_request_with_newer_numbers_is_one_request() -> None:
    assert causes(first(), request("m2", COLD, 10), request("m2", WARM, 10)) == []
    assert len(found(first(), request("m2", WARM, 10), request("m2", COLD, 10))) == 1


def test_a_few_tokens_are_no_break_and_a_rewound_session_is_none() -> None:
    few = Tokens(cache_read=20_000 - LEAST + 1, cache_write_5m=3_000)
    assert causes(first(), request("m2", few, 10)) == []
    rewound = Tokens(cache_read=5_000, cache_write_5m=200)
    assert causes(first(), request("m2", rewound, 10)) == []


def test_a_clock_that_was_set_back_is_no_pause() -> None:
    (only,) = found(first(), request("m2", COLD, -50_000.0))
    assert (only.cause, only.pause) == ("unknown", None)
    (timeless,) = found(first(), request("m2", COLD, None))
    assert (timeless.cause, timeless.pause) == ("unknown", None)


def test_a_provider_without_cache_writes_has_cached_what_it_read() -> None:
    before = request("r1", Tokens(input=2_000, cache_read=8_000), model="gpt-5")
    after = request("r2", Tokens(input=11_000), 10, model="gpt-5")
    assert [each.tokens for each in found(before, after)] == [8_000]


def test_a_break_costs_what_writing_costs_more_than_reading() -> None:
    (only,) = found(first(), request("m2", COLD, 10))
    made = IndexedRequest(
        "m2",
        model=MODEL,
        time=10.0,
        session="s",
        input=COLD.input,
        write_5m=COLD.cache_write_5m,
    )
    read = Tokens(input=10, cache_read=20_000, cache_write_5m=500)
    both = [cost(each, MODEL) for each in (COLD, read)]
    assert both[0] is not None
    assert both[1] is not None
    assert only.priced(made, PriceList()).cost == both[0] - both[1] == 69_000
    assert only.priced(replace(made, model="nobody-knows-me"), PriceList()).cost is None
