"""A hard limit: whatever a request asks for, its cost is at most what was reserved for it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.errors import InputError, LimitReached, UnknownPrice
from brim.figures import DOLLAR
from brim.guard import Guard
from brim.models import cost, lookup
from brim.money import open_ledger
from brim.usd import Money

CLAUDE = "claude-opus-5-5"
BEDROCK = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
PROMPT: list[Any] = [{"role": "user", "content": "What is new? " * 50}]
SOUND: list[Any] = [
    {
        "role": "user",
        "content": [
            {"type": "input_audio", "input_audio": {"data": "AAAA" * 900, "format": "wav"}}
        ],
    }
]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Any]:
    with open_ledger(f"{tmp_path}/spend.db") as opened:
        yield opened


def search(max_uses: int | None = None) -> dict[str, Any]:
    tool = {"type": "web_search_20250305", "name": "web_search"}
    return tool if max_uses is None else {**tool, "max_uses": max_uses}


def anthropic_response(model: str, prompt: int, output: int, **usage: Any) -> dict[str, Any]:
    """Return an answer to a prompt that was written to the cache."""
    counts = {"input_tokens": 0, "cache_creation_input_tokens": prompt, "output_tokens": output}
    return {"type": "message", "model": model, "usage": {**counts, **usage}}


def chat_response(
    model: str, prompt: int, output: int, tier: str | None = None, **details: int
) -> dict[str, Any]:
    """Return a chat completion; *details* are tokens of sound."""
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "prompt_tokens_details": {"audio_tokens": details.get("heard", 0)},
        "completion_tokens_details": {"audio_tokens": details.get("spoken", 0)},
    }
    return {"object": "chat.completion", "model": model, "usage": usage, "service_tier": tier}


def response_with(
    model: str, prompt: int, output: int, *items: dict[str, Any], **about: Any
) -> dict[str, Any]:
    """Return a response of OpenAI's Responses API with *items* in its output."""
    usage = {
        "input_tokens": prompt,
        "output_tokens": output,
        "input_tokens_details": {"cached_tokens": 0},
    }
    return {
        "object": "response",
        "model": model,
        "usage": usage,
        "output": list(items),
        "tools": [],
        **about,
    }


# Property: settled <= reserved, spent <= limit ----------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    model=st.sampled_from(
        ("claude-opus-5-5", "claude-opus-4-6", "claude-sonnet-4-5", "claude-haiku-4-5")
    ),
    speed=st.sampled_from((None, "standard", "fast")),
    region=st.sampled_from((None, "global", "us")),
    max_uses=st.sampled_from((None, 0, 1, 3, 10, 25)),
    limit=st.integers(1, 90 * DOLLAR),
    max_output=st.integers(1, 8_000),
    hour=st.booleans(),
)
def test_claude_never_costs_more_than_was_reserved(
    model: str,
    speed: str | None,
    region: str | None,
    max_uses: int | None,
    limit: int,
    max_output: int,
    hour: bool,
) -> None:
    asked = {"speed": speed, "inference_geo": region}
    options = {name: value for name, value in asked.items() if value is not None}
    tools = None if max_uses is None else [search(max_uses)]
    block: dict[str, Any] = {"type": "text", "text": "What is new? " * 50}
    if hour:
        block["cache_control"] = {"type": "ephemeral", "ttl": "1h"}
    rounds = min(10, 1 + (max_uses or 0))
    with tempfile.TemporaryDirectory() as folder, open_ledger(f"{folder}/spend.db") as ledger:
        ledger.limit("shop", Money(limit))
        guard = Guard(model, ledger=ledger, scope="shop", max_output=max_output)
        for _ in range(3):
            try:
                with guard.call(
                    [{"role": "user", "content": [block]}], tools=tools, options=options
                ) as call:
                    prompt = lookup(model).max_input * rounds if rounds > 1 else call.tokens.high
                    written = {"ephemeral_1h_input_tokens": prompt} if hour else {}
                    call.done(
                        anthropic_response(
                            model,
                            prompt,
                            call.max_output,
                            cache_creation=written,
                            server_tool_use={"web_search_requests": max_uses or 0},
                            **options,
                        )
                    )
            except (LimitReached, UnknownPrice):
                break
            assert call.cost is not None
            assert call.cost <= call.reserved
        assert ledger.status("shop").spent <= limit
        assert ledger.status("shop").reserved == 0


@settings(max_examples=60, deadline=None)
@given(
    model=st.sampled_from(("gpt-5", "gpt-4.1", "o3", "gpt-4o", "gpt-audio", "gpt-5.4")),
    tier=st.sampled_from((None, "auto", "default", "flex", "priority", "scale")),
    answered=st.sampled_from(("default", "asked")),
    answers=st.integers(1, 5),
    hears=st.booleans(),
    speaks=st.booleans(),
    limit=st.integers(1, 20 * DOLLAR),
    max_output=st.integers(1, 8_000),
)
def test_chat_never_costs_more_than_was_reserved(
    model: str,
    tier: str | None,
    answered: str,
    answers: int,
    hears: bool,
    speaks: bool,
    limit: int,
    max_output: int,
) -> None:
    options: dict[str, Any] = {
        "n": answers,
        "modalities": ["text", "audio"] if speaks else ["text"],
    }
    if tier is not None:
        options["service_tier"] = tier
    with tempfile.TemporaryDirectory() as folder, open_ledger(f"{folder}/spend.db") as ledger:
        ledger.limit("shop", Money(limit))
        guard = Guard(model, ledger=ledger, scope="shop", max_output=max_output)
        for _ in range(3):
            try:
                with guard.call(SOUND if hears else PROMPT, options=options) as call:
                    served = tier if answered == "asked" else "default"
                    output = call.max_output * answers
                    heard = call.tokens.high if hears else 0
                    spoken = output if speaks else 0
                    prompt = call.tokens.high
                    try:
                        call.done(
                            chat_response(model, prompt, output, served, heard=heard, spoken=spoken)
                        )
                    except UnknownPrice:  # a cheaper tier without a price: the money stays reserved
                        assert tier == "flex"
                        break
            except (LimitReached, UnknownPrice):
                break
            assert call.cost is not None
            assert call.cost <= call.reserved
        status = ledger.status("shop")
        assert status.spent + status.reserved <= limit


@settings(max_examples=40, deadline=None)
@given(
    model=st.sampled_from(("gpt-5", "gpt-4.1", "o3", "gpt-4o", "gpt-5.4")),
    kind=st.sampled_from(
        ("web_search", "web_search_preview", "web_search_2025_08_26", "file_search")
    ),
    with_code=st.booleans(),
    calls=st.integers(0, 12),
    limit=st.integers(1, 60 * DOLLAR),
)
def test_tools_of_openai_never_cost_more_than_was_reserved(
    model: str, kind: str, with_code: bool, calls: int, limit: int
) -> None:
    tools: list[Any] = [{"type": kind}]
    if with_code:
        tools.append({"type": "code_interpreter", "container": {"type": "auto"}})
    item = {"type": "file_search_call" if kind == "file_search" else "web_search_call"}
    items = [item] * calls
    if with_code and calls:
        items = [*items[1:], {"type": "code_interpreter_call", "container_id": "cntr_1"}]
    with tempfile.TemporaryDirectory() as folder, open_ledger(f"{folder}/spend.db") as ledger:
        ledger.limit("shop", Money(limit))
        guard = Guard(model, ledger=ledger, scope="shop", max_output=1_000)
        try:
            with guard.call(PROMPT, tools=tools, options={"max_tool_calls": calls}) as call:
                prompt = lookup(model).max_input * (1 + calls) if calls else call.tokens.high
                call.done(response_with(model, prompt, call.max_output, *items, tools=tools))
        except LimitReached:
            return
        assert call.cost is not None
        assert call.cost <= call.reserved
        assert ledger.status("shop").spent <= limit


# What was measured --------------------------------------------------------------------------------


def test_priority_costs_what_was_reserved(ledger: Any) -> None:
    """Measured before: 140% of the limit."""
    guard = Guard("gpt-4o", ledger=ledger, limit_usd="0.01", max_output=500)
    with (
        pytest.raises(LimitReached),
        guard.call(
            [{"role": "user", "content": "word " * 1_000}], options={"service_tier": "priority"}
        ),
    ):
        pass
    with guard.call(PROMPT, options={"service_tier": "priority"}) as call:
        call.done(chat_response("gpt-4o", call.tokens.high, 500, "priority"))
    assert call.cost == call.reserved


def test_a_tier_with_prices_of_its_own_costs_what_was_reserved(ledger: Any) -> None:
    guard = Guard("o4-mini", ledger=ledger, limit_usd="0.01", max_output=500)
    with guard.call(PROMPT, options={"service_tier": "priority"}) as call:
        call.done(chat_response("o4-mini", call.tokens.high, 500, "priority"))
    assert call.cost == call.reserved == call.tokens.high * 2 + 500 * 8
    with guard.call(PROMPT, options={"service_tier": "flex"}) as call:
        call.done(chat_response("o4-mini", 1_000, 500, "flex"))
    assert call.cost == 550 + 1_100 < call.reserved


def test_the_newest_claude_is_reserved(ledger: Any) -> None:
    guard = Guard("claude-fable-5-2", ledger=ledger, limit_usd="1", max_output=500)
    with guard.call(PROMPT) as call:
        call.done(anthropic_response("claude-fable-5-2", call.tokens.high, 500))
    assert call.cost == call.reserved == call.tokens.high * 10 + 500 * 40


def test_ten_searches_are_reserved(ledger: Any) -> None:
    """Measured before: 240% of the limit."""
    guard = Guard(CLAUDE, ledger=ledger, max_output=1_000, tool_usd="0.25")
    with guard.call(PROMPT, tools=[search(10)]) as call:
        assert call.reserved >= 250_000
        searches = {"web_search_requests": 10}
        call.done(anthropic_response(CLAUDE, call.tokens.high, 1_000, server_tool_use=searches))
    assert call.cost is not None
    assert 100_000 < call.cost <= call.reserved


def test_a_cache_for_an_hour_of_the_whole_request_is_reserved(ledger: Any) -> None:
    """Measured before: 124% of the reservation."""
    options = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    guard = Guard(CLAUDE, ledger=ledger, max_output=500)
    with guard.call(PROMPT, options=options) as call:
        written = {"ephemeral_1h_input_tokens": call.tokens.high}
        call.done(anthropic_response(CLAUDE, call.tokens.high, 500, cache_creation=written))
    assert call.cost == call.reserved


LONG_PROMPT: list[Any] = [{"role": "user", "content": "word " * 60_000}]


def compaction(prompt: int, summary: int) -> dict[str, Any]:
    """Return what Anthropic reports for a prompt that it compacted before it answered."""
    counts = {"input_tokens": 0, "cache_creation_input_tokens": prompt, "output_tokens": summary}
    return {"type": "compaction", **counts}


@pytest.mark.parametrize("searches", [0, 2])
def test_a_compaction_by_the_provider_is_reserved(ledger: Any, searches: int) -> None:
    """Measured before: 311% of the reservation."""
    edit = {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 50_000}}
    options = {"context_management": {"edits": [edit]}}
    longest = lookup(CLAUDE).max_output or 0
    tools = [search(searches)] if searches else None
    guard = Guard(CLAUDE, ledger=ledger, max_output=500)
    with guard.call(LONG_PROMPT, tools=tools, options=options) as call:
        prompt = lookup(CLAUDE).max_input if searches else call.tokens.high
        steps = [compaction(prompt, longest)] * (searches + 1)
        used = {"web_search_requests": searches}
        whole = prompt * (searches + 1)
        response = anthropic_response(CLAUDE, whole, 500, iterations=steps, server_tool_use=used)
        call.done(response)
    assert call.cost is not None
    assert call.cost <= call.reserved


@pytest.mark.parametrize(
    "management",
    [
        {"edits": [{"type": "compact_20260112"}]},
        {"edits": [{"type": "clear_tool_uses_20250919"}]},
        [{"type": "compaction", "compact_threshold": 100_000}],
    ],
)
def test_a_prompt_too_short_for_a_compaction_reserves_nothing_for_it(management: Any) -> None:
    guard = Guard(CLAUDE, limit_usd="100", max_output=500)
    reserved = []
    for options in ({}, {"context_management": management}):
        with guard.call(PROMPT, options=options) as call:
            reserved.append(call.reserved)
            call.release()
    assert reserved[0] == reserved[1]


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("gpt-5", {"previous_response_id": "resp_1"}),
        ("gpt-5", {"conversation": "conv_1"}),
        ("gpt-5", {"prompt": {"id": "pmpt_1"}}),
        ("gemini-2.5-pro", {"cachedContent": "cachedContents/1"}),
        ("gemini-2.5-pro", {"config": {"cached_content": "cachedContents/1"}}),
    ],
)
def test_a_prompt_that_the_provider_keeps_is_reserved_for(
    ledger: Any, model: str, options: dict[str, Any]
) -> None:
    with Guard(model, ledger=ledger, max_output=500).call(PROMPT, options=options) as call:
        assert call.messages == PROMPT
        tokens = {"input_tokens": lookup(model).max_input, "output_tokens": 500}
        assert call.reserved >= (cost(tokens, model=model) or 0) > 100_000


@pytest.mark.parametrize(
    ("plain", "config"),
    [
        ({"candidate_count": 4}, {"config": {"candidate_count": 4}}),
        ({"candidateCount": 4}, {"generationConfig": {"candidateCount": 4}}),
        ({"service_tier": "priority"}, {"config": {"service_tier": "priority"}}),
    ],
)
def test_the_configuration_of_gemini_is_read(plain: dict[str, Any], config: dict[str, Any]) -> None:
    guard = Guard("gemini-2.5-pro", limit_usd="10", max_output=500)
    reserved = []
    for options in ({}, plain, config):
        with guard.call(PROMPT, options=options) as call:
            reserved.append(call.reserved)
            call.release()
    assert reserved[0] < reserved[1] == reserved[2]


def test_money_without_a_guard_is_reserved_for_tools_and_tiers_too(ledger: Any) -> None:
    about: Any = {"messages": PROMPT, "max_output": 500}
    searching = ledger.spend("shop", model=CLAUDE, tools=[search(2)], **about)
    plain = ledger.spend("shop", model=CLAUDE, **about)
    fast = ledger.spend("shop", model=CLAUDE, options={"speed": "fast"}, **about)
    assert searching.amount > plain.amount + 20_000
    assert fast.amount > plain.amount
    with pytest.raises(UnknownPrice, match="max_uses"):
        ledger.spend("shop", model=CLAUDE, tools=[search()], **about)


# What has no maximum is refused before anything is sent -------------------------------------------


@pytest.mark.parametrize(
    ("model", "tools", "options", "parameter"),
    [
        (CLAUDE, [search()], {}, "max_uses"),
        (CLAUDE, [{"type": "code_execution_20250825", "name": "code_execution"}], {}, "tool_usd"),
        ("gpt-5", [{"type": "web_search"}], {}, "max_tool_calls"),
        (
            "gpt-5",
            [{"type": "code_interpreter", "container": {"type": "auto"}}],
            {},
            "max_tool_calls",
        ),
        ("gpt-5", [{"type": "image_generation"}], {"max_tool_calls": 1}, "tool_usd"),
        ("gpt-5", None, {"web_search_options": {}}, "tool_usd"),
        ("gemini-3-flash-preview", [{"google_search": {}}], {}, "tool_usd"),
        (
            "gemini-3-flash-preview",
            None,
            {"config": {"tools": [{"google_search": {}}]}},
            "tool_usd",
        ),
        ("perplexity/sonar-pro", None, {}, "tool_usd"),
        ("xai/grok-4", None, {"search_parameters": {"mode": "auto"}}, "tool_usd"),
        ("openrouter/openai/gpt-5:online", None, {}, "tool_usd"),
        ("openrouter/openai/gpt-5", None, {"plugins": [{"id": "web"}]}, "tool_usd"),
        ("gpt-5", None, {"service_tier": "scale"}, "service_tier"),
        (BEDROCK, None, {"serviceTier": {"type": "priority"}}, "service_tier"),
        ("claude-sonnet-4-5", None, {"speed": "fast"}, "speed"),
        ("gpt-4o", None, {"modalities": ["text", "audio"]}, "output_audio"),
    ],
)
def test_a_request_without_a_maximum_is_refused(
    ledger: Any, model: str, tools: Any, options: dict[str, Any], parameter: str
) -> None:
    with (
        pytest.raises(UnknownPrice, match=parameter),
        Guard(model, ledger=ledger).call(PROMPT, tools=tools, options=options),
    ):
        pass
    assert ledger.status("agent").reserved == 0
    with Guard(model).call(PROMPT, tools=tools, options=options) as call:  # no ledger, no limit
        assert call.reserved == 0


def test_tool_usd_stands_in_for_a_maximum(ledger: Any) -> None:
    tools = [{"type": "code_execution_20250825", "name": "code_execution"}]
    guard = Guard(CLAUDE, ledger=ledger, max_output=100, tool_usd="0.20")
    with guard.call(PROMPT, tools=tools) as call:
        response = anthropic_response(CLAUDE, 200, 50)
        call.done(response)
    plain = cost(response)
    assert plain is not None
    assert call.cost == plain + 200_000  # no response reports what the container cost
    with pytest.raises(InputError):
        Guard(CLAUDE, ledger=ledger, tool_usd="much")


def test_code_execution_is_free_beside_a_search(ledger: Any) -> None:
    code = {"type": "code_execution_20250825", "name": "code_execution"}
    tools = [{**search(1), "type": "web_search_20260209"}, code]
    with Guard(CLAUDE, ledger=ledger, max_output=100).call(PROMPT, tools=tools) as call:
        assert call.reserved


def test_tools_that_the_client_runs_cost_nothing(ledger: Any) -> None:
    guard = Guard(CLAUDE, ledger=ledger, max_output=100)
    tools = [
        {"type": "bash_20250124", "name": "bash"},
        {"type": "memory_20250818", "name": "memory"},
    ]
    with guard.call(PROMPT, tools=tools) as call:
        assert call.reserved < 50_000


# Settlement ---------------------------------------------------------------------------------------


def test_a_response_that_says_nothing_about_tools_is_settled_with_all_of_them(ledger: Any) -> None:
    guard = Guard("gpt-4o-search-preview", ledger=ledger, max_output=100)
    with guard.call(PROMPT) as call:
        response = chat_response("gpt-4o-search-preview", 200, 50)
        call.done(response)
    plain = cost(response)
    assert plain is not None
    assert call.cost == plain + 25_000


def test_a_project_whose_standard_is_priority_is_reserved_at_that_price(ledger: Any) -> None:
    guard = Guard("gpt-4.1", ledger=ledger, max_output=100)
    with guard.call(PROMPT) as first:
        first.done(chat_response("gpt-4.1", first.tokens.high, 100, "priority"))
    with guard.call(PROMPT) as later:
        later.done(chat_response("gpt-4.1", later.tokens.high, 100, "priority"))
    assert later.cost is not None
    assert later.cost <= later.reserved
    with guard.call(PROMPT, options={"service_tier": "default"}) as plain:
        plain.release()
    assert plain.reserved < later.reserved


def test_a_stream_of_responses_is_settled_with_its_tools(ledger: Any) -> None:
    tools = [{"type": "web_search"}]
    guard = Guard("gpt-5", ledger=ledger, max_output=100)
    item = {"type": "web_search_call", "action": {"type": "search"}}
    opened = {"type": "web_search_call", "action": {"type": "open_page"}}
    response = response_with("gpt-5", 500, 50, item, item, opened, tools=tools, id="resp_1")
    with guard.call(PROMPT, tools=tools, options={"max_tool_calls": 3}) as call:
        list(call.stream([{"type": "response.completed", "response": response}]))
    assert call.cost == cost(response)
    assert call.cost == cost({**response, "output": []}) + 20_000  # type: ignore[operator]


# Counting -----------------------------------------------------------------------------------------


def test_a_named_tool_and_a_schema_are_counted() -> None:
    parameters = {
        "type": "object",
        "properties": {
            "search_query": {
                "type": "string",
                "description": "Query string to retrieve documents from azure search eg: 'Health care plan'",
            }
        },
        "required": ["search_query"],
    }
    about = "Retrieve sources from the Azure AI Search index"
    function = {"name": "search_sources", "description": about, "parameters": parameters}
    tools = [{"type": "function", "function": function}]
    messages = [{"role": "system", "content": "You are a bot."}]
    named = {"type": "function", "function": {"name": "search_sources"}}
    guard = Guard("gpt-3.5-turbo")
    with (
        guard.call(messages, tools=tools) as plain,
        guard.call(messages, tools=tools, options={"tool_choice": named}) as chosen,
    ):
        assert (plain.tokens, chosen.tokens) == (
            66,
            75,
        )  # published: tests/tokens/messages/tool_counts.json
        assert chosen.tools is tools
    schema = {"type": "json_schema", "json_schema": {"name": "answer", "schema": parameters}}
    for options in (
        {"response_format": schema},
        {"text": {"format": {"type": "json_schema", "schema": parameters}}},
    ):
        with guard.call(messages, options=options) as call:
            assert call.tokens > 30
