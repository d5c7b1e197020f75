"""The rules of Anthropic's Messages API: each accepts what the API takes and names what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from brim.history import validate

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


def thinking() -> Message:
    return {"type": "thinking", "thinking": "Hm.", "signature": "s"}


def user(*blocks: Message) -> Message:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Message) -> Message:
    return {"role": "assistant", "content": list(blocks)}


def found(*messages: Any) -> list[tuple[int, str]]:
    return [(violation.index, violation.rule) for violation in validate(list(messages), "anthropic")]


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
    assert found(HELLO, assistant(use("a")), user(result("a")), NOTE, SAID) == []


def test_system_placement_accepts_one_after_the_providers_own_call() -> None:
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    assert found(HELLO, assistant(search), NOTE) == []
    mixed = found(HELLO, assistant(use("a"), search), NOTE, user(result("a")))
    assert (2, "system-placement") in mixed


def test_system_placement_refuses_the_first_message() -> None:
    assert found(NOTE, HELLO) == [(0, "system-placement")]


def test_system_placement_refuses_one_after_the_assistant_or_before_the_user() -> None:
    assert found(HELLO, SAID, NOTE) == [(2, "system-placement")]
    assert found(HELLO, NOTE, HELLO) == [(1, "system-placement")]


def test_system_placement_refuses_one_between_a_call_and_its_result() -> None:
    between = found(HELLO, assistant(use("a")), NOTE, user(result("a")))
    assert between == [(1, "call-has-result"), (2, "system-placement"), (3, "result-has-call")]


def test_system_placement_refuses_two_in_a_row() -> None:
    assert found(HELLO, NOTE, NOTE, SAID) == [(2, "system-placement")]


def test_call_by_assistant() -> None:
    assert found(user(text("Hello"), use("a"))) == [(0, "call-by-assistant")]


def test_result_by_user() -> None:
    assert found(HELLO, assistant(result("a"), text("Hi"))) == [(1, "result-by-user")]


def test_call_has_id() -> None:
    assert found(HELLO, assistant({"type": "tool_use", "name": "read", "input": {}})) == [(1, "call-has-id")]


def test_result_has_id() -> None:
    nameless = {"type": "tool_result", "content": "done"}
    broken = found(HELLO, assistant(use("a")), user(nameless))
    assert broken == [(1, "call-has-result"), (2, "result-has-id")]


def test_call_ids_unique_over_the_whole_history() -> None:
    step = (assistant(use("a")), user(result("a")))
    assert found(HELLO, *step, *step) == [(3, "call-ids-unique")]
    assert found(HELLO, assistant(use("a"), use("a")), user(result("a"))) == [(1, "call-ids-unique")]


def test_results_first_accepts_text_behind_results() -> None:
    assert found(HELLO, assistant(use("a")), user(result("a"), text("Go on."))) == []
    assert found(HELLO, assistant(use("a")), user(result("a")), HELLO) == []


def test_results_first_refuses_text_before_them() -> None:
    assert found(HELLO, assistant(use("a")), user(text("Well:"), result("a"))) == [(2, "results-first")]
    assert found(HELLO, assistant(use("a")), HELLO, user(result("a"))) == [(3, "results-first")]
    mixed = found(HELLO, assistant(use("a"), use("b")), user(result("a"), text("and")), user(result("b")))
    assert mixed == [(3, "results-first")]


def test_calls_last_refuses_text_after_a_call() -> None:
    assert found(HELLO, assistant(use("a"), text("Reading.")), user(result("a"))) == [(1, "calls-last")]
    assert found(HELLO, assistant(use("a")), SAID, user(result("a"))) == [(2, "calls-last")]


def test_calls_last_accepts_calls_in_several_messages_and_thinking_between() -> None:
    assert found(HELLO, SAID, assistant(use("a")), assistant(use("b")), user(result("b")), user(result("a"))) == []
    assert (
        found(HELLO, assistant(thinking(), text("Hm."), use("a"), thinking(), use("b")), user(result("a"), result("b")))
        == []
    )


def test_result_has_call_accepts_any_order() -> None:
    assert found(HELLO, assistant(use("a"), use("b")), user(result("b"), result("a"))) == []


def test_result_has_call_looks_at_the_turn_right_before_only() -> None:
    assert found(user(result("a"))) == [(0, "result-has-call")]
    step = (assistant(use("a")), user(result("a")))
    assert found(HELLO, *step, SAID, user(result("a"))) == [(4, "result-has-call")]


def test_one_result_per_call() -> None:
    assert found(HELLO, assistant(use("a")), user(result("a"), result("a"))) == [(2, "one-result-per-call")]
    assert found(HELLO, assistant(use("a")), user(result("a")), user(result("a"))) == [(3, "one-result-per-call")]


def test_call_has_result() -> None:
    assert found(HELLO, assistant(use("a"))) == [(1, "call-has-result")]
    assert found(HELLO, assistant(use("a")), HELLO) == [(1, "call-has-result")]
    assert found(HELLO, assistant(use("a"), use("b")), user(result("b"))) == [(1, "call-has-result")]


@pytest.mark.parametrize("last", [thinking(), {"type": "redacted_thinking", "data": "x"}])
def test_reasoning_not_last(last: Message) -> None:
    assert found(HELLO, assistant(text("Hi"), last)) == [(1, "reasoning-not-last")]
    assert found(HELLO, assistant(last), HELLO) == []
    assert found(HELLO, assistant(last, text("Hi"))) == []


def test_messages_of_one_role_are_one_turn() -> None:
    assert found(HELLO, HELLO, SAID, SAID, HELLO) == []
