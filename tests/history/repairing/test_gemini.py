"""Repairing Gemini's format, fault by fault."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from brim.history.repairs import NO_BEGINNING, NO_RESULT
from tests.history.repairing.mending import mended, texts
from tests.history.validity.test_gemini import HELLO, SAID, call, model, response, text, user

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
    messages, changes = mend(HELLO, model(call()), user(response(), response("run")), restore_calls=True)
    assert messages == [HELLO, model(call(), call("run")), user(response(), response("run"))]
    assert changes == [(2, "results-match-calls", "added")]


def test_a_call_without_a_response_gets_one_that_says_so() -> None:
    assert mend(HELLO, model(call(id="a")))[0] == [HELLO, model(call(id="a")), user(stub(id="a"))]
    messages, changes = mend(HELLO, model(call()), HELLO)
    assert messages == [HELLO, model(call()), user(stub()), HELLO]
    assert changes == [(1, "call-has-result", "added")]


def test_a_missing_response_is_added_in_the_order_of_the_calls() -> None:
    messages, changes = mend(HELLO, model(call(), call("run"), call("find")), user(response("find"), response()))
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
    messages, _ = mend(HELLO, calls, user(response(id="b")), HELLO, user(response(id="a")), user(response("run")))
    assert messages[2] == user(response(id="a"), response(id="b"), response("run"))


def test_split_responses_are_merged_into_one_content() -> None:
    messages, changes = mend(HELLO, model(call(), call("run")), user(response()), user(response("run")))
    assert messages == [HELLO, model(call(), call("run")), user(response(), response("run"))]
    assert changes == [(3, "results-match-calls", "merged")]


def test_text_beside_responses_stays_where_it_is() -> None:
    messages, _ = mend(HELLO, model(call(), call("run")), user(text("So:"), response(), text("Go on.")))
    assert messages[2] == user(text("So:"), response(), stub("run"), text("Go on."))


def test_contents_of_the_model_before_a_call_are_merged_with_it() -> None:
    messages, changes = mend(HELLO, SAID, SAID, model(call()), user(response()))
    assert messages == [HELLO, model(text("Hi"), text("Hi"), call()), user(response())]
    assert changes == [(1, "call-after-user", "merged"), (2, "call-after-user", "merged")]


def test_names_are_taken_from_the_other_side() -> None:
    messages, changes = mend(HELLO, model(call(""), call("run")), user(response("find"), response("")))
    assert messages == [HELLO, model(call("find"), call("run")), user(response("find"), response("run"))]
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
        (5, user(text("5"))),
    ],
)
def test_what_is_no_content_becomes_one(message: Any, expected: Any) -> None:
    assert mend(HELLO, message)[0] == [HELLO, expected]
