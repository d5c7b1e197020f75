"""Repairing OpenAI's Responses format, fault by fault."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from brim.history.repairs import NO_RESULT
from tests.history.repairing.mending import mended, texts
from tests.history.validity.test_responses import HELLO, SAID, call, output, reasoning

mend = partial(mended, "responses")


def test_an_orphan_output_is_removed_and_its_text_kept_in_the_list() -> None:
    orphan = {**output("a"), "output": "forty-two"}
    messages, changes = mend(HELLO, orphan)
    assert messages == [HELLO]
    assert changes == [(1, "result-has-call", "removed")]
    assert texts("responses", HELLO, orphan) == ["forty-two"]


@pytest.mark.parametrize("family", ["function", "custom_tool", "computer", "local_shell", "shell", "apply_patch"])
def test_every_kind_of_call_and_output_has_a_stub(family: str) -> None:
    orphan = output("a", family)
    messages, changes = mend(HELLO, orphan, restore_calls=True)
    assert (messages[1]["type"], messages[1]["call_id"], messages[2]) == (f"{family}_call", "a", orphan)
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
    nameless_call, nameless_output = {"type": "function_call", "name": "read"}, {"type": "function_call_output"}
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
