"""Repairing Anthropic's format, fault by fault."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from brim.history.repairs import NO_BEGINNING, NO_RESULT
from tests.history.repairing.mending import mended, texts
from tests.history.validity.test_anthropic import HELLO, NOTE, SAID, assistant, result, text, thinking, use, user

mend = partial(mended, "anthropic")
FIRST = {"role": "user", "content": NO_BEGINNING}
TAGGED = "<system>\nBe brief.\n</system>"


def stub(id_: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "is_error": True, "content": NO_RESULT}


def test_an_orphan_result_is_removed_and_its_text_kept_in_the_list() -> None:
    messages, changes = mend(HELLO, SAID, user(result("a"), text("Go on.")), SAID, user(result("b")))
    assert messages == [HELLO, SAID, user(text("Go on.")), SAID]
    assert changes == [(2, "result-has-call", "removed"), (4, "result-has-call", "removed")]
    assert texts("anthropic", HELLO, SAID, user(result("a")))[0] == "done"


def test_an_orphan_result_can_get_its_call_back() -> None:
    messages, changes = mend(user(result("a")), restore_calls=True)
    stub_call = {"type": "tool_use", "id": "a", "name": "unknown_tool", "input": {}}
    assert messages == [FIRST, assistant(stub_call), user(result("a"))]
    assert changes == [(0, "result-has-call", "added"), (0, "first-is-user", "added")]


def test_restored_calls_join_the_assistants_turn_before_them() -> None:
    messages, _ = mend(HELLO, assistant(use("a")), user(result("a"), result("b")), restore_calls=True)
    assert [message["role"] for message in messages] == ["user", "assistant", "assistant", "user"]


def test_an_orphan_that_stands_there_twice_is_restored_once() -> None:
    messages, changes = mend(HELLO, SAID, user(result("a"), result("a")), restore_calls=True)
    assert messages[-1] == user(result("a"))
    assert changes == [(2, "result-has-call", "added"), (2, "one-result-per-call", "removed")]


def test_an_orphan_without_an_id_gets_one_with_its_call() -> None:
    messages, _ = mend(HELLO, SAID, user({"type": "tool_result", "content": "42"}), restore_calls=True)
    assert messages[2]["content"][0]["id"] == messages[3]["content"][0]["tool_use_id"] == "toolu_1"


def test_an_orphan_with_the_id_of_a_later_call_gets_another() -> None:
    step = (assistant(use("a")), user(result("a")))
    messages, _ = mend(HELLO, SAID, user({**result("a"), "content": "old"}), *step, restore_calls=True)
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
    messages, changes = mend(HELLO, assistant(use("a")), HELLO, SAID, user(result("a"), text("Go on.")))
    assert messages == [HELLO, assistant(use("a")), user(result("a")), HELLO, SAID, user(text("Go on."))]
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
    messages, changes = mend(HELLO, assistant(thinking(), use("a"), text("Reading.")), user(result("a")))
    assert messages[1] == assistant(thinking(), text("Reading."), use("a"))
    assert changes == [(1, "calls-last", "moved")]
    messages, changes = mend(HELLO, assistant(use("a")), SAID, user(result("a")))
    assert messages == [HELLO, assistant(text("Hi"), use("a")), user(result("a"))]
    assert changes == [(2, "calls-last", "moved")]


def test_the_second_result_of_a_call_is_removed() -> None:
    messages, changes = mend(HELLO, assistant(use("a")), user(result("a"), {**result("a"), "content": "again"}))
    assert messages[2] == user(result("a"))
    assert changes == [(2, "one-result-per-call", "removed")]


def test_an_id_that_is_used_again_is_renamed_with_its_result() -> None:
    step = (assistant(use("a")), user(result("a")))
    messages, changes = mend(HELLO, *step, *step)
    assert messages == [HELLO, *step, assistant(use("toolu_1")), user(result("toolu_1"))]
    assert changes == [(3, "call-ids-unique", "changed")]


def test_an_id_that_is_used_twice_in_a_turn_is_renamed_with_the_second_result() -> None:
    messages, _ = mend(HELLO, assistant(use("a"), use("a")), user(result("a"), {**result("a"), "content": "again"}))
    assert messages[1] == assistant(use("a"), use("toolu_1"))
    assert messages[2] == user(result("a"), {**result("toolu_1"), "content": "again"})


def test_missing_ids_are_given_to_both_sides() -> None:
    nameless_use, nameless_result = {"type": "tool_use", "name": "read"}, {"type": "tool_result", "content": "42"}
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
    assert messages == [user(text("<system>"), text("One."), text("Two."), text("</system>"), text("Hello"))]


def test_empty_texts_and_messages_are_removed() -> None:
    empty = {"role": "assistant", "content": ""}
    messages, changes = mend(user(text("Hello"), text(" ")), empty, HELLO, {"role": "assistant", "content": None})
    assert messages == [user(text("Hello")), HELLO]
    assert changes == [(0, "text-not-empty", "removed"), (1, "has-content", "removed"), (3, "has-content", "removed")]
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


@pytest.mark.parametrize(("role", "known"), [("human", "user"), ("ai", "assistant"), ("tool", "user")])
def test_unknown_roles_become_known_ones(role: str, known: str) -> None:
    assert mend(HELLO, {"role": role, "content": "Hi"})[0] == [HELLO, {"role": known, "content": "Hi"}]


def test_an_unknown_role_that_calls_is_the_assistant() -> None:
    messages, _ = mend(HELLO, {"role": "bot", "content": [use("a")]}, user(result("a")))
    assert messages == [HELLO, assistant(use("a")), user(result("a"))]
