from __future__ import annotations

from collections import deque
from types import SimpleNamespace

import pytest

from brim.errors import InputError
from brim.tokens.messages import Tally, measure

CHAT = [{"role": "user", "content": "hello you"}]


def words(text: str) -> int:
    return len(text.split())


def tally(messages: object, model: str = "gpt-4o") -> Tally:
    return measure(messages, model_name=model, encoding="o200k_base", count_text=words)


@pytest.mark.parametrize(
    "given", [5, 1.5, True, None, b"bytes", object(), words, {}, {"role": "user", "content": "x"}]
)
def test_what_is_not_messages_is_refused(given: object) -> None:
    with pytest.raises(InputError, match=r"^messages: "):
        tally(given)


def test_a_single_message_object_is_refused_with_advice() -> None:
    class Message(SimpleNamespace):
        def __iter__(self) -> object:
            return iter(())

    with pytest.raises(InputError, match="put it into a list"):
        tally(Message(role="user", content="x"))


@pytest.mark.parametrize(
    "given", [tuple(CHAT), iter(CHAT), deque(CHAT), (message for message in CHAT)]
)
def test_any_iterable_of_messages_is_read(given: object) -> None:
    assert tally(given) == tally(CHAT)


def test_a_string_is_one_message_and_not_exact() -> None:
    assert tally("hello you").per_message == (6,)
    assert not tally("hello you").exact


def test_a_chat_body_is_its_messages() -> None:
    body = {"model": "gpt-4o", "messages": CHAT, "temperature": 1}
    assert tally(body) == tally(CHAT)
    assert tally(SimpleNamespace(messages=CHAT)) == tally(CHAT)


@pytest.mark.parametrize(
    "body",
    [
        {"messages": CHAT, "system": "be brief please"},
        {"messages": CHAT, "system": [{"type": "text", "text": "be brief please"}]},
        {"input": CHAT, "instructions": "be brief please"},
        {"contents": CHAT, "systemInstruction": {"parts": [{"text": "be brief please"}]}},
        {"contents": CHAT, "config": {"system_instruction": "be brief please"}},
    ],
)
def test_a_system_text_of_a_body_is_fixed(body: dict[str, object]) -> None:
    for model in ("gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro"):
        plain, result = tally(CHAT, model), tally(body, model)
        assert result.per_message == plain.per_message
        assert result.text_tokens == plain.text_tokens + 3 + (model == "gpt-4o")
        assert result.fixed > plain.fixed


@pytest.mark.parametrize(
    "body",
    [
        {"input": "hello you"},
        {"contents": "hello you"},
        {"contents": {"parts": [{"text": "hello you"}]}},
    ],
)
def test_a_body_with_one_thing_is_one_message(body: dict[str, object]) -> None:
    assert len(tally(body).per_message) == 1
    assert tally(body).text_tokens == 2


def test_an_output_schema_counts_as_an_interval() -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}
    result = tally({"messages": CHAT, "response_format": schema})
    assert result.fixed > 3
    assert "output schema: not published" in result.reasons
    assert tally({"messages": CHAT, "response_format": {"type": "text"}}).exact
