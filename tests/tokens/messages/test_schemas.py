from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from brim.tokens import counter_for
from brim.tokens.messages import Tally, measure
from brim.tokens.messages.schemas import namespace

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


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro", "unknown"])
def test_every_shape_of_a_tool_costs_the_same(shape: str, model: str) -> None:
    assert tally(SHAPES[shape], model) == tally([CHAT], model)


COUNTS = json.loads((Path(__file__).parent / "tool_counts.json").read_text())["counts"]
"""What OpenAI's API reported for requests with tools, as published; the file names the sources."""


@pytest.mark.parametrize("published", COUNTS, ids=lambda each: f"{each['name']}-{each['model']}")
def test_openai_tools_count_as_published(published: dict[str, Any]) -> None:
    body: Any = {name: published[name] for name in ("messages", "tools", "tool_choice")}
    count = counter_for(published["model"]).count_messages(body)
    assert int(count) == published["tokens"]
    assert count.basis == "estimated"
    assert published["tokens"] * 0.9 <= count.low < count < count.high <= published["tokens"] * 1.1


def test_the_interval_of_other_models_is_a_tenth() -> None:
    for model in ("gpt-5", "gemini-2.5-pro", "unknown"):
        result, without = tally([CHAT], model), tally(None, model)
        tokens = result.tokens - without.tokens
        assert result.high - without.high <= tokens * 1.1 + 1
        assert result.low - without.low >= tokens * 0.9 - 1


def test_a_choice_of_tools_counts() -> None:
    body = {"messages": [{"role": "user", "content": "Hi"}], "tools": [CHAT]}
    auto = tally(None, messages={**body, "tool_choice": "auto"}).tokens
    named = {"type": "function", "function": {"name": "get_weather"}}
    assert tally(None, messages={**body, "tool_choice": "none"}).tokens == auto + 1
    assert tally(None, messages={**body, "tool_choice": named}).tokens == auto + 7 + 1
    assert (
        tally(None, messages={**body, "function_call": {"name": "get_weather"}}).tokens
        == auto + 4 + 1
    )


def test_what_a_model_reads_of_a_schema() -> None:
    defined = {"Address": {"type": "object", "properties": {"street": {"type": "string"}}}}
    schema = {
        "type": "object",
        "properties": {
            "to": {"$ref": "#/$defs/Address"},
            "many": {"type": "array", "items": {"type": ["string", "null"]}},
            "either": {
                "anyOf": [{"type": "integer"}, {"type": "object"}],
                "description": "One or the other",
            },
            "self": {"$ref": "#/$defs/Loop"},
        },
        "required": ["to"],
        "$defs": {**defined, "Loop": {"$ref": "#/$defs/Loop"}},
    }
    lines = namespace([{"name": "send", "parameters": schema}]).split("\n")
    assert lines[2:9] == [
        *("type send = (_: {", "to: { street?: string },", "many?: string | null[],"),
        *("// One or the other", "either?: number | object,", "self?: any,", "}) => any;"),
    ]


def get_weather(
    location: str, days: int = 1, unit: Literal["celsius", "fahrenheit"] = "celsius"
) -> str:
    """Get the current weather of a place, for as many days as are asked for."""
    return f"{location} {days} {unit}"


class Weather(BaseModel):
    """Get the current weather of a place, for as many days as are asked for."""

    location: str
    days: int = 1
    unit: Literal["celsius", "fahrenheit"] = "celsius"


class Runtime(Weather):
    """What LangChain puts into a tool and doesn't tell the model; it has no JSON schema."""

    runtime: Callable[[], None]


@pytest.mark.parametrize("model", ["gpt-4o", "gemini-2.5-pro", "claude-sonnet-4-5"])
def test_tools_of_python_and_of_frameworks_count_as_their_schema(model: str) -> None:
    """A function, a pydantic class, LangChain's ``BaseTool`` and pydantic-ai's ``Tool``."""
    about = {"name": "get_weather", "description": get_weather.__doc__}
    properties = {
        "location": {"type": "string"},
        "days": {"type": "integer"},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
    }
    schema = {"type": "object", "properties": properties, "required": ["location"]}
    declared = tally([{**about, "parameters": schema}], model)
    chain = SimpleNamespace(**about, args_schema=Weather, func=get_weather)
    ai = SimpleNamespace(
        **about, function=get_weather, function_schema=SimpleNamespace(json_schema=schema)
    )
    injected = SimpleNamespace(
        **about, args_schema=Runtime, input_schema=Runtime, tool_call_schema=Weather
    )
    for tool in (get_weather, Weather, chain, injected, ai):
        assert tally([tool], model).tokens == pytest.approx(declared.tokens, abs=1)


@pytest.mark.parametrize(
    ("model", "auto", "forced"),
    [
        ("claude-opus-4-8", 290, 410),
        ("claude-sonnet-4-5", 496, 588),
        ("claude-3-opus-20240229", 530, 281),
    ],
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
    inner = {
        "type": "object",
        "properties": {"street": {"type": "string", "description": "one two three"}},
    }
    nested = {**SCHEMA, "properties": {"address": inner, "list": {"type": "array", "items": inner}}}
    flat = {**SCHEMA, "properties": {"address": {"type": "object"}, "list": {"type": "array"}}}
    more = (
        tally([{**ABOUT, "parameters": nested}]).tokens
        - tally([{**ABOUT, "parameters": flat}]).tokens
    )
    assert more >= 2 * 6  # // one two three, street?: string,


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
