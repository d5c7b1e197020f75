"""What can never be sent, for each provider, and what breaks because something else left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.messages import PROVIDERS, Provider, validate
from brim.messages.entries import Entry
from brim.messages.formats import FORMATS, find_broken, read
from brim.messages.responses import runs
from tests.messages.histories import any_histories, valid_histories
from tests.messages.samples import (
    answers,
    assistant,
    chat_calls,
    chat_result,
    function_calls,
    function_responses,
    item_call,
    item_output,
    item_reasoning,
    says,
    search,
    step,
    text_block,
    thinking,
    tool_result,
    tool_use,
    user,
)

HELLO = user("openai", "Hello")
NOTE = {"role": "system", "content": "Be brief."}
DIRECTIVE = {"role": "system", "content": [], "output_config": {"effort": "low"}}
USE, RESULT = assistant(tool_use("a")), answers(tool_result("a"))
every_provider = pytest.mark.parametrize("provider", PROVIDERS)


def broken(provider: Provider, *messages: Any) -> dict[int, str]:
    return dict(sorted(find_broken(read(messages, provider), provider).items()))


def places(provider: Provider, *messages: Any) -> list[int]:
    return list(broken(provider, *messages))


@every_provider
def test_a_result_without_a_call_is_broken(provider: Provider) -> None:
    result = step(provider, "a", "done")[1]
    assert places(provider, user(provider, "Hello"), result) == [1]


@every_provider
def test_a_call_without_a_result_is_broken(provider: Provider) -> None:
    call = step(provider, "a", "done")[0]
    assert places(provider, user(provider, "Hello"), call) == [1]
    assert places(provider, user(provider, "Hello"), call, user(provider, "Well?")) == [1]


@every_provider
def test_an_empty_history_is_sound(provider: Provider) -> None:
    assert broken(provider) == {}


@every_provider
@given(data=st.data())
def test_nothing_is_broken_in_what_is_valid(provider: Provider, data: st.DataObject) -> None:
    messages = data.draw(valid_histories(provider))
    assert broken(provider, *messages) == {}


@every_provider
@given(data=st.data())
def test_what_is_left_is_valid_but_for_who_speaks_first(
    provider: Provider, data: st.DataObject
) -> None:
    messages = data.draw(any_histories(provider))
    out = broken(provider, *messages)
    left = [message for at, message in enumerate(messages) if at not in out]
    rules = {violation.rule for violation in validate(left, provider)}
    assert rules <= (
        {"first-is-user", "call-after-user"} if provider in ("anthropic", "gemini") else set()
    )
    assert all(out.values())


def test_chat_results_may_come_in_any_order() -> None:
    assert broken("openai", chat_calls("a", "b"), chat_result("b"), chat_result("a")) == {}


def test_chat_ids_may_be_used_again_by_another_message() -> None:
    assert (
        broken("openai", chat_calls("a"), chat_result("a"), chat_calls("a"), chat_result("a")) == {}
    )


def test_a_second_result_of_a_chat_call_is_broken() -> None:
    found = broken("openai", chat_calls("a"), chat_result("a"), chat_result("a"))
    assert found == {2: "its call was answered before"}


@pytest.mark.parametrize("between", [HELLO, NOTE, says("openai", "Wait")])
def test_chat_results_stand_right_after_their_call(between: Any) -> None:
    assert places("openai", chat_calls("a"), between, chat_result("a")) == [0, 2]


def test_a_chat_call_leaves_with_the_results_of_its_neighbours() -> None:
    found = broken("openai", HELLO, chat_calls("a", "b"), chat_result("a"))
    assert found == {1: "b has no result", 2: "b has no result"}


def test_a_stranger_among_chat_results_leaves_alone() -> None:
    found = broken("openai", chat_calls("a"), chat_result("x"), chat_result("a"))
    assert found == {1: "it answers no call of the message before it"}


def test_a_result_that_is_itself_broken_breaks_its_chat_call() -> None:
    assert places(
        "openai", HELLO, chat_calls("a", "b"), chat_result("a", None), chat_result("b")
    ) == [1, 2, 3]


def test_a_chat_message_between_leaves_and_its_neighbours_meet() -> None:
    stranger = {"role": "stranger", "content": "Hello"}
    assert places("openai", chat_calls("a"), stranger, chat_result("a")) == [1]


def test_outputs_may_come_late_and_in_any_order() -> None:
    items = (
        item_call("a"),
        item_call("b"),
        HELLO,
        item_output("b"),
        says("responses", "Hi"),
        item_output("a"),
    )
    assert broken("responses", *items) == {}


def test_an_output_before_its_call_is_broken() -> None:
    assert places("responses", item_output("a"), item_call("a")) == [0, 1]


def test_a_second_output_is_broken_unless_its_id_was_used_twice() -> None:
    assert places("responses", item_call("a"), item_output("a"), item_output("a")) == [2]
    assert (
        places("responses", item_call("a"), item_output("a"), item_call("a"), item_output("a"))
        == []
    )


def test_an_output_of_another_kind_answers_nothing() -> None:
    assert places("responses", item_call("a"), item_output("a", family="custom_tool")) == [0, 1]


def test_parallel_items_leave_together_with_their_reasoning() -> None:
    items = (item_reasoning("r"), item_call("a"), item_call("b"), item_output("b"))
    assert places("responses", HELLO, *items) == [1, 2, 3, 4]


def test_a_text_beside_a_call_without_an_output_stays() -> None:
    assert places("responses", HELLO, says("responses", "I will read it."), item_call("a")) == [2]


def test_reasoning_leads_to_something_of_the_assistants() -> None:
    found = broken("responses", item_reasoning("r"), HELLO)
    assert found == {0: "the reasoning leads to nothing"}
    assert places("responses", HELLO, item_reasoning("r")) == [1]
    assert (
        places("responses", item_reasoning("r1"), item_reasoning("r2"), says("responses", "Hi"))
        == []
    )


def test_an_item_with_an_id_that_was_there_before_is_broken_and_so_is_its_output() -> None:
    items = (item_call("a", id="fc"), item_output("a"), item_call("b", id="fc"), item_output("b"))
    assert places("responses", *items) == [2, 3]


def test_an_approval_may_wait_for_its_answer_but_not_come_alone() -> None:
    asked = {"type": "mcp_approval_request", "id": "r"}
    answer = {"type": "mcp_approval_response", "approval_request_id": "r", "approve": True}
    assert places("responses", asked) == []
    assert places("responses", asked, answer) == []
    assert places("responses", answer) == [0]


def test_a_run_of_items_is_what_one_response_gave() -> None:
    items = (
        HELLO,
        item_call("a"),
        item_call("b"),
        HELLO,
        item_reasoning("r"),
        says("responses", "Hi"),
        item_call("c"),
    )
    assert list(runs(read(items, "responses"))) == [range(1, 3), range(4, 7)]


def test_results_for_claude_may_come_in_any_order_and_in_several_messages() -> None:
    calls = assistant(text_block("Reading."), tool_use("a"), tool_use("b"))
    assert broken("anthropic", HELLO, calls, answers(tool_result("b"), tool_result("a"))) == {}
    assert (
        broken("anthropic", HELLO, calls, answers(tool_result("b")), answers(tool_result("a")))
        == {}
    )


def test_the_newest_use_of_an_id_stays() -> None:
    found = broken("anthropic", HELLO, USE, RESULT, USE, RESULT)
    assert found == {
        1: "the id a is used again later",
        2: "it answers no call of the turn before it",
    }


def test_a_second_result_for_claude_is_broken_and_so_is_the_call_it_shares_a_message_with() -> None:
    assert broken("anthropic", HELLO, USE, RESULT, RESULT) == {3: "its call was answered before"}
    assert places("anthropic", HELLO, USE, answers(tool_result("a"), tool_result("a"))) == [1, 2]


def test_nothing_is_said_between_a_call_of_claude_and_its_result() -> None:
    assert places("anthropic", HELLO, USE, says("anthropic", "Wait"), RESULT) == [2]
    assert places("anthropic", HELLO, assistant(tool_use("a"), text_block("Wait")), RESULT) == [
        1,
        2,
    ]
    assert places("anthropic", HELLO, USE, HELLO, RESULT) == [1, 3]
    assert places("anthropic", HELLO, USE, answers(text_block("Well"), tool_result("a"))) == [1, 2]
    assert places("anthropic", HELLO, USE, answers(tool_result("a"), text_block("Well"))) == []


def test_a_search_beside_a_call_is_the_same_in_one_message_and_in_two() -> None:
    assert broken("anthropic", HELLO, assistant(tool_use("a"), *search("s")), RESULT) == {}
    assert broken("anthropic", HELLO, USE, assistant(*search("s")), RESULT) == {}


def test_results_for_claude_stand_in_the_very_next_turn() -> None:
    assert places("anthropic", HELLO, USE, NOTE, RESULT) == [1, 2, 3]


def test_a_note_to_claude_stands_between_a_users_turn_and_the_assistants() -> None:
    said = says("anthropic", "Hi")
    assert places("anthropic", HELLO, NOTE, said) == []
    assert places("anthropic", HELLO, NOTE) == []
    assert places("anthropic", HELLO, NOTE, NOTE, said) == [2]
    assert places("anthropic", HELLO, NOTE, HELLO) == [1]
    assert places("anthropic", HELLO, said, NOTE, HELLO) == [2]
    assert places("anthropic", HELLO, assistant(*search("s")), NOTE) == []


def test_settings_without_a_text_may_stand_anywhere() -> None:
    assert (
        broken("anthropic", DIRECTIVE, HELLO, DIRECTIVE, says("anthropic", "Hi"), DIRECTIVE, HELLO)
        == {}
    )


def test_settings_without_a_text_do_not_part_a_call_from_its_result() -> None:
    assert broken("anthropic", HELLO, USE, DIRECTIVE, RESULT) == {}


def test_a_history_for_claude_does_not_end_in_thinking() -> None:
    assert places("anthropic", HELLO, assistant(thinking())) == [1]
    assert places("anthropic", HELLO, assistant(thinking()), says("anthropic", "Hi")) == []
    assert places("anthropic", HELLO, assistant(thinking()), USE) == [1, 2], (
        "when the call leaves, thinking is last"
    )


def test_an_empty_answer_of_claude_stands_at_the_end_only() -> None:
    assert places("anthropic", HELLO, says("anthropic", "")) == []
    assert places("anthropic", HELLO, says("anthropic", ""), HELLO) == [1]


def test_a_search_has_its_result_in_its_turn() -> None:
    call, result = search("s")
    assert (
        places("anthropic", HELLO, assistant(call, tool_use("a")), RESULT, assistant(result)) == []
    )
    assert places("anthropic", HELLO, assistant(call), HELLO) == [1]
    assert places("anthropic", HELLO, assistant(result), HELLO) == [1]
    assert places("anthropic", HELLO, assistant(call), HELLO, assistant(result), HELLO) == [1, 3]


def test_gemini_wants_as_many_results_as_calls() -> None:
    hello = user("gemini", "Hello")
    assert places("gemini", hello, function_calls("f", "g"), function_responses("f", "g")) == []
    assert places("gemini", hello, function_calls("f", "f"), function_responses("f", "f")) == []
    assert places("gemini", hello, function_calls("f", "g"), function_responses("f")) == [1, 2]
    assert places("gemini", hello, function_calls("f"), function_responses("f", "g")) == [1, 2]
    assert places("gemini", hello, function_calls("f"), hello, function_responses("f")) == [1, 3]


def test_gemini_calls_come_right_after_the_user_or_results() -> None:
    hello, said = user("gemini", "Hello"), says("gemini", "Hi")
    steps = (function_calls("f"), function_responses("f"))
    assert places("gemini", hello, *steps, *steps) == []
    assert places("gemini", hello, said, *steps) == [1]
    assert places("gemini", hello, said, said, *steps) == [1, 2], "one leaves because the other did"
    assert places("gemini", *steps) == [0, 1]


def test_answers_in_pieces_before_a_call_are_found_in_few_passes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    passes, finder = [], FORMATS["gemini"].find_broken

    def counted(entries: Sequence[Entry]) -> dict[int, str]:
        passes.append(len(entries))
        return finder(entries)

    monkeypatch.setitem(FORMATS, "gemini", replace(FORMATS["gemini"], find_broken=counted))
    pieces = [says("gemini", f"piece {n}") for n in range(200)]
    assert (
        len(places("gemini", user("gemini", "Hello"), *pieces, *step("gemini", "f", "done"))) == 200
    )
    assert len(passes) <= 10


def test_the_reasoning_of_the_next_item_does_not_leave_with_a_call_that_has_no_result() -> None:
    items = [
        {"role": "user", "content": "Go"},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "reasoning", "id": "rs_2", "summary": []},
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Done"}],
        },
    ]
    assert sorted(find_broken(read(items, "responses"), "responses")) == [1, 2]
