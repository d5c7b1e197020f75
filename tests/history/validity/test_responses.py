"""The rules of OpenAI's Responses API: each accepts what the API takes and names what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from brim.history import validate

Item = dict[str, Any]
HELLO: Item = {"role": "user", "content": "Hello"}
SAID: Item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]}


def call(id_: str, family: str = "function", **fields: Any) -> Item:
    return {"type": f"{family}_call", "call_id": id_, "name": "read", "arguments": "{}", **fields}


def output(id_: str, family: str = "function") -> Item:
    return {"type": f"{family}_call_output", "call_id": id_, "output": "done"}


def reasoning(id_: str) -> Item:
    return {"type": "reasoning", "id": id_, "summary": []}


def found(*items: Any) -> list[tuple[int, str]]:
    return [(violation.index, violation.rule) for violation in validate(list(items), "responses")]


@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant"])
def test_known_role_accepts_what_the_api_lists(role: str) -> None:
    assert found({"role": role, "content": "Hello"}) == []
    assert found({"type": "message", "role": role, "content": "Hello"}) == []


@pytest.mark.parametrize(
    "item", [{"role": "tool", "content": "x"}, {"type": "message", "content": "x"}, {}, "text", None]
)
def test_known_role_refuses_another_and_none(item: Any) -> None:
    assert found(HELLO, item) == [(1, "known-role")]


def test_known_role_does_not_ask_items_of_a_type_that_is_not_known_here() -> None:
    assert found({"type": "something_new", "data": 1}) == []


def test_has_content() -> None:
    assert found({"role": "user", "content": ""}) == []
    assert found({"role": "user", "content": None}, {"type": "message", "role": "assistant"}) == [
        (0, "has-content"),
        (1, "has-content"),
    ]


@pytest.mark.parametrize("family", ["function", "custom_tool", "computer", "local_shell", "shell", "apply_patch"])
def test_call_has_result_for_every_kind_of_call(family: str) -> None:
    assert found(call("a", family), output("a", family)) == []
    assert found(call("a", family)) == [(0, "call-has-result")]
    assert found(output("a", family)) == [(0, "result-has-call")]


@pytest.mark.parametrize("kind", ["web_search_call", "file_search_call", "mcp_call", "code_interpreter_call"])
def test_call_has_result_does_not_ask_the_providers_own_tools(kind: str) -> None:
    assert found({"type": kind, "id": "ws_1", "status": "completed"}) == []


def test_call_has_id() -> None:
    assert found({"type": "function_call", "name": "read", "arguments": "{}"}) == [(0, "call-has-id")]
    assert found(call("")) == [(0, "call-has-id")]


def test_result_has_id() -> None:
    assert found({"type": "function_call_output", "output": "done"}) == [(0, "result-has-id")]
    assert found({"type": "mcp_approval_response", "approve": True}) == [(0, "result-has-id")]


def test_result_has_call_accepts_outputs_anywhere_behind_their_calls() -> None:
    assert found(call("a"), HELLO, call("b"), reasoning("rs_1"), SAID, output("b"), HELLO, output("a")) == []


def test_result_has_call_refuses_an_output_before_its_call() -> None:
    assert found(output("a"), call("a")) == [(0, "result-has-call"), (1, "call-has-result")]


def test_result_has_call_wants_the_same_kind() -> None:
    assert found(call("a"), output("a", "custom_tool")) == [(0, "call-has-result"), (1, "result-has-call")]


def test_an_approval_answers_a_request() -> None:
    asked = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "read", "arguments": "{}"}
    answer = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
    assert found(asked) == []
    assert found(asked, answer) == []
    assert found(answer) == [(0, "result-has-call")]


def test_a_local_shell_may_pair_by_the_id_of_the_item() -> None:
    ran = {"type": "local_shell_call", "id": "lsh_1", "action": {}}
    assert found(ran, {"type": "local_shell_call_output", "id": "lsh_1", "output": "done"}) == []


def test_one_result_per_call() -> None:
    assert found(call("a"), output("a"), output("a")) == [(2, "one-result-per-call")]


def test_a_call_id_that_is_used_again_waits_for_another_output() -> None:
    assert found(call("a"), call("a"), output("a"), output("a")) == []
    assert found(call("a"), output("a"), call("a"), output("a")) == []
    assert found(call("a"), call("a"), output("a")) == [(0, "call-has-result")]


def test_reasoning_has_item_accepts_whatever_the_assistant_does_next() -> None:
    assert found(reasoning("rs_1"), SAID) == []
    assert found(reasoning("rs_1"), reasoning("rs_2"), call("a"), output("a")) == []
    assert found(reasoning("rs_1"), {"type": "web_search_call", "id": "ws_1"}) == []


@pytest.mark.parametrize("following", [[], [HELLO], [HELLO, SAID]])
def test_reasoning_has_item_refuses_reasoning_that_leads_to_nothing(following: list[Item]) -> None:
    assert found(reasoning("rs_1"), *following) == [(0, "reasoning-has-item")]


def test_reasoning_has_item_is_not_content_with_an_output() -> None:
    assert found(call("a"), reasoning("rs_1"), output("a")) == [(1, "reasoning-has-item")]


def test_item_ids_unique() -> None:
    assert found(call("a", id="fc_1"), call("b", id="fc_2"), output("a"), output("b")) == []
    assert found({**SAID, "id": "msg_1"}, HELLO, {**SAID, "id": "msg_1"}) == [(2, "item-ids-unique")]


def test_anybody_may_begin_and_speak_twice() -> None:
    note = {"role": "developer", "content": "Be brief."}
    assert found(SAID, SAID, HELLO, HELLO, note, SAID) == []
