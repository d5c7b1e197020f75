"""Validating any list at all: what is found is in order, what is no list is an error, and nothing inside one raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from brim.errors import BrimError, InputError
from brim.history import PROVIDERS, Provider, Violation, validate
from brim.history.formats import read
from tests.history.histories import any_histories, as_object, valid_histories
from tests.history.junk import JUNK

ALONE = frozenset(
    (
        *("known-role", "has-content", "text-not-empty", "part-not-empty", "calls-not-empty"),
        *("call-has-id", "call-has-name", "result-has-id", "result-has-name", "call-by-assistant", "result-by-user"),
    )
)
"""Rules that a message breaks by itself, wherever it stands."""
every_provider = pytest.mark.parametrize("provider", PROVIDERS)


class Stubborn:
    """Refuses everything that one can ask of an object."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __bool__(self) -> bool:
        raise RuntimeError("bool")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")

    __hash__ = None  # type: ignore[assignment]


class Message(BaseModel):
    role: str
    content: str | None = None
    tool_call_id: str | None = None


@every_provider
def test_an_empty_history_breaks_no_rule(provider: Provider) -> None:
    assert validate([], provider) == []
    assert validate([]) == []


@every_provider
def test_a_valid_history_breaks_no_rule(provider: Provider) -> None:
    @settings(max_examples=80)
    @given(valid_histories(provider))
    def holds(messages: list[Any]) -> None:
        assert validate(messages, provider) == []

    holds()


@every_provider
def test_violations_are_in_the_order_of_the_messages(provider: Provider) -> None:
    @settings(max_examples=80)
    @given(any_histories(provider))
    def holds(messages: list[Any]) -> None:
        places = [violation.index for violation in validate(messages, provider)]
        assert places == sorted(places)
        assert all(0 <= place < len(messages) for place in places)

    holds()


@every_provider
def test_the_reader_finds_the_same_fault_in_a_message(provider: Provider) -> None:
    """Pruners drop what the reader calls a problem, so it must be one, and no other may be left."""

    @settings(max_examples=80)
    @given(any_histories(provider))
    def holds(messages: list[Any]) -> None:
        broken = {violation.index: set[str]() for violation in validate(messages, provider)}
        for violation in validate(messages, provider):
            broken[violation.index].add(violation.rule)
        for entry in read(messages, provider):
            by_itself = broken.get(entry.index, set()) & ALONE
            is_last = provider == "anthropic" and entry.index == len(messages) - 1
            if entry.rule and not (is_last and entry.rule == "has-content"):
                assert entry.rule in broken[entry.index]
            assert bool(entry.rule) or not by_itself

    holds()


@every_provider
def test_nothing_inside_a_list_raises(provider: Provider) -> None:
    @settings(max_examples=60)
    @given(st.lists(JUNK, max_size=6))
    def holds(messages: list[Any]) -> None:
        validate(messages, provider)
        validate(messages)

    holds()


@every_provider
@pytest.mark.parametrize(
    "make",
    [
        lambda odd: odd,
        lambda odd: {"role": odd, "content": odd},
        lambda odd: {"role": "user", "content": odd, "parts": odd},
        lambda odd: {"role": "assistant", "content": [odd], "tool_calls": [odd], "function_call": odd},
        lambda odd: {"role": "model", "parts": [odd, {"functionCall": odd}]},
        lambda odd: {"type": "function_call", "call_id": odd, "id": odd},
    ],
)
@pytest.mark.parametrize(
    "odd",
    [Stubborn(), object(), float("nan"), {1: 2}, {"a"}, validate],
    ids=("stubborn", "object", "nan", "numbers", "set", "function"),
)
def test_strange_objects_do_not_raise(provider: Provider, make: Callable[[Any], Any], odd: Any) -> None:
    assert isinstance(validate([make(odd)], provider), list)
    assert isinstance(validate([make(odd)]), list)


def test_a_message_that_holds_itself_does_not_raise() -> None:
    message: dict[str, Any] = {"role": "user"}
    message["content"] = [message]
    for provider in PROVIDERS:
        assert all(found.index == 0 for found in validate([message], provider))


def test_objects_are_read_like_dicts() -> None:
    orphan = {"role": "tool", "tool_call_id": "a", "content": "42"}
    expected = [Violation(0, "result-has-call", "the result of a answers no call of the message before it")]
    assert validate([orphan], "openai") == expected
    assert validate([as_object(orphan)], "openai") == expected
    assert validate([Message(**orphan)], "openai") == expected
    assert validate((as_object(orphan),), "openai") == expected


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        ({"role": "tool", "tool_call_id": "a", "content": "42"}, "result-has-call"),
        ({"type": "function_call_output", "call_id": "a", "output": "42"}, "result-has-call"),
        ({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "read"}]}, "first-is-user"),
        ({"role": "model", "parts": [{"text": "Hi"}]}, "first-is-user"),
    ],
)
def test_the_provider_is_found_by_the_shape(message: Any, rule: str) -> None:
    assert rule in [violation.rule for violation in validate([message])]


@pytest.mark.parametrize("messages", [None, 5, "Hello", b"Hello", {"messages": []}, object()])
def test_what_is_no_list_is_an_error_that_says_so(messages: Any) -> None:
    with pytest.raises(InputError, match="expected a list of messages"):
        validate(messages)


def test_an_unknown_provider_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(BrimError, match="openai, responses, anthropic, gemini"):
        validate([], "mistral")  # type: ignore[arg-type]
