"""A reservation is the most that a call can cost, whatever the request asks for."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

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
    usage = {
        "input_tokens": prompt,
        "output_tokens": output,
        "server_tool_use": {"web_search_requests": searches},
    }
    return {
        "id": "msg_1",
        "type": "message",
        "model": CLAUDE,
        "content": [],
        "usage": {**usage, **more},
    }


def gpt_answer(prompt: int, output: int, tier: str) -> dict[str, Any]:
    usage = {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}
    return {
        "id": "chat_1",
        "object": "chat.completion",
        "model": GPT,
        "service_tier": tier,
        "usage": usage,
    }


@pytest.mark.parametrize(
    ("tier", "answers"), list(product(["default", "priority", "flex"], [1, 3]))
)
def test_service_tiers_and_several_answers_are_reserved(tier: str, answers: int) -> None:
    guard = Guard(GPT, limit_usd="1", max_output=500)
    with guard.call(HELLO, options={"service_tier": tier, "n": answers}) as call:
        call.done(gpt_answer(int(call.tokens), 500 * answers, tier))
        assert call.cost is not None
        assert 0 < call.cost <= call.reserved


def test_the_priority_tier_reserves_more_than_the_default() -> None:
    guard = Guard(GPT, limit_usd="1", max_output=500)
    reserved = {}
    for tier in ("default", "priority", "flex"):
        with guard.call(HELLO, options={"service_tier": tier}) as call:
            reserved[tier] = call.reserved
            call.release()
    assert reserved["flex"] <= reserved["default"] < reserved["priority"]


@pytest.mark.parametrize("uses", [1, 10])
def test_searches_are_reserved(uses: int) -> None:
    guard = Guard(CLAUDE, limit_usd="100", max_output=500)
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
    guard = Guard(CLAUDE, limit_usd="1", max_output=500)
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


# What takes tokens besides messages and tools -----------------------------------------------------

PUBLISHED = Path(__file__).parents[1] / "tokens" / "messages" / "tool_counts.json"
"""What OpenAI's API reported for requests with tools; the file names the sources."""


def published(name: str) -> dict[str, Any]:
    counts = json.loads(PUBLISHED.read_text())["counts"]
    return next(request for request in counts if request["name"] == name)


@pytest.mark.parametrize(
    "choice", ["search_sources", {"type": "function", "name": "search_sources"}]
)
def test_every_way_to_name_a_tool_counts_the_same(choice: Any) -> None:
    request = published("search_sources_toolchoice_name")
    with Guard(request["model"]).call(
        request["messages"], tools=request["tools"], options={"tool_choice": choice}, max_output=100
    ) as call:
        assert int(call.tokens) == 75


@pytest.mark.parametrize(
    "choice",
    [
        {"type": "tool", "name": "search"},
        {"type": "any"},
        "any",
        "required",
        "search",
        {"type": "function", "function": {"name": "search"}},
    ],
)
def test_claude_reads_another_prompt_if_it_has_to_call_a_tool(choice: Any) -> None:
    tools = [{"name": "search", "input_schema": {"type": "object", "properties": {}}}]
    sizes = {}
    for name, options in (
        ("auto", {"tool_choice": {"type": "auto"}}),
        ("forced", {"tool_choice": choice}),
    ):
        with Guard("claude-sonnet-4-5").call(
            HELLO, tools=tools, options=options, max_output=100
        ) as call:
            sizes[name] = int(call.tokens)
    assert sizes["forced"] - sizes["auto"] == 588 - 496  # as published


class Weather(BaseModel):
    """The weather of a place."""

    place: str
    degrees: float


SCHEMA = Weather.model_json_schema()


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (
            "gpt-4o",
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "weather", "schema": SCHEMA},
                }
            },
        ),
        ("gpt-4o", {"response_format": Weather}),
        (
            "gpt-5",
            {"text": {"format": {"type": "json_schema", "name": "weather", "schema": SCHEMA}}},
        ),
        (CLAUDE, {"output_format": {"type": "json_schema", "schema": SCHEMA}}),
        (CLAUDE, {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}),
        ("gemini-2.5-pro", {"config": {"response_schema": Weather}}),
        ("gemini-2.5-pro", {"config": {"response_json_schema": SCHEMA}}),
        ("gemini-2.5-pro", {"generationConfig": {"responseSchema": SCHEMA}}),
    ],
)
def test_the_schema_of_an_answer_is_counted(model: str, options: dict[str, Any]) -> None:
    guard = Guard(model, limit_usd="1", max_output=500)
    sizes = []
    reserved = []
    for asked in ({}, options):
        with guard.call(HELLO, options=asked) as call:
            sizes.append(int(call.tokens))
            reserved.append(call.reserved)
            call.release()
    assert sizes[1] > sizes[0] + 10
    assert reserved[1] > reserved[0]
