"""OpenAI's Responses format: reading, checking and repairing it."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from brim.messages import FifoPruner, validate
from brim.messages.entries import EntryCall
from brim.messages.repairs import NO_RESULT
from brim.messages.responses import ANSWERED, HOSTED, read_item
from brim.tokens import counter_for
from tests.messages.samples import item_call, item_output, item_reasoning, mended, texts, user


@pytest.mark.parametrize(
    ("role", "spoken"),
    [("system", "system"), ("developer", "system"), ("user", "user"), ("assistant", "assistant")],
)
def test_messages_may_have_a_type_or_not(role: str, spoken: str) -> None:
    for message in (
        {"role": role, "content": "Hi"},
        {"type": "message", "role": role, "content": "Hi", "id": "m"},
    ):
        entry = read_item(0, message)
        assert (entry.role, entry.says, entry.id) == (spoken, True, message.get("id", ""))


@pytest.mark.parametrize("family", ANSWERED)
def test_calls_and_their_outputs_have_one_key(family: str) -> None:
    call, output = (
        read_item(0, item_call("a", family)),
        read_item(1, item_output("a", family=family)),
    )
    assert call.calls[0].key == output.results[0].key == (family, "a")
    assert (call.role, output.role, call.calls[0].required) == ("assistant", "tool", True)


def test_calls_of_different_families_have_different_keys() -> None:
    assert (
        read_item(0, item_call("a")).calls[0].key
        != read_item(0, item_call("a", "custom_tool")).calls[0].key
    )


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
    answer = read_item(
        1, {"type": "mcp_approval_response", "approval_request_id": "r", "approve": True}
    )
    assert asked.calls[0].key == answer.results[0].key
    assert (asked.calls[0].required, answer.role) == (False, "tool")


def test_reasoning_is_read() -> None:
    entry = read_item(0, item_reasoning("r"))
    assert (entry.role, entry.reasons, entry.ends_in_reasoning, entry.says) == (
        "assistant",
        True,
        True,
        False,
    )


def test_a_type_that_is_not_known_yet_is_the_assistants() -> None:
    entry = read_item(0, {"type": "dream", "id": "d"})
    assert (entry.role, entry.says, entry.problem) == ("assistant", True, "")


def test_a_call_of_a_family_that_is_not_known_yet_is_a_call() -> None:
    entry = read_item(0, {"type": "dance_call", "call_id": "a"})
    assert entry.calls == (EntryCall("a", kind="dance", required=False),)
    assert (
        read_item(0, {"type": "dance_call_output", "call_id": "a"}).results[0].key
        == entry.calls[0].key
    )


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


Item = dict[str, Any]
HELLO: Item = {"role": "user", "content": "Hello"}
SAID: Item = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Hi"}],
}


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
    "item",
    [{"role": "tool", "content": "x"}, {"type": "message", "content": "x"}, {}, "text", None],
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


@pytest.mark.parametrize(
    "family", ["function", "custom_tool", "computer", "local_shell", "shell", "apply_patch"]
)
def test_call_has_result_for_every_kind_of_call(family: str) -> None:
    assert found(call("a", family), output("a", family)) == []
    assert found(call("a", family)) == [(0, "call-has-result")]
    assert found(output("a", family)) == [(0, "result-has-call")]


@pytest.mark.parametrize(
    "kind", ["web_search_call", "file_search_call", "mcp_call", "code_interpreter_call"]
)
def test_call_has_result_does_not_ask_the_providers_own_tools(kind: str) -> None:
    assert found({"type": kind, "id": "ws_1", "status": "completed"}) == []


def test_call_has_id() -> None:
    assert found({"type": "function_call", "name": "read", "arguments": "{}"}) == [
        (0, "call-has-id")
    ]
    assert found(call("")) == [(0, "call-has-id")]


def test_result_has_id() -> None:
    assert found({"type": "function_call_output", "output": "done"}) == [(0, "result-has-id")]
    assert found({"type": "mcp_approval_response", "approve": True}) == [(0, "result-has-id")]


def test_result_has_call_accepts_outputs_anywhere_behind_their_calls() -> None:
    assert (
        found(call("a"), HELLO, call("b"), reasoning("rs_1"), SAID, output("b"), HELLO, output("a"))
        == []
    )


def test_result_has_call_refuses_an_output_before_its_call() -> None:
    assert found(output("a"), call("a")) == [(0, "result-has-call"), (1, "call-has-result")]


def test_result_has_call_wants_the_same_kind() -> None:
    assert found(call("a"), output("a", "custom_tool")) == [
        (0, "call-has-result"),
        (1, "result-has-call"),
    ]


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
    assert found({**SAID, "id": "msg_1"}, HELLO, {**SAID, "id": "msg_1"}) == [
        (2, "item-ids-unique")
    ]
    assert (
        found({**SAID, "id": "__fake_id__"}, HELLO, {**SAID, "id": "__fake_id__"}) == []
    )  # the Agents SDK's


def test_anybody_may_begin_and_speak_twice() -> None:
    note = {"role": "developer", "content": "Be brief."}
    assert found(SAID, SAID, HELLO, HELLO, note, SAID) == []


mend = partial(mended, "responses")


def test_an_orphan_output_is_removed_and_its_text_kept_in_the_list() -> None:
    orphan = {**output("a"), "output": "forty-two"}
    messages, changes = mend(HELLO, orphan)
    assert messages == [HELLO]
    assert changes == [(1, "result-has-call", "removed")]
    assert texts("responses", HELLO, orphan) == ["forty-two"]


@pytest.mark.parametrize(
    "family", ["function", "custom_tool", "computer", "local_shell", "shell", "apply_patch"]
)
def test_every_kind_of_call_and_output_has_a_stub(family: str) -> None:
    orphan = output("a", family)
    messages, changes = mend(HELLO, orphan, restore_calls=True)
    assert (messages[1]["type"], messages[1]["call_id"], messages[2]) == (
        f"{family}_call",
        "a",
        orphan,
    )
    assert changes == [(1, "result-has-call", "added")]
    messages, changes = mend(call("a", family))
    assert (messages[1]["type"], messages[1]["call_id"]) == (f"{family}_call_output", "a")
    assert changes == [(0, "call-has-result", "added")]


def test_the_stub_of_an_output_says_so_in_plain_words() -> None:
    assert mend(call("a"))[0][1]["output"] == NO_RESULT
    assert mend(call("a", "shell"))[0][1]["output"][0]["stderr"] == NO_RESULT


def test_stubs_stand_behind_all_the_calls_that_were_made_together() -> None:
    messages, _ = mend(reasoning("rs_1"), call("a"), call("b"), output("b"), HELLO)
    assert [item.get("call_id") for item in messages] == [None, "a", "b", "a", "b", None]


def test_an_approval_without_its_request_is_removed_whatever_is_asked() -> None:
    answer = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
    assert mend(HELLO, answer, restore_calls=True)[0] == [HELLO]


def test_an_approval_without_an_id_answers_the_request_before_it() -> None:
    asked = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "read", "arguments": "{}"}
    messages, changes = mend(asked, {"type": "mcp_approval_response", "approve": True})
    assert messages[1]["approval_request_id"] == "mcpr_1"
    assert changes == [(1, "result-has-id", "changed")]


def test_an_output_right_before_its_call_is_moved_behind_it() -> None:
    messages, changes = mend(HELLO, output("a"), call("a"), SAID)
    assert messages == [HELLO, call("a"), output("a"), SAID]
    assert changes == [(1, "result-has-call", "moved")]


def test_outputs_far_behind_their_calls_stay_there() -> None:
    items = [call("a"), HELLO, SAID, output("a")]
    messages, changes = mend(*items)
    assert messages == items
    assert changes == []


def test_an_output_of_another_kind_gets_the_type_that_its_call_wants() -> None:
    messages, changes = mend(call("a", "custom_tool"), output("a"))
    assert messages[1] == {**output("a"), "type": "custom_tool_call_output"}
    assert changes == [(1, "result-has-call", "changed")]


def test_the_second_output_of_a_call_is_removed() -> None:
    messages, changes = mend(call("a"), output("a"), {**output("a"), "output": "again"})
    assert messages == [call("a"), output("a")]
    assert changes == [(2, "one-result-per-call", "removed")]


def test_missing_ids_are_given_to_both_sides() -> None:
    nameless_call, nameless_output = (
        {"type": "function_call", "name": "read"},
        {"type": "function_call_output"},
    )
    messages, _ = mend(nameless_call, output("x"))
    assert messages == [{**nameless_call, "call_id": "x"}, output("x")]
    messages, changes = mend(nameless_call, {**nameless_output, "output": "42"})
    assert [item["call_id"] for item in messages] == ["call_1", "call_1"]
    assert changes == [(0, "call-has-id", "changed"), (1, "result-has-id", "changed")]


def test_an_output_without_an_id_can_get_a_call() -> None:
    messages, _ = mend(HELLO, {"type": "function_call_output", "output": "42"}, restore_calls=True)
    assert [item.get("call_id") for item in messages] == [None, "call_1", "call_1"]


def test_reasoning_that_leads_to_nothing_is_removed() -> None:
    thought = {**reasoning("rs_1"), "summary": [{"type": "summary_text", "text": "Hm."}]}
    messages, changes = mend(HELLO, thought, reasoning("rs_2"), HELLO)
    assert messages == [HELLO, HELLO]
    assert changes == [(1, "reasoning-has-item", "removed"), (2, "reasoning-has-item", "removed")]
    assert "Hm." in texts("responses", HELLO, thought)[0]


def test_a_copy_of_an_item_is_removed() -> None:
    item = {**SAID, "id": "msg_1"}
    messages, changes = mend(item, HELLO, dict(item), {"type": "item_reference", "id": "msg_1"})
    assert messages == [item, HELLO]
    assert changes == [(2, "item-ids-unique", "removed"), (3, "item-ids-unique", "removed")]


def test_an_item_that_refuses_to_be_compared_is_no_copy() -> None:
    class Odd(dict[str, Any]):  # noqa: PLW1641
        def __eq__(self, other: object) -> bool:
            raise RuntimeError

    messages, changes = mend({**SAID, "id": "msg_1"}, Odd(**SAID, id="msg_1"))
    assert "id" not in messages[1]
    assert changes == [(1, "item-ids-unique", "changed")]


def test_another_item_with_the_same_id_loses_the_id() -> None:
    other = {"role": "assistant", "content": "Bye", "id": "msg_1"}
    messages, changes = mend({**SAID, "id": "msg_1"}, other)
    assert messages[1] == {"role": "assistant", "content": "Bye"}
    assert changes == [(1, "item-ids-unique", "changed")]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"role": "human", "content": "Hello"}, HELLO),
        ({"role": "tool", "content": "Hello"}, HELLO),
        ("Hello", HELLO),
        ({"role": "user", "content": None}, {"role": "user", "content": ""}),
    ],
)
def test_what_is_no_item_becomes_a_message(item: Any, expected: Any) -> None:
    assert mend(item)[0] == [expected]


def test_a_compaction_replaces_all_but_what_the_user_said() -> None:
    item = {"type": "compaction", "id": "cmp_1", "encrypted_content": "x" * 40}
    old = [user("responses", "Fix it"), item_call("old"), item_output("old", "long " * 500)]
    messages = [*old, item, user("responses", "Go on"), item_call("new"), item_output("new")]
    assert validate(messages, "responses") == []
    counter = counter_for("gpt-4o")
    assert counter.count_messages(messages) == counter.count_messages([messages[0], *messages[3:]])
    pruned = FifoPruner().prune(messages, 100, model="gpt-4o")
    assert item in pruned.messages
    assert {unit.indices for unit in pruned.receipt.dropped if unit.kind == "compacted"} == {
        (1,),
        (2,),
    }
    assert FifoPruner().prune(messages, 10, model="gpt-4o").messages[0] is item
