"""What stands in one of Gemini's contents."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from brim.history.entries import Call
from brim.history.gemini import parts_of, read_content
from tests.history.samples import function_calls, function_responses


@pytest.mark.parametrize(("role", "spoken"), [("user", "user"), ("model", "assistant"), ("function", "user")])
def test_roles_are_who_speaks(role: str, spoken: str) -> None:
    entry = read_content(1, {"role": role, "parts": [{"text": "Hello"}]})
    assert (entry.index, entry.role, entry.says, entry.problem) == (1, spoken, True, "")


def test_a_content_without_a_role_or_a_mere_text_is_the_users() -> None:
    for content in ({"parts": [{"text": "Hello"}]}, "Hello"):
        entry = read_content(0, content)
        assert (entry.role, entry.is_prompt, entry.problem) == ("user", True, "")


def test_parts_are_a_list_or_one() -> None:
    part = {"text": "Hello"}
    assert parts_of({"parts": [part]}) == parts_of({"parts": part}) == [part]
    assert parts_of("Hello") == ["Hello"]
    assert parts_of("") == parts_of({"parts": []}) == parts_of({}) == []


def test_calls_and_responses_are_read_in_order() -> None:
    calls = read_content(0, function_calls("f", "g", text="Well"))
    assert (calls.calls, calls.says) == ((Call("", "f"), Call("", "g")), True)
    results = read_content(0, function_responses("f", "g"))
    assert (results.results, results.says, results.is_prompt) == ((Call("", "f"), Call("", "g")), False, False)


def test_snake_case_and_ids_are_read() -> None:
    call = {"role": "model", "parts": [{"function_call": {"id": "1", "name": "f", "args": {}}}]}
    result = {"role": "user", "parts": [{"function_response": {"id": "1", "name": "f", "response": {}}}]}
    assert read_content(0, call).calls == read_content(0, result).results == (Call("1", "f"),)


def test_objects_are_read_like_dicts() -> None:
    part = SimpleNamespace(text=None, thought=None, function_call=SimpleNamespace(id=None, name="f", args={}))
    assert read_content(0, SimpleNamespace(role="model", parts=[part])).calls == (Call("", "f"),)


def test_thoughts_are_reasoning_and_not_said() -> None:
    entry = read_content(0, {"role": "model", "parts": [{"text": "hm", "thought": True}]})
    assert (entry.reasons, entry.ends_in_reasoning, entry.says) == (True, True, False)
    spoken = read_content(0, {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "Hi"}]})
    assert (spoken.reasons, spoken.ends_in_reasoning, spoken.says) == (True, False, True)


def test_an_image_is_said() -> None:
    assert read_content(0, {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": ""}}]}).says


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        ({"role": "assistant", "parts": [{"text": "Hi"}]}, "known-role"),
        ({"role": "system", "parts": [{"text": "Hi"}]}, "known-role"),
        ("", "has-content"),
        ({"role": "user", "parts": []}, "has-content"),
        ({"role": "user"}, "has-content"),
        (None, "has-content"),
        ({"role": "user", "parts": [{}]}, "part-not-empty"),
        ({"role": "model", "parts": [{"thoughtSignature": "x"}]}, "part-not-empty"),
        (function_calls(""), "call-has-name"),
        (function_responses(""), "result-has-name"),
        ({**function_calls("f"), "role": "user"}, "call-by-assistant"),
        ({**function_responses("f"), "role": "model"}, "result-by-user"),
    ],
)
def test_what_the_api_does_not_take_has_a_problem_and_its_rule(content: Any, rule: str) -> None:
    entry = read_content(0, content)
    assert (entry.rule, bool(entry.problem)) == (rule, True)


def test_an_empty_text_is_no_problem() -> None:
    assert read_content(0, {"role": "user", "parts": [{"text": ""}]}).problem == ""
