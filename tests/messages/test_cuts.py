"""Where a history may be cut, what may then stand together, and what no cut divides."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.messages import PROVIDERS, Provider, validate
from brim.messages.cuts import (
    RULES,
    Rule,
    Unit,
    calls_with_results,
    legal_cuts,
    may_follow,
    notes_with_their_turns,
    one_voice,
    parallel_calls,
    server_tools_with_results,
    units_of,
)
from brim.messages.entries import Entry
from brim.messages.formats import read
from tests.messages.histories import valid_histories
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
every_provider = pytest.mark.parametrize("provider", PROVIDERS)


def places(rule: Rule, provider: Provider, *messages: Any) -> list[int]:
    """Return the places where *rule* allows a cut."""
    return allowed(rule, read(messages, provider), provider)


def allowed(rule: Rule, entries: list[Entry], provider: Provider) -> list[int]:
    spans = list(rule(entries, provider))
    return [
        at for at in range(len(entries) + 1) if not any(first < at <= last for first, last in spans)
    ]


def test_a_call_is_never_cut_from_its_result() -> None:
    assert places(
        calls_with_results, "openai", HELLO, chat_calls("a"), chat_result("a"), HELLO
    ) == [0, 1, 3, 4]
    assert places(calls_with_results, "responses", HELLO, item_call("a"), item_output("a")) == [
        0,
        1,
        3,
    ]
    use, result = assistant(tool_use("a")), answers(tool_result("a"))
    assert places(calls_with_results, "anthropic", HELLO, use, result, HELLO) == [0, 1, 3, 4]


def test_a_call_is_never_cut_from_results_out_of_order() -> None:
    step = (chat_calls("a", "b", "c"), chat_result("c"), chat_result("a"), chat_result("b"))
    assert places(calls_with_results, "openai", *step, HELLO) == [0, 4, 5]


def test_a_call_is_never_cut_from_results_in_several_messages() -> None:
    step = (
        assistant(tool_use("a"), tool_use("b")),
        answers(tool_result("b")),
        answers(tool_result("a")),
    )
    assert places(calls_with_results, "anthropic", HELLO, *step) == [0, 1, 4]


def test_results_that_come_late_hold_everything_between_together() -> None:
    items = (
        item_call("a"),
        HELLO,
        item_call("b"),
        item_output("a"),
        HELLO,
        item_output("b"),
        HELLO,
    )
    assert places(calls_with_results, "responses", *items) == [0, 6, 7]


def test_an_id_that_is_used_again_makes_two_pairs() -> None:
    pair = (item_call("a"), item_output("a"))
    assert places(calls_with_results, "responses", *pair, *pair) == [0, 2, 4]
    assert places(calls_with_results, "responses", item_call("a"), *pair, item_output("a")) == [
        0,
        4,
    ]
    chat_pair = (chat_calls("a"), chat_result("a"))
    assert places(calls_with_results, "openai", *chat_pair, HELLO, *chat_pair) == [0, 2, 3, 5]


def test_a_result_belongs_to_a_call_of_its_kind() -> None:
    calls = (item_call("a"), item_call("a", "custom_tool"))
    assert places(calls_with_results, "responses", *calls, item_output("a"), HELLO) == [0, 3, 4]


def test_an_old_function_call_is_never_cut_from_its_result() -> None:
    call = {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "read", "arguments": "{}"},
    }
    result = {"role": "function", "name": "read", "content": "done"}
    assert places(calls_with_results, "openai", call, result, call, result) == [0, 2, 4]


def test_an_approval_is_never_cut_from_its_request() -> None:
    asked = {"type": "mcp_approval_request", "id": "r"}
    answer = {"type": "mcp_approval_response", "approval_request_id": "r", "approve": True}
    assert places(calls_with_results, "responses", asked, HELLO, answer) == [0, 3]
    assert places(calls_with_results, "responses", asked, HELLO) == [0, 1, 2]


def test_gemini_needs_no_ids_to_hold_calls_and_results_together() -> None:
    step = (function_calls("read", "read"), function_responses("read", "read"))
    assert places(calls_with_results, "gemini", user("gemini", "Hello"), *step, *step) == [
        0,
        1,
        3,
        5,
    ]


def test_a_search_that_waits_is_never_cut_from_its_result() -> None:
    call, result = search("s")
    begun, ended = assistant(call, tool_use("a")), assistant(result, text_block("Found."))
    messages = (HELLO, begun, answers(tool_result("a")), ended, HELLO)
    assert places(server_tools_with_results, "anthropic", *messages) == [0, 1, 4, 5]


def test_a_search_in_one_message_holds_nothing_else() -> None:
    assert places(
        server_tools_with_results, "anthropic", HELLO, assistant(*search("s")), HELLO
    ) == [0, 1, 2, 3]


def test_parallel_calls_are_never_cut_apart() -> None:
    items = (HELLO, item_call("a"), item_call("b"), item_output("a"), item_output("b"))
    assert places(parallel_calls, "responses", *items) == [0, 1, 3, 4, 5]


def test_calls_around_a_text_are_not_parallel_without_reasoning() -> None:
    items = (item_call("a"), says("responses", "And"), item_call("b"))
    assert places(parallel_calls, "responses", *items) == [0, 1, 2, 3]
    assert places(parallel_calls, "responses", item_reasoning("r"), *items) == [0, 4]


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini"])
def test_parallel_calls_of_one_message_need_no_rule(provider: Provider) -> None:
    assert places(parallel_calls, provider, HELLO, HELLO) == [0, 1, 2]


def test_reasoning_is_never_cut_from_what_it_led_to() -> None:
    items = (HELLO, item_reasoning("r1"), item_reasoning("r2"), item_call("a"), item_output("a"))
    assert places(one_voice, "responses", *items) == [0, 1, 4, 5]
    assert places(one_voice, "responses", item_reasoning("r1"), says("responses", "Hi")) == [0, 2]
    messages = (HELLO, assistant(thinking()), assistant(tool_use("a")), HELLO)
    assert places(one_voice, "anthropic", *messages) == [0, 1, 3, 4]


def test_reasoning_does_not_hold_the_user() -> None:
    assert places(one_voice, "responses", item_reasoning("r"), HELLO) == [0, 1, 2]
    assert places(one_voice, "responses", item_reasoning("r")) == [0, 1]


@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
def test_a_turn_of_the_assistant_in_several_messages_is_never_cut(provider: Provider) -> None:
    said = [says(provider, text) for text in ("One.", "Two.", "Three.")]
    hello = user(provider, "Hello")
    assert places(one_voice, provider, hello, *said, hello, hello) == [0, 1, 4, 5, 6]


@pytest.mark.parametrize("provider", ["openai", "responses"])
def test_openai_reads_answers_in_a_row_one_by_one(provider: Provider) -> None:
    assert places(one_voice, provider, HELLO, says(provider, "One."), says(provider, "Two.")) == [
        0,
        1,
        2,
        3,
    ]


def test_a_note_to_claude_stays_between_its_turns() -> None:
    said = says("anthropic", "Hi")
    assert places(notes_with_their_turns, "anthropic", HELLO, HELLO, NOTE, said, HELLO) == [
        0,
        1,
        4,
        5,
    ]
    assert places(notes_with_their_turns, "anthropic", HELLO, said, HELLO, NOTE) == [0, 1, 2, 4]


@pytest.mark.parametrize("provider", ["openai", "responses"])
def test_a_system_message_stands_alone_elsewhere(provider: Provider) -> None:
    assert places(notes_with_their_turns, provider, HELLO, NOTE, says(provider, "Hi")) == [
        0,
        1,
        2,
        3,
    ]


@every_provider
def test_an_empty_history_has_one_place(provider: Provider) -> None:
    assert legal_cuts([], provider) == [0]
    assert [list(rule([], provider)) for rule in RULES] == [[]] * len(RULES)


@every_provider
@settings(max_examples=20)
@given(data=st.data())
def test_a_legal_cut_is_one_that_every_rule_allows(provider: Provider, data: st.DataObject) -> None:
    entries = read(data.draw(valid_histories(provider)), provider)
    cuts = legal_cuts(entries, provider)
    assert set(cuts) == set.intersection(*(set(allowed(rule, entries, provider)) for rule in RULES))
    assert (cuts[0], cuts[-1]) == (0, len(entries))
    assert cuts == sorted(set(cuts))


@every_provider
@settings(max_examples=20)
@given(data=st.data())
def test_both_sides_of_a_legal_cut_are_valid_but_for_who_speaks_first(
    provider: Provider, data: st.DataObject
) -> None:
    messages = data.draw(valid_histories(provider, rare=False))
    for cut in legal_cuts(read(messages, provider), provider):
        assert validate(messages[:cut], provider) == []
        broken = {violation.rule for violation in validate(messages[cut:], provider)}
        assert broken <= {"first-is-user", "call-after-user"}


STRICT: tuple[Provider, ...] = ("anthropic", "gemini")
LOOSE: tuple[Provider, ...] = ("openai", "responses")

strict_providers = pytest.mark.parametrize("provider", STRICT)
loose_providers = pytest.mark.parametrize("provider", LOOSE)


def entry(provider: Provider, message: Any) -> Entry:
    return read([message], provider)[0]


@strict_providers
def test_the_may_follow(provider: Provider) -> None:
    call, result = step(provider, "a", "done")
    assert may_follow(None, entry(provider, user(provider, "Hello")), provider)
    assert not may_follow(None, entry(provider, says(provider, "Hi")), provider)
    assert not may_follow(None, entry(provider, call), provider)
    assert not may_follow(None, entry(provider, result), provider)


@loose_providers
def test_anybody_may_speak_first_at_openai(provider: Provider) -> None:
    assert may_follow(None, entry(provider, says(provider, "Hi")), provider)
    assert may_follow(None, entry(provider, step(provider, "a", "done")[0]), provider)


def test_a_prompt_beside_a_result_may_come_first() -> None:
    both = answers(tool_result("a"), text_block("Go on"))
    assert may_follow(None, entry("anthropic", both), "anthropic")


@every_provider
def test_who_speaks_later_need_not_be_the_user(provider: Provider) -> None:
    hello, said = entry(provider, user(provider, "Hello")), entry(provider, says(provider, "Hi"))
    assert may_follow(hello, said, provider)


@strict_providers
def test_the_assistant_does_not_answer_itself(provider: Provider) -> None:
    said, called = (
        entry(provider, says(provider, "Hi")),
        entry(provider, step(provider, "a", "done")[0]),
    )
    assert not may_follow(said, said, provider)
    assert not may_follow(said, called, provider)


@loose_providers
def test_the_assistant_may_go_on_at_openai(provider: Provider) -> None:
    said = entry(provider, says(provider, "Hi"))
    assert may_follow(said, said, provider)


@every_provider
def test_the_user_may_speak_twice(provider: Provider) -> None:
    hello = entry(provider, user(provider, "Hello"))
    assert may_follow(hello, hello, provider)


@every_provider
def test_the_assistant_may_answer_the_user_and_results(provider: Provider) -> None:
    hello, said = entry(provider, user(provider, "Hello")), entry(provider, says(provider, "Hi"))
    call, result = (entry(provider, message) for message in step(provider, "a", "done"))
    assert may_follow(hello, said, provider)
    assert may_follow(hello, call, provider)
    assert may_follow(result, said, provider)
    assert may_follow(result, call, provider)
    assert may_follow(said, hello, provider)


def test_may_follow_asks_every_rule() -> None:
    said = entry("anthropic", assistant(tool_use("a")))
    assert not may_follow(None, said, "anthropic")
    assert not may_follow(said, said, "anthropic")
    call, result = (
        entry("gemini", function_calls("read")),
        entry("gemini", function_responses("read")),
    )
    assert not may_follow(None, call, "gemini")
    assert may_follow(result, call, "gemini")


def units(provider: Provider, *messages: Any) -> list[Unit]:
    return units_of(read(messages, provider), provider)


def kinds(provider: Provider, *messages: Any) -> list[tuple[str, tuple[int, ...]]]:
    return [(unit.kind, unit.indices) for unit in units(provider, *messages)]


@every_provider
def test_a_prompt_an_answer_and_a_step_are_units(provider: Provider) -> None:
    messages = (user(provider, "Hello"), *step(provider, "a", "done"), says(provider, "Hi"))
    assert kinds(provider, *messages) == [("user", (0,)), ("step", (1, 2)), ("assistant", (3,))]


@every_provider
def test_an_empty_history_has_no_units(provider: Provider) -> None:
    assert units(provider) == []


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize("provider", ["openai", "responses"])
def test_a_system_message_is_a_unit(provider: Provider, role: str) -> None:
    assert kinds(provider, {"role": role, "content": "Be brief."}) == [("system", (0,))]


def test_parallel_calls_and_all_their_results_are_one_step() -> None:
    chat = (chat_calls("a", "b"), chat_result("b"), chat_result("a"))
    assert kinds("openai", *chat, *chat) == [("step", (0, 1, 2)), ("step", (3, 4, 5))]
    items = (item_call("a"), item_call("b"), item_output("b"), item_output("a"))
    assert kinds("responses", *items) == [("step", (0, 1, 2, 3))]
    blocks = (
        assistant(tool_use("a"), tool_use("b")),
        answers(tool_result("a")),
        answers(tool_result("b")),
    )
    assert kinds("anthropic", *blocks) == [("step", (0, 1, 2))]


def test_reasoning_belongs_to_the_step_that_follows() -> None:
    items = (item_reasoning("r"), item_call("a"), item_output("a"))
    assert kinds("responses", user("responses", "Hello"), *items) == [
        ("user", (0,)),
        ("step", (1, 2, 3)),
    ]


def test_a_note_to_claude_belongs_to_the_turns_around_it() -> None:
    messages = (user("anthropic", "Hello"), NOTE, says("anthropic", "Hi"), user("anthropic", "Bye"))
    assert kinds("anthropic", *messages) == [("user", (0, 1, 2)), ("user", (3,))]


def test_a_turn_begins_where_a_person_speaks() -> None:
    messages = (
        user("openai", "Hello"),
        *step("openai", "a", "done"),
        says("openai", "Hi"),
        user("openai", "Bye"),
    )
    assert [unit.has_prompt for unit in units("openai", *messages)] == [True, False, False, True]


def test_a_step_has_a_prompt_if_the_user_speaks_with_the_results() -> None:
    both = answers(tool_result("a"), text_block("Go on"))
    found = units("anthropic", user("anthropic", "Hello"), assistant(tool_use("a")), both)
    assert [(unit.kind, unit.has_prompt) for unit in found] == [("user", True), ("step", True)]


def test_the_first_and_the_last_message_of_a_unit_are_its_ends() -> None:
    call, result = step("openai", "a", "done")
    unit = units("openai", call, result)[0]
    assert (unit.first.message, unit.last.message) == (call, result)


def test_notes_are_no_ends_of_a_unit() -> None:
    hello = user("anthropic", "Hello")
    unit = units("anthropic", hello, NOTE)[0]
    assert (unit.indices, unit.first.message, unit.last.message) == ((0, 1), hello, hello)
    assert units("openai", NOTE)[0].first.message is NOTE


@every_provider
@given(data=st.data())
def test_every_message_is_in_one_unit_and_in_order(provider: Provider, data: st.DataObject) -> None:
    messages = data.draw(valid_histories(provider))
    found = units(provider, *messages)
    assert [index for unit in found for index in unit.indices] == list(range(len(messages)))


@every_provider
@given(data=st.data())
def test_a_call_and_its_results_are_in_one_unit(provider: Provider, data: st.DataObject) -> None:
    messages = data.draw(valid_histories(provider))
    for unit in units(provider, *messages):
        calls = [call.key for entry in unit.entries for call in entry.calls if call.required]
        results = [result.key for entry in unit.entries for result in entry.results]
        approvals = [key for key in results if key[0] == "mcp"]
        assert sorted(calls) == sorted(key for key in results if key not in approvals)
        assert (unit.kind == "step") == any(entry.calls for entry in unit.entries)
