"""The words of messages, and changed copies of them."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import pytest

from brim.messages.content import (
    is_structured,
    result_text,
    text_of,
    with_fields,
    without_field,
    words,
)
from brim.tokens.messages.fields import get
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
    text_block,
    thinking,
    tool_result,
    tool_use,
)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"role": "user", "content": "Hello"}, "Hello"),
        ({"role": "user", "content": [text_block("Hello"), text_block("there")]}, "Hello\nthere"),
        ({"role": "user", "content": [{"type": "input_text", "text": "Hello"}]}, "Hello"),
        ({"role": "user", "content": ["Hello", "there"]}, "Hello\nthere"),
        ({"role": "user", "content": "  Hello \n"}, "Hello"),
        (chat_calls("a", content="Reading."), "Reading."),
        (chat_calls("a"), ""),
        (assistant(thinking("hm"), text_block("Reading."), tool_use("a")), "Reading."),
        (answers(tool_result("a", "done"), text_block("Go on.")), "Go on."),
        (function_calls("read", text="Reading."), "Reading."),
        ({"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "Hi"}]}, "Hi"),
        (
            SimpleNamespace(role="user", content=[SimpleNamespace(type="text", text="Hello")]),
            "Hello",
        ),
        ("Hello", "Hello"),
        (item_call("a"), ""),
        (item_reasoning("r"), ""),
        (None, ""),
        (5, ""),
        ({}, ""),
    ],
)
def test_the_text_of_a_message_is_what_is_said_in_it(message: Any, text: str) -> None:
    assert text_of(message) == text


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (chat_result("a", "done"), "done"),
        (chat_result("a", [text_block("done"), text_block("well")]), "done\nwell"),
        ({"role": "function", "name": "read", "content": "done"}, "done"),
        (item_output("a", "done"), "done"),
        (item_output("a", [{"type": "input_text", "text": "done"}]), "done"),
        (item_output("a", {"ok": True}), '{"ok":true}'),
        (answers(tool_result("a", "done"), tool_result("b", [text_block("well")])), "done\nwell"),
        (answers(tool_result("a", "done"), text_block("Go on.")), "done"),
        (function_responses("read", text="done"), '{"a":"done"}'),
        ({"role": "user", "content": "Hello"}, ""),
        (assistant(tool_use("a")), ""),
        (None, ""),
    ],
)
def test_the_text_of_a_result_is_what_the_tools_said(message: Any, text: str) -> None:
    assert result_text(message) == text


def test_a_message_that_holds_itself_has_a_text() -> None:
    content: list[Any] = [text_block("Hello")]
    content.append(content)
    assert text_of({"role": "user", "content": content}).startswith("Hello")
    assert result_text(chat_result("a", content)).startswith("Hello")


def test_a_message_that_holds_itself_many_times_is_read_in_few_steps() -> None:
    class Counted(list[Any]):
        read = 0

        def __iter__(self) -> Iterator[Any]:
            Counted.read += 1
            return super().__iter__()

    content = Counted(["Hello"])
    content.extend([content] * 8)
    assert text_of({"role": "user", "content": content}).startswith("Hello")
    assert Counted.read <= 1_000


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
        (
            {
                "role": "user",
                "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}],
            },
            "one\ntwo",
        ),
        (SimpleNamespace(type="tool_result", tool_use_id="a", content="42", is_error=False), "42"),
        (
            {"type": "function_call", "arguments": "{}"},
            '{"type": "function_call", "arguments": "{}"}',
        ),
        (
            {"role": "user", "content": "Hi", "mood": "é"},
            '{"role": "user", "content": "Hi", "mood": "é"}',
        ),
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


@dataclass
class Plain:
    role: str
    content: str


@dataclass(frozen=True)
class Frozen:
    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Slotted:
    role: str
    content: str


class Named(NamedTuple):
    role: str
    content: str


class Model:
    """As pydantic's: fields cannot be set, but a copy can be made."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __setattr__(self, name: str, value: object) -> None:
        raise TypeError("instance is frozen")

    def model_copy(self, *, update: dict[str, Any]) -> Model:
        return Model(**{**self.__dict__, **update})


class Computed:
    """Its content is computed, so it cannot be set."""

    def __init__(self) -> None:
        self.role = "tool"

    @property
    def content(self) -> str:
        return "old"


KINDS = [dict, Plain, Frozen, Slotted, Named, Model, SimpleNamespace, UserDict]


@pytest.mark.parametrize("kind", KINDS)
def test_the_copy_has_the_new_field_and_the_original_the_old(kind: Any) -> None:
    message = kind(role="tool", content="old")
    copy = with_fields(message, content="new")
    assert (get(copy, "role"), get(copy, "content")) == ("tool", "new")
    assert (get(message, "role"), get(message, "content")) == ("tool", "old")
    assert type(copy) is type(message)


@pytest.mark.parametrize(
    "message",
    [MappingProxyType({"role": "tool", "content": "old"}), Computed()],
    ids=["view", "computed"],
)
def test_what_cannot_be_changed_gets_a_copy_that_can(message: Any) -> None:
    copy = with_fields(message, content="new")
    assert (get(copy, "role"), get(copy, "content")) == ("tool", "new")
    assert get(message, "content") == "old"


def test_other_fields_are_the_same_objects() -> None:
    inner: list[int] = []
    assert with_fields({"content": "old", "other": inner}, content="new")["other"] is inner
    assert with_fields(SimpleNamespace(content="old", other=inner), content="new").other is inner


class Shy(dict[str, Any]):
    """A dict of a class of its own."""


def test_a_dict_gives_a_dict_of_its_class() -> None:
    message = Shy(role="human")
    changed = with_fields(message, role="user")
    assert (type(changed), changed, message) == (Shy, {"role": "user"}, {"role": "human"})


def test_an_object_that_keeps_no_change_becomes_a_dict() -> None:
    assert with_fields(Computed(), content="Hi") == {"role": "tool", "content": "Hi"}


def test_what_has_no_fields_becomes_a_dict_of_the_new_ones() -> None:
    assert with_fields("text", role="user") == with_fields(None, role="user") == {"role": "user"}


def test_a_field_is_taken_out_of_a_dict_and_emptied_in_an_object() -> None:
    message = {"role": "user", "id": 1}
    assert without_field(message, "id") == {"role": "user"}
    assert message == {"role": "user", "id": 1}
    assert without_field(SimpleNamespace(id=1), "id") == SimpleNamespace(id=None)


def test_only_what_has_fields_is_structured() -> None:
    assert is_structured({"a": 1})
    assert is_structured(SimpleNamespace(a=1))
    bare: tuple[object, ...] = (None, "text", b"", 5, [1], (), {}, SimpleNamespace())
    assert not any(is_structured(value) for value in bare)
