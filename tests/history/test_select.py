"""Which units stay: the longest legal run of the newest that fits, what must not leave, and what fills the rest."""

from __future__ import annotations

import random
from itertools import pairwise
from statistics import mean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.history import PROVIDERS, FifoPruner, Provider, Pruned, validate
from brim.history.cuts import legal_cuts
from brim.history.draft import Draft, draft
from brim.history.formats import read
from brim.tokens import Count
from tests.history.histories import valid_histories
from tests.history.samples import WordCounter, places, says, step, talk, user, words

STRICT = ("anthropic", "gemini")
TARGETS = st.one_of(st.integers(0, 120), st.integers(0, 1_200))
every_provider = pytest.mark.parametrize("provider", PROVIDERS)


class LengthCounter:
    """Four characters are a token: quick, and not a constant per message."""

    model = None

    def count(self, text: str, /) -> Count:
        return Count(len(text) // 4)

    def count_messages(self, messages: Any, tools: Any = None) -> Count:
        return Count(3 + sum(len(str(message)) // 4 for message in messages))


def drafted(messages: list[Any], provider: Provider, target: int = 10**6, **options: Any) -> Draft:
    return draft(messages, target, provider=provider, counter=WordCounter(), **options)


def kept_of(messages: list[Any], target: int, provider: Provider, **options: Any) -> tuple[Pruned, list[int]]:
    pruned = FifoPruner().prune(messages, target, provider=provider, counter=LengthCounter(), **options)
    return pruned, places(messages, pruned.messages)


def answers_itself(messages: list[Any], kept: list[int], provider: Provider) -> bool:
    """Whether two messages of the assistant's that did not stand together do so now."""
    entries = read(messages, provider)
    return any(one + 1 != two and entries[one].role == entries[two].role == "assistant" for one, two in pairwise(kept))


@every_provider
@settings(max_examples=80)
@given(data=st.data(), target=TARGETS)
def test_no_longer_legal_run_also_fits(provider: Provider, data: st.DataObject, target: int) -> None:
    messages = data.draw(valid_histories(provider))
    _, kept = kept_of(messages, target, provider)
    for cut in legal_cuts(read(messages, provider), provider):
        longer = sorted({*kept, *range(cut, len(messages))})
        candidate = [messages[at] for at in longer]
        if longer != kept and LengthCounter().count_messages(candidate) <= target:
            itself = provider in STRICT and answers_itself(messages, longer, provider)
            assert itself or validate(candidate, provider), f"everything from {cut} on fits and is legal"


@every_provider
@settings(max_examples=80)
@given(data=st.data(), target=TARGETS)
def test_fill_keeps_all_of_the_run_and_stays_within_the_target(
    provider: Provider, data: st.DataObject, target: int
) -> None:
    messages = data.draw(valid_histories(provider))
    (_, run), (filled, more) = (kept_of(messages, target, provider, fill=fill) for fill in (False, True))
    assert set(run) <= set(more)
    assert filled.tokens <= target or run == more
    assert validate(filled.messages, provider) == []
    assert provider not in STRICT or not answers_itself(messages, more, provider)


@every_provider
@settings(max_examples=60)
@given(data=st.data(), target=TARGETS)
def test_the_last_complete_step_stays_whenever_it_fits(provider: Provider, data: st.DataObject, target: int) -> None:
    messages = data.draw(valid_histories(provider))
    work = draft(messages, target, provider=provider, counter=LengthCounter())
    if work.last_step is None:
        return
    least = {*work.pins, *work.prompts[-1:], work.last_step}
    with_prompts = work.required(10**9)
    _, kept = kept_of(messages, target, provider)
    if work.last_step in with_prompts and work.price(with_prompts) <= target:
        assert {index for at in with_prompts for index in work.units[at].indices} <= set(kept)
    elif work.price(least) > target:
        assert not {*work.units[work.last_step].indices} <= set(kept) or work.last_step in {*work.pins, *work.prompts}


@every_provider
def test_fill_adds_older_whole_units_newest_first(provider: Provider) -> None:
    messages = [user(provider, words(5))]
    for number, size in enumerate((10, 10, 50, 10)):
        messages += step(provider, f"f{number}", words(size))
    run, filled = (
        FifoPruner().prune(messages, 30, provider=provider, counter=WordCounter(), fill=fill) for fill in (False, True)
    )
    assert places(messages, run.messages) == [0, 7, 8]
    assert places(messages, filled.messages) == [0, 3, 4, 7, 8]


@pytest.mark.parametrize("provider", STRICT)
def test_fill_brings_the_prompt_that_an_answer_needs(provider: Provider) -> None:
    messages = [user(provider, words(2)), says(provider, words(3)), user(provider, words(90)), says(provider, "Hi")]
    messages += [user(provider, words(5))]
    pruned = FifoPruner().prune(messages, 10, provider=provider, counter=WordCounter(), fill=True)
    assert places(messages, pruned.messages) == [0, 1, 4]


def tool_heavy(provider: Provider, seed: int, steps: int = 60) -> list[Any]:
    """Return one prompt and *steps* steps, most with short outputs and some with very long ones."""
    chance = random.Random(seed)
    messages: list[Any] = [user(provider, words(40))]
    for number in range(steps):
        low, high = chance.choice(((5, 60), (5, 60), (100, 400), (400, 2_000)))
        messages += step(provider, f"f{number}", words(chance.randint(low, high)))
    return messages


@every_provider
def test_fill_uses_almost_all_of_the_target_in_agents_histories(provider: Provider) -> None:
    used = []
    for seed in range(5):
        messages = tool_heavy(provider, seed)
        total = int(WordCounter().count_messages(messages))
        for share in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
            target = int(share * total)
            pruned = FifoPruner().prune(messages, target, provider=provider, counter=WordCounter(), fill=True)
            assert pruned.fits
            used.append(pruned.tokens / target)
    assert mean(used) >= 0.95


@every_provider
def test_what_must_stay_is_pins_the_last_prompt_and_the_last_step(provider: Provider) -> None:
    messages = [*talk(provider, 2), user(provider, words(5)), *step(provider, "f", words(20)), says(provider, words(9))]
    work = drafted(messages, provider, pin=[0])
    assert work.indices(work.required(35)) == [0, 4, 5, 6]
    assert work.indices(work.required(34)) == [0, 4]
    assert work.indices(work.required(0)) == [0, 4]


@every_provider
def test_select_takes_nothing_older_than_it_may(provider: Provider) -> None:
    work = drafted(talk(provider, 4), provider)
    assert work.select(1_000, oldest=4) == {4, 5, 6, 7}
    assert work.select(1_000, oldest=4, fill=True) == {4, 5, 6, 7}
    assert work.select(1_000) == set(range(8))


@pytest.mark.parametrize("provider", STRICT)
def test_what_cannot_be_legal_is_left_out(provider: Provider) -> None:
    work = drafted(talk(provider, 3), provider, pin=[1, 3])
    assert work.required(0) == [0, 1, 2, 3, 4]
    headless = drafted([says(provider, "Hi"), *talk(provider, 2)], provider, pin=[0, 2])
    assert headless.required(0) == [1, 2, 3]


@every_provider
def test_the_cut_for_turns_holds_as_many_as_fit(provider: Provider) -> None:
    work = drafted(talk(provider, 5), provider)
    must = work.required(1_000)
    assert [work.cut_for_turns(must, 3, limit) for limit in (100, 60, 59, 20, 19)] == [4, 4, 6, 8, None]
    assert work.cut_for_turns(must, 0, 1_000) is None


@every_provider
def test_the_newest_messages_of_at_least_so_many_tokens(provider: Provider) -> None:
    messages = talk(provider, 5)
    found = [sorted(drafted(messages, provider, target).newest()) for target in (30, 10**6, 0)]
    assert found == [[6, 7, 8, 9] if provider in STRICT else [7, 8, 9], [*range(10)], [8]]


@every_provider
def test_an_empty_history_needs_nothing(provider: Provider) -> None:
    work = drafted([], provider)
    assert (work.required(10), work.select(10), work.select(10, fill=True)) == ([], set(), set())
    assert work.newest() == set()
