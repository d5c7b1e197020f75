"""What stands in a message of OpenAI's chat format."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from brim.history.chat import read_chat
from brim.history.entries import Call
from tests.history.samples import chat_calls, chat_result


@pytest.mark.parametrize(
    ("role", "spoken"),
    [("system", "system"), ("developer", "system"), ("user", "user"), ("assistant", "assistant")],
)
def test_roles_are_who_speaks(role: str, spoken: str) -> None:
    entry = read_chat(3, {"role": role, "content": "Hello"})
    assert (entry.index, entry.role, entry.says, entry.problem) == (3, spoken, True, "")


@pytest.mark.parametrize("type_", ["system", "human", "ai"])
def test_langchains_types_are_roles(type_: str) -> None:
    roles = {"system": "system", "human": "user", "ai": "assistant"}
    assert read_chat(0, SimpleNamespace(type=type_, content="Hello")).role == roles[type_]


@pytest.mark.parametrize("role", ["stranger", "model", "User", 5, None, ""])
def test_an_unknown_role_is_a_problem(role: Any) -> None:
    entry = read_chat(0, {"role": role, "content": "Hello", "id": "m"})
    assert (entry.role, entry.rule, entry.id) == ("", "known-role", "m")
    assert entry.problem.endswith("that the API knows")


@pytest.mark.parametrize("message", [None, 5, "text", b"bytes", [], object(), {}])
def test_what_is_no_message_is_a_problem(message: Any) -> None:
    entry = read_chat(0, message)
    assert (entry.role, entry.problem, entry.message) == ("", "it has no role that the API knows", message)


def test_calls_are_read_in_order() -> None:
    entry = read_chat(0, chat_calls("a", "b"))
    assert entry.calls == (Call("a", "read"), Call("b", "read"))
    assert (entry.role, entry.says, entry.results, entry.problem) == ("assistant", False, (), "")


def test_custom_and_flat_calls_are_read() -> None:
    custom = {"id": "a", "type": "custom", "custom": {"name": "grep", "input": "x"}}
    flat = {"id": "b", "name": "read", "args": {}}
    assert read_chat(0, {"role": "assistant", "content": None, "tool_calls": [custom, flat]}).calls == (
        Call("a", "grep"),
        Call("b", "read"),
    )


def test_calls_of_objects_are_read() -> None:
    call = SimpleNamespace(id="a", function=SimpleNamespace(name="read", arguments="{}"))
    assert read_chat(0, SimpleNamespace(role="assistant", content=None, tool_calls=[call])).calls == (
        Call("a", "read"),
    )


def test_an_old_function_call_is_known_by_its_name() -> None:
    call = read_chat(0, {"role": "assistant", "content": None, "function_call": {"name": "read", "arguments": "{}"}})
    result = read_chat(1, {"role": "function", "name": "read", "content": "done"})
    assert call.calls[0].key == result.results[0].key == ("function", "read")
    assert (call.problem, result.problem, result.role) == ("", "", "tool")


def test_a_result_is_read() -> None:
    entry = read_chat(0, chat_result("a"))
    assert (entry.role, entry.results, entry.is_prompt, entry.problem) == ("tool", (Call("a"),), False, "")


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        ({"role": "user", "content": None}, "has-content"),
        ({"role": "assistant"}, "has-content"),
        ({"role": "assistant", "content": "Hi", "tool_calls": []}, "calls-not-empty"),
        (chat_calls(""), "call-has-id"),
        (chat_calls("a", "a"), "call-ids-unique"),
        ({"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": {}}]}, "call-has-name"),
        ({"role": "tool", "content": "done"}, "result-has-id"),
        ({"role": "tool", "tool_call_id": "a", "content": None}, "has-content"),
        ({"role": "function", "content": "done"}, "result-has-id"),
    ],
)
def test_what_no_api_takes_has_a_problem_and_its_rule(message: Any, rule: str) -> None:
    entry = read_chat(0, message)
    assert (entry.rule, bool(entry.problem)) == (rule, True)


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": ""},
        {"role": "assistant", "content": None, "refusal": "No."},
        {"role": "assistant", "audio": {"id": "a"}},
        {"role": "assistant", "content": "Hi", "tool_calls": None},
        {"role": "tool", "tool_call_id": "a", "content": ""},
    ],
)
def test_what_some_api_takes_has_none(message: Any) -> None:
    assert read_chat(0, message).problem == ""


def test_reasoning_is_read() -> None:
    assert read_chat(0, {"role": "assistant", "content": "Hi", "reasoning_content": "hm"}).reasons
    assert not read_chat(0, {"role": "assistant", "content": "Hi", "reasoning_content": ""}).reasons


def test_a_prompt_is_what_a_user_says() -> None:
    assert read_chat(0, {"role": "user", "content": "Hello"}).is_prompt
    assert not read_chat(0, {"role": "assistant", "content": "Hello"}).is_prompt
    assert not read_chat(0, {"role": "system", "content": "Hello"}).is_prompt
