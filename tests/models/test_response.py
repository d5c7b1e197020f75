"""Responses of every SDK say their model, usage and tier."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from brim.errors import InputError
from brim.models import cost, read_response
from brim.tokens import AnchoredTokenCounter, counter_for


def objects(value: Any) -> Any:
    return (
        SimpleNamespace(**{key: objects(inner) for key, inner in value.items()})
        if isinstance(value, dict)
        else value
    )


CHAT = {
    "prompt_tokens": 100,
    "completion_tokens": 7,
    "prompt_tokens_details": {"cached_tokens": 80},
}
RESPONSES: dict[str, tuple[dict[str, Any], tuple[str, int, int, int]]] = {
    "anthropic": (
        {
            "id": "m1",
            "model": "claude-sonnet-4-5",
            "usage": {"input_tokens": 20, "cache_read_input_tokens": 80, "output_tokens": 7},
        },
        ("claude-sonnet-4-5", 20, 80, 7),
    ),
    "chat": ({"id": "c1", "model": "gpt-4o", "usage": CHAT}, ("gpt-4o", 20, 80, 7)),
    "responses": (
        {
            "id": "r1",
            "model": "gpt-5",
            "usage": {
                "input_tokens": 100,
                "output_tokens": 7,
                "input_tokens_details": {"cached_tokens": 80},
            },
        },
        ("gpt-5", 20, 80, 7),
    ),
    "gemini": (
        {
            "model_version": "gemini-2.5-pro",
            "usage_metadata": {
                "prompt_token_count": 100,
                "candidates_token_count": 7,
                "cached_content_token_count": 80,
            },
        },
        ("gemini-2.5-pro", 20, 80, 7),
    ),
    "langchain": (
        {
            "id": "run-1",
            "usage_metadata": {
                "input_tokens": 100,
                "output_tokens": 7,
                "input_token_details": {"cache_read": 80},
            },
            "response_metadata": {"model_name": "gpt-4o"},
        },
        ("gpt-4o", 20, 80, 7),
    ),
    "pydantic-ai": (
        {
            "model_name": "claude-sonnet-4-5",
            "usage": {
                "input_tokens": 100,
                "cache_read_tokens": 80,
                "cache_write_tokens": 0,
                "output_tokens": 7,
            },
        },
        ("claude-sonnet-4-5", 20, 80, 7),
    ),
}


@pytest.mark.parametrize("name", RESPONSES)
@pytest.mark.parametrize("form", [dict, objects])
def test_model_and_usage_are_read_from_the_response(name: str, form: Any) -> None:
    given, (model, fresh, cached, output) = RESPONSES[name]
    found = read_response(form(given))
    assert (found.model, found.tokens.input, found.tokens.cache_read, found.tokens.output) == (
        model,
        fresh,
        cached,
        output,
    )
    assert cost(form(given)) == cost(found.tokens, model)
    counter, messages = (
        AnchoredTokenCounter(counter_for(model)),
        [{"role": "user", "content": "Hi"}],
    )
    anchor = counter.report(messages, form(given))
    assert anchor is not None
    assert anchor.tokens == fresh + cached
    assert counter.count_messages(messages).basis == "anchored"


@pytest.mark.parametrize("tier", ["default", "standard", "auto", None])
def test_the_standard_tier_changes_nothing(tier: str | None) -> None:
    assert cost({"model": "gpt-4o", "usage": CHAT, "service_tier": tier}) == cost(CHAT, "gpt-4o")


def test_a_tier_that_has_no_price_is_unknown() -> None:
    assert cost({"model": "gpt-4o", "usage": CHAT, "service_tier": "some-new-tier"}) is None
    langchain, _ = RESPONSES["langchain"]
    metadata = {"model_name": "gpt-4o", "service_tier": "some-new-tier"}
    assert cost({**langchain, "response_metadata": metadata}) is None
    pydantic, _ = RESPONSES["pydantic-ai"]
    assert cost({**pydantic, "provider_details": {"service_tier": "some-new-tier"}}) is None


def test_a_model_that_is_given_outranks_the_response() -> None:
    assert cost({"model": "gpt-4o", "usage": CHAT}, "gpt-4o-mini") == cost(CHAT, "gpt-4o-mini")


def test_usage_alone_needs_a_model() -> None:
    with pytest.raises(InputError, match="model="):
        cost(CHAT)


@pytest.mark.parametrize("wrong", [None, "text", 7, [], {}, object(), {"model": "gpt-4o"}])
def test_what_has_no_usage_is_refused(wrong: Any) -> None:
    with pytest.raises(InputError, match="usage"):
        read_response(wrong)
    with pytest.raises(ValueError, match="usage"):  # an InputError is one
        cost(wrong)
