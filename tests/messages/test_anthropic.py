"""Anthropic's format: reading, checking and repairing it."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from brim.messages import FifoPruner, repair, validate
from brim.messages.anthropic.reading import blocks_of, read_message
from brim.messages.entries import EntryCall
from brim.messages.repairs import NO_BEGINNING, NO_RESULT
from brim.tokens import counter_for
from tests.messages.samples import (
    answers,
    assistant,
    mended,
    search,
    text_block,
    texts,
    thinking,
    tool_result,
    tool_use,
)


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
    assert (calls.calls, calls.says) == ((EntryCall("a", "read"), EntryCall("b", "read")), True)
    results = read_message(0, answers(tool_result("b"), tool_result("a")))
    assert (results.results, results.says, results.is_prompt) == (
        (EntryCall("b"), EntryCall("a")),
        False,
        False,
    )


def test_a_user_who_speaks_with_the_results_makes_a_prompt() -> None:
    assert read_message(0, answers(tool_result("a"), text_block("Go on."))).is_prompt


@pytest.mark.parametrize(
    ("message", "in_order"),
    [
        (answers(tool_result("a"), text_block("Go on.")), True),
        (answers(text_block("Well"), tool_result("a")), False),
        (assistant(thinking(), text_block("Well"), tool_use("a")), True),
        (assistant(tool_use("a"), text_block("Well")), False),
        (
            assistant(
                text_block("Well"), *search("s"), text_block("so"), tool_use("a"), *search("t")
            ),
            True,
        ),
    ],
)
def test_results_come_first_and_calls_last(message: Any, in_order: bool) -> None:
    assert read_message(0, message).in_order is in_order


def test_thinking_is_read() -> None:
    redacted = {"type": "redacted_thinking", "data": "x"}
    only, before = (
        read_message(0, assistant(redacted)),
        read_message(0, assistant(thinking(), text_block("Hi"))),
    )
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
    assert (
        read_message(
            0, {"role": "system", "content": [], "output_config": {"effort": "low"}}
        ).problem
        == ""
    )


def test_objects_are_read_like_dicts() -> None:
    block = SimpleNamespace(type="tool_use", id="a", name="read", input={})
    entry = read_message(0, SimpleNamespace(role="assistant", content=[block], id="msg"))
    assert (entry.calls, entry.id) == ((EntryCall("a", "read"),), "msg")


Message = dict[str, Any]
HELLO: Message = {"role": "user", "content": "Hello"}
SAID: Message = {"role": "assistant", "content": "Hi"}
NOTE: Message = {"role": "system", "content": "Be brief."}


def text(words: str) -> Message:
    return {"type": "text", "text": words}


def use(id_: str) -> Message:
    return {"type": "tool_use", "id": id_, "name": "read", "input": {}}


def result(id_: str) -> Message:
    return {"type": "tool_result", "tool_use_id": id_, "content": "done"}


def thinking_checked() -> Message:
    return {"type": "thinking", "thinking": "Hm.", "signature": "s"}


def user(*blocks: Message) -> Message:
    return {"role": "user", "content": list(blocks)}


def assistant_checked(*blocks: Message) -> Message:
    return {"role": "assistant", "content": list(blocks)}


def found(*messages: Any) -> list[tuple[int, str]]:
    return [
        (violation.index, violation.rule) for violation in validate(list(messages), "anthropic")
    ]


def test_known_role() -> None:
    assert found(HELLO, SAID) == []
    assert found(HELLO, {"role": "tool", "content": "done"}, {"content": "Hi"}) == [
        (1, "known-role"),
        (2, "known-role"),
    ]


@pytest.mark.parametrize("content", ["", [], None])
def test_has_content_refuses_an_empty_message(content: Any) -> None:
    assert found(HELLO, {"role": "assistant", "content": content}, HELLO) == [(1, "has-content")]
    assert found({"role": "user", "content": content}) == [(0, "has-content")]


@pytest.mark.parametrize("content", ["", []])
def test_has_content_accepts_an_empty_last_message_of_the_assistant(content: Any) -> None:
    assert found(HELLO, {"role": "assistant", "content": content}) == []


def test_has_content_accepts_settings_without_a_text_anywhere() -> None:
    directive = {"role": "system", "content": [], "output_config": {"effort": "low"}}
    assert found(directive, HELLO, directive, SAID, directive) == []
    assert found(HELLO, {"role": "system", "content": []}) == [(1, "has-content")]


@pytest.mark.parametrize("words", ["", "  \n"])
def test_text_not_empty(words: str) -> None:
    assert found(user(text("Hello"), text(words))) == [(0, "text-not-empty")]


def test_text_not_empty_looks_at_a_plain_text_too() -> None:
    assert found({"role": "user", "content": " \n"}) == [(0, "text-not-empty")]


def test_first_is_user() -> None:
    assert found(HELLO) == []
    assert found(SAID, HELLO) == [(0, "first-is-user")]


def test_system_placement_accepts_one_between_the_user_and_the_assistant_or_at_the_end() -> None:
    assert found(HELLO, NOTE, SAID) == []
    assert found(HELLO, NOTE) == []
    assert found(HELLO, assistant_checked(use("a")), user(result("a")), NOTE, SAID) == []


def test_system_placement_accepts_one_after_the_providers_own_call() -> None:
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    assert found(HELLO, assistant_checked(search), NOTE) == []
    mixed = found(HELLO, assistant_checked(use("a"), search), NOTE, user(result("a")))
    assert (2, "system-placement") in mixed


def test_system_placement_refuses_the_first_message() -> None:
    assert found(NOTE, HELLO) == [(0, "system-placement")]


def test_system_placement_refuses_one_after_the_assistant_or_before_the_user() -> None:
    assert found(HELLO, SAID, NOTE) == [(2, "system-placement")]
    assert found(HELLO, NOTE, HELLO) == [(1, "system-placement")]


def test_system_placement_refuses_one_between_a_call_and_its_result() -> None:
    between = found(HELLO, assistant_checked(use("a")), NOTE, user(result("a")))
    assert between == [(1, "call-has-result"), (2, "system-placement"), (3, "result-has-call")]


def test_system_placement_refuses_two_in_a_row() -> None:
    assert found(HELLO, NOTE, NOTE, SAID) == [(2, "system-placement")]


def test_call_by_assistant() -> None:
    assert found(user(text("Hello"), use("a"))) == [(0, "call-by-assistant")]


def test_result_by_user() -> None:
    assert found(HELLO, assistant_checked(result("a"), text("Hi"))) == [(1, "result-by-user")]


def test_call_has_id() -> None:
    assert found(HELLO, assistant_checked({"type": "tool_use", "name": "read", "input": {}})) == [
        (1, "call-has-id")
    ]


def test_result_has_id() -> None:
    nameless = {"type": "tool_result", "content": "done"}
    broken = found(HELLO, assistant_checked(use("a")), user(nameless))
    assert broken == [(1, "call-has-result"), (2, "result-has-id")]


def test_call_ids_unique_over_the_whole_history() -> None:
    step = (assistant_checked(use("a")), user(result("a")))
    assert found(HELLO, *step, *step) == [(3, "call-ids-unique")]
    assert found(HELLO, assistant_checked(use("a"), use("a")), user(result("a"))) == [
        (1, "call-ids-unique")
    ]


def test_results_first_accepts_text_behind_results() -> None:
    assert found(HELLO, assistant_checked(use("a")), user(result("a"), text("Go on."))) == []
    assert found(HELLO, assistant_checked(use("a")), user(result("a")), HELLO) == []


def test_results_first_refuses_text_before_them() -> None:
    assert found(HELLO, assistant_checked(use("a")), user(text("Well:"), result("a"))) == [
        (2, "results-first")
    ]
    assert found(HELLO, assistant_checked(use("a")), HELLO, user(result("a"))) == [
        (3, "results-first")
    ]
    mixed = found(
        HELLO,
        assistant_checked(use("a"), use("b")),
        user(result("a"), text("and")),
        user(result("b")),
    )
    assert mixed == [(3, "results-first")]


def test_calls_last_refuses_text_after_a_call() -> None:
    assert found(HELLO, assistant_checked(use("a"), text("Reading.")), user(result("a"))) == [
        (1, "calls-last")
    ]
    assert found(HELLO, assistant_checked(use("a")), SAID, user(result("a"))) == [(2, "calls-last")]


def test_calls_last_accepts_calls_in_several_messages_and_thinking_between() -> None:
    assert (
        found(
            HELLO,
            SAID,
            assistant_checked(use("a")),
            assistant_checked(use("b")),
            user(result("b")),
            user(result("a")),
        )
        == []
    )
    assert (
        found(
            HELLO,
            assistant_checked(
                thinking_checked(), text("Hm."), use("a"), thinking_checked(), use("b")
            ),
            user(result("a"), result("b")),
        )
        == []
    )


def test_result_has_call_accepts_any_order() -> None:
    assert found(HELLO, assistant_checked(use("a"), use("b")), user(result("b"), result("a"))) == []


def test_result_has_call_looks_at_the_turn_right_before_only() -> None:
    assert found(user(result("a"))) == [(0, "result-has-call")]
    step = (assistant_checked(use("a")), user(result("a")))
    assert found(HELLO, *step, SAID, user(result("a"))) == [(4, "result-has-call")]


def test_one_result_per_call() -> None:
    assert found(HELLO, assistant_checked(use("a")), user(result("a"), result("a"))) == [
        (2, "one-result-per-call")
    ]
    assert found(HELLO, assistant_checked(use("a")), user(result("a")), user(result("a"))) == [
        (3, "one-result-per-call")
    ]


def test_call_has_result() -> None:
    assert found(HELLO, assistant_checked(use("a"))) == [(1, "call-has-result")]
    assert found(HELLO, assistant_checked(use("a")), HELLO) == [(1, "call-has-result")]
    assert found(HELLO, assistant_checked(use("a"), use("b")), user(result("b"))) == [
        (1, "call-has-result")
    ]


@pytest.mark.parametrize("last", [thinking_checked(), {"type": "redacted_thinking", "data": "x"}])
def test_reasoning_not_last(last: Message) -> None:
    assert found(HELLO, assistant_checked(text("Hi"), last)) == [(1, "reasoning-not-last")]
    assert found(HELLO, assistant_checked(last), HELLO) == []
    assert found(HELLO, assistant_checked(last, text("Hi"))) == []


def test_few_markers() -> None:
    marked = {"role": "user", "content": [{**text("Hi"), "cache_control": {"type": "ephemeral"}}]}
    result = {
        **tool_result("toolu_1", "42"),
        "content": [{**text("42"), "cache_control": {"type": "ephemeral"}}],
    }
    assert found(*[marked] * 4) == []
    assert found(*[marked] * 6) == [(4, "few-markers")]
    asked = [HELLO, assistant_checked(tool_use("toolu_1"))]
    assert found(*asked, {"role": "user", "content": [result]}, *[marked] * 4) == [
        (6, "few-markers")
    ]
    repaired = repair([*[marked] * 6], "anthropic")
    assert found(*repaired.messages) == []
    assert [change.index for change in repaired.changes] == [0, 1]
    assert repaired.messages[2:] == [marked] * 4


def test_messages_of_one_role_are_one_turn() -> None:
    assert found(HELLO, HELLO, SAID, SAID, HELLO) == []


SEARCH: dict[str, Any] = {
    "type": "server_tool_use",
    "id": "srvtoolu_1",
    "name": "web_search",
    "input": {},
}
FOUND: dict[str, Any] = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [],
}


def test_server_result_has_call_accepts_both_in_one_turn() -> None:
    assert found(HELLO, assistant(text("Hm."), SEARCH, FOUND, text("There."))) == []
    assert found(HELLO, assistant(SEARCH), assistant(FOUND)) == []


def test_server_result_has_call_refuses_a_result_alone_or_first() -> None:
    assert found(HELLO, assistant(FOUND)) == [(1, "server-result-has-call")]
    assert found(HELLO, assistant(FOUND, SEARCH), HELLO) == [(1, "server-result-has-call")]
    broken = found(HELLO, assistant(SEARCH), HELLO, assistant(FOUND))
    assert broken == [(1, "server-call-has-result"), (3, "server-result-has-call")]


def test_server_call_has_result_when_the_turn_is_over() -> None:
    assert found(HELLO, assistant(SEARCH), HELLO) == [(1, "server-call-has-result")]
    assert found(HELLO, assistant(SEARCH, FOUND), HELLO) == []


def test_server_call_has_result_may_wait_while_the_turn_goes_on() -> None:
    step = (assistant(SEARCH, use("a")), user(result("a")))
    assert found(HELLO, assistant(SEARCH)) == []
    assert found(HELLO, assistant(SEARCH), NOTE) == []
    assert found(HELLO, *step) == []
    assert found(HELLO, *step, assistant(FOUND, text("There.")), HELLO) == []
    assert found(HELLO, step[0], user(result("a"), text("Go on."))) == [
        (1, "server-call-has-result")
    ]


def test_a_call_may_stand_before_one_of_the_providers_own() -> None:
    assert found(HELLO, assistant(use("a"), SEARCH), user(result("a"))) == []


def test_a_remote_server_is_a_tool_of_the_providers_own() -> None:
    asked = {
        "type": "mcp_tool_use",
        "id": "mcptoolu_1",
        "name": "read",
        "server_name": "files",
        "input": {},
    }
    answer = {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "content": []}
    assert found(HELLO, assistant(asked, answer), HELLO) == []
    assert found(HELLO, assistant(answer), HELLO) == [(1, "server-result-has-call")]
    assert found(HELLO, assistant(asked), HELLO) == [(1, "server-call-has-result")]


mend = partial(mended, "anthropic")
FIRST = {"role": "user", "content": NO_BEGINNING}
TAGGED = "<system>\nBe brief.\n</system>"


def stub(id_: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "is_error": True, "content": NO_RESULT}


def test_an_orphan_result_is_removed_and_its_text_kept_in_the_list() -> None:
    messages, changes = mend(
        HELLO, SAID, user(result("a"), text("Go on.")), SAID, user(result("b"))
    )
    assert messages == [HELLO, SAID, user(text("Go on.")), SAID]
    assert changes == [(2, "result-has-call", "removed"), (4, "result-has-call", "removed")]
    assert texts("anthropic", HELLO, SAID, user(result("a")))[0] == "done"


def test_an_orphan_result_can_get_its_call_back() -> None:
    messages, changes = mend(user(result("a")), restore_calls=True)
    stub_call = {"type": "tool_use", "id": "a", "name": "unknown_tool", "input": {}}
    assert messages == [FIRST, assistant(stub_call), user(result("a"))]
    assert changes == [(0, "result-has-call", "added"), (0, "first-is-user", "added")]


def test_restored_calls_join_the_assistants_turn_before_them() -> None:
    messages, _ = mend(
        HELLO, assistant(use("a")), user(result("a"), result("b")), restore_calls=True
    )
    assert [message["role"] for message in messages] == ["user", "assistant", "assistant", "user"]


def test_an_orphan_that_stands_there_twice_is_restored_once() -> None:
    messages, changes = mend(HELLO, SAID, user(result("a"), result("a")), restore_calls=True)
    assert messages[-1] == user(result("a"))
    assert changes == [(2, "result-has-call", "added"), (2, "one-result-per-call", "removed")]


def test_an_orphan_without_an_id_gets_one_with_its_call() -> None:
    messages, _ = mend(
        HELLO, SAID, user({"type": "tool_result", "content": "42"}), restore_calls=True
    )
    assert messages[2]["content"][0]["id"] == messages[3]["content"][0]["tool_use_id"] == "toolu_1"


def test_an_orphan_with_the_id_of_a_later_call_gets_another() -> None:
    step = (assistant(use("a")), user(result("a")))
    messages, _ = mend(
        HELLO, SAID, user({**result("a"), "content": "old"}), *step, restore_calls=True
    )
    assert messages[2]["content"][0]["id"] == messages[3]["content"][0]["tool_use_id"] == "toolu_1"
    assert messages[4:] == list(step)


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    assert mend(HELLO, assistant(use("a")))[0] == [HELLO, assistant(use("a")), user(stub("a"))]
    messages, changes = mend(HELLO, assistant(use("a")), HELLO)
    assert messages == [HELLO, assistant(use("a")), user(stub("a")), HELLO]
    assert changes == [(1, "call-has-result", "added")]


def test_a_stub_joins_the_results_that_are_there() -> None:
    messages, _ = mend(HELLO, assistant(use("a"), use("b")), user(result("b"), text("Go on.")))
    assert messages[2] == user(result("b"), stub("a"), text("Go on."))


def test_a_late_result_is_moved_to_its_call() -> None:
    messages, changes = mend(
        HELLO, assistant(use("a")), HELLO, SAID, user(result("a"), text("Go on."))
    )
    assert messages == [
        HELLO,
        assistant(use("a")),
        user(result("a")),
        HELLO,
        SAID,
        user(text("Go on.")),
    ]
    assert changes == [(4, "result-has-call", "moved")]


def test_results_behind_a_message_of_the_same_turn_change_places_with_it() -> None:
    said, answer = dict(HELLO), user(result("a"))
    messages, changes = mend(HELLO, assistant(use("a")), said, answer)
    assert messages[2] is answer
    assert messages[3] is said
    assert changes == [(3, "results-first", "moved")]


def test_results_behind_a_text_of_the_same_message_change_places_with_it() -> None:
    messages, changes = mend(HELLO, assistant(use("a")), user(text("So:"), result("a")))
    assert messages[2] == user(result("a"), text("So:"))
    assert changes == [(2, "results-first", "moved")]


def test_results_in_two_mixed_messages_are_put_first() -> None:
    mixed = (user(result("a"), text("one")), user(text("two"), result("b")))
    messages, _ = mend(HELLO, assistant(use("a"), use("b")), *mixed)
    assert messages[2:] == [user(result("b")), mixed[0], user(text("two"))]


def test_text_behind_a_call_is_moved_before_it() -> None:
    messages, changes = mend(
        HELLO, assistant(thinking(), use("a"), text("Reading.")), user(result("a"))
    )
    assert messages[1] == assistant(thinking(), text("Reading."), use("a"))
    assert changes == [(1, "calls-last", "moved")]
    messages, changes = mend(HELLO, assistant(use("a")), SAID, user(result("a")))
    assert messages == [HELLO, assistant(text("Hi"), use("a")), user(result("a"))]
    assert changes == [(2, "calls-last", "moved")]


def test_the_second_result_of_a_call_is_removed() -> None:
    messages, changes = mend(
        HELLO, assistant(use("a")), user(result("a"), {**result("a"), "content": "again"})
    )
    assert messages[2] == user(result("a"))
    assert changes == [(2, "one-result-per-call", "removed")]


def test_an_id_that_is_used_again_is_renamed_with_its_result() -> None:
    step = (assistant(use("a")), user(result("a")))
    messages, changes = mend(HELLO, *step, *step)
    assert messages == [HELLO, *step, assistant(use("toolu_1")), user(result("toolu_1"))]
    assert changes == [(3, "call-ids-unique", "changed")]


def test_an_id_that_is_used_twice_in_a_turn_is_renamed_with_the_second_result() -> None:
    messages, _ = mend(
        HELLO, assistant(use("a"), use("a")), user(result("a"), {**result("a"), "content": "again"})
    )
    assert messages[1] == assistant(use("a"), use("toolu_1"))
    assert messages[2] == user(result("a"), {**result("toolu_1"), "content": "again"})


def test_missing_ids_are_given_to_both_sides() -> None:
    nameless_use, nameless_result = (
        {"type": "tool_use", "name": "read"},
        {"type": "tool_result", "content": "42"},
    )
    messages, _ = mend(HELLO, assistant(nameless_use), user(result("x")))
    assert messages[1] == assistant({**nameless_use, "id": "x"})
    messages, changes = mend(HELLO, assistant(nameless_use), user(nameless_result))
    assert messages[1:] == [
        assistant({**nameless_use, "id": "toolu_1"}),
        user({**nameless_result, "tool_use_id": "toolu_1"}),
    ]
    assert changes == [(1, "call-has-id", "changed"), (2, "result-has-id", "changed")]


def test_the_first_system_text_moves_into_the_first_message_of_the_users() -> None:
    messages, changes = mend(NOTE, HELLO, SAID)
    assert messages == [{"role": "user", "content": f"{TAGGED}\n\nHello"}, SAID]
    assert changes == [(0, "system-placement", "moved")]
    messages, _ = mend(NOTE, user(text("Hello")))
    assert messages == [user(text(TAGGED), text("Hello"))]


def test_without_a_user_the_first_system_text_becomes_his() -> None:
    assert mend(NOTE, SAID)[0] == [user(text(TAGGED)), SAID]
    assert mend(NOTE)[0] == [user(text(TAGGED))]


def test_a_system_text_before_the_user_is_moved_behind_him() -> None:
    messages, changes = mend(HELLO, assistant(use("a")), NOTE, user(result("a")), SAID)
    assert messages == [HELLO, assistant(use("a")), user(result("a")), NOTE, SAID]
    assert changes == [(2, "system-placement", "moved")]


def test_a_system_text_between_two_of_the_assistants_becomes_the_users() -> None:
    messages, changes = mend(HELLO, SAID, NOTE, SAID)
    assert messages == [HELLO, SAID, user(text(TAGGED)), SAID]
    assert changes == [(2, "system-placement", "changed")]


def test_of_two_system_texts_the_last_stays() -> None:
    messages, _ = mend(HELLO, NOTE, NOTE, SAID)
    assert messages == [HELLO, user(text(TAGGED)), NOTE, SAID]


def test_a_system_message_of_several_blocks_is_tagged_as_a_whole() -> None:
    note = {"role": "system", "content": [text("One."), text("Two.")]}
    messages, _ = mend(note, HELLO)
    assert messages == [
        user(text("<system>"), text("One."), text("Two."), text("</system>"), text("Hello"))
    ]


def test_empty_texts_and_messages_are_removed() -> None:
    empty = {"role": "assistant", "content": ""}
    messages, changes = mend(
        user(text("Hello"), text(" ")), empty, HELLO, {"role": "assistant", "content": None}
    )
    assert messages == [user(text("Hello")), HELLO]
    assert changes == [
        (0, "text-not-empty", "removed"),
        (1, "has-content", "removed"),
        (3, "has-content", "removed"),
    ]
    assert mend(HELLO, empty)[0] == [HELLO, empty]


def test_what_else_a_removed_message_holds_is_noted() -> None:
    foreign = {"role": "assistant", "content": [text(" ")], "tool_calls": [{"id": "lost"}]}
    assert mend(HELLO, foreign, HELLO)[0] == [HELLO, HELLO]
    assert "lost" in texts("anthropic", HELLO, foreign, HELLO)[1]


def test_the_user_begins() -> None:
    messages, changes = mend(SAID, HELLO)
    assert messages == [FIRST, SAID, HELLO]
    assert changes == [(0, "first-is-user", "added")]


def test_thinking_at_the_end_is_removed() -> None:
    messages, changes = mend(HELLO, assistant(text("Hi"), thinking()), assistant(thinking()))
    assert messages == [HELLO, assistant(text("Hi"))]
    assert changes == [(1, "reasoning-not-last", "removed"), (2, "reasoning-not-last", "removed")]


def test_calls_and_results_on_the_wrong_side_change_it() -> None:
    messages, changes = mend(HELLO, user(use("a")), assistant(result("a"), text("Hi")))
    assert messages == [HELLO, assistant(use("a")), user(result("a")), assistant(text("Hi"))]
    assert changes == [(1, "call-by-assistant", "changed"), (2, "result-by-user", "moved")]


@pytest.mark.parametrize(
    ("role", "known"), [("human", "user"), ("ai", "assistant"), ("tool", "user")]
)
def test_unknown_roles_become_known_ones(role: str, known: str) -> None:
    assert mend(HELLO, {"role": role, "content": "Hi"})[0] == [
        HELLO,
        {"role": known, "content": "Hi"},
    ]


def test_an_unknown_role_that_calls_is_the_assistant() -> None:
    messages, _ = mend(HELLO, {"role": "bot", "content": [use("a")]}, user(result("a")))
    assert messages == [HELLO, assistant(use("a")), user(result("a"))]


def test_a_result_without_its_call_is_removed() -> None:
    messages, changes = mend(HELLO, assistant(FOUND, text("There.")))
    assert messages == [HELLO, assistant(text("There."))]
    assert changes == [(1, "server-result-has-call", "removed")]


def test_a_result_without_its_call_can_get_it_back() -> None:
    messages, changes = mend(HELLO, assistant(FOUND), restore_calls=True)
    assert messages == [HELLO, assistant(SEARCH, FOUND)]
    assert changes == [(1, "server-result-has-call", "added")]
    answer = {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "content": []}
    assert (
        mend(HELLO, assistant(answer), restore_calls=True)[0][1]["content"][0]["type"]
        == "mcp_tool_use"
    )


def test_a_call_whose_turn_is_over_gets_an_error_as_its_result() -> None:
    messages, changes = mend(HELLO, assistant(SEARCH), HELLO)
    error = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
    assert messages == [HELLO, assistant(SEARCH, {**FOUND, "content": error}), HELLO]
    assert changes == [(1, "server-call-has-result", "added")]
    asked = {
        "type": "mcp_tool_use",
        "id": "mcptoolu_1",
        "name": "read",
        "server_name": "files",
        "input": {},
    }
    assert mend(HELLO, assistant(asked), HELLO)[0][1]["content"][1]["is_error"] is True


def test_a_call_that_cannot_be_answered_is_removed() -> None:
    nameless = {"type": "server_tool_use", "input": {"query": "lost"}}
    messages, changes = mend(HELLO, assistant(nameless, text("Hm.")), HELLO)
    assert messages == [HELLO, assistant(text("Hm.")), HELLO]
    assert changes == [(1, "server-call-has-result", "removed")]


def test_a_call_whose_turn_goes_on_waits() -> None:
    items = (HELLO, assistant(SEARCH, use("a")), user(result("a")))
    assert mend(*items) == (list(items), [])


# A compaction of the provider's own


def compaction(summary: str | None = "We fixed the parser.", **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "compaction", "content": summary, **fields}]}


BEFORE = [
    {"role": "user", "content": "Fix it"},
    assistant(tool_use("old")),
    answers(tool_result("old", "long " * 500)),
]
AFTER = [
    {"role": "user", "content": "Go on"},
    assistant(tool_use("new")),
    answers(tool_result("new")),
]


def test_compaction_first_wants_a_signed_summary_before_everything() -> None:
    signed = compaction(signature="s")
    assert validate([signed, *AFTER], "anthropic") == []
    assert [each.rule for each in validate([*BEFORE, signed, *AFTER], "anthropic")] == [
        "compaction-first"
    ]
    behind = {"role": "assistant", "content": [{"type": "text", "text": "Hm."}, *signed["content"]]}
    assert "compaction-first" in {each.rule for each in validate([behind, *AFTER], "anthropic")}
    assert validate([*BEFORE, compaction(), *AFTER], "anthropic") == []


def test_one_compaction_wants_only_the_last() -> None:
    two = [compaction(signature="a"), *AFTER, compaction("Newer.", signature="b")]
    assert {each.rule for each in validate(two, "anthropic")} == {
        "one-compaction",
        "compaction-first",
    }
    failed = [compaction(signature="a"), *AFTER, compaction(None)]
    assert validate(failed, "anthropic") == []


def test_a_summary_must_not_be_empty() -> None:
    assert [each.rule for each in validate([compaction(""), *AFTER], "anthropic")] == [
        "text-not-empty"
    ]


@pytest.mark.parametrize("fields", [{}, {"signature": "s"}])
def test_a_pruner_begins_with_the_last_summary(fields: dict[str, str]) -> None:
    first, last = compaction("Older.", **fields), compaction(**fields)
    messages = [*BEFORE, first, {"role": "user", "content": "More"}, last, *AFTER]
    for target in (60, 100, 10_000):
        pruned = FifoPruner().prune(messages, target, model="claude-sonnet-4-5")
        assert pruned.messages[0] is last
        assert validate(pruned.messages, "anthropic") == []
        replaced = [unit for unit in pruned.receipt.dropped if unit.kind == "compacted"]
        assert [unit.indices for unit in replaced] == [(at,) for at in range(5)]


def test_what_a_summary_replaces_is_not_counted() -> None:
    counter = counter_for("claude-sonnet-4-5")
    assert counter.count_messages([*BEFORE, compaction(), *AFTER]) == counter.count_messages(
        [compaction(), *AFTER]
    )
    failed = [*BEFORE, compaction(None), *AFTER]
    assert counter.count_messages(failed) > counter.count_messages(failed[3:]) + 400


def test_repair_puts_the_last_signed_summary_first() -> None:
    fixed = repair(
        [*BEFORE, compaction("Older.", signature="a"), *AFTER, compaction(signature="b")],
        "anthropic",
    )
    assert fixed.messages == [compaction(signature="b")]
    assert any("Older." in change.text for change in fixed.changes)
