"""What may stand together where something between has left."""

from __future__ import annotations

from typing import Any

import pytest

from brim.history import PROVIDERS, Provider
from brim.history.cuts import may_follow
from brim.history.entries import Entry
from brim.history.formats import read
from tests.history.samples import (
    answers,
    assistant,
    function_calls,
    function_responses,
    says,
    step,
    text_block,
    tool_result,
    tool_use,
    user,
)

STRICT: tuple[Provider, ...] = ("anthropic", "gemini")
LOOSE: tuple[Provider, ...] = ("openai", "responses")

strict_providers = pytest.mark.parametrize("provider", STRICT)
loose_providers = pytest.mark.parametrize("provider", LOOSE)
every_provider = pytest.mark.parametrize("provider", PROVIDERS)


def entry(provider: Provider, message: Any) -> Entry:
    return read([message], provider)[0]


@strict_providers
def test_the_may_follow(provider: Provider) -> None:
    call, result = step(provider, "a", "done")
    assert may_follow(None, entry(provider, user(provider, "Hello")), provider)
    assert not may_follow(None, entry(provider, says(provider, "Hi")), provider)
    assert not may_follow(None, entry(provider, call), provider)
    assert not may_follow(None, entry(provider, result), provider)


@loose_providers
def test_anybody_may_speak_first_at_openai(provider: Provider) -> None:
    assert may_follow(None, entry(provider, says(provider, "Hi")), provider)
    assert may_follow(None, entry(provider, step(provider, "a", "done")[0]), provider)


def test_a_prompt_beside_a_result_may_come_first() -> None:
    both = answers(tool_result("a"), text_block("Go on"))
    assert may_follow(None, entry("anthropic", both), "anthropic")


@every_provider
def test_who_speaks_later_need_not_be_the_user(provider: Provider) -> None:
    hello, said = entry(provider, user(provider, "Hello")), entry(provider, says(provider, "Hi"))
    assert may_follow(hello, said, provider)


@strict_providers
def test_the_assistant_does_not_answer_itself(provider: Provider) -> None:
    said, called = entry(provider, says(provider, "Hi")), entry(provider, step(provider, "a", "done")[0])
    assert not may_follow(said, said, provider)
    assert not may_follow(said, called, provider)


@loose_providers
def test_the_assistant_may_go_on_at_openai(provider: Provider) -> None:
    said = entry(provider, says(provider, "Hi"))
    assert may_follow(said, said, provider)


@every_provider
def test_the_user_may_speak_twice(provider: Provider) -> None:
    hello = entry(provider, user(provider, "Hello"))
    assert may_follow(hello, hello, provider)


@every_provider
def test_the_assistant_may_answer_the_user_and_results(provider: Provider) -> None:
    hello, said = entry(provider, user(provider, "Hello")), entry(provider, says(provider, "Hi"))
    call, result = (entry(provider, message) for message in step(provider, "a", "done"))
    assert may_follow(hello, said, provider)
    assert may_follow(hello, call, provider)
    assert may_follow(result, said, provider)
    assert may_follow(result, call, provider)
    assert may_follow(said, hello, provider)


def test_may_follow_asks_every_rule() -> None:
    said = entry("anthropic", assistant(tool_use("a")))
    assert not may_follow(None, said, "anthropic")
    assert not may_follow(said, said, "anthropic")
    call, result = entry("gemini", function_calls("read")), entry("gemini", function_responses("read"))
    assert not may_follow(None, call, "gemini")
    assert may_follow(result, call, "gemini")
