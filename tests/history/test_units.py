"""What stands or falls together."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.history import PROVIDERS, Provider
from brim.history.cuts import Unit, units_of
from brim.history.formats import read
from tests.history.histories import valid_histories
from tests.history.samples import (
    answers,
    assistant,
    chat_calls,
    chat_result,
    item_call,
    item_output,
    item_reasoning,
    says,
    step,
    text_block,
    tool_result,
    tool_use,
    user,
)

every_provider = pytest.mark.parametrize("provider", PROVIDERS)
NOTE = {"role": "system", "content": "Be brief."}


def units(provider: Provider, *messages: Any) -> list[Unit]:
    return units_of(read(messages, provider), provider)


def kinds(provider: Provider, *messages: Any) -> list[tuple[str, tuple[int, ...]]]:
    return [(unit.kind, unit.indices) for unit in units(provider, *messages)]


@every_provider
def test_a_prompt_an_answer_and_a_step_are_units(provider: Provider) -> None:
    messages = (user(provider, "Hello"), *step(provider, "a", "done"), says(provider, "Hi"))
    assert kinds(provider, *messages) == [("user", (0,)), ("step", (1, 2)), ("assistant", (3,))]


@every_provider
def test_an_empty_history_has_no_units(provider: Provider) -> None:
    assert units(provider) == []


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize("provider", ["openai", "responses"])
def test_a_system_message_is_a_unit(provider: Provider, role: str) -> None:
    assert kinds(provider, {"role": role, "content": "Be brief."}) == [("system", (0,))]


def test_parallel_calls_and_all_their_results_are_one_step() -> None:
    chat = (chat_calls("a", "b"), chat_result("b"), chat_result("a"))
    assert kinds("openai", *chat, *chat) == [("step", (0, 1, 2)), ("step", (3, 4, 5))]
    items = (item_call("a"), item_call("b"), item_output("b"), item_output("a"))
    assert kinds("responses", *items) == [("step", (0, 1, 2, 3))]
    blocks = (assistant(tool_use("a"), tool_use("b")), answers(tool_result("a")), answers(tool_result("b")))
    assert kinds("anthropic", *blocks) == [("step", (0, 1, 2))]


def test_reasoning_belongs_to_the_step_that_follows() -> None:
    items = (item_reasoning("r"), item_call("a"), item_output("a"))
    assert kinds("responses", user("responses", "Hello"), *items) == [("user", (0,)), ("step", (1, 2, 3))]


def test_a_note_to_claude_belongs_to_the_turns_around_it() -> None:
    messages = (user("anthropic", "Hello"), NOTE, says("anthropic", "Hi"), user("anthropic", "Bye"))
    assert kinds("anthropic", *messages) == [("user", (0, 1, 2)), ("user", (3,))]


def test_a_turn_begins_where_a_person_speaks() -> None:
    messages = (user("openai", "Hello"), *step("openai", "a", "done"), says("openai", "Hi"), user("openai", "Bye"))
    assert [unit.has_prompt for unit in units("openai", *messages)] == [True, False, False, True]


def test_a_step_has_a_prompt_if_the_user_speaks_with_the_results() -> None:
    both = answers(tool_result("a"), text_block("Go on"))
    found = units("anthropic", user("anthropic", "Hello"), assistant(tool_use("a")), both)
    assert [(unit.kind, unit.has_prompt) for unit in found] == [("user", True), ("step", True)]


def test_the_first_and_the_last_message_of_a_unit_are_its_ends() -> None:
    call, result = step("openai", "a", "done")
    unit = units("openai", call, result)[0]
    assert (unit.first.message, unit.last.message) == (call, result)


def test_notes_are_no_ends_of_a_unit() -> None:
    hello = user("anthropic", "Hello")
    unit = units("anthropic", hello, NOTE)[0]
    assert (unit.indices, unit.first.message, unit.last.message) == ((0, 1), hello, hello)
    assert units("openai", NOTE)[0].first.message is NOTE


@every_provider
@settings(max_examples=50)
@given(data=st.data())
def test_every_message_is_in_one_unit_and_in_order(provider: Provider, data: st.DataObject) -> None:
    messages = data.draw(valid_histories(provider))
    found = units(provider, *messages)
    assert [index for unit in found for index in unit.indices] == list(range(len(messages)))


@every_provider
@settings(max_examples=50)
@given(data=st.data())
def test_a_call_and_its_results_are_in_one_unit(provider: Provider, data: st.DataObject) -> None:
    messages = data.draw(valid_histories(provider))
    for unit in units(provider, *messages):
        calls = [call.key for entry in unit.entries for call in entry.calls if call.required]
        results = [result.key for entry in unit.entries for result in entry.results]
        approvals = [key for key in results if key[0] == "mcp"]
        assert sorted(calls) == sorted(key for key in results if key not in approvals)
        assert (unit.kind == "step") == any(entry.calls for entry in unit.entries)
