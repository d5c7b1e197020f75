"""What stands in an item of OpenAI's Responses format."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from brim.history.entries import Call
from brim.history.responses import ANSWERED, HOSTED, read_item
from tests.history.samples import item_call, item_output, item_reasoning


@pytest.mark.parametrize(
    ("role", "spoken"),
    [("system", "system"), ("developer", "system"), ("user", "user"), ("assistant", "assistant")],
)
def test_messages_may_have_a_type_or_not(role: str, spoken: str) -> None:
    for message in ({"role": role, "content": "Hi"}, {"type": "message", "role": role, "content": "Hi", "id": "m"}):
        entry = read_item(0, message)
        assert (entry.role, entry.says, entry.id) == (spoken, True, message.get("id", ""))


@pytest.mark.parametrize("family", ANSWERED)
def test_calls_and_their_outputs_have_one_key(family: str) -> None:
    call, output = read_item(0, item_call("a", family)), read_item(1, item_output("a", family=family))
    assert call.calls[0].key == output.results[0].key == (family, "a")
    assert (call.role, output.role, call.calls[0].required) == ("assistant", "tool", True)


def test_calls_of_different_families_have_different_keys() -> None:
    assert read_item(0, item_call("a")).calls[0].key != read_item(0, item_call("a", "custom_tool")).calls[0].key


def test_a_local_shell_is_known_by_its_own_id() -> None:
    call = read_item(0, {"type": "local_shell_call", "id": "s", "action": {}})
    output = read_item(1, {"type": "local_shell_call_output", "id": "s", "output": "done"})
    assert call.calls[0].key == output.results[0].key
    assert (call.id, output.id) == ("s", "")


@pytest.mark.parametrize("kind", sorted(HOSTED))
def test_the_providers_own_tools_need_no_answer(kind: str) -> None:
    entry = read_item(0, {"type": kind, "id": "h", "call_id": "a"})
    assert (entry.role, entry.calls, entry.results, entry.problem) == ("assistant", (), (), "")


def test_an_approval_may_be_answered() -> None:
    asked = read_item(0, {"type": "mcp_approval_request", "id": "r"})
    answer = read_item(1, {"type": "mcp_approval_response", "approval_request_id": "r", "approve": True})
    assert asked.calls[0].key == answer.results[0].key
    assert (asked.calls[0].required, answer.role) == (False, "tool")


def test_reasoning_is_read() -> None:
    entry = read_item(0, item_reasoning("r"))
    assert (entry.role, entry.reasons, entry.ends_in_reasoning, entry.says) == ("assistant", True, True, False)


def test_a_type_that_is_not_known_yet_is_the_assistants() -> None:
    entry = read_item(0, {"type": "dream", "id": "d"})
    assert (entry.role, entry.says, entry.problem) == ("assistant", True, "")


def test_a_call_of_a_family_that_is_not_known_yet_is_a_call() -> None:
    entry = read_item(0, {"type": "dance_call", "call_id": "a"})
    assert entry.calls == (Call("a", kind="dance", required=False),)
    assert read_item(0, {"type": "dance_call_output", "call_id": "a"}).results[0].key == entry.calls[0].key


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        ({"role": "stranger", "content": "Hi"}, "known-role"),
        ({"role": "tool", "content": "Hi"}, "known-role"),
        ({}, "known-role"),
        (None, "known-role"),
        ("text", "known-role"),
        ({"role": "user", "content": None}, "has-content"),
        ({"type": "message", "role": "assistant"}, "has-content"),
        ({"type": "function_call", "name": "read"}, "call-has-id"),
        ({"type": "function_call_output", "output": "done"}, "result-has-id"),
        ({"type": "mcp_approval_response", "approve": True}, "result-has-id"),
    ],
)
def test_what_the_api_does_not_take_has_a_problem_and_its_rule(message: Any, rule: str) -> None:
    entry = read_item(0, message)
    assert (entry.rule, bool(entry.problem)) == (rule, True)


def test_objects_are_read_like_dicts() -> None:
    call = item_call("a", id="fc")
    one, two = read_item(0, call), read_item(0, SimpleNamespace(**call))
    assert (one.role, one.calls, one.id) == (two.role, two.calls, two.id)
