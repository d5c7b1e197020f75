"""Messages of agent frameworks: pydantic-ai, LangChain, Haystack. The classes here have the fields
of the real ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.errors import InputError
from brim.messages import (
    FifoPruner,
    Provider,
    Pruner,
    SummarizePruner,
    ToolResultCap,
    WatermarkPruner,
    repair,
    validate,
)
from brim.tokens import counter_for

NOW = datetime(2026, 11, 1, tzinfo=UTC)


@dataclass
class Part:
    """A part of a pydantic-ai message: every class of theirs has ``part_kind``."""

    part_kind: str
    content: Any = None
    tool_name: str | None = None
    args: Any = None
    tool_call_id: str | None = None
    signature: str | None = None
    timestamp: datetime = NOW


@dataclass
class ModelRequest:
    parts: list[Part]
    instructions: str | None = None
    kind: str = "request"


@dataclass
class ModelResponse:
    parts: list[Part]
    usage: dict[str, int] = field(default_factory=dict)
    timestamp: datetime = NOW
    kind: str = "response"


def asks(text: str, system: str = "") -> ModelRequest:
    first = [Part("system-prompt", system)] if system else []
    return ModelRequest([*first, Part("user-prompt", text)])


def calls(*ids: str) -> ModelResponse:
    return ModelResponse(
        [
            Part("tool-call", tool_name="read", args={"path": f"{id_}.py"}, tool_call_id=id_)
            for id_ in ids
        ]
    )


def returns(*ids: str, text: str = "done ") -> ModelRequest:
    return ModelRequest(
        [Part("tool-return", text * 40, tool_name="read", tool_call_id=id_) for id_ in ids]
    )


def answer(text: str) -> ModelResponse:
    return ModelResponse([Part("thinking", "Hm."), Part("text", text)])


def run(turns: int, steps: int = 3) -> list[Any]:
    """Return a conversation with *steps* of two parallel calls in each turn."""
    messages: list[Any] = []
    for turn in range(turns):
        messages.append(asks(f"Question {turn}", "Be brief." if turn == 0 else ""))
        for step in range(steps):
            ids = f"c{turn}_{step}_a", f"c{turn}_{step}_b"
            messages += [calls(*ids), returns(*ids)]
        messages.append(answer(f"Answer {turn}"))
    return messages


@dataclass
class Chain:
    """A LangChain message: ``type`` says who speaks."""

    type: str
    content: Any
    id: str | None = None
    name: str | None = None
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    tool_call_id: str | None = None
    additional_kwargs: dict[str, Any] = field(default_factory=dict)


def chain(turns: int, steps: int = 3) -> list[Any]:
    messages: list[Any] = [Chain("system", "Be brief.")]
    for turn in range(turns):
        messages.append(Chain("human", f"Question {turn}"))
        for step in range(steps):
            ids = [f"c{turn}_{step}_{n}" for n in range(2)]
            used = [{"type": "tool_use", "id": id_, "name": "read", "input": {}} for id_ in ids]
            called = [
                {"name": "read", "args": {"path": "a.py"}, "id": id_, "type": "tool_call"}
                for id_ in ids
            ]
            messages.append(Chain("ai", [{"type": "text", "text": ""}, *used], tool_calls=called))
            messages += [Chain("tool", "done " * 40, tool_call_id=id_) for id_ in ids]
        messages.append(Chain("ai", f"Answer {turn}"))
    return messages


MODELS = ("gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro", "unknown")
PRUNERS: dict[str, type[Any]] = {
    "fifo": FifoPruner, "watermark": WatermarkPruner, "summarize": SummarizePruner, "cap": ToolResultCap,
}  # fmt: skip


def pairs(messages: list[Any]) -> tuple[list[str], list[str]]:
    """Return the ids of the calls and of the returns, in order."""
    called, returned = [], []
    for message in messages:
        parts = message.parts if hasattr(message, "parts") else []
        called += [part.tool_call_id for part in parts if part.part_kind == "tool-call"]
        returned += [part.tool_call_id for part in parts if part.part_kind == "tool-return"]
        called += [call["id"] for call in getattr(message, "tool_calls", [])]
        returned += [message.tool_call_id] if getattr(message, "tool_call_id", None) else []
    return called, returned


@pytest.mark.parametrize("make", [run, chain])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", PRUNERS)
@settings(max_examples=6, deadline=None)
@given(
    turns=st.integers(0, 4),
    steps=st.integers(0, 4),
    target=st.integers(0, 2_500),
    fill=st.booleans(),
)
def test_a_prune_never_separates_a_call_from_its_return(
    make: Any, model: str, name: str, turns: int, steps: int, target: int, fill: bool
) -> None:
    messages = make(turns, steps)
    pruner: Pruner = PRUNERS[name]()
    pruned = pruner.prune(messages, target, model=model, fill=fill)
    called, returned = pairs(pruned.messages)
    assert called == returned
    assert validate(pruned.messages, model=model) == []
    assert all(type(message) in (ModelRequest, ModelResponse, Chain) for message in pruned.messages)
    gone = {index for unit in pruned.receipt.dropped for index in unit.indices}
    same = [message for at, message in enumerate(messages) if at not in gone]
    if name in ("fifo", "watermark"):
        assert list(map(id, pruned.messages)) == list(map(id, same))
    assert pruned.fits == (counter_for(model).count_messages(pruned.messages) <= target)


@pytest.mark.parametrize("make", [run, chain])
@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "gemini-2.5-pro"])
def test_for_claude_and_gemini_the_user_begins(make: Any, model: str) -> None:
    pruned = FifoPruner().prune(make(4), 900, model=model)
    speakers = [message for message in pruned.messages if getattr(message, "type", "") != "system"]
    assert len(pruned.messages) < len(make(4))
    assert getattr(speakers[0], "type", "human") == "human"
    assert getattr(speakers[0], "kind", "request") == "request"
    assert pruned.receipt.provider == ("gemini" if "gemini" in model else "anthropic")


@pytest.mark.parametrize("make", [run, chain])
def test_the_system_prompt_stays(make: Any) -> None:
    messages = make(4)
    for model in MODELS:
        assert FifoPruner().prune(messages, 300, model=model).messages[0] is messages[0]


def test_langchains_calls_are_counted_once() -> None:
    both = chain(1, 1)
    parsed = [
        Chain(each.type, "" if each.tool_calls else each.content, tool_calls=each.tool_calls)
        for each in both
    ]
    counter = counter_for("claude-sonnet-4-5")
    assert int(counter.count_messages(both)) == int(counter.count_messages(parsed))


def test_pydantic_instructions_count_once_and_timestamps_do_not() -> None:
    messages = [ModelRequest([Part("user-prompt", "Hello")], "Be brief."), answer("Hi")]
    counter = counter_for("gpt-4o")
    plain = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
    low, high = int(counter.count_messages(plain)), int(counter.count_messages(plain)) + 15
    assert low < int(counter.count_messages(messages)) < high
    again = [messages[0], messages[1], *messages]
    assert int(counter.count_messages(again)) < 2 * int(counter.count_messages(messages))


def test_dumped_pydantic_messages_are_read_like_the_objects() -> None:
    dumped = [{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Hello"}]}]
    assert validate(dumped) == []
    assert FifoPruner().prune(dumped, 100, model="gpt-4o").messages == dumped


def test_a_retry_answers_its_call() -> None:
    retry = ModelRequest([Part("retry-prompt", "Wrong path", tool_name="read", tool_call_id="a")])
    assert validate([asks("Go"), calls("a"), retry], model="claude-sonnet-4-5") == []
    assert [each.rule for each in validate([asks("Go"), calls("a"), asks("Well?")])] == [
        "call-has-result"
    ]


def test_a_call_of_pydantic_without_its_return_is_broken() -> None:
    pruned = FifoPruner().prune([asks("Go"), calls("a"), asks("Well?")], 1_000, model="gpt-4o")
    assert [unit.kind for unit in pruned.receipt.dropped] == ["broken"]


def test_repair_refuses_pydantic_messages() -> None:
    with pytest.raises(InputError, match="pydantic-ai"):
        repair([asks("Go"), calls("a")])


class ChatMessage:
    """Haystack's: the fields are private, and asking for ``content`` raises."""

    def __init__(self, role: str, *content: Any) -> None:
        self._role, self._content, self._name = role, list(content), None

    @property
    def role(self) -> str:
        return self._role


def test_haystacks_messages_are_counted_and_pruned() -> None:
    call = SimpleNamespace(tool_name="read", arguments={"path": "a.py"}, id="c")
    result = SimpleNamespace(result="word " * 200, origin=call, error=False)
    messages = [
        ChatMessage("user", SimpleNamespace(text="word " * 300)),
        ChatMessage("assistant", call),
        ChatMessage("tool", result),
    ]
    assert 500 < int(counter_for("gpt-4o").count_messages(messages)) < 560
    assert FifoPruner().prune(messages, 10_000, model="gpt-4o").messages == messages
    assert validate(messages) == []
    assert [each.rule for each in validate(messages[1:2])] == ["call-has-result"]


@dataclass
class Foreign:
    text: str = "Hello"


@pytest.mark.parametrize(
    ("messages", "what"),
    [
        ([{"role": "User", "content": "Hello"}], r"messages\[0\].role: 'User' is not a role"),
        ([{"role": "user", "content": None}], r"messages\[0\].content: "),
        ([{"role": "user"}], r"messages\[0\].content: "),
        (["hi"], r"messages\[0\]"),
        ([None], r"messages\[0\]: can't read None here"),
        ([{"role": "user", "content": "a"}, 7], r"messages\[1\]: can't read an int here"),
        ([{}], r"messages\[0\]: can't read a dict"),
        ([b"hi"], r"messages\[0\]: can't read a bytes"),
        ([Foreign()], r"messages\[0\]: can't read a tests Foreign"),
        ([{"type": "remove", "id": "x"}], r"messages\[0\].type: 'remove' is not a role"),
        ([{"role": "agent", "parts": [{"kind": "text", "text": "a"}]}], r"can't read a dict with parts that aren't"),
        ([{"role": "user", "parts": [{"text": "a"}]}, {"role": "assistant", "parts": []}], r"messages\[1\].role"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "pruner", [FifoPruner(), WatermarkPruner(), SummarizePruner(), ToolResultCap()]
)
def test_what_cant_be_read_is_refused_by_its_place_and_field(
    pruner: Pruner, messages: list[Any], what: str
) -> None:
    with pytest.raises(InputError, match=what):
        pruner.prune(messages, 10_000, model="gpt-4o")


@dataclass
class Piece:
    """A part of another program's message."""

    text: str
    kind: str = "text"


@dataclass
class Post:
    """A message of another program: it has parts, and they aren't Gemini's."""

    parts: list[Any]
    role: str | None = "user"
    content: str | None = None


@dataclass
class Album:
    parts: list[Any]


STRANGERS = [
    Post([Piece("Hello")]),
    Post(["Hello"]),
    Post([Album([])]),
    Post([Piece("Hello")], role=None),
    Album([Piece("Hello")]),
    Album([{"text": "Hello"}]),
]


@pytest.mark.parametrize("stranger", STRANGERS)
@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro"])
def test_an_object_with_parts_of_its_own_is_not_read_as_geminis(stranger: Any, model: str) -> None:
    what = rf"messages\[0\]: can't read an? tests {type(stranger).__name__} "
    with pytest.raises(InputError, match=what):
        FifoPruner().prune([stranger], 10_000, model=model)
    with pytest.raises(InputError, match=what):
        counter_for(model).count_messages([stranger])


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_an_object_with_a_role_a_content_and_parts_is_read_by_its_content(role: str) -> None:
    messages = [
        {"role": "user", "content": "Go"},
        Post([Piece("unread " * 50)], role=role, content="Hello"),
    ]
    plain = [messages[0], {"role": role, "content": "Hello"}]
    counter = counter_for("gpt-4o")
    assert counter.count_messages(messages) == counter.count_messages(plain)
    assert FifoPruner().prune(messages, 10_000, model="gpt-4o").messages == messages


def test_parts_with_types_are_no_geminis() -> None:
    ui_message = {"role": "assistant", "parts": [{"type": "text", "text": "Hello"}]}
    with pytest.raises(
        InputError, match=r"messages\[0\]: can't read a dict with parts that aren't Gemini's"
    ):
        FifoPruner().prune([ui_message], 10_000, model="gpt-4o")


def test_googles_own_classes_are_geminis() -> None:
    from google.genai import types

    for role in ("user", None):
        content = types.Content(
            role=role, parts=[types.Part(text="Hello"), types.Part(thought=True, text="Hm")]
        )
        assert FifoPruner().prune([content], 10_000, model="gpt-4o").receipt.provider == "gemini"
    looks_alike = SimpleNamespace(role="user", parts=[SimpleNamespace(text="Hello")])
    assert FifoPruner().prune([looks_alike], 10_000, model="gpt-4o").receipt.provider == "gemini"


def test_the_fields_of_a_part_are_googles() -> None:
    from google.genai import types

    from brim.tokens.messages.parts import GEMINI_PART_FIELDS

    assert set(types.Part.model_fields) == GEMINI_PART_FIELDS


def test_messages_of_two_providers_are_refused() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    chat = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": ""},
    ]
    used = [{"type": "tool_use", "id": "a", "name": "read", "input": {}}]
    answered = [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]
    claude = [{"role": "assistant", "content": used}, {"role": "user", "content": answered}]
    go = [{"role": "user", "content": "Go"}]
    with pytest.raises(
        InputError, match=r"messages\[3\]: it is written for Anthropic's Messages API"
    ):
        FifoPruner().prune([*go, *chat, *claude], 1_000, model="gpt-4o")
    with pytest.raises(InputError, match=r"messages\[3\]: it is written for OpenAI's chat API"):
        FifoPruner().prune([*go, *claude, *chat], 1_000, model="claude-sonnet-4-5")


@pytest.mark.parametrize("provider", ["openai", "responses", "anthropic"])
@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"x", r"messages\[1\]\.content: expected text or a list of parts, not bytes"),
        (5, r"messages\[1\]\.content: expected text or a list of parts, not int"),
        (True, r"messages\[1\]\.content: .*not bool"),
        ({1, 2}, r"messages\[1\]\.content: .*not set"),
        (
            [{"type": "text", "text": "a"}, None],
            r"messages\[1\]\.content\[1\]: expected a part, not NoneType",
        ),
        ([b"x"], r"messages\[1\]\.content\[0\]: expected a part, not bytes"),
        ([0.5], r"messages\[1\]\.content\[0\]: expected a part, not float"),
    ],
)
def test_what_no_provider_reads_as_content_is_an_error(
    provider: Provider, role: str, content: Any, said: str
) -> None:
    messages = [{"role": "user", "content": "Go"}, {"role": role, "content": content}]
    with pytest.raises(InputError, match=said):
        FifoPruner().prune(messages, 1_000, provider=provider)


@pytest.mark.parametrize(("part", "said"), [(None, "NoneType"), (b"x", "bytes"), (5, "int")])
def test_what_is_not_a_part_of_a_content_is_an_error(part: Any, said: str) -> None:
    with pytest.raises(
        InputError, match=rf"messages\[0\]\.parts\[1\]: expected a part, not {said}"
    ):
        FifoPruner().prune(
            [{"role": "user", "parts": [{"text": "a"}, part]}], 1_000, model="gemini-2.5-pro"
        )


def test_surrogates_bytes_and_circles_inside_a_message_are_counted() -> None:
    circle: dict[str, Any] = {"role": "user", "content": []}
    circle["content"].append({"type": "text", "text": "a\ud800b", "self": circle})
    data = {
        "role": "user",
        "content": [{"type": "input_audio", "input_audio": {"data": b"xx", "format": "wav"}}],
    }
    pruned = FifoPruner().prune([circle, data], 10_000, model="gpt-4o")
    assert len(pruned.messages) == 2
