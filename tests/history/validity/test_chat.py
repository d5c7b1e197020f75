"""The rules of OpenAI's chat API: each accepts what the API takes and names what it refuses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from brim.history import validate

Message = dict[str, Any]
HELLO: Message = {"role": "user", "content": "Hello"}


def calls(*ids: str, **fields: Any) -> Message:
    function = {"name": "read", "arguments": "{}"}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": id_, "type": "function", "function": function} for id_ in ids],
        **fields,
    }


def result(id_: str) -> Message:
    return {"role": "tool", "tool_call_id": id_, "content": "done"}


def found(*messages: Any) -> list[tuple[int, str]]:
    return [(violation.index, violation.rule) for violation in validate(list(messages), "openai")]


@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant"])
def test_known_role_accepts_what_the_api_lists(role: str) -> None:
    assert found({"role": role, "content": "Hello"}) == []


@pytest.mark.parametrize("role", ["human", "ai", "model", "", None, 5, "User"])
def test_known_role_refuses_another(role: Any) -> None:
    assert found(HELLO, {"role": role, "content": "Hello"}) == [(1, "known-role")]


def test_known_role_takes_the_type_of_langchains_messages() -> None:
    human = SimpleNamespace(type="human", content="Hello")
    ai = SimpleNamespace(type="ai", content="Hi", tool_calls=[])
    call = SimpleNamespace(type="ai", content="", tool_calls=[{"id": "a", "name": "read", "args": {}}])
    tool = SimpleNamespace(type="tool", content="done", tool_call_id="a")
    assert found(human, ai, call, tool) == []
    assert found(human, call) == [(1, "call-has-result")]


def test_has_content_accepts_calls_audio_and_refusals_instead() -> None:
    assert found(calls("a"), result("a")) == []
    assert found({"role": "assistant", "content": None, "refusal": "No."}) == []
    assert found({"role": "assistant", "audio": {"id": "audio_1"}}) == []
    assert found({"role": "user", "content": ""}, {"role": "assistant", "content": ""}) == []


@pytest.mark.parametrize("role", ["system", "user", "assistant"])
def test_has_content_refuses_null(role: str) -> None:
    assert found({"role": role, "content": None}) == [(0, "has-content")]
    assert found({"role": role}) == [(0, "has-content")]


def test_has_content_refuses_a_result_without() -> None:
    assert found(calls("a"), {"role": "tool", "tool_call_id": "a", "content": None}) == [(1, "has-content")]


def test_calls_not_empty() -> None:
    assert found({"role": "assistant", "content": "Hi", "tool_calls": None}) == []
    assert found({"role": "assistant", "content": "Hi", "tool_calls": []}) == [(0, "calls-not-empty")]


def test_call_has_id() -> None:
    assert found(calls("")) == [(0, "call-has-id")]
    assert found({"role": "assistant", "tool_calls": [{"function": {"name": "read"}}]}) == [(0, "call-has-id")]


def test_call_has_name() -> None:
    nameless = {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "", "arguments": "{}"}}]}
    assert found(nameless, result("a")) == [(0, "call-has-name")]
    custom = {
        "role": "assistant",
        "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "run", "input": ""}}],
    }
    assert found(custom, result("a")) == []


def test_call_ids_unique_within_a_message_only() -> None:
    assert found(calls("a"), result("a"), calls("a"), result("a")) == []
    assert found(calls("a", "a"), result("a")) == [(0, "call-ids-unique")]


def test_result_has_id() -> None:
    assert found(calls("a"), result("a"), {"role": "tool", "content": "done"}) == [(2, "result-has-id")]
    legacy = {"role": "assistant", "content": None, "function_call": {"name": "read", "arguments": "{}"}}
    assert found(legacy, {"role": "function", "name": "read", "content": "done"}) == []
    nameless = {"role": "function", "content": "done"}
    assert found(legacy, nameless) == [(0, "call-has-result"), (1, "result-has-id")]


def test_result_has_call_accepts_any_order_in_the_run() -> None:
    assert found(HELLO, calls("a", "b", "c"), result("c"), result("a"), result("b"), HELLO) == []


def test_result_has_call_refuses_a_result_that_nothing_called_for() -> None:
    assert found(result("a")) == [(0, "result-has-call")]
    assert found(HELLO, result("a")) == [(1, "result-has-call")]
    assert found(calls("a"), result("a"), result("x")) == [(2, "result-has-call")]


def test_result_has_call_looks_at_the_message_right_before_only() -> None:
    assert found(calls("a"), result("a"), calls("b"), result("b"), result("a")) == [(4, "result-has-call")]


def test_result_has_call_refuses_a_message_between() -> None:
    assert found(calls("a"), HELLO, result("a")) == [(0, "call-has-result"), (2, "result-has-call")]
    between = found(calls("a", "b"), result("a"), HELLO, result("b"))
    assert between == [(0, "call-has-result"), (3, "result-has-call")]


def test_result_of_an_old_function_is_no_result_of_a_call() -> None:
    function = {"role": "function", "name": "a", "content": "done"}
    assert found(calls("a"), function) == [(0, "call-has-result"), (1, "result-has-call")]


def test_one_result_per_call() -> None:
    assert found(calls("a"), result("a"), result("a")) == [(2, "one-result-per-call")]


def test_call_has_result() -> None:
    assert found(HELLO, calls("a")) == [(1, "call-has-result")]
    assert found(calls("a", "b"), result("b"), HELLO) == [(0, "call-has-result")]
    assert found(calls("a"), calls("b"), result("b")) == [(0, "call-has-result")]


def test_anybody_may_begin_and_speak_twice() -> None:
    said = {"role": "assistant", "content": "Hi"}
    note = {"role": "system", "content": "Be brief."}
    assert found(said, said, HELLO, HELLO, note, said) == []


def test_a_violation_says_what_is_wrong() -> None:
    assert [violation.text for violation in validate([calls("a")], "openai")] == [
        "the call a has no result right after its message"
    ]
