"""What stays because the caller says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from brim.errors import InputError
from brim.history import (
    PROVIDERS,
    FifoPruner,
    Provider,
    Pruned,
    Pruner,
    SlidingWindowPruner,
    SummarizePruner,
    ToolResultCap,
    WatermarkPruner,
    validate,
)
from brim.history.draft import draft
from tests.history.samples import (
    WordCounter,
    answers,
    assistant,
    chat_calls,
    chat_result,
    item_call,
    item_output,
    places,
    says,
    step,
    talk,
    tool_result,
    tool_use,
    user,
    words,
)

PRUNERS: list[Callable[[], Pruner]] = [
    FifoPruner,
    lambda: SlidingWindowPruner(turns=1),
    SummarizePruner,
    WatermarkPruner,
    ToolResultCap,
]
every_provider = pytest.mark.parametrize("provider", PROVIDERS)
every_pruner = pytest.mark.parametrize("pruner", PRUNERS)


def prune(messages: list[Any], target: int, provider: Provider = "openai", **options: Any) -> Pruned:
    return FifoPruner().prune(messages, target, provider=provider, counter=WordCounter(), **options)


def kept(messages: list[Any], target: int, provider: Provider = "openai", **options: Any) -> list[int]:
    return places(messages, prune(messages, target, provider, **options).messages)


def test_a_predicate_pins_what_it_is_true_for() -> None:
    messages = talk("openai", 4)
    assert kept(messages, 40, pin=lambda message: message["content"].startswith("1")) == [2, 3, 6, 7]


@pytest.mark.parametrize("pin", [[1, 4], (1, 4), {1, 4}, {1: "", 4: ""}, range(1, 5, 3)])
def test_places_pin_the_messages_there(pin: Any) -> None:
    assert kept(talk("openai", 4), 40, pin=pin) == [1, 4, 6, 7]


def test_a_message_id_pins_its_message() -> None:
    items = [{**message, "id": f"msg_{at}"} for at, message in enumerate(talk("responses", 4))]
    assert kept(items, 40, "responses", pin=["msg_1", "msg_4"]) == [1, 4, 6, 7]


@pytest.mark.parametrize("pin", [["b"], {"b", "no such id"}])
def test_an_id_of_a_call_pins_its_whole_step(pin: Any) -> None:
    messages = [user("openai", words(5)), chat_calls("a", "b"), chat_result("a", words(5)), chat_result("b", words(5))]
    assert kept([*messages, *talk("openai", 3)], 30, pin=pin) == [1, 2, 3, 8, 9]
    use = assistant(tool_use("a"), tool_use("b"))
    claude = [user("anthropic", words(5)), use, answers(tool_result("a", words(5)), tool_result("b", words(5)))]
    assert kept([*claude, *talk("anthropic", 3)], 35, "anthropic", pin=pin) == [0, 1, 2, 7, 8]
    items = [item_call("a"), item_output("a", words(5)), item_call("b"), item_output("b", words(10))]
    assert kept([*items, *talk("responses", 3)], 30, "responses", pin=pin) == [2, 3, 8, 9]


def test_an_empty_id_pins_nothing() -> None:
    assert kept(talk("openai", 3), 20, pin=[""]) == [4, 5]


def test_pins_of_what_is_not_there_pin_nothing() -> None:
    assert kept(talk("openai", 3), 20, pin=[99, "no such id"]) == [4, 5]


@every_provider
def test_a_pinned_result_keeps_its_call(provider: Provider) -> None:
    messages = [user(provider, words(5)), *step(provider, "f", words(5)), *talk(provider, 3)]
    prompt = [0] if provider in ("anthropic", "gemini") else []
    assert kept(messages, 30, provider, pin=[2]) == [*prompt, 1, 2, 7, 8]


@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
def test_pins_bring_the_prompt_that_they_need(provider: Provider) -> None:
    messages = [*talk(provider, 4)]
    assert kept(messages, 40, provider, pin=[3]) == [2, 3, 6, 7]
    assert kept(messages, 0, provider, pin=[1, 5]) == [0, 1, 4, 5, 6]


@pytest.mark.parametrize("provider", ["openai", "responses"])
def test_pins_need_no_prompt_at_openai(provider: Provider) -> None:
    assert kept(talk(provider, 4), 30, provider, pin=[3]) == [3, 6, 7]


@every_pruner
@every_provider
def test_every_pruner_keeps_a_pin(provider: Provider, pruner: Callable[[], Pruner]) -> None:
    messages = talk(provider, 8, each=100)
    pruned = pruner().prune(messages, 800, provider=provider, counter=WordCounter(), pin=[5])
    assert any(message is messages[5] for message in pruned.messages)
    assert (validate(pruned.messages, provider), pruned.fits) == ([], True)


def test_pins_stay_even_if_they_do_not_fit() -> None:
    pruned = prune(talk("openai", 3), 25, pin=[0, 1])
    assert (pruned.fits, pruned.receipt.over_by) == (False, 5)
    assert "pinned messages 20" in pruned.receipt.reason
    assert "the last user message 10" in pruned.receipt.reason


@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
def test_a_prompt_that_a_pin_brought_is_not_the_last_user_message(provider: Provider) -> None:
    assert "the last user message 10" in prune(talk(provider, 4), 0, provider, pin=[1]).receipt.reason


def test_a_pinned_message_that_is_broken_is_dropped_with_its_reason() -> None:
    messages = [user("openai", "Hello"), chat_result("a"), user("openai", "Bye")]
    pruned = prune(messages, 100, pin=[1])
    assert places(messages, pruned.messages) == [0, 2]
    [dropped] = pruned.receipt.dropped
    assert (dropped.indices, dropped.kind) == ((1,), "broken")
    assert "it answers no call of the message before it" in dropped.reason


@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
def test_a_pinned_answer_without_a_prompt_is_dropped_with_its_reason(provider: Provider) -> None:
    messages = [says(provider, "Hi"), user(provider, "Hello")]
    pruned = prune(messages, 100, provider, pin=[0])
    assert places(messages, pruned.messages) == [1]
    assert "it is pinned, but no message of the user's can stand before it" in pruned.receipt.dropped[0].reason


def test_system_messages_are_pinned_but_not_notes_to_claude() -> None:
    system, hello = {"role": "system", "content": "Be brief."}, user("openai", "Hello")
    said = says("openai", "Hi")
    for provider in PROVIDERS[:2]:
        assert draft([hello, system, said], 100, provider=provider).pins == {1}
    assert draft([hello, system, said], 100, provider="anthropic").pins == set()


@pytest.mark.parametrize("pin", [5, "a text", b"bytes", 1.5, object(), iter([1]), True])
def test_a_pin_of_a_wrong_type_is_an_input_error(pin: Any) -> None:
    with pytest.raises(InputError, match="pin must be a predicate or a collection"):
        prune(talk("openai", 2), 100, pin=pin)


def test_a_pin_that_names_nothing_is_noted() -> None:
    pruned = FifoPruner().prune([user("openai", "Hello")], 100, pin=["call_typo", 0, 999])
    assert sorted(pruned.receipt.notes) == ["pin 'call_typo' names no message", "pin 999 names no message"]
