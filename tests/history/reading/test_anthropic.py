"""What stands in a message of Anthropic's format."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from brim.history.anthropic import blocks_of, read_message
from brim.history.entries import Call
from tests.history.samples import answers, assistant, search, text_block, thinking, tool_result, tool_use


@pytest.mark.parametrize("role", ["user", "assistant", "system"])
def test_roles_are_who_speaks(role: str) -> None:
    for content in ("Hello", [text_block("Hello")], ["Hello"]):
        entry = read_message(2, {"role": role, "content": content})
        assert (entry.index, entry.role, entry.says, entry.problem) == (2, role, True, "")


def test_a_text_is_one_block() -> None:
    assert blocks_of({"content": "Hello"}) == ["Hello"]
    assert blocks_of({"content": ""}) == blocks_of({"content": []}) == blocks_of({}) == []


def test_calls_and_results_are_read_in_order() -> None:
    calls = read_message(0, assistant(text_block("Reading."), tool_use("a"), tool_use("b")))
    assert (calls.calls, calls.says) == ((Call("a", "read"), Call("b", "read")), True)
    results = read_message(0, answers(tool_result("b"), tool_result("a")))
    assert (results.results, results.says, results.is_prompt) == ((Call("b"), Call("a")), False, False)


def test_a_user_who_speaks_with_the_results_makes_a_prompt() -> None:
    assert read_message(0, answers(tool_result("a"), text_block("Go on."))).is_prompt


@pytest.mark.parametrize(
    ("message", "in_order"),
    [
        (answers(tool_result("a"), text_block("Go on.")), True),
        (answers(text_block("Well"), tool_result("a")), False),
        (assistant(thinking(), text_block("Well"), tool_use("a")), True),
        (assistant(tool_use("a"), text_block("Well")), False),
        (assistant(text_block("Well"), *search("s"), text_block("so"), tool_use("a"), *search("t")), True),
    ],
)
def test_results_come_first_and_calls_last(message: Any, in_order: bool) -> None:
    assert read_message(0, message).in_order is in_order


def test_thinking_is_read() -> None:
    redacted = {"type": "redacted_thinking", "data": "x"}
    only, before = read_message(0, assistant(redacted)), read_message(0, assistant(thinking(), text_block("Hi")))
    assert (only.reasons, only.ends_in_reasoning, only.says) == (True, True, False)
    assert (before.reasons, before.ends_in_reasoning, before.says) == (True, False, True)


def test_a_search_begins_and_ends_in_its_message_or_in_another() -> None:
    call, result = search("s")
    whole = read_message(0, assistant(call, result))
    assert (whole.opens, whole.closes, whole.says) == ((), (), True)
    assert read_message(0, assistant(call)).opens == ("s",)
    assert read_message(0, assistant(result)).closes == ("s",)


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        ({"role": "tool", "content": "Hi"}, "known-role"),
        ({"content": "Hi"}, "known-role"),
        (None, "known-role"),
        ("text", "known-role"),
        ({"role": "user", "content": ""}, "has-content"),
        ({"role": "user", "content": []}, "has-content"),
        ({"role": "user"}, "has-content"),
        ({"role": "user", "content": " \n"}, "text-not-empty"),
        (answers(text_block("")), "text-not-empty"),
        (answers(tool_use("a")), "call-by-assistant"),
        (assistant(tool_result("a")), "result-by-user"),
        (assistant(tool_use("")), "call-has-id"),
        (answers(tool_result("")), "result-has-id"),
        (assistant(tool_use("a"), tool_use("a")), "call-ids-unique"),
    ],
)
def test_what_the_api_does_not_take_has_a_problem_and_its_rule(message: Any, rule: str) -> None:
    entry = read_message(0, message)
    assert (entry.rule, bool(entry.problem)) == (rule, True)


def test_settings_without_a_text_are_no_problem() -> None:
    assert read_message(0, {"role": "system", "content": [], "output_config": {"effort": "low"}}).problem == ""


def test_objects_are_read_like_dicts() -> None:
    block = SimpleNamespace(type="tool_use", id="a", name="read", input={})
    entry = read_message(0, SimpleNamespace(role="assistant", content=[block], id="msg"))
    assert (entry.calls, entry.id) == ((Call("a", "read"),), "msg")
