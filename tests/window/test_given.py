"""What cannot be read is refused by name; what is missing is not there."""

from __future__ import annotations

from typing import Any

import pytest

from brim.errors import InputError
from brim.history import PROVIDERS, FifoPruner
from brim.window import WorkingMemory
from tests.window.requests import memory, talk


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"system_prompt": 5}, "system_prompt"),
        ({"procedure": ["a"]}, "procedure"),
        ({"knowledge": 5}, "knowledge"),
        ({"knowledge": [5]}, r"knowledge\[0\]"),
        ({"knowledge": ["a", {"title": "no text"}]}, r"knowledge\[1\]"),
        ({"episodes": [None]}, r"episodes\[0\]"),
        ({"episodes": [b"bytes"]}, r"episodes\[0\]"),
        ({"knowledge": [{"text": "a", "score": "high"}]}, r"knowledge\[0\].score"),
        ({"knowledge": [{"text": "a", "score": True}]}, "score"),
        ({"history": "text"}, "history"),
        ({"history": {"messages": []}}, "history"),
        ({"history": 5}, "history"),
        ({"current_message": ["a"]}, "current_message"),
        ({"current_message": 5}, "current_message"),
        ({"provider": "bedrock"}, "bedrock"),
        ({"pruner": "fifo"}, "pruner"),
        ({"pruner": FifoPruner}, "pruner"),
        ({"tools": {"name": "read"}}, "tools"),
        ({"context_window": 0}, "context_window"),
        ({"context_window": True}, "context_window"),
        ({"context_window": "128k"}, "context_window"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(options: dict[str, Any], name: str) -> None:
    with pytest.raises(InputError, match=name):
        memory().assemble(**options)


def test_nothing_is_not_an_error() -> None:
    missing = dict.fromkeys(
        ("system_prompt", "procedure", "knowledge", "episodes", "history", "current_message", "tools")
    )
    assert memory().assemble(**missing).messages == []  # type: ignore[arg-type]


def test_any_iterable_is_a_list() -> None:
    found = memory().assemble(knowledge=iter(["a", "b"]), history=(message for message in talk(2)), tools=iter([{}]))
    assert (found.section("knowledge").items, found.section("history").items) == (2, 4)


def test_odd_messages_are_no_crash() -> None:
    history: list[Any] = [None, 5, "text", {}, {"role": "user"}, [], {"role": "assistant", "content": None}]
    for provider in PROVIDERS:
        found = WorkingMemory(model="gpt-4o").assemble(history=history, current_message="Why?", provider=provider)
        assert found.fits
