from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from brim.errors import InputError
from brim.models import Tokens, cost, read_usage, use

ANTHROPIC = {
    "input_tokens": 8,
    "cache_creation_input_tokens": 1_000,
    "cache_read_input_tokens": 12_000,
    "cache_creation": {"ephemeral_5m_input_tokens": 600, "ephemeral_1h_input_tokens": 400},
    "output_tokens": 42,
    "output_tokens_details": {"thinking_tokens": 10},
    "service_tier": "standard",
}


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (
            ANTHROPIC,
            Tokens(input=8, output=42, cache_read=12_000, cache_write_5m=600, cache_write_1h=400),
        ),
        (
            {
                "input_tokens": 8,
                "cache_creation_input_tokens": 50,
                "cache_read_input_tokens": None,
                "output_tokens": 1,
            },
            Tokens(input=8, output=1, cache_write_5m=50),
        ),
        (
            {"input_tokens": 5, "output_tokens": 1, "cache_creation": None},
            Tokens(input=5, output=1),
        ),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 9,
                "prompt_tokens_details": {"cached_tokens": 64},
            },
            Tokens(input=36, output=9, cache_read=64, writes_are_input=True),
        ),
        (
            {"prompt_tokens": 100, "completion_tokens": 9, "prompt_tokens_details": None},
            Tokens(input=100, output=9, writes_are_input=True),
        ),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 9,
                "prompt_cache_hit_tokens": 70,
                "prompt_cache_miss_tokens": 30,
            },
            Tokens(input=30, output=9, cache_read=70, writes_are_input=True),
        ),
        (
            {
                "input_tokens": 100,
                "input_tokens_details": {"cached_tokens": 60},
                "output_tokens": 9,
            },
            Tokens(input=40, output=9, cache_read=60, writes_are_input=True),
        ),
        (
            {
                "input_tokens": 100,
                "cached_input_tokens": 60,
                "cache_write_input_tokens": 10,
                "output_tokens": 9,
            },
            Tokens(input=30, output=9, cache_read=60, cache_write_5m=10, writes_are_input=True),
        ),
        (
            {
                "promptTokenCount": 100,
                "cachedContentTokenCount": 30,
                "candidatesTokenCount": 5,
                "thoughtsTokenCount": 7,
                "toolUsePromptTokenCount": 11,
            },
            Tokens(input=81, output=12, cache_read=30),
        ),
        ({"prompt_token_count": 10, "candidates_token_count": 2}, Tokens(input=10, output=2)),
        ({"input_tokens": 3.0, "output_tokens": 0}, Tokens(input=3)),
    ],
)
def test_each_providers_report_counts_every_token_once(
    usage: dict[str, Any], tokens: Tokens
) -> None:
    assert read_usage(usage) == tokens
    nested = {
        key: SimpleNamespace(**value) if isinstance(value, dict) else value
        for key, value in usage.items()
    }
    assert read_usage(SimpleNamespace(**nested)) == tokens


def test_the_prompt_is_everything_that_was_sent() -> None:
    assert read_usage(ANTHROPIC).prompt == 13_008


def test_more_cached_than_sent_leaves_nothing_uncached() -> None:
    assert (
        read_usage({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 9}}).input == 0
    )


@pytest.mark.parametrize(
    ("extra", "factors"),
    [
        ({"service_tier": None, "speed": "standard", "inference_geo": "global"}, ()),
        ({"service_tier": "batch"}, ("batch",)),
        ({"service_tier": "priority"}, ("priority",)),
        ({"speed": "fast", "inference_geo": "us"}, ("fast", "us")),
    ],
)
def test_what_changes_the_whole_price_is_kept(
    extra: dict[str, Any], factors: tuple[str, ...]
) -> None:
    assert read_usage({**ANTHROPIC, **extra}).factors == factors


@pytest.mark.parametrize("value", [-1, True, 1.5, "12", float("nan"), float("inf"), 10**30, [], {}])
def test_a_counter_that_is_none_is_named(value: Any) -> None:
    with pytest.raises(InputError, match=r"usage\.output_tokens must be a whole number of tokens"):
        read_usage({"input_tokens": 1, "output_tokens": value})
    with pytest.raises(InputError, match=r"usage\.cache_creation\.ephemeral_1h_input_tokens must"):
        read_usage({"input_tokens": 1, "cache_creation": {"ephemeral_1h_input_tokens": value}})


@pytest.mark.parametrize("usage", [{}, None, [], "usage", 3, {"tokens": 3}])
def test_what_is_no_usage_report_is_refused(usage: object) -> None:
    with pytest.raises(InputError, match="none of the token counters"):
        read_usage(usage)


COMPACTED = {
    **{
        "input_tokens": 100,
        "output_tokens": 10,
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 0,
    },
    "server_tool_use": {"web_search_requests": 3, "web_fetch_requests": 1},
    "iterations": [
        {"type": "compaction", "input_tokens": 180_000, "output_tokens": 3_500},
        {"type": "message", "input_tokens": 100, "output_tokens": 10},
    ],
}


def test_a_compaction_is_charged_but_not_in_the_prompt() -> None:
    tokens = read_usage(COMPACTED)
    assert tokens.prompt == 100
    assert tokens.compactions == (Tokens(input=180_000, output=3_500),)
    assert tokens.fresh == 110 + 183_500
    without = {**COMPACTED, "iterations": None}
    more = cost({"input_tokens": 180_000, "output_tokens": 3_500}, "claude-sonnet-4-5")
    assert cost(COMPACTED, "claude-sonnet-4-5") == (cost(without, "claude-sonnet-4-5") or 0) + (
        more or 0
    )


def test_searches_have_their_own_price() -> None:
    plain = {"input_tokens": 100, "output_tokens": 10}
    searched = {**plain, "server_tool_use": {"web_search_requests": 3}}
    assert (cost(searched, "claude-sonnet-4-5") or 0) - (
        cost(plain, "claude-sonnet-4-5") or 0
    ) == 3 * 10_000
    use({"mine": {"prices": {"input": 1, "output": 1}}})
    assert cost(plain, "mine") == 110
    assert cost(searched, "mine") is None
    use({"mine": {"prices": {"input": 1, "output": 1, "web_search": 5_000}}})
    assert cost(searched, "mine") == 110 + 15_000
    use({})


@pytest.mark.parametrize("kind", ["advisor_message", "fallback_message"])
def test_what_another_model_answered_has_no_known_price(kind: str) -> None:
    answered = [{"type": kind, "model": "claude-opus-4-8", "input_tokens": 5, "output_tokens": 5}]
    assert (
        cost(
            {"input_tokens": 100, "output_tokens": 10, "iterations": answered}, "claude-sonnet-4-5"
        )
        is None
    )


SOUND: dict[str, dict[str, Any]] = {
    "openai": {
        "prompt_tokens": 1_000, "completion_tokens": 100,
        "prompt_tokens_details": {"audio_tokens": 400}, "completion_tokens_details": {"audio_tokens": 60},
    },
    "gemini": {
        "promptTokenCount": 1_000, "candidatesTokenCount": 100,
        "promptTokensDetails": [{"modality": "AUDIO", "tokenCount": 400}, {"modality": "TEXT", "tokenCount": 600}],
        "candidatesTokensDetails": [{"modality": "AUDIO", "tokenCount": 60}],
    },
    "langchain": {
        "input_tokens": 1_000, "output_tokens": 100,
        "input_token_details": {"audio": 400}, "output_token_details": {"audio": 60},
    },
    "pydantic-ai": {
        "input_tokens": 1_000, "output_tokens": 100, "cache_read_tokens": 0,
        "input_audio_tokens": 400, "output_audio_tokens": 60,
    },
}  # fmt: skip


@pytest.mark.parametrize("form", SOUND)
def test_sound_has_its_own_price_or_none(form: str) -> None:
    tokens = read_usage(SOUND[form])
    assert (tokens.prompt, tokens.output, tokens.extras) == (1_000, 100, (400, 60, 0))
    use({"mine": {"prices": {"input": 1, "output": 2}}})
    assert cost(SOUND[form], "mine") is None
    use({"mine": {"prices": {"input": 1, "output": 2, "input_audio": 10, "output_audio": 20}}})
    assert cost(SOUND[form], "mine") == 600 + 400 * 10 + 40 * 2 + 60 * 20
    use({})


FRAMEWORKS: dict[str, dict[str, Any]] = {
    "langchain, 5 minutes": {"input_token_details": {"cache_read": 300, "cache_creation": 200}},
    "langchain, by time": {
        "input_token_details": {
            **{"cache_read": 300, "cache_creation": 0},
            **{"ephemeral_5m_input_tokens": 150, "ephemeral_1h_input_tokens": 50},
        }
    },
    "langchain, priority": {
        "input_token_details": {
            "priority_cache_read": 300,
            "priority_cache_creation": 200,
            "priority": 700,
        }
    },
    "pydantic-ai": {
        "cache_read_tokens": 300,
        "cache_write_tokens": 200,
        "cache_write_1h_tokens": 50,
    },
}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_what_a_framework_says_about_the_cache_is_read_once(name: str) -> None:
    tokens = read_usage({"input_tokens": 1_000, "output_tokens": 10, **FRAMEWORKS[name]})
    hour = 50 if "by time" in name or name == "pydantic-ai" else 0
    assert (tokens.prompt, tokens.input, tokens.cache_read) == (1_000, 500, 300)
    assert (tokens.cache_write_5m, tokens.cache_write_1h) == (200 - hour, hour)


def test_the_service_tier_of_a_response_counts() -> None:
    usage = {"prompt_tokens": 1_000, "completion_tokens": 100}
    plain = cost(usage, "gpt-5") or 0
    assert cost(SimpleNamespace(usage=usage, service_tier="default"), "gpt-5") == plain
    assert cost({"usage": usage, "service_tier": "flex"}, "gpt-5") == -(-plain // 2)
    assert cost({"usage": usage, "service_tier": "scale"}, "gpt-5") is None
