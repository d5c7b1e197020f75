"""The newest turns, and of these what fits."""

from __future__ import annotations

from typing import Any

import pytest

from brim.errors import InputError
from brim.history import PROVIDERS, Provider, Pruned, Pruner, SlidingWindowPruner
from tests.history.samples import WordCounter, places, says, step, talk, user, words

every_provider = pytest.mark.parametrize("provider", PROVIDERS)


def prune(messages: list[Any], turns: int, target: int, provider: Provider = "openai", **options: Any) -> Pruned:
    return SlidingWindowPruner(turns).prune(messages, target, provider=provider, counter=WordCounter(), **options)


def test_it_is_a_pruner() -> None:
    assert isinstance(SlidingWindowPruner(), Pruner)
    assert SlidingWindowPruner().turns == 10


@every_provider
def test_the_newest_turns_stay(provider: Provider) -> None:
    messages = talk(provider, 5)
    assert places(messages, prune(messages, 2, 1_000, provider).messages) == [6, 7, 8, 9]
    assert places(messages, prune(messages, 5, 1_000, provider).messages) == [*range(10)]
    assert places(messages, prune(messages, 50, 1_000, provider).messages) == [*range(10)]


@every_provider
def test_of_the_newest_turns_stays_what_fits(provider: Provider) -> None:
    messages = talk(provider, 5)
    assert places(messages, prune(messages, 4, 40, provider).messages) == [6, 7, 8, 9]


@every_provider
def test_a_turn_has_its_steps(provider: Provider) -> None:
    messages = []
    for turn in range(3):
        messages += [user(provider, words(2)), *step(provider, f"f{turn}", words(5)), says(provider, words(2))]
    assert places(messages, prune(messages, 2, 1_000, provider).messages) == [*range(4, 12)]


def test_two_prompts_in_a_row_are_two_turns() -> None:
    messages = [user("openai", text) for text in ("One", "Two", "Three")]
    assert places(messages, prune(messages, 2, 1_000).messages) == [1, 2]


def test_what_stands_before_the_first_prompt_stays_if_all_turns_do() -> None:
    messages = [says("openai", "Welcome"), *talk("openai", 2)]
    assert places(messages, prune(messages, 3, 1_000).messages) == [*range(5)]
    assert places(messages, prune(messages, 2, 1_000).messages) == [1, 2, 3, 4]


def test_system_messages_and_pins_stay_whatever_their_age() -> None:
    messages = [{"role": "system", "content": "Be brief."}, *talk("openai", 5)]
    assert places(messages, prune(messages, 1, 1_000, pin=[3]).messages) == [0, 3, 9, 10]


def test_the_last_step_stays_even_if_it_is_of_an_older_turn() -> None:
    messages = [user("openai", "Go"), *step("openai", "a", "done"), *talk("openai", 3)]
    assert places(messages, prune(messages, 1, 1_000).messages) == [1, 2, 7, 8]


def test_fill_stays_within_the_newest_turns() -> None:
    messages = [*talk("openai", 3), user("openai", words(5)), says("openai", words(90)), user("openai", words(5))]
    assert places(messages, prune(messages, 3, 30, fill=True).messages) == [4, 5, 6, 8]
    assert places(messages, prune(messages, 2, 30, fill=True).messages) == [6, 8]


def test_the_receipt_tells_what_is_too_old_from_what_does_not_fit() -> None:
    dropped = prune(talk("openai", 4), 2, 30).receipt.dropped
    assert [(unit.indices, unit.reason) for unit in dropped] == [
        *(((at,), "older than the newest 2 turns") for at in range(4)),
        ((4,), "it does not fit with what is newer"),
    ]


@pytest.mark.parametrize("turns", [0, -1, True, 1.5, "3", None])
def test_turns_are_a_whole_number_from_one_on(turns: Any) -> None:
    with pytest.raises(InputError, match="turns must be a whole number, 1 or more"):
        SlidingWindowPruner(turns)
