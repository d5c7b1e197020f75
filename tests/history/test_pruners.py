"""What every pruner promises, for random histories of all four formats and every target."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from brim.history.cuts import units_of
from brim.history.formats import read
from brim.tokens import Count, counter_for
from brim.tokens.messages.fields import get
from tests.history.histories import any_histories, valid_histories

MODELS: dict[Provider, str] = {
    "openai": "gpt-4o",
    "responses": "gpt-5",
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-2.5-pro",
}
SELECTING: dict[str, Callable[[], Pruner]] = {
    "fifo": FifoPruner,
    "sliding": lambda: SlidingWindowPruner(turns=2),
    "watermark": lambda: WatermarkPruner(low=0.5),
    "auto": lambda: WatermarkPruner(high=0.9, low="auto"),
}
WRITING: dict[str, Callable[[], Pruner]] = {
    "summarize": SummarizePruner,
    "model": lambda: SummarizePruner(lambda messages: f"{len(messages)} messages of small talk"),
    "cap": lambda: ToolResultCap(limit=50),
}
PRUNERS = SELECTING | WRITING
TARGETS = st.one_of(st.integers(0, 120), st.integers(0, 1_500))
FILL = st.booleans()

few = settings(max_examples=15)  # of each pruner and provider: some 3,000 in all
every_provider = pytest.mark.parametrize("provider", PROVIDERS)


def prune(name: str, messages: Sequence[Any], target: int, provider: Provider, **options: Any) -> Pruned:
    return PRUNERS[name]().prune(messages, target, provider=provider, model=MODELS[provider], **options)


def same(one: Sequence[Any], two: Sequence[Any]) -> bool:
    return list(map(id, one)) == list(map(id, two))


@every_provider
@pytest.mark.parametrize("name", PRUNERS)
@few
@given(data=st.data(), target=TARGETS, fill=FILL)
def test_the_result_is_valid_whatever_was_given(
    name: str, provider: Provider, data: st.DataObject, target: int, fill: bool
) -> None:
    messages = data.draw(st.one_of(valid_histories(provider), any_histories(provider)))
    if provider in ("anthropic", "gemini") and messages and get(messages[0], "role") == "system":
        with pytest.raises(InputError, match="system message"):
            prune(name, messages, target, provider, fill=fill)
    else:
        assert validate(prune(name, messages, target, provider, fill=fill).messages, provider) == []


@every_provider
@pytest.mark.parametrize("name", PRUNERS)
@few
@given(data=st.data(), target=TARGETS, fill=FILL)
def test_it_fits_or_says_why_not(name: str, provider: Provider, data: st.DataObject, target: int, fill: bool) -> None:
    messages = data.draw(valid_histories(provider))
    pruned = prune(name, messages, target, provider, fill=fill)
    counted = counter_for(MODELS[provider]).count_messages(pruned.messages)
    assert (int(pruned.tokens), pruned.tokens.basis) == (int(counted), counted.basis)
    assert pruned.fits == (pruned.tokens <= target) == pruned.receipt.fits == (not pruned.receipt.reason)
    assert pruned.receipt.over_by == max(0, pruned.tokens - target)
    assert pruned.receipt.before == counter_for(MODELS[provider]).count_messages(messages)
    if not pruned.fits:  # then nothing but what is never dropped is left, and the prompts that this needs
        units = units_of(read(messages, provider), provider)
        last = [unit for unit in units if unit.has_prompt][-1:]
        never = [unit for unit in units if any(entry.role == "system" for entry in unit.entries)] + last
        allowed = {index for unit in never for index in unit.indices}
        if provider in ("anthropic", "gemini"):
            allowed |= {index for unit in units if unit.kind == "user" for index in unit.indices}
        gone = {index for unit in pruned.receipt.dropped for index in unit.indices}
        assert set(range(len(messages))) - gone <= allowed


@every_provider
@pytest.mark.parametrize("name", PRUNERS)
@few
@given(data=st.data(), fill=FILL)
def test_what_is_valid_and_fits_stays_whole(name: str, provider: Provider, data: st.DataObject, fill: bool) -> None:
    messages = data.draw(valid_histories(provider))
    pruned = prune(name, messages, 10**6, provider, fill=fill)
    if name != "sliding":
        assert same(pruned.messages, messages)
        assert (pruned.receipt.dropped, pruned.receipt.cache) == ((), None)


@every_provider
@pytest.mark.parametrize("name", PRUNERS)
@few
@given(data=st.data(), target=TARGETS, fill=FILL)
def test_kept_messages_are_the_callers_own_in_order(
    name: str, provider: Provider, data: st.DataObject, target: int, fill: bool
) -> None:
    messages = data.draw(valid_histories(provider))
    copy = repr(messages)
    pruned = prune(name, messages, target, provider, fill=fill)
    places = {id(message): at for at, message in enumerate(messages)}
    known = [places[id(message)] for message in pruned.messages if id(message) in places]
    assert known == sorted(known)
    if name in SELECTING:
        assert len(known) == len(pruned.messages)
        dropped = [index for unit in pruned.receipt.dropped for index in unit.indices]
        assert sorted([*known, *dropped]) == list(range(len(messages)))
    assert pruned.messages is not messages
    assert repr(messages) == copy


@every_provider
@pytest.mark.parametrize("name", PRUNERS)
@few
@given(data=st.data(), target=TARGETS, fill=FILL)
def test_pruning_again_changes_nothing(
    name: str, provider: Provider, data: st.DataObject, target: int, fill: bool
) -> None:
    messages = data.draw(valid_histories(provider))
    once = prune(name, messages, target, provider, fill=fill)
    twice = prune(name, once.messages, target, provider, fill=fill)
    assert same(once.messages, twice.messages)
    assert once.fits == twice.fits


@every_provider
@pytest.mark.parametrize("name", PRUNERS)
@few
@given(data=st.data(), target=TARGETS)
def test_the_same_input_gives_the_same_result(name: str, provider: Provider, data: st.DataObject, target: int) -> None:
    messages = data.draw(valid_histories(provider))
    one, two = (prune(name, messages, target, provider) for _ in range(2))
    assert one.receipt == two.receipt
    assert repr(one.messages) == repr(two.messages)


@every_provider
@pytest.mark.parametrize("name", PRUNERS)
@few
@given(data=st.data(), target=TARGETS, fill=FILL)
def test_the_last_user_message_stays_when_it_fits(
    name: str, provider: Provider, data: st.DataObject, target: int, fill: bool
) -> None:
    messages = data.draw(valid_histories(provider))
    entries = read(messages, provider)
    prompts = [entry for entry in entries if entry.is_prompt]
    pruned = prune(name, messages, target, provider, fill=fill)
    if prompts and not prompts[-1].results:
        assert any(message is prompts[-1].message for message in pruned.messages)
    systems = [entry.message for entry in entries if entry.role == "system"]
    assert all(any(message is one for one in pruned.messages) for message in systems) or provider == "anthropic"


class CountingCounter:
    """Counts every message by its length, and how often it is asked about it."""

    model = None

    def __init__(self) -> None:
        self.asked: Counter[int] = Counter()

    def count(self, text: str, /) -> Count:
        return Count(len(text) // 4)

    def count_messages(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> Count:
        self.asked.update(id(message) for message in messages)
        return Count(7 + sum(len(str(message)) // 4 for message in messages))


@every_provider
@pytest.mark.parametrize("name", PRUNERS)
@few
@given(data=st.data(), target=TARGETS, fill=FILL)
def test_each_message_is_counted_at_most_once(
    name: str, provider: Provider, data: st.DataObject, target: int, fill: bool
) -> None:
    messages = data.draw(valid_histories(provider))
    counter = CountingCounter()
    pruned = PRUNERS[name]().prune(messages, target, provider=provider, counter=counter, fill=fill)
    assert all(counter.asked[id(message)] <= 1 for message in messages)
    assert pruned.tokens == CountingCounter().count_messages(pruned.messages)


@every_provider
@few
@given(data=st.data(), target=TARGETS)
def test_pins_stay(provider: Provider, data: st.DataObject, target: int) -> None:
    messages = data.draw(valid_histories(provider, objects=False))
    place = data.draw(st.integers(0, max(0, len(messages) - 1)))
    pruned = FifoPruner().prune(messages, target, provider=provider, model=MODELS[provider], pin=[place])
    assert validate(pruned.messages, provider) == []
    if messages and read(messages, provider)[0].is_prompt:
        assert any(message is messages[place] for message in pruned.messages)


@every_provider
@settings(max_examples=25)
@given(data=st.data(), target=st.integers(50, 1_500), auto=st.booleans())
def test_the_prefix_of_a_watermark_pruner_is_the_same_bytes_between_cuts(
    provider: Provider, data: st.DataObject, target: int, auto: bool
) -> None:
    messages = data.draw(valid_histories(provider, objects=False))
    pruner = WatermarkPruner(low="auto" if auto else 0.5)
    stored, sent, cuts = pruner.decisions.to_json(), "", 0
    for end in range(len(messages) + 1):
        if validate(messages[:end], provider):
            continue  # a call waits for its result: there is nothing to send yet
        pruned = pruner.prune(messages[:end], target, provider=provider, model=MODELS[provider])
        assert validate(pruned.messages, provider) == []
        assert pruned.decisions is not None
        body = json.dumps(pruned.messages)[:-1]
        if pruned.decisions.cuts == cuts and pruned.fits:
            assert body.startswith(sent), "nothing was cut, so what was sent before must be the beginning"
        other = WatermarkPruner(low="auto" if auto else 0.5, decisions=type(pruner.decisions).from_json(stored))
        elsewhere = other.prune(messages[:end], target, provider=provider, model=MODELS[provider])
        assert elsewhere.messages == pruned.messages, "another process decides and renders the same"
        stored, sent, cuts = pruned.decisions.to_json(), body, pruned.decisions.cuts
