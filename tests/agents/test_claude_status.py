"""A status line gives the model, its window, the last request and the cost; again only what
changed."""

from __future__ import annotations

import copy
from typing import Any

from brim.agents.claude.transcript import ClaudeStatusReader
from brim.agents.events import ModelSeen, RunTotal, StateSeen, Usage
from brim.models.usage import Tokens
from tests.agents.claude_lines import MODEL, SESSION, STATUS


def changed(**more: Any) -> dict[str, Any]:
    return {**copy.deepcopy(STATUS), **more}


def test_a_status_gives_model_window_usage_and_cost() -> None:
    events = ClaudeStatusReader().events(STATUS, 7)
    assert ClaudeStatusReader.recognises(STATUS)
    assert events[0] == ModelSeen(model=MODEL, window=200_000, session=SESSION, at=7)
    assert [event.value for event in events if isinstance(event, StateSeen)] == [
        "/home/user/project",
        "2.1.325",
    ]
    used = next(event for event in events if isinstance(event, Usage))
    assert used.tokens == Tokens(input=8, output=42, cache_write_5m=13_459)
    assert events[-1] == RunTotal(cost=68_167, windows={MODEL: 200_000}, session=SESSION, at=7)


def test_the_same_status_again_says_nothing() -> None:
    reader = ClaudeStatusReader()
    reader.events(STATUS)
    assert reader.events(copy.deepcopy(STATUS)) == []


def test_each_new_report_is_a_request_of_its_own() -> None:
    reader = ClaudeStatusReader()
    keys = [
        event.request
        for n in range(3)
        for event in reader.events(
            changed(context_window={"current_usage": {"input_tokens": 10 + n}})
        )
        if isinstance(event, Usage)
    ]
    assert len(set(keys)) == 3
    assert all(keys)


def test_before_the_first_response_there_is_no_usage() -> None:
    status = changed(context_window={"context_window_size": 200_000, "current_usage": None})
    assert not any(isinstance(event, Usage) for event in ClaudeStatusReader().events(status))
