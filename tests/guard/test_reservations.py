"""A reservation is the most that a call can cost, whatever the request asks for."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from brim.errors import UnknownPrice
from brim.guard import Guard

CLAUDE = "claude-sonnet-4-6"
GPT = "gpt-5"
HELLO: list[Any] = [{"role": "user", "content": "Hello, what is new today?"}]


def status(guard: Guard) -> Any:
    found = guard.status()
    assert found is not None
    return found


def claude_answer(prompt: int, output: int, *, searches: int = 0, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": prompt, "output_tokens": output, "server_tool_use": {"web_search_requests": searches}}
    return {"id": "msg_1", "type": "message", "model": CLAUDE, "content": [], "usage": {**usage, **more}}


def gpt_answer(prompt: int, output: int, tier: str) -> dict[str, Any]:
    usage = {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}
    return {"id": "chat_1", "object": "chat.completion", "model": GPT, "service_tier": tier, "usage": usage}


@pytest.mark.parametrize(("tier", "answers"), list(product(["default", "priority", "flex"], [1, 3])))
def test_service_tiers_and_several_answers_are_reserved(tier: str, answers: int) -> None:
    guard = Guard(GPT, limit_usd=1, max_output=500)
    with guard.call(HELLO, answers=answers, options={"service_tier": tier}) as call:
        call.done(gpt_answer(int(call.tokens), 500 * answers, tier))
        assert call.cost is not None
        assert 0 < call.cost <= call.reserved


def test_the_priority_tier_reserves_more_than_the_default() -> None:
    guard = Guard(GPT, limit_usd=1, max_output=500)
    reserved = {}
    for tier in ("default", "priority", "flex"):
        with guard.call(HELLO, options={"service_tier": tier}) as call:
            reserved[tier] = call.reserved
            call.release()
    assert reserved["flex"] <= reserved["default"] < reserved["priority"]


@pytest.mark.parametrize("uses", [1, 10])
def test_searches_are_reserved(uses: int) -> None:
    guard = Guard(CLAUDE, limit_usd=100, max_output=500)
    search = {"type": "web_search_20250305", "name": "web_search", "max_uses": uses}
    with guard.call(HELLO, tools=[search]) as call:
        assert call.reserved >= uses * 10_000  # a search costs a cent
        call.done(claude_answer(int(call.tokens), 500, searches=uses))
        assert call.cost is not None
        assert call.cost <= call.reserved
    assert status(guard).reserved == 0


def test_ten_searches_do_not_go_over_a_small_limit() -> None:
    guard = Guard(CLAUDE, limit_usd="0.05", max_output=500)
    search = {"type": "web_search_20250305", "name": "web_search", "max_uses": 10}
    with pytest.raises(Exception, match=r"limit|fit"), guard.call(HELLO, tools=[search]):
        raise AssertionError("it was admitted")
    assert status(guard).spent == status(guard).reserved == 0


def test_searches_without_a_maximum_are_refused_and_the_parameter_is_named() -> None:
    guard = Guard(CLAUDE, limit_usd=1, max_output=500)
    with (
        pytest.raises(UnknownPrice, match="max_uses"),
        guard.call(HELLO, tools=[{"type": "web_search_20250305", "name": "web_search"}]),
    ):
        raise AssertionError("it was admitted")
    assert status(guard).reserved == 0


def test_without_a_limit_nothing_is_refused() -> None:
    with Guard(CLAUDE, max_output=500).call(
        HELLO, tools=[{"type": "web_search_20250305", "name": "web_search"}]
    ) as call:
        assert call.reserved == 0
