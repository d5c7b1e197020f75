"""Repairing OpenAI's chat format, fault by fault."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from brim.history.repairs import NO_RESULT
from tests.history.repairing.mending import mended, texts
from tests.history.validity.test_chat import HELLO, Message, calls, result

mend = partial(mended, "openai")
SAID: Message = {"role": "assistant", "content": "Hi"}


def named(id_: str, content: str) -> Message:
    return {"role": "tool", "tool_call_id": id_, "content": content}


def test_an_orphan_result_is_removed_and_its_text_kept_in_the_list() -> None:
    messages, changes = mend(HELLO, named("a", "four\nlines"), SAID)
    assert messages == [HELLO, SAID]
    assert changes == [(1, "result-has-call", "removed")]
    assert texts("openai", HELLO, named("a", "four\nlines")) == ["four\nlines"]


def test_an_orphan_result_can_get_its_call_back() -> None:
    orphan = {**named("a", "42"), "name": "read"}
    messages, changes = mend(HELLO, orphan, restore_calls=True)
    function = {"name": "read", "arguments": "{}"}
    assert messages[1]["tool_calls"] == [{"id": "a", "type": "function", "function": function}]
    assert messages[2] is orphan
    assert changes == [(1, "result-has-call", "added")]


def test_the_tool_of_an_orphan_result_may_be_unknown() -> None:
    messages, _ = mend(HELLO, named("a", "42"), restore_calls=True)
    assert messages[1]["tool_calls"][0]["function"]["name"] == "unknown_tool"
    messages, _ = mend({"role": "function", "content": "42"}, restore_calls=True)
    assert messages[0]["function_call"]["name"] == messages[1]["name"] == "unknown_tool"


def test_an_orphan_without_an_id_gets_one_with_its_call() -> None:
    messages, changes = mend({"role": "tool", "content": "42"}, restore_calls=True)
    assert messages[0]["tool_calls"][0]["id"] == messages[1]["tool_call_id"] == "call_1"
    assert changes == [(0, "result-has-id", "added")]


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    messages, changes = mend(HELLO, calls("a", "b"), result("b"), HELLO)
    assert messages == [HELLO, calls("a", "b"), result("b"), named("a", NO_RESULT), HELLO]
    assert changes == [(1, "call-has-result", "added")]


def test_an_old_function_without_a_result_gets_one_that_says_so() -> None:
    legacy = {"role": "assistant", "content": None, "function_call": {"name": "read", "arguments": "{}"}}
    assert mend(legacy)[0] == [legacy, {"role": "function", "name": "read", "content": NO_RESULT}]


def test_a_result_behind_other_messages_is_moved_to_its_call() -> None:
    answer = result("a")
    messages, changes = mend(HELLO, calls("a"), HELLO, SAID, answer, SAID)
    assert messages == [HELLO, calls("a"), answer, HELLO, SAID, SAID]
    assert messages[2] is answer
    assert changes == [(4, "result-has-call", "moved")]


def test_a_result_right_before_its_call_is_moved_behind_it() -> None:
    assert mend(HELLO, result("a"), calls("a"))[0] == [HELLO, calls("a"), result("a")]


def test_a_result_of_an_earlier_turn_is_not_taken_for_a_later_call_of_the_same_id() -> None:
    messages, changes = mend(named("call_0", "old"), HELLO, calls("call_0"))
    assert messages == [HELLO, calls("call_0"), named("call_0", NO_RESULT)]
    assert changes == [(0, "result-has-call", "removed"), (2, "call-has-result", "added")]
    messages, _ = mend(named("call_0", "old"), HELLO, calls("call_0"), restore_calls=True)
    assert [message["role"] for message in messages] == ["assistant", "tool", "user", "assistant", "tool"]


def test_the_second_result_of_a_call_is_removed() -> None:
    messages, changes = mend(calls("a"), named("a", "first"), named("a", "second"))
    assert messages == [calls("a"), named("a", "first")]
    assert changes == [(2, "one-result-per-call", "removed")]
    assert texts("openai", calls("a"), named("a", "first"), named("a", "second")) == ["second"]


def test_calls_with_one_id_get_two_and_so_do_their_results() -> None:
    messages, changes = mend(calls("a", "a"), named("a", "first"), named("a", "second"))
    assert [call["id"] for call in messages[0]["tool_calls"]] == ["a", "call_1"]
    assert messages[1:] == [named("a", "first"), named("call_1", "second")]
    assert changes == [(0, "call-ids-unique", "changed")]


def test_calls_without_ids_take_those_of_their_results() -> None:
    messages, changes = mend(calls("", ""), named("x", "first"), named("y", "second"))
    assert [call["id"] for call in messages[0]["tool_calls"]] == ["x", "y"]
    assert changes == [(0, "call-has-id", "changed"), (0, "call-has-id", "changed")]


def test_a_new_id_is_one_that_nobody_has() -> None:
    messages, _ = mend(calls("call_1"), result("call_1"), calls(""), HELLO)
    assert messages[2]["tool_calls"][0]["id"] == "call_2"


def test_a_result_without_an_id_answers_the_call_that_waits() -> None:
    messages, changes = mend(calls("a", "b"), result("a"), {"role": "tool", "content": "42"})
    assert messages == [calls("a", "b"), result("a"), named("b", "42")]
    assert changes == [(2, "result-has-id", "changed")]


def test_a_result_without_an_id_and_without_a_call_is_an_orphan() -> None:
    messages, changes = mend(HELLO, {"role": "tool", "content": "42"})
    assert messages == [HELLO]
    assert changes == [(1, "result-has-id", "removed")]


@pytest.mark.parametrize(
    ("role", "known"),
    [
        ("human", "user"),
        ("ai", "assistant"),
        ("model", "assistant"),
        ("User", "user"),
        ("wizard", "user"),
        (None, "user"),
    ],
)
def test_unknown_roles_become_known_ones(role: Any, known: str) -> None:
    messages, changes = mend({"role": role, "content": "Hello"})
    assert messages == [{"role": known, "content": "Hello"}]
    assert changes == [(0, "known-role", "changed")]


def test_an_unknown_role_is_guessed_by_what_the_message_holds() -> None:
    call = {"role": "bot", "content": None, "tool_calls": calls("a")["tool_calls"]}
    answer = {"role": "observation", "tool_call_id": "a", "content": "42"}
    messages, _ = mend(call, answer)
    assert [message["role"] for message in messages] == ["assistant", "tool"]


def test_what_is_no_message_becomes_one_of_the_users() -> None:
    assert mend("Hello", 5)[0] == [HELLO, {"role": "user", "content": "5"}]
    assert mend(None, {}, "")[0] == []


def test_an_empty_list_of_calls_is_left_out() -> None:
    messages, changes = mend({**SAID, "tool_calls": []})
    assert messages == [SAID]
    assert changes == [(0, "calls-not-empty", "changed")]


def test_what_is_no_call_is_removed() -> None:
    messages, changes = mend({**SAID, "tool_calls": ["lost"]})
    assert messages == [SAID]
    assert changes == [(0, "call-has-id", "removed"), (0, "calls-not-empty", "changed")]
    assert "lost" in texts("openai", {**SAID, "tool_calls": ["lost"]})


def test_a_call_without_a_name_gets_one() -> None:
    for broken in ({"id": "a", "type": "function", "function": {"arguments": "{}"}}, {"id": "a"}):
        messages, changes = mend({"role": "assistant", "content": None, "tool_calls": [broken]}, result("a"))
        assert messages[0]["tool_calls"][0]["function"] == {"name": "unknown_tool", "arguments": "{}"}
        assert changes == [(0, "call-has-name", "changed")]


def test_an_old_function_without_a_name_takes_that_of_its_result() -> None:
    legacy = {"role": "assistant", "content": None, "function_call": {"arguments": "{}"}}
    messages, _ = mend(legacy, {"role": "function", "name": "read", "content": "42"})
    assert messages[0]["function_call"] == {"arguments": "{}", "name": "read"}


def test_null_becomes_an_empty_text() -> None:
    messages, changes = mend({"role": "user", "content": None}, {"role": "assistant"})
    assert messages == [{"role": "user", "content": ""}, {"role": "assistant", "content": ""}]
    assert changes == [(0, "has-content", "changed"), (1, "has-content", "changed")]
