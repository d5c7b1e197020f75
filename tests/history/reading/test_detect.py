"""Which format a list of messages is in."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.errors import InputError
from brim.history import PROVIDERS, Provider
from brim.history.formats import provider_of
from tests.history.histories import any_histories, valid_histories
from tests.history.samples import (
    answers,
    assistant,
    chat_calls,
    chat_result,
    function_calls,
    item_call,
    item_output,
    item_reasoning,
    search,
    thinking,
    tool_result,
    tool_use,
    user,
)

HELLO = user("openai", "Hello")
SYSTEM = {"role": "system", "content": "Be brief."}


def parts(type_: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": [{"type": type_, "text": "Hello"}]}


@pytest.mark.parametrize(
    ("message", "provider"),
    [
        (chat_calls("a"), "openai"),
        (chat_result("a"), "openai"),
        ({"role": "function", "name": "f", "content": "done"}, "openai"),
        (parts("image_url"), "openai"),
        (item_call("a"), "responses"),
        (item_output("a"), "responses"),
        (item_reasoning("r"), "responses"),
        ({"type": "web_search_call", "id": "w"}, "responses"),
        (parts("input_text"), "responses"),
        ({**parts("output_text", "assistant"), "type": "message"}, "responses"),
        (assistant(tool_use("a")), "anthropic"),
        (answers(tool_result("a")), "anthropic"),
        (assistant(thinking()), "anthropic"),
        (assistant(*search("s")), "anthropic"),
        (parts("image"), "anthropic"),
        (user("gemini", "Hello"), "gemini"),
        (function_calls("f"), "gemini"),
        ({"role": "model", "content": "Hi"}, "gemini"),
        (SimpleNamespace(role="model", parts=[SimpleNamespace(text="Hi")]), "gemini"),
    ],
)
def test_the_first_message_that_one_format_alone_has_decides(message: Any, provider: Provider) -> None:
    assert provider_of([HELLO, message, HELLO], "auto") == provider


@pytest.mark.parametrize("messages", [[], [HELLO], [parts("text")], [SYSTEM, HELLO], [None, 5, "text"]])
def test_plain_messages_are_openais(messages: list[Any]) -> None:
    assert provider_of(messages, "auto") == "openai"
    assert provider_of(messages, "auto", "gpt-4o") == "openai"


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "anthropic/Claude-3", "bedrock/us.anthropic.claude-opus-4"])
def test_plain_messages_to_claude_are_anthropics_without_a_system_message(model: str) -> None:
    assert provider_of([HELLO], "auto", model) == "anthropic"
    assert provider_of([SYSTEM, HELLO], "auto", model) == "openai"


def test_the_shape_outranks_the_model() -> None:
    assert provider_of([chat_calls("a")], "auto", "claude-sonnet-4-5") == "openai"
    assert provider_of([assistant(tool_use("a"))], "auto", "gpt-4o") == "anthropic"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_provider_that_is_named_is_taken(provider: Provider) -> None:
    assert provider_of([chat_calls("a"), item_call("b")], provider, "claude-sonnet-4-5") == provider


@pytest.mark.parametrize("name", ["claude", "", "AUTO", None, 5, []])
def test_an_unknown_name_is_an_input_error(name: Any) -> None:
    with pytest.raises(InputError, match="unknown provider"):
        provider_of([HELLO], name)


@pytest.mark.parametrize("provider", PROVIDERS)
@settings(max_examples=40)
@given(data=st.data())
def test_a_valid_history_is_of_its_own_format_or_plain(provider: Provider, data: st.DataObject) -> None:
    messages = data.draw(valid_histories(provider, rare=False))
    assert provider_of(messages, "auto") in (provider, "openai")


@settings(max_examples=60)
@given(data=st.data())
def test_any_list_is_of_some_format(data: st.DataObject) -> None:
    messages = data.draw(st.one_of([any_histories(provider) for provider in PROVIDERS]))
    assert provider_of(messages, "auto") in PROVIDERS


@pytest.mark.parametrize("kind", ["human", "ai", "AIMessageChunk", "HumanMessageChunk"])
def test_langchains_messages_are_chat_whatever_the_model_and_the_parts(kind: str) -> None:
    parts = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Hello"}]
    for content in ("Hello", parts):
        assert provider_of([SimpleNamespace(type=kind, content=content)], "auto", "claude-sonnet-4-5") == "openai"


def test_a_developer_speaks_in_openais_formats_only() -> None:
    messages = [{"role": "developer", "content": "Never delete files."}, {"role": "user", "content": "Hi"}]
    assert provider_of(messages, "auto", "openrouter/anthropic/claude-sonnet-4.5") == "openai"


def test_a_refusal_in_an_item_is_responses() -> None:
    item = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}
    assert provider_of([{"role": "user", "content": "x"}, item], "auto") == "responses"
