"""Finding the format of a history, and checking it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from brim.errors import BrimError, InputError
from brim.messages import PROVIDERS, Provider, Violation, validate
from brim.messages.formats import read
from brim.messages.layouts import provider_of
from tests.messages.histories import any_histories, as_object, valid_histories
from tests.messages.junk import JUNK
from tests.messages.samples import (
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
def test_the_first_message_that_one_format_alone_has_decides(
    message: Any, provider: Provider
) -> None:
    assert provider_of([HELLO, message, HELLO], "auto") == provider


@pytest.mark.parametrize(
    "messages", [[], [HELLO], [parts("text")], [SYSTEM, HELLO], [None, 5, "text"]]
)
def test_plain_messages_are_openais(messages: list[Any]) -> None:
    assert provider_of(messages, "auto") == "openai"
    assert provider_of(messages, "auto", "gpt-4o") == "openai"


@pytest.mark.parametrize(
    "model", ["claude-sonnet-4-5", "anthropic/Claude-3", "bedrock/us.anthropic.claude-opus-4"]
)
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
def test_a_valid_history_is_of_its_own_format_or_plain(
    provider: Provider, data: st.DataObject
) -> None:
    messages = data.draw(valid_histories(provider, rare=False))
    assert provider_of(messages, "auto") in (provider, "openai")


@given(data=st.data())
def test_any_list_is_of_some_format(data: st.DataObject) -> None:
    messages = data.draw(st.one_of([any_histories(provider) for provider in PROVIDERS]))
    assert provider_of(messages, "auto") in PROVIDERS


@pytest.mark.parametrize("kind", ["human", "ai", "AIMessageChunk", "HumanMessageChunk"])
def test_langchains_messages_are_for_the_models_provider_whatever_their_parts(kind: str) -> None:
    parts = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Hello"}]
    for content in ("Hello", parts):
        messages = [SimpleNamespace(type=kind, content=content)]
        assert provider_of(messages, "auto", "claude-sonnet-4-5") == "anthropic"
        assert provider_of(messages, "auto", "gemini-2.5-pro") == "gemini"
        assert provider_of(messages, "auto", "gpt-4o") == provider_of(messages, "auto") == "openai"


def test_a_developer_speaks_in_openais_formats_only() -> None:
    messages = [
        {"role": "developer", "content": "Never delete files."},
        {"role": "user", "content": "Hi"},
    ]
    assert provider_of(messages, "auto", "openrouter/anthropic/claude-sonnet-4.5") == "openai"


def test_a_developers_message_leaves_open_which_of_openais_formats_it_is() -> None:
    messages = [
        {"role": "developer", "content": "Never delete files."},
        item_call("a"),
        item_output("a"),
    ]
    assert provider_of(messages, "auto") == "responses"
    assert validate(messages) == []


def test_a_refusal_in_an_item_is_responses() -> None:
    item = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "refusal", "refusal": "No."}],
    }
    assert provider_of([{"role": "user", "content": "x"}, item], "auto") == "responses"


ALONE = frozenset(
    (
        *("known-role", "has-content", "text-not-empty", "part-not-empty", "calls-not-empty"),
        *(
            "call-has-id",
            "call-has-name",
            "result-has-id",
            "result-has-name",
            "call-by-assistant",
            "result-by-user",
        ),
    )
)
"""Rules that a message breaks by itself, wherever it stands."""
every_provider = pytest.mark.parametrize("provider", PROVIDERS)


class Stubborn:
    """Refuses everything that one can ask of an object."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __bool__(self) -> bool:
        raise RuntimeError("bool")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")

    __hash__ = None  # type: ignore[assignment]


class Message(BaseModel):
    role: str
    content: str | None = None
    tool_call_id: str | None = None


@every_provider
def test_an_empty_history_breaks_no_rule(provider: Provider) -> None:
    assert validate([], provider) == []
    assert validate([]) == []


@every_provider
def test_a_valid_history_breaks_no_rule(provider: Provider) -> None:
    @given(valid_histories(provider))
    def holds(messages: list[Any]) -> None:
        assert validate(messages, provider) == []

    holds()


@every_provider
def test_violations_are_in_the_order_of_the_messages(provider: Provider) -> None:
    @given(any_histories(provider))
    def holds(messages: list[Any]) -> None:
        places = [violation.index for violation in validate(messages, provider)]
        assert places == sorted(places)
        assert all(0 <= place < len(messages) for place in places)

    holds()


@every_provider
def test_the_reader_finds_the_same_fault_in_a_message(provider: Provider) -> None:
    """Pruners drop what the reader calls a problem, so it must be one, and no other may be left."""

    @given(any_histories(provider))
    def holds(messages: list[Any]) -> None:
        broken = {violation.index: set[str]() for violation in validate(messages, provider)}
        for violation in validate(messages, provider):
            broken[violation.index].add(violation.rule)
        for entry in read(messages, provider):
            by_itself = broken.get(entry.index, set()) & ALONE
            is_last = provider == "anthropic" and entry.index == len(messages) - 1
            if entry.rule and not (is_last and entry.rule == "has-content"):
                assert entry.rule in broken[entry.index]
            assert bool(entry.rule) or not by_itself

    holds()


@every_provider
def test_nothing_inside_a_list_raises(provider: Provider) -> None:
    @given(st.lists(JUNK, max_size=6))
    def holds(messages: list[Any]) -> None:
        validate(messages, provider)
        validate(messages)

    holds()


@every_provider
@pytest.mark.parametrize(
    "make",
    [
        lambda odd: odd,
        lambda odd: {"role": odd, "content": odd},
        lambda odd: {"role": "user", "content": odd, "parts": odd},
        lambda odd: {
            "role": "assistant",
            "content": [odd],
            "tool_calls": [odd],
            "function_call": odd,
        },
        lambda odd: {"role": "model", "parts": [odd, {"functionCall": odd}]},
        lambda odd: {"type": "function_call", "call_id": odd, "id": odd},
    ],
)
@pytest.mark.parametrize(
    "odd",
    [Stubborn(), object(), float("nan"), {1: 2}, {"a"}, validate],
    ids=("stubborn", "object", "nan", "numbers", "set", "function"),
)
def test_strange_objects_do_not_raise(
    provider: Provider, make: Callable[[Any], Any], odd: Any
) -> None:
    assert isinstance(validate([make(odd)], provider), list)
    assert isinstance(validate([make(odd)]), list)


def test_a_message_that_holds_itself_does_not_raise() -> None:
    message: dict[str, Any] = {"role": "user"}
    message["content"] = [message]
    for provider in PROVIDERS:
        assert all(found.index == 0 for found in validate([message], provider))


def test_objects_are_read_like_dicts() -> None:
    orphan = {"role": "tool", "tool_call_id": "a", "content": "42"}
    expected = [
        Violation(0, "result-has-call", "the result of a answers no call of the message before it")
    ]
    assert validate([orphan], "openai") == expected
    assert validate([as_object(orphan)], "openai") == expected
    assert validate([Message(**orphan)], "openai") == expected
    assert validate((as_object(orphan),), "openai") == expected


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        ({"role": "tool", "tool_call_id": "a", "content": "42"}, "result-has-call"),
        ({"type": "function_call_output", "call_id": "a", "output": "42"}, "result-has-call"),
        (
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "read"}]},
            "first-is-user",
        ),
        ({"role": "model", "parts": [{"text": "Hi"}]}, "first-is-user"),
    ],
)
def test_the_provider_is_found_by_the_shape(message: Any, rule: str) -> None:
    assert rule in [violation.rule for violation in validate([message])]


@pytest.mark.parametrize("messages", [None, 5, "Hello", b"Hello", {"messages": []}, object()])
def test_what_is_no_list_is_an_error_that_says_so(messages: Any) -> None:
    with pytest.raises(InputError, match="expected a list of messages"):
        validate(messages)


def test_an_unknown_provider_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(BrimError, match="openai, responses, anthropic, gemini"):
        validate([], "mistral")  # type: ignore[arg-type]


ROOT = Path(__file__).parents[2]
TABLE = (ROOT / "docs" / "data" / "history_rules.tsv").read_text(encoding="utf-8")
ROWS = [tuple(cell.strip("`") for cell in line.split("\t")) for line in TABLE.splitlines()[1:]]


@pytest.mark.parametrize("provider", PROVIDERS)
@settings(max_examples=100)
@given(data=st.data())
def test_every_rule_that_is_broken_has_a_row(provider: Provider, data: st.DataObject) -> None:
    rows = {row[1] for row in ROWS if row[0] == provider}
    assert {
        violation.rule for violation in validate(data.draw(any_histories(provider)), provider)
    } <= rows


def test_every_row_names_a_rule_that_the_provider_checks() -> None:
    folder = ROOT / "src/brim/messages"
    sources = {
        "openai": "chat.py",
        "anthropic": "anthropic/rules.py",
        "gemini": "gemini/rules.py",
    }
    for provider, rule, *_ in ROWS:
        files = (folder / sources.get(provider, f"{provider}.py"), folder / "rules.py")
        assert any(f'"{rule}"' in file.read_text(encoding="utf-8") for file in files), rule


def test_a_row_has_a_source_or_is_assumed() -> None:
    assert [row for row in ROWS if "https://" not in row[3] and "*assumed*" not in row[3]] == []


def test_a_row_names_a_test_that_exists() -> None:
    for row in ROWS:
        path, name = row[4].split("::")
        assert f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), row
