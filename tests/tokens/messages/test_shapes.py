"""Messages of every provider's shape, as dicts and as objects."""

from __future__ import annotations

from collections import namedtuple
from enum import Enum
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest

from brim.errors import InputError
from brim.tokens.messages import Framing, Tally, measure


def words(text: str) -> int:
    return len(text.split())


def tally(*messages: object, model: str = "gpt-4o") -> Tally:
    return measure(list(messages), model_name=model, encoding="o200k_base", count_text=words)


def texts(*messages: object, model: str = "gpt-4o") -> set[str]:
    """What was counted as text."""
    seen: set[str] = set()

    def count(text: str) -> int:
        seen.add(text)
        return words(text)

    measure(list(messages), model_name=model, encoding="o200k_base", count_text=count)
    return seen


def as_object(value: object) -> object:
    if isinstance(value, dict):
        return SimpleNamespace(**{name: as_object(inner) for name, inner in value.items()})
    return [as_object(inner) for inner in value] if isinstance(value, list) else value


CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "read file", "arguments": '{"path": "a b"}'},
}
SHAPES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "chat": ({"role": "user", "content": "hello you"}, {"hello you"}),
    "chat parts": ({"role": "user", "content": [{"type": "text", "text": "one two"}]}, {"one two"}),
    "tool calls": (
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"read file", '{"path": "a b"}'},
    ),
    "function call": (
        {"role": "assistant", "content": None, "function_call": {"name": "f g", "arguments": "{}"}},
        {"f g", "{}"},
    ),
    "tool": ({"role": "tool", "tool_call_id": "call_1", "content": "it works"}, {"it works"}),
    "refusal": ({"role": "assistant", "content": None, "refusal": "I will not"}, {"I will not"}),
    "developer": ({"role": "developer", "content": "be brief"}, {"be brief"}),
    "item message": (
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "from responses"}],
        },
        {"from responses"},
    ),
    "item call": (
        {"type": "function_call", "name": "f g", "arguments": "{ }", "call_id": "c"},
        {"f g", "{ }"},
    ),
    "item output": (
        {"type": "function_call_output", "call_id": "c", "output": "all fine"},
        {"all fine"},
    ),
    "item output parts": (
        {
            "type": "function_call_output",
            "call_id": "c",
            "output": [{"type": "input_text", "text": "in parts"}],
        },
        {"in parts"},
    ),
    "custom call": ({"type": "custom_tool_call", "name": "sh", "input": "ls -l"}, {"sh", "ls -l"}),
    "shell call": (
        {"type": "local_shell_call", "action": {"command": ["ls"]}},
        {'{"command":["ls"]}'},
    ),
    "mcp call": (
        {"type": "mcp_call", "name": "m", "arguments": "{}", "output": "done so"},
        {"m", "{}", "done so"},
    ),
    "web search": (
        {"type": "web_search_call", "action": {"query": "q"}, "id": "w"},
        {'{"query":"q"}'},
    ),
    "tool use": (
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t", "name": "grep", "input": {"p": "x"}}],
        },
        {"grep", '{"p":"x"}'},
    ),
    "tool result": (
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": "two lines"}],
        },
        {"two lines"},
    ),
    "tool result parts": (
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "content": [{"type": "text", "text": "in blocks"}]}
            ],
        },
        {"in blocks"},
    ),
    "search result": (
        {
            "role": "user",
            "content": [
                {"type": "search_result", "source": "s", "title": "t u", "content": ["v w"]}
            ],
        },
        {"s", "t u", "v w"},
    ),
    "gemini": ({"role": "model", "parts": [{"text": "from gemini"}]}, {"from gemini"}),
    "gemini call": (
        {"role": "model", "parts": [{"functionCall": {"name": "f g", "args": {"x": 1}}}]},
        {"f g", '{"x":1}'},
    ),
    "gemini response": (
        {"role": "user", "parts": [{"functionResponse": {"name": "f g", "response": {"y": 2}}}]},
        {"f g", '{"y":2}'},
    ),
    "gemini code": (
        {"role": "model", "parts": [{"executableCode": {"code": "print(1)"}}]},
        {"print(1)"},
    ),
    "langchain": ({"type": "human", "content": "hi chain"}, {"hi chain"}),
    "langchain calls": (
        {"type": "ai", "content": "", "tool_calls": [{"name": "f g", "args": {"x": 1}, "id": "i"}]},
        {"f g", '{"x":1}'},
    ),
    "converse": (
        {"role": "assistant", "content": [{"toolUse": {"name": "f g", "input": {"x": 1}}}]},
        {"f g", '{"x":1}'},
    ),
    "event": (
        {"type": "user", "message": {"role": "user", "content": "in an event"}, "uuid": "u"},
        {"in an event"},
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_what_the_model_reads_is_counted(name: str) -> None:
    message, expected = SHAPES[name]
    assert expected <= texts(message)
    unread = (
        texts(message) - expected - {"user", "assistant", "system", "developer", "tool", "model"}
    )
    assert unread <= {""}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro", "unknown"])
def test_objects_and_dicts_are_equal(name: str, model: str) -> None:
    message, _ = SHAPES[name]
    assert tally(as_object(message), model=model) == tally(message, model=model)


def test_a_mix_of_shapes_in_one_list() -> None:
    messages = [message for message, _ in SHAPES.values()]
    mixed = tally(*messages)
    assert len(mixed.per_message) == len(messages)
    assert mixed.per_message == tuple(tally(message).per_message[0] for message in messages)


def test_named_tuples_mappings_and_enumerations_are_read() -> None:
    class Role(str, Enum):  # noqa: UP042
        USER = "user"

    pair = namedtuple("pair", ("role", "content"))
    plain = tally({"role": "user", "content": "hello you"}).tokens
    assert tally(pair("user", "hello you")).tokens == plain
    assert tally(MappingProxyType({"role": "user", "content": "hello you"})).tokens == plain
    assert tally({"role": Role.USER, "content": "hello you"}).tokens == plain


def test_an_object_of_a_plain_chat_is_exact() -> None:
    assert tally(SimpleNamespace(role="user", content="hello you")).exact
    assert tally({"role": "user", "content": [{"type": "text", "text": "hello you"}]}).exact
    assert tally(
        {"role": "assistant", "content": "hi", "tool_calls": None, "refusal": None, "audio": None}
    ).exact


@pytest.mark.parametrize(
    "message",
    [
        {"role": "developer", "content": "x"},
        {"role": "user", "content": None},
        {"role": "user"},
        {"content": "x"},
        {"role": "tool", "content": "x"},
        {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}]},
        {"type": "message", "role": "user", "content": "x"},
        {"role": "assistant", "content": "x", "tool_calls": [CALL]},
        "x",
    ],
)
def test_anything_but_plain_chat_is_not_exact(message: object) -> None:
    result = tally(message)
    assert not result.exact
    assert result.low <= result.tokens <= result.high
    assert result.low < result.high


def test_an_unknown_part_is_its_compact_json_without_data() -> None:
    blob = "QUJD" * 1000
    part = {"type": "hologram", "note": "see this", "data": blob, "small": "QUJD"}
    assert '{"type":"hologram","note":"see this","data":"…","small":"QUJD"}' in texts(
        {"role": "user", "content": [part]}
    )


def test_prose_in_an_unknown_part_is_kept_however_long() -> None:
    prose = "some words " * 1000
    assert any(
        prose in text
        for text in texts({"role": "user", "content": [{"type": "essay", "body": prose}]})
    )


@pytest.mark.parametrize(
    "content",
    [None, 1, 1.5, True, b"bytes", {}, [], [[]], [None], [1], {"a": {}}, [{"type": 3}], object()],
)
def test_odd_content_never_raises(content: object) -> None:
    for model in ("gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro", ""):
        result = tally({"role": "user", "content": content}, model=model)
        assert result.low <= result.tokens <= result.high


def test_a_hostile_object_never_raises() -> None:
    class Hostile:
        def __getattr__(self, name: str) -> object:
            raise RuntimeError(name)

        def __str__(self) -> str:
            raise RuntimeError

    assert tally({"role": "user", "content": [Hostile()]}).tokens > 0
    with pytest.raises(InputError, match=r"messages\[0\]: can't read a tests Hostile as a message"):
        tally(Hostile())


@pytest.mark.parametrize(
    ("message", "what"),
    [
        (None, "None"),
        (7, "an int"),
        ([], "a list"),
        ({}, "a dict without"),
        ({"x": 1}, "a dict without"),
        (b"x", "a bytes"),
    ],
)
def test_what_is_no_message_is_refused_by_its_place_and_type(message: object, what: str) -> None:
    with pytest.raises(
        InputError, match=rf"messages\[1\]: can't read {what}.* Pass dicts, or objects of openai"
    ):
        tally({"role": "user", "content": "x"}, message)
    framing = Framing(3, 4, roles=True)
    assert (
        measure(
            [message], model_name="gpt-4o", encoding=None, count_text=words, framing=framing
        ).tokens
        > 0
    )


def test_circles_and_depth_never_raise() -> None:
    circle: list[object] = []
    circle.append(circle)
    loop: dict[str, object] = {"role": "user"}
    loop["content"] = [loop]
    deep: object = "bottom"
    for _ in range(5_000):
        deep = [deep]
    assert (
        tally(loop, {"role": "user", "content": deep}, {"role": "user", "content": circle}).tokens
        > 0
    )


def test_what_is_shared_many_times_over_takes_no_time() -> None:
    shared: object = "x"
    for _ in range(35):
        shared = [shared, shared]
    held: object = {"a": "x"}
    for _ in range(35):
        held = SimpleNamespace(left=held, right=held)
    assert (
        tally({"role": "user", "content": shared}, {"role": "user", "content": [held]}).tokens > 0
    )


def test_ids_and_bookkeeping_are_not_counted() -> None:
    message = {
        "role": "user",
        "content": "hello you",
        "id": "msg_1",
        "timestamp": "now",
        "cache_control": {"type": "x"},
    }
    assert tally(message).tokens == tally({"role": "user", "content": "hello you"}).tokens
