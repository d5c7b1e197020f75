"""Oldest units first, and what a receipt says about it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.history import PROVIDERS, FifoPruner, Provider, Pruned, Pruner
from brim.tokens import counter_for
from tests.history.histories import any_histories
from tests.history.samples import (
    MODELS,
    WordCounter,
    chat_calls,
    chat_result,
    places,
    says,
    step,
    talk,
    user,
    words,
)

every_provider = pytest.mark.parametrize("provider", PROVIDERS)
SYSTEM = {"role": "system", "content": words(5)}
TOOL = {"type": "function", "function": {"name": "read", "description": words(15), "parameters": {}}}


def prune(messages: list[Any], target: int, provider: Provider = "openai", **options: Any) -> Pruned:
    return FifoPruner().prune(messages, target, provider=provider, counter=WordCounter(), **options)


def test_it_is_a_pruner() -> None:
    assert isinstance(FifoPruner(), Pruner)


@every_provider
def test_the_oldest_leave_first(provider: Provider) -> None:
    messages = talk(provider, 5)
    pruned = prune(messages, 40, provider)
    assert places(messages, pruned.messages) == [6, 7, 8, 9]
    assert (pruned.tokens, pruned.fits) == (40, True)


@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
def test_what_is_left_begins_with_the_user_where_it_must(provider: Provider) -> None:
    messages = talk(provider, 5)
    assert places(messages, prune(messages, 55, provider).messages) == [6, 7, 8, 9]


@pytest.mark.parametrize("provider", ["openai", "responses"])
def test_what_is_left_begins_anywhere_at_openai(provider: Provider) -> None:
    messages = talk(provider, 5)
    assert places(messages, prune(messages, 55, provider).messages) == [5, 6, 7, 8, 9]


@every_provider
def test_a_step_stands_or_falls_whole(provider: Provider) -> None:
    messages = [user(provider, "Hello"), *step(provider, "a", words(10)), *step(provider, "b", words(10))]
    assert places(messages, prune(messages, 20, provider).messages) == [0, 1, 2, 3, 4]
    assert places(messages, prune(messages, 19, provider).messages) == [0, 3, 4]


@every_provider
def test_the_last_user_message_stays_even_if_it_is_far_back(provider: Provider) -> None:
    messages = [*talk(provider, 2), user(provider, words(10))]
    messages += [message for n in range(5) for message in step(provider, f"f{n}", words(20))]
    assert places(messages, prune(messages, 50, provider).messages) == [4, 11, 12, 13, 14]


@every_provider
def test_the_last_complete_step_stays_with_the_last_user_message(provider: Provider) -> None:
    messages = [user(provider, words(5)), *step(provider, "f", words(20)), says(provider, words(30))]
    messages += [user(provider, words(5)), says(provider, words(30))]
    first = [0] if provider in ("anthropic", "gemini") else []
    assert places(messages, prune(messages, 40, provider).messages) == [*first, 1, 2, 4]


def test_system_messages_stay_wherever_they_stand() -> None:
    messages = [SYSTEM, *talk("openai", 2), {**SYSTEM, "role": "developer"}, *talk("openai", 2)]
    assert places(messages, prune(messages, 30).messages) == [0, 5, 8, 9]


def test_tools_count_towards_the_target() -> None:
    messages = talk("openai", 3)
    assert places(messages, prune(messages, 45).messages) == [2, 3, 4, 5]
    pruned = prune(messages, 45, tools=[TOOL])
    assert places(messages, pruned.messages) == [3, 4, 5]
    assert (pruned.tokens, pruned.receipt.before, pruned.receipt.after) == (45, 75, 45)


@every_provider
def test_tools_count_as_the_model_counts_them(provider: Provider) -> None:
    messages = talk(provider, 3)
    pruned = FifoPruner().prune(messages, 10_000, provider=provider, model=MODELS[provider], tools=[TOOL])
    assert int(pruned.tokens) == int(counter_for(MODELS[provider]).count_messages(messages, [TOOL]))


def test_tools_that_leave_no_room_are_named() -> None:
    pruned = prune(talk("openai", 1), 20, tools=[TOOL])
    assert (pruned.fits, pruned.receipt.over_by) == (False, 5)
    assert "tools and framing 15" in pruned.receipt.reason


def test_a_receipt_says_what_left_and_why() -> None:
    messages = [*talk("openai", 2), *step("openai", "a", words(20)), user("openai", words(10))]
    receipt = prune(messages, 30).receipt
    assert [(unit.indices, unit.kind, unit.tokens) for unit in receipt.dropped] == [
        ((0,), "user", 10),
        ((1,), "assistant", 10),
        ((2,), "user", 10),
        ((3,), "assistant", 10),
    ]
    assert {unit.reason for unit in receipt.dropped} == {"it does not fit with what is newer"}
    assert (receipt.pruner, receipt.provider, receipt.target) == ("fifo", "openai", 30)
    assert (receipt.before, receipt.after, receipt.fits, receipt.reason) == (70, 30, True, "")
    assert str(receipt) == "fifo: 4 messages dropped, 70 -> 30 of 30 tokens"


def test_a_receipt_of_nothing_says_so() -> None:
    assert str(prune(talk("openai", 1), 1_000).receipt) == "fifo: nothing dropped, 20 -> 20 of 1,000 tokens"


def test_a_receipt_says_why_it_does_not_fit() -> None:
    pruned = prune([SYSTEM, *talk("openai", 1, each=2_000)], 1_000)
    reason = "what is never dropped takes 2,005 tokens, 1,005 too many (system messages 5, the last user message 2,000)"
    assert str(pruned.receipt) == (f"fifo: 1 message dropped, 4,005 -> 2,005 of 1,000 tokens; does not fit: {reason}")
    assert (pruned.fits, pruned.receipt.over_by) == (False, 1_005)


def test_a_broken_message_leaves_even_if_everything_fits() -> None:
    pruned = prune([user("openai", "Hello"), chat_calls("a"), user("openai", "Bye")], 1_000)
    [dropped] = pruned.receipt.dropped
    assert (dropped.indices, dropped.kind) == ((1,), "broken")
    assert dropped.reason == "a has no result: the provider refuses it, and repair can mend it"


def test_what_is_broken_counts_before_and_not_after() -> None:
    pruned = prune([user("openai", words(3)), chat_result("a", words(4))], 1_000)
    assert (pruned.receipt.before, pruned.receipt.after, pruned.receipt.dropped[0].tokens) == (7, 3, 4)


@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
def test_an_answer_before_the_first_prompt_leaves_with_its_reason(provider: Provider) -> None:
    pruned = prune([says(provider, "Hi"), user(provider, "Hello")], 1_000, provider)
    [dropped] = pruned.receipt.dropped
    assert dropped.reason == "no message of the user's can stand before it, and the first must be the user's"


@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
def test_an_answer_that_fits_but_cannot_come_first_is_not_said_not_to_fit(provider: Provider) -> None:
    dropped = prune(talk(provider, 5), 55, provider).receipt.dropped
    assert dropped[-1].indices == (5,)
    assert "does not fit" not in dropped[-1].reason


def test_thinking_that_stays_after_a_gap_is_noted() -> None:
    step_ = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]}
    messages = [*talk("anthropic", 2), user("anthropic", "Go"), step_, says("anthropic", "Well")]
    assert "thinking blocks stay" in prune(messages, 10, "anthropic").receipt.notes[0]
    assert prune(messages, 1_000, "anthropic").receipt.notes == ()


@every_provider
@settings(max_examples=40)
@given(data=st.data(), target=st.integers(0, 400), fill=st.booleans())
def test_kept_and_dropped_are_everything(provider: Provider, data: st.DataObject, target: int, fill: bool) -> None:
    messages = data.draw(any_histories(provider))
    if messages and isinstance(messages[0], dict) and messages[0].get("role") == "system":
        messages = messages[1:]
    if provider in ("anthropic", "gemini"):
        messages = [user(provider, "Hello"), *messages]
    pruned = prune(messages, target, provider, fill=fill)
    gone = [index for unit in pruned.receipt.dropped for index in unit.indices]
    stayed = [id(message) for message in pruned.messages]
    assert stayed == [id(message) for at, message in enumerate(messages) if at not in gone]
    assert len(gone) == len(set(gone)) == len(messages) - len(stayed)
    assert pruned.receipt.before == WordCounter().count_messages(messages)
    assert pruned.receipt.after == pruned.tokens == WordCounter().count_messages(pruned.messages)
    assert pruned.receipt.before - pruned.receipt.after == sum(unit.tokens for unit in pruned.receipt.dropped)
