"""What holds for every repair, and what is said about it."""

from __future__ import annotations

import copy
import json
import re
from collections import namedtuple
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from brim import fit
from brim.errors import BrimError, InputError
from brim.messages import PROVIDERS, Change, Provider, Repaired, repair, validate
from brim.messages.formats import refuse_unknown
from tests.messages.histories import any_histories, valid_histories
from tests.messages.junk import JUNK
from tests.messages.test_formats import Stubborn


class Block(BaseModel):
    type: str
    text: str = ""
    tool_use_id: str | None = None


class Message(BaseModel):
    role: str
    content: list[Block] | str | None = None


@dataclass(frozen=True)
class Frozen:
    role: str
    content: str | None = None


Pair = namedtuple("Pair", ["role", "content"])


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_empty_history_needs_no_repair(provider: Provider) -> None:
    assert repair([], provider) == Repaired([], ())


def test_the_provider_is_found_by_the_shape() -> None:
    repaired = repair([{"role": "model", "parts": [{"text": "Hi"}]}])
    assert [message["role"] for message in repaired.messages] == ["user", "model"]


def test_a_valid_history_of_langchain_stays_as_it_is() -> None:
    messages = [{"type": "system", "content": "Be kind"}, {"type": "human", "content": "Hi"}]
    for provider in PROVIDERS:
        assert validate(messages, provider) == []
        assert repair(messages, provider) == Repaired(messages, ())


def test_changes_are_in_the_order_of_the_messages() -> None:
    orphan = {"role": "tool", "tool_call_id": "a", "content": "42"}
    broken = [{"role": "user", "content": None}, orphan, {"role": "human", "content": "Hi"}, orphan]
    assert [change.index for change in repair(broken, "openai").changes] == [0, 1, 2, 3]


def test_a_change_has_everything_that_a_person_wants_to_know() -> None:
    orphan = {"role": "tool", "tool_call_id": "a", "content": "42"}
    assert repair([orphan], "openai").changes == (Change(0, "result-has-call", "removed", "42"),)


def test_a_changed_object_is_a_copy_of_its_class() -> None:
    message = SimpleNamespace(role="human", content="Hi", extra=1)
    changed = repair([message], "openai").messages[0]
    assert changed == SimpleNamespace(role="user", content="Hi", extra=1)
    assert message.role == "human"


def test_a_changed_pydantic_model_is_a_copy_of_its_class() -> None:
    blocks = [Block(type="tool_result", tool_use_id="a"), Block(type="text", text="Go on.")]
    message = Message(role="user", content=blocks)
    changed = repair([message], "anthropic").messages[0]
    assert changed == Message(role="user", content=[blocks[1]])
    assert changed.content[0] is blocks[1]
    assert message.content == blocks


def test_a_changed_named_tuple_is_one() -> None:
    assert repair([Pair("human", "Hi")], "openai").messages == [Pair("user", "Hi")]


def test_what_is_frozen_stays_what_it_is() -> None:
    assert repair([Frozen("human", "Hi")], "openai").messages == [Frozen("user", "Hi")]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "odd",
    [Stubborn(), object(), float("nan"), {1: 2}, {"a"}, repair],
    ids=("stubborn", "object", "nan", "numbers", "set", "f"),
)
def test_strange_objects_do_not_raise(provider: Provider, odd: Any) -> None:
    messages = [
        {"role": odd, "content": odd},
        {"role": "assistant", "content": [odd], "tool_calls": [odd], "function_call": odd},
        {"role": "model", "parts": [odd, {"functionCall": odd}]},
        {"type": "function_call", "call_id": odd, "id": odd},
    ]
    repaired = repair(messages, provider)
    assert validate(repaired.messages, provider) == []
    assert repair(repaired.messages, provider).changes == ()


@pytest.mark.parametrize(
    "odd",
    [1, None, [], {}, {"a": 1}, b"x", Stubborn(), object()],
    ids=lambda odd: type(odd).__name__,
)
def test_what_is_no_message_is_refused_as_fit_refuses_it(odd: Any) -> None:
    for messages in ([odd], [{"role": "user", "content": "Hi"}, odd]):
        with pytest.raises(
            InputError, match=rf"messages\[{len(messages) - 1}\]: can't read"
        ) as refused:
            repair(messages, "openai")
        with pytest.raises(InputError) as fitted:
            fit(messages, model="gpt-4o")
        assert str(refused.value) == str(fitted.value)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_message_that_holds_itself_does_not_raise(provider: Provider) -> None:
    message: dict[str, Any] = {"role": "nobody"}
    message["content"] = [message]
    message["parts"] = [message]
    assert validate(repair([message], provider).messages, provider) == []


def test_a_long_history_takes_time_that_grows_with_it() -> None:
    call = {"id": "call_0", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    step = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_0", "content": "done"},
    ]
    history = step * 3_000
    broken = [*history, copy.deepcopy(step[0])]
    repaired = repair(broken, "openai")
    assert len(repaired.changes) == 1
    assert all(new is old for new, old in zip(repaired.messages, broken, strict=False))


@pytest.mark.parametrize("messages", [None, 5, "Hello", {"messages": []}])
def test_what_is_no_list_is_an_error_that_says_so(messages: Any) -> None:
    with pytest.raises(InputError, match="expected a list of messages"):
        repair(messages)


def test_an_unknown_provider_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(BrimError, match="openai, responses, anthropic, gemini"):
        repair([], "mistral")  # type: ignore[arg-type]


def dumped(messages: Any) -> str:
    return json.dumps(
        messages,
        ensure_ascii=False,
        default=lambda value: getattr(value, "__dict__", None) or str(value),
    )


def lost(before: list[Any], after: list[Any], noted: list[str]) -> set[str]:
    """Return the texts of *before* that are neither in *after* nor in a note."""
    remains = "\n".join((dumped(after), *noted))
    # Without quotes in it: else two texts of which one ends and the next begins with a sign would
    # be one mark.
    return {mark for mark in re.findall(r"<[^<>\"']+>", dumped(before)) if mark not in remains}


def is_known(message: Any) -> bool:
    try:
        refuse_unknown(0, message)
    except InputError:
        return False
    return True


def check(messages: list[Any], provider: Provider, restore_calls: bool) -> None:
    messages = list(filter(is_known, messages))
    given_objects = list(messages)
    snapshot = copy.deepcopy(messages)
    repaired = repair(messages, provider, restore_calls=restore_calls)
    assert validate(repaired.messages, provider) == []
    assert repair(repaired.messages, provider, restore_calls=restore_calls).changes == ()
    assert repair(messages, provider, restore_calls=restore_calls) == repaired
    assert dumped(messages) == dumped(snapshot)
    assert all(a is b for a, b in zip(messages, given_objects, strict=True))
    assert lost(messages, repaired.messages, [change.text for change in repaired.changes]) == set()
    assert all(0 <= change.index < max(1, len(messages)) for change in repaired.changes)
    if validate(messages, provider) == []:
        assert repaired.changes == ()
    else:
        assert repaired.changes != ()
    if not repaired.changes:
        assert len(repaired.messages) == len(messages)
        assert all(a is b for a, b in zip(repaired.messages, messages, strict=True))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_valid_history_stays_as_it_is(provider: Provider) -> None:
    @given(valid_histories(provider))
    def holds(messages: list[Any]) -> None:
        assert validate(messages, provider) == []
        repaired = repair(messages, provider)
        assert repaired.changes == ()
        assert all(a is b for a, b in zip(repaired.messages, messages, strict=True))

    holds()


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("restore_calls", [False, True])
def test_a_broken_history_becomes_valid_and_loses_nothing(
    provider: Provider, restore_calls: bool
) -> None:
    @given(any_histories(provider))
    def holds(messages: list[Any]) -> None:
        check(messages, provider, restore_calls)

    holds()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_any_messages_become_a_history(provider: Provider) -> None:
    @given(st.lists(JUNK, max_size=6), st.booleans())
    def holds(messages: list[Any], restore_calls: bool) -> None:
        check(messages, provider, restore_calls)

    holds()
