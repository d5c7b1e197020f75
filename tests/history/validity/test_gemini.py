"""The rules of Gemini's contents: each accepts what the API takes and names what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from brim.history import validate

Content = dict[str, Any]


def text(words: str) -> Content:
    return {"text": words}


def call(name: str = "read", **fields: Any) -> Content:
    return {"functionCall": {"name": name, "args": {}, **fields}}


def response(name: str = "read", **fields: Any) -> Content:
    return {"functionResponse": {"name": name, "response": {"output": "done"}, **fields}}


def user(*parts: Content) -> Content:
    return {"role": "user", "parts": list(parts)}


def model(*parts: Content) -> Content:
    return {"role": "model", "parts": list(parts)}


HELLO = user(text("Hello"))
SAID = model(text("Hi"))


def found(*contents: Any) -> list[tuple[int, str]]:
    return [(violation.index, violation.rule) for violation in validate(list(contents), "gemini")]


@pytest.mark.parametrize("role", ["user", "function", "", None])
def test_known_role_accepts_the_user_under_each_name(role: Any) -> None:
    assert found({"role": role, "parts": [text("Hello")]}) == []


@pytest.mark.parametrize("role", ["assistant", "system", "wizard"])
def test_known_role_refuses_another(role: str) -> None:
    assert found(HELLO, {"role": role, "parts": [text("Hello")]}) == [(1, "known-role")]


def test_has_content() -> None:
    assert found("Hello") == []
    assert found(user(), {"role": "user"}, "") == [(0, "has-content"), (1, "has-content"), (2, "has-content")]


def test_part_not_empty() -> None:
    assert found(user(text(""))) == []
    assert found(user({"inlineData": {"mimeType": "image/png", "data": ""}})) == []
    assert found(user(text("Hello"), {})) == [(0, "part-not-empty")]
    assert found(HELLO, model({"thought": True, "text": None})) == [(1, "part-not-empty")]


def test_first_is_user() -> None:
    assert found(SAID, HELLO) == [(0, "first-is-user")]


def test_call_by_assistant() -> None:
    assert found(user(text("Hello"), call())) == [(0, "call-by-assistant")]


def test_result_by_user_refuses_a_response_beside_a_call() -> None:
    assert found(HELLO, model(call(), response()), user(response())) == [(1, "result-by-user")]


def test_call_has_name() -> None:
    assert found(HELLO, model(call("")), user(response())) == [(1, "call-has-name")]


def test_result_has_name() -> None:
    assert found(HELLO, model(call()), user(response(""))) == [(2, "result-has-name")]


def test_call_after_user_accepts_text_in_the_same_content() -> None:
    assert found(HELLO, model(text("Hm."), call()), user(response()), model(call()), user(response()), SAID) == []


def test_call_after_user_refuses_the_models_text_between() -> None:
    assert found(HELLO, SAID, model(call()), user(response())) == [(2, "call-after-user")]
    first = found(model(call()), user(response()))
    assert first == [(0, "first-is-user"), (0, "call-after-user")]


def test_the_model_may_speak_twice_and_so_may_the_user() -> None:
    assert found(HELLO, HELLO, SAID, SAID, HELLO) == []


def test_call_has_result() -> None:
    assert found(HELLO, model(call())) == [(1, "call-has-result")]
    assert found(HELLO, model(call()), HELLO) == [(1, "call-has-result")]


def test_result_has_call() -> None:
    assert found(user(response())) == [(0, "result-has-call")]
    assert found(HELLO, model(call()), HELLO, user(response())) == [(1, "call-has-result"), (3, "result-has-call")]


def test_results_match_calls_in_number() -> None:
    assert found(HELLO, model(call(), call("run")), user(response("run"), response())) == []
    assert found(HELLO, model(call(), call("run")), user(response())) == [(2, "results-match-calls")]
    assert found(HELLO, model(call()), user(response(), response())) == [(2, "results-match-calls")]


def test_results_match_calls_in_one_content() -> None:
    split = found(HELLO, model(call(), call("run")), user(response()), user(response("run")))
    assert split == [(2, "results-match-calls"), (3, "result-has-call")]


def test_both_spellings_are_read() -> None:
    snake_call = {"function_call": {"name": "read", "args": {}}}
    snake_response = {"function_response": {"name": "read", "response": {}}}
    assert found(HELLO, model(snake_call), user(snake_response)) == []
    assert found(HELLO, model(snake_call)) == [(1, "call-has-result")]


def test_text_beside_responses_is_taken() -> None:
    assert found(HELLO, model(call()), user(text("So:"), response(), text("Go on."))) == []
