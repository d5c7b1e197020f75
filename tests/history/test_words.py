"""What is said in a message, as plain text."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from brim.history.content import result_text, text_of
from tests.history.samples import (
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
        (SimpleNamespace(role="user", content=[SimpleNamespace(type="text", text="Hello")]), "Hello"),
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
