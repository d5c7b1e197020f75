from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from brim.tokens.messages import Tally, measure

SCHEMA = {
    "type": "object",
    "properties": {
        "location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"},
        "unit": {"type": "string", "description": "The unit.", "enum": ["celsius", "fahrenheit"]},
    },
    "required": ["location"],
}
ABOUT = {"name": "get_weather", "description": "Get the current weather."}
CHAT = {"type": "function", "function": {**ABOUT, "parameters": SCHEMA}}
SHAPES: dict[str, Any] = {
    "chat": [CHAT],
    "responses": [{"type": "function", **ABOUT, "parameters": SCHEMA}],
    "anthropic": [{**ABOUT, "input_schema": SCHEMA}],
    "mcp": [{**ABOUT, "inputSchema": SCHEMA}],
    "mcp answer": {"tools": [{**ABOUT, "inputSchema": SCHEMA}]},
    "gemini": [{"functionDeclarations": [{**ABOUT, "parameters": SCHEMA}]}],
    "gemini python": [{"function_declarations": [{**ABOUT, "parameters": SCHEMA}]}],
    "converse": [{"toolSpec": {**ABOUT, "inputSchema": {"json": SCHEMA}}}],
    "one": CHAT,
    "objects": [SimpleNamespace(**ABOUT, input_schema=SCHEMA)],
    "tuple": (CHAT,),
}


def words(text: str) -> int:
    return len(text.split())


def tally(tools: object, model: str = "gpt-4o", messages: object = ()) -> Tally:
    return measure(messages, tools=tools, model_name=model, encoding="o200k_base", count_text=words)


def formula(func_init: int) -> int:
    """``num_tokens_for_tools`` of the OpenAI cookbook for the schema above, counted in words."""
    lines = ["get_weather:Get the current weather", "location:string:" + "The city and state, e.g. San Francisco, CA"]
    lines += ["unit:string:The unit", "celsius", "fahrenheit"]
    return func_init + sum(words(line) for line in lines) + 3 + 2 * 3 - 3 + 2 * 3 + 12


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro", "unknown"])
def test_every_shape_of_a_tool_costs_the_same(shape: str, model: str) -> None:
    assert tally(SHAPES[shape], model) == tally([CHAT], model)


@pytest.mark.parametrize(
    ("model", "func_init"), [("gpt-4o", 7), ("gpt-4o-mini", 7), ("gpt-4", 10), ("gpt-3.5-turbo", 10)]
)
def test_openai_tools_follow_the_published_formula(model: str, func_init: int) -> None:
    result = tally([CHAT], model)
    assert result.tokens == 3 + formula(func_init)
    assert result.fixed == result.tokens
    assert result.low < result.tokens < result.high
    assert "tool schemas: published estimate" in result.reasons


@pytest.mark.parametrize(
    ("model", "auto", "forced"),
    [("claude-opus-4-8", 290, 410), ("claude-sonnet-4-5", 496, 588), ("claude-3-opus-20240229", 530, 281)],
)
def test_anthropic_tools_bring_the_published_prompt(model: str, auto: int, forced: int) -> None:
    body = {"messages": [], "tools": [CHAT]}
    texts = tally([CHAT], model).text_tokens
    assert tally([CHAT], model).fixed == 3 + auto + texts
    assert tally(None, model, {**body, "tool_choice": {"type": "any"}}).fixed == 3 + forced + texts
    assert tally(None, model, body) == tally([CHAT], model)


@pytest.mark.parametrize("tools", [None, [], ()])
def test_no_tools_cost_nothing(tools: object) -> None:
    assert tally(tools).exact
    assert tally(tools, "claude-sonnet-4-5").tokens == 3


def test_a_tool_of_the_provider_is_known_by_its_type() -> None:
    bash = tally([{"type": "bash_20250124", "name": "bash"}], "claude-sonnet-4-5")
    assert bash.tokens == 3 + 245 + 496
    search = tally([{"type": "web_search"}], "gpt-4o")
    assert search.low < search.tokens < search.high


def test_deeper_levels_count_too() -> None:
    inner = {"type": "object", "properties": {"street": {"type": "string", "description": "one two three"}}}
    nested = {**SCHEMA, "properties": {"address": inner, "list": {"type": "array", "items": inner}}}
    flat = {**SCHEMA, "properties": {"address": {"type": "object"}, "list": {"type": "array"}}}
    more = tally([{**ABOUT, "parameters": nested}]).tokens - tally([{**ABOUT, "parameters": flat}]).tokens
    assert more == 2 * (3 + 3 + 3)


@pytest.mark.parametrize(
    "tools",
    [
        "text", 5, [5], [None], [{}], {}, [[]], [{"type": "function"}], [{"function": "x"}], [{"function": {}}],
        [print], [{"name": "n", "parameters": "x"}], [{"name": "n", "parameters": {"properties": "x"}}],
        [{"name": "n", "parameters": {"properties": {"p": True, "q": None, "r": {"type": ["string", "null"]}}}}],
        [{"name": "n", "parameters": {"properties": {"p": {"enum": [1, None, "x"]}, "q": {"anyOf": [{}]}}}}],
        [{"name": 1, "description": 2, "input_schema": 3}],
    ],
)  # fmt: skip
def test_odd_tools_never_raise(tools: object) -> None:
    for model in ("gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro", ""):
        result = tally(tools, model)
        assert result.low <= result.tokens <= result.high
