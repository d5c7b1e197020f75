"""Gemini's format: reading, checking and repairing it."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from brim.messages import validate
from brim.messages.entries import EntryCall
from brim.messages.gemini.reading import parts_of, read_content
from brim.messages.repairs import NO_BEGINNING, NO_RESULT
from tests.messages.samples import function_calls, function_responses, mended, texts


@pytest.mark.parametrize(
    ("role", "spoken"), [("user", "user"), ("model", "assistant"), ("function", "user")]
)
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
    assert (calls.calls, calls.says) == ((EntryCall("", "f"), EntryCall("", "g")), True)
    results = read_content(0, function_responses("f", "g"))
    assert (results.results, results.says, results.is_prompt) == (
        (EntryCall("", "f"), EntryCall("", "g")),
        False,
        False,
    )


def test_snake_case_and_ids_are_read() -> None:
    call = {"role": "model", "parts": [{"function_call": {"id": "1", "name": "f", "args": {}}}]}
    result = {
        "role": "user",
        "parts": [{"function_response": {"id": "1", "name": "f", "response": {}}}],
    }
    assert read_content(0, call).calls == read_content(0, result).results == (EntryCall("1", "f"),)


def test_objects_are_read_like_dicts() -> None:
    part = SimpleNamespace(
        text=None, thought=None, function_call=SimpleNamespace(id=None, name="f", args={})
    )
    assert read_content(0, SimpleNamespace(role="model", parts=[part])).calls == (
        EntryCall("", "f"),
    )


def test_thoughts_are_reasoning_and_not_said() -> None:
    entry = read_content(0, {"role": "model", "parts": [{"text": "hm", "thought": True}]})
    assert (entry.reasons, entry.ends_in_reasoning, entry.says) == (True, True, False)
    spoken = read_content(
        0, {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "Hi"}]}
    )
    assert (spoken.reasons, spoken.ends_in_reasoning, spoken.says) == (True, False, True)


def test_an_image_is_said() -> None:
    assert read_content(
        0, {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": ""}}]}
    ).says


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
    assert found(user(), {"role": "user"}, "") == [
        (0, "has-content"),
        (1, "has-content"),
        (2, "has-content"),
    ]


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
    assert (
        found(
            HELLO,
            model(text("Hm."), call()),
            user(response()),
            model(call()),
            user(response()),
            SAID,
        )
        == []
    )


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
    assert found(HELLO, model(call()), HELLO, user(response())) == [
        (1, "call-has-result"),
        (3, "result-has-call"),
    ]


def test_results_match_calls_in_number() -> None:
    assert found(HELLO, model(call(), call("run")), user(response("run"), response())) == []
    assert found(HELLO, model(call(), call("run")), user(response())) == [
        (2, "results-match-calls")
    ]
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


mend = partial(mended, "gemini")
FIRST = user(text(NO_BEGINNING))


def stub(name: str = "read", **fields: Any) -> dict[str, Any]:
    return {"functionResponse": {**fields, "name": name, "response": {"error": NO_RESULT}}}


def test_an_orphan_response_is_removed_and_its_text_kept_in_the_list() -> None:
    messages, changes = mend(HELLO, SAID, user(response(), text("Go on.")), user(response()))
    assert messages == [HELLO, SAID, user(text("Go on."))]
    assert changes == [(2, "result-has-call", "removed"), (3, "result-has-call", "removed")]
    assert "done" in texts("gemini", HELLO, user(response()))[0]


def test_an_orphan_response_can_get_its_call_back() -> None:
    messages, changes = mend(user(response("run")), restore_calls=True)
    assert messages == [FIRST, model(call("run")), user(response("run"))]
    assert changes == [(0, "result-has-call", "added"), (0, "first-is-user", "added")]


def test_a_restored_call_joins_the_models_content_before_it() -> None:
    messages, _ = mend(HELLO, SAID, user(response(id="a")), restore_calls=True)
    assert messages == [
        HELLO,
        model(text("Hi"), {"functionCall": {"id": "a", "name": "read", "args": {}}}),
        user(response(id="a")),
    ]
    messages, changes = mend(
        HELLO, model(call()), user(response(), response("run")), restore_calls=True
    )
    assert messages == [HELLO, model(call(), call("run")), user(response(), response("run"))]
    assert changes == [(2, "results-match-calls", "added")]


def test_a_call_without_a_response_gets_one_that_says_so() -> None:
    assert mend(HELLO, model(call(id="a")))[0] == [HELLO, model(call(id="a")), user(stub(id="a"))]
    messages, changes = mend(HELLO, model(call()), HELLO)
    assert messages == [HELLO, model(call()), user(stub()), HELLO]
    assert changes == [(1, "call-has-result", "added")]


def test_a_missing_response_is_added_in_the_order_of_the_calls() -> None:
    messages, changes = mend(
        HELLO, model(call(), call("run"), call("find")), user(response("find"), response())
    )
    assert messages[2] == user(response(), stub("run"), response("find"))
    assert changes == [(1, "call-has-result", "added")]


def test_a_response_too_many_is_removed() -> None:
    messages, changes = mend(HELLO, model(call()), user(response(), response()))
    assert messages == [HELLO, model(call()), user(response())]
    assert changes == [(2, "results-match-calls", "removed")]


def test_a_late_response_is_moved_to_its_call() -> None:
    messages, changes = mend(HELLO, model(call()), HELLO, user(response()))
    assert messages == [HELLO, model(call()), user(response()), HELLO]
    assert changes == [(3, "result-has-call", "moved")]


def test_a_response_right_before_its_call_is_moved_behind_it() -> None:
    assert mend(HELLO, user(response(id="a")), model(call(id="a")))[0] == [
        HELLO,
        model(call(id="a")),
        user(response(id="a")),
    ]


def test_ids_outrank_names_and_names_outrank_places() -> None:
    calls = model(call(id="a"), call(id="b"), call("run"))
    messages, _ = mend(
        HELLO, calls, user(response(id="b")), HELLO, user(response(id="a")), user(response("run"))
    )
    assert messages[2] == user(response(id="a"), response(id="b"), response("run"))


def test_split_responses_are_merged_into_one_content() -> None:
    messages, changes = mend(
        HELLO, model(call(), call("run")), user(response()), user(response("run"))
    )
    assert messages == [HELLO, model(call(), call("run")), user(response(), response("run"))]
    assert changes == [(3, "results-match-calls", "merged")]


def test_text_beside_responses_stays_where_it_is() -> None:
    messages, _ = mend(
        HELLO, model(call(), call("run")), user(text("So:"), response(), text("Go on."))
    )
    assert messages[2] == user(text("So:"), response(), stub("run"), text("Go on."))


def test_contents_of_the_model_before_a_call_are_merged_with_it() -> None:
    messages, changes = mend(HELLO, SAID, SAID, model(call()), user(response()))
    assert messages == [HELLO, model(text("Hi"), text("Hi"), call()), user(response())]
    assert changes == [(1, "call-after-user", "merged"), (2, "call-after-user", "merged")]


def test_names_are_taken_from_the_other_side() -> None:
    messages, changes = mend(
        HELLO, model(call(""), call("run")), user(response("find"), response(""))
    )
    assert messages == [
        HELLO,
        model(call("find"), call("run")),
        user(response("find"), response("run")),
    ]
    assert changes == [(1, "call-has-name", "changed"), (2, "result-has-name", "changed")]


def test_without_a_name_anywhere_the_tool_is_unknown() -> None:
    messages, _ = mend(HELLO, model(call("")), user(response("")))
    assert messages == [HELLO, model(call("unknown_tool")), user(response("unknown_tool"))]


def test_calls_and_responses_on_the_wrong_side_change_it() -> None:
    messages, changes = mend(HELLO, user(call()), model(response(), text("Hi")))
    assert messages == [HELLO, model(call()), user(response()), SAID]
    assert changes == [(1, "call-by-assistant", "changed"), (2, "result-by-user", "moved")]


def test_what_else_a_removed_content_holds_is_noted() -> None:
    assert mend(HELLO, {**model({}), "mood": "lost"})[0] == [HELLO]
    assert "lost" in texts("gemini", HELLO, {**model({}), "mood": "lost"})[1]


def test_the_user_begins() -> None:
    messages, changes = mend(model(call()), user(response()))
    assert messages == [FIRST, model(call()), user(response())]
    assert changes == [(0, "first-is-user", "added")]


def test_empty_parts_and_contents_are_removed() -> None:
    messages, changes = mend(user(text("Hello"), {}), model(), "", user({}))
    assert messages == [HELLO]
    assert changes == [
        (0, "part-not-empty", "removed"),
        (1, "has-content", "removed"),
        (2, "has-content", "removed"),
        (3, "part-not-empty", "removed"),
    ]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"role": "assistant", "parts": [text("Hi")]}, SAID),
        ({"role": "ai", "parts": [text("Hi")]}, SAID),
        ({"role": "system", "parts": [text("Hello")]}, HELLO),
        ({"role": "assistant", "content": "Hi"}, SAID),
        ({"role": "user", "content": "Hello"}, HELLO),
    ],
)
def test_what_is_no_content_becomes_one(message: Any, expected: Any) -> None:
    assert mend(HELLO, message)[0] == [HELLO, expected]
