"""OpenAI's chat format: reading, checking and repairing it."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from brim.messages import validate
from brim.messages.chat import read_chat
from brim.messages.entries import EntryCall
from brim.messages.repairs import NO_RESULT
from tests.messages.samples import chat_calls, chat_result, mended, texts


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
    assert (entry.role, entry.problem, entry.message) == (
        "",
        "it has no role that the API knows",
        message,
    )


def test_calls_are_read_in_order() -> None:
    entry = read_chat(0, chat_calls("a", "b"))
    assert entry.calls == (EntryCall("a", "read"), EntryCall("b", "read"))
    assert (entry.role, entry.says, entry.results, entry.problem) == ("assistant", False, (), "")


def test_custom_and_flat_calls_are_read() -> None:
    custom = {"id": "a", "type": "custom", "custom": {"name": "grep", "input": "x"}}
    flat = {"id": "b", "name": "read", "args": {}}
    assert read_chat(
        0, {"role": "assistant", "content": None, "tool_calls": [custom, flat]}
    ).calls == (
        EntryCall("a", "grep"),
        EntryCall("b", "read"),
    )


def test_calls_of_objects_are_read() -> None:
    call = SimpleNamespace(id="a", function=SimpleNamespace(name="read", arguments="{}"))
    assert read_chat(
        0, SimpleNamespace(role="assistant", content=None, tool_calls=[call])
    ).calls == (EntryCall("a", "read"),)


def test_an_old_function_call_is_known_by_its_name() -> None:
    call = read_chat(
        0,
        {
            "role": "assistant",
            "content": None,
            "function_call": {"name": "read", "arguments": "{}"},
        },
    )
    result = read_chat(1, {"role": "function", "name": "read", "content": "done"})
    assert call.calls[0].key == result.results[0].key == ("function", "read")
    assert (call.problem, result.problem, result.role) == ("", "", "tool")


def test_a_result_is_read() -> None:
    entry = read_chat(0, chat_result("a"))
    assert (entry.role, entry.results, entry.is_prompt, entry.problem) == (
        "tool",
        (EntryCall("a"),),
        False,
        "",
    )


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        ({"role": "user", "content": None}, "has-content"),
        ({"role": "assistant"}, "has-content"),
        ({"role": "assistant", "content": "Hi", "tool_calls": []}, "calls-not-empty"),
        (chat_calls(""), "call-has-id"),
        (chat_calls("a", "a"), "call-ids-unique"),
        (
            {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": {}}]},
            "call-has-name",
        ),
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
    call = SimpleNamespace(
        type="ai", content="", tool_calls=[{"id": "a", "name": "read", "args": {}}]
    )
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
    assert found(calls("a"), {"role": "tool", "tool_call_id": "a", "content": None}) == [
        (1, "has-content")
    ]


def test_calls_not_empty() -> None:
    assert found({"role": "assistant", "content": "Hi", "tool_calls": None}) == []
    assert found({"role": "assistant", "content": "Hi", "tool_calls": []}) == [
        (0, "calls-not-empty")
    ]


def test_call_has_id() -> None:
    assert found(calls("")) == [(0, "call-has-id")]
    assert found({"role": "assistant", "tool_calls": [{"function": {"name": "read"}}]}) == [
        (0, "call-has-id")
    ]


def test_call_has_name() -> None:
    nameless = {
        "role": "assistant",
        "tool_calls": [{"id": "a", "function": {"name": "", "arguments": "{}"}}],
    }
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
    assert found(calls("a"), result("a"), {"role": "tool", "content": "done"}) == [
        (2, "result-has-id")
    ]
    legacy = {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "read", "arguments": "{}"},
    }
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
    assert found(calls("a"), result("a"), calls("b"), result("b"), result("a")) == [
        (4, "result-has-call")
    ]


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
    legacy = {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "read", "arguments": "{}"},
    }
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
    assert [message["role"] for message in messages] == [
        "assistant",
        "tool",
        "user",
        "assistant",
        "tool",
    ]


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


def test_a_bare_text_becomes_a_message_of_the_users() -> None:
    assert mend("Hello", "")[0] == [HELLO]


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
        messages, changes = mend(
            {"role": "assistant", "content": None, "tool_calls": [broken]}, result("a")
        )
        assert messages[0]["tool_calls"][0]["function"] == {
            "name": "unknown_tool",
            "arguments": "{}",
        }
        assert changes == [(0, "call-has-name", "changed")]


def test_an_old_function_without_a_name_takes_that_of_its_result() -> None:
    legacy = {"role": "assistant", "content": None, "function_call": {"arguments": "{}"}}
    messages, _ = mend(legacy, {"role": "function", "name": "read", "content": "42"})
    assert messages[0]["function_call"] == {"arguments": "{}", "name": "read"}


def test_null_becomes_an_empty_text() -> None:
    messages, changes = mend({"role": "user", "content": None}, {"role": "assistant"})
    assert messages == [{"role": "user", "content": ""}, {"role": "assistant", "content": ""}]
    assert changes == [(0, "has-content", "changed"), (1, "has-content", "changed")]
