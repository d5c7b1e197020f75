"""What a removed message said is said again, in full."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from brim.history.content import words


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text", "text"),
        (None, ""),
        ({}, ""),
        ({"role": "user"}, ""),
        (SimpleNamespace(text=None), ""),
        (5, "5"),
        ({"role": "tool", "tool_call_id": "a", "content": "two\nlines"}, "two\nlines"),
        ({"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}, "one\ntwo"),
        (SimpleNamespace(type="tool_result", tool_use_id="a", content="42", is_error=False), "42"),
        ({"type": "function_call", "arguments": "{}"}, '{"type": "function_call", "arguments": "{}"}'),
        ({"role": "user", "content": "Hi", "mood": "é"}, '{"role": "user", "content": "Hi", "mood": "é"}'),
    ],
)
def test_a_text_is_itself_and_everything_else_is_json(value: Any, expected: str) -> None:
    assert words(value) == expected


class Closed:
    """Refuses to be asked for anything."""

    __slots__ = ()

    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)


def test_what_refuses_to_be_read_says_nothing() -> None:
    assert words(Closed()) == ""


def test_long_texts_are_not_cut() -> None:
    assert words({"role": "user", "content": "Hi", "data": "A" * 5_000}).count("A") == 5_000


def test_what_holds_itself_is_said_without_end() -> None:
    circle: dict[str, Any] = {"role": "user", "mood": "good"}
    circle["content"] = circle
    assert "good" in words(circle)
