"""What holds for every pruner, and for the two simplest."""

from __future__ import annotations

import json
import re
from collections import Counter, deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.errors import InputError
from brim.messages import (
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
from brim.messages.arguments import as_list
from brim.messages.cuts import units_of
from brim.messages.drafting import draft
from brim.messages.formats import read
from brim.tokens import Count, counter_for
from tests.messages.histories import any_histories, valid_histories
from tests.messages.samples import (
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

MODELS_ALL: dict[Provider, str] = {
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

few = settings(max_examples=10)  # of each provider, for every pruner: some 2,000 in all
every_provider = pytest.mark.parametrize("provider", PROVIDERS)


def prune(
    name: str, messages: Sequence[Any], target: int, provider: Provider, **options: Any
) -> Pruned:
    return PRUNERS[name]().prune(
        messages, target, provider=provider, model=MODELS_ALL[provider], **options
    )


REFUSED = re.compile(r"messages\[\d+\]|messages: message 0 is a system message")
"""How an error begins about a message that can't be read: with its place."""


def pruned_or_refused(attempt: Callable[[], Pruned]) -> Pruned | None:
    """Return what *attempt* gives; None if a message can't be read, and the error says which."""
    try:
        return attempt()
    except InputError as error:
        if REFUSED.match(str(error)) is None:
            raise
        return None


def same(one: Sequence[Any], two: Sequence[Any]) -> bool:
    return list(map(id, one)) == list(map(id, two))


@every_provider
@few
@given(data=st.data(), target=TARGETS, fill=FILL)
def test_the_result_is_valid_whatever_was_given(
    provider: Provider, data: st.DataObject, target: int, fill: bool
) -> None:
    messages = data.draw(st.one_of(valid_histories(provider), any_histories(provider)))
    for name in PRUNERS:
        pruned = pruned_or_refused(partial(prune, name, messages, target, provider, fill=fill))
        assert pruned is None or validate(pruned.messages, provider) == [], name


@every_provider
@few
@given(data=st.data(), target=TARGETS, fill=FILL)
def test_it_fits_or_says_why_not(
    provider: Provider, data: st.DataObject, target: int, fill: bool
) -> None:
    messages = data.draw(valid_histories(provider))
    before = counter_for(MODELS_ALL[provider]).count_messages(messages)
    units = units_of(read(messages, provider), provider)
    last = [unit for unit in units if unit.has_prompt][-1:]
    never = [unit for unit in units if any(entry.role == "system" for entry in unit.entries)] + last
    allowed = {index for unit in never for index in unit.indices}
    if provider in ("anthropic", "gemini"):
        allowed |= {index for unit in units if unit.kind == "user" for index in unit.indices}
    for name in PRUNERS:
        pruned = prune(name, messages, target, provider, fill=fill)
        counted = counter_for(MODELS_ALL[provider]).count_messages(pruned.messages)
        assert (int(pruned.tokens), pruned.tokens.basis) == (int(counted), counted.basis), name
        assert (
            pruned.fits
            == (pruned.tokens <= target)
            == pruned.receipt.fits
            == (not pruned.receipt.reason)
        ), name
        assert pruned.receipt.over_by == max(0, pruned.tokens - target), name
        assert pruned.receipt.before == before, name
        if not pruned.fits:
            # Then nothing but what is never dropped is left, and the prompts that this needs.
            gone = {index for unit in pruned.receipt.dropped for index in unit.indices}
            assert set(range(len(messages))) - gone <= allowed, name


@every_provider
@few
@given(data=st.data(), fill=FILL)
def test_what_is_valid_and_fits_stays_whole(
    provider: Provider, data: st.DataObject, fill: bool
) -> None:
    messages = data.draw(valid_histories(provider))
    for name in [name for name in PRUNERS if name != "sliding"]:
        pruned = prune(name, messages, 10**6, provider, fill=fill)
        assert same(pruned.messages, messages), name
        assert (pruned.receipt.dropped, pruned.receipt.cache) == ((), None), name


@every_provider
@few
@given(data=st.data(), target=TARGETS, fill=FILL)
def test_kept_messages_are_the_callers_own_in_order(
    provider: Provider, data: st.DataObject, target: int, fill: bool
) -> None:
    messages = data.draw(valid_histories(provider))
    copy = repr(messages)
    places = {id(message): at for at, message in enumerate(messages)}
    for name in PRUNERS:
        pruned = prune(name, messages, target, provider, fill=fill)
        known = [places[id(message)] for message in pruned.messages if id(message) in places]
        assert known == sorted(known), name
        if name in SELECTING:
            assert len(known) == len(pruned.messages), name
            dropped = [index for unit in pruned.receipt.dropped for index in unit.indices]
            assert sorted([*known, *dropped]) == list(range(len(messages))), name
        assert pruned.messages is not messages, name
        assert repr(messages) == copy, name


@every_provider
@few
@given(data=st.data(), target=TARGETS, fill=FILL)
def test_pruning_again_changes_nothing(
    provider: Provider, data: st.DataObject, target: int, fill: bool
) -> None:
    messages = data.draw(valid_histories(provider))
    for name in PRUNERS:
        once = prune(name, messages, target, provider, fill=fill)
        twice = prune(name, once.messages, target, provider, fill=fill)
        assert same(once.messages, twice.messages), name
        assert once.fits == twice.fits, name


@every_provider
@few
@given(data=st.data(), target=TARGETS)
def test_the_same_input_gives_the_same_result(
    provider: Provider, data: st.DataObject, target: int
) -> None:
    messages = data.draw(valid_histories(provider))
    for name in PRUNERS:
        one, two = (prune(name, messages, target, provider) for _ in range(2))
        assert one.receipt == two.receipt, name
        assert repr(one.messages) == repr(two.messages), name


@every_provider
@few
@given(data=st.data(), target=TARGETS, fill=FILL)
def test_the_last_user_message_stays_when_it_fits(
    provider: Provider, data: st.DataObject, target: int, fill: bool
) -> None:
    messages = data.draw(valid_histories(provider))
    entries = read(messages, provider)
    prompts = [entry for entry in entries if entry.is_prompt]
    systems = [entry.message for entry in entries if entry.role == "system"]
    for name in PRUNERS:
        pruned = prune(name, messages, target, provider, fill=fill)
        kept = {id(message) for message in pruned.messages}
        if prompts and not prompts[-1].results:
            assert id(prompts[-1].message) in kept, name
        assert all(id(message) in kept for message in systems) or provider == "anthropic", name


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
@few
@given(data=st.data(), target=TARGETS, fill=FILL)
def test_each_message_is_counted_at_most_once(
    provider: Provider, data: st.DataObject, target: int, fill: bool
) -> None:
    messages = data.draw(valid_histories(provider))
    for name, pruner in PRUNERS.items():
        counter = CountingCounter()
        pruned = pruner().prune(messages, target, provider=provider, counter=counter, fill=fill)
        assert all(counter.asked[id(message)] <= 1 for message in messages), name
        assert pruned.tokens == CountingCounter().count_messages(pruned.messages), name


@every_provider
@few
@given(data=st.data(), target=TARGETS)
def test_pins_stay(provider: Provider, data: st.DataObject, target: int) -> None:
    messages = data.draw(valid_histories(provider, objects=False))
    place = data.draw(st.integers(0, max(0, len(messages) - 1)))
    pruned = FifoPruner().prune(
        messages, target, provider=provider, model=MODELS_ALL[provider], pin=[place]
    )
    assert validate(pruned.messages, provider) == []
    if messages and read(messages, provider)[0].is_prompt:
        assert any(message is messages[place] for message in pruned.messages)


@every_provider
@settings(max_examples=5)
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
        pruned = pruner.prune(messages[:end], target, provider=provider, model=MODELS_ALL[provider])
        assert validate(pruned.messages, provider) == []
        assert pruned.decisions is not None
        body = json.dumps(pruned.messages)[:-1]
        if pruned.decisions.cuts == cuts and pruned.fits:
            assert body.startswith(sent), (
                "nothing was cut, so what was sent before must be the beginning"
            )
        other = WatermarkPruner(
            low="auto" if auto else 0.5, decisions=type(pruner.decisions).from_json(stored)
        )
        elsewhere = other.prune(
            messages[:end], target, provider=provider, model=MODELS_ALL[provider]
        )
        assert elsewhere.messages == pruned.messages, "another process decides and renders the same"
        stored, sent, cuts = pruned.decisions.to_json(), body, pruned.decisions.cuts


SYSTEM = {"role": "system", "content": words(5)}
TOOL = {
    "type": "function",
    "function": {"name": "read", "description": words(15), "parameters": {}},
}


def prune_fifo(
    messages: list[Any], target: int, provider: Provider = "openai", **options: Any
) -> Pruned:
    return FifoPruner().prune(messages, target, provider=provider, counter=WordCounter(), **options)


def test_it_is_a_pruner() -> None:
    assert isinstance(FifoPruner(), Pruner)


@every_provider
def test_the_oldest_leave_first(provider: Provider) -> None:
    messages = talk(provider, 5)
    pruned = prune_fifo(messages, 40, provider)
    assert places(messages, pruned.messages) == [6, 7, 8, 9]
    assert (pruned.tokens, pruned.fits) == (40, True)


@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
def test_what_is_left_begins_with_the_user_where_it_must(provider: Provider) -> None:
    messages = talk(provider, 5)
    assert places(messages, prune_fifo(messages, 55, provider).messages) == [6, 7, 8, 9]


@pytest.mark.parametrize("provider", ["openai", "responses"])
def test_what_is_left_begins_anywhere_at_openai(provider: Provider) -> None:
    messages = talk(provider, 5)
    assert places(messages, prune_fifo(messages, 55, provider).messages) == [5, 6, 7, 8, 9]


@every_provider
def test_a_step_stands_or_falls_whole(provider: Provider) -> None:
    messages = [
        user(provider, "Hello"),
        *step(provider, "a", words(10)),
        *step(provider, "b", words(10)),
    ]
    assert places(messages, prune_fifo(messages, 20, provider).messages) == [0, 1, 2, 3, 4]
    assert places(messages, prune_fifo(messages, 19, provider).messages) == [0, 3, 4]


@every_provider
def test_the_last_user_message_stays_even_if_it_is_far_back(provider: Provider) -> None:
    messages = [*talk(provider, 2), user(provider, words(10))]
    messages += [message for n in range(5) for message in step(provider, f"f{n}", words(20))]
    assert places(messages, prune_fifo(messages, 50, provider).messages) == [4, 11, 12, 13, 14]


@every_provider
def test_the_last_complete_step_stays_with_the_last_user_message(provider: Provider) -> None:
    messages = [
        user(provider, words(5)),
        *step(provider, "f", words(20)),
        says(provider, words(30)),
    ]
    messages += [user(provider, words(5)), says(provider, words(30))]
    first = [0] if provider in ("anthropic", "gemini") else []
    assert places(messages, prune_fifo(messages, 40, provider).messages) == [*first, 1, 2, 4]


def test_system_messages_stay_wherever_they_stand() -> None:
    messages = [SYSTEM, *talk("openai", 2), {**SYSTEM, "role": "developer"}, *talk("openai", 2)]
    assert places(messages, prune_fifo(messages, 30).messages) == [0, 5, 8, 9]


def test_tools_count_towards_the_target() -> None:
    messages = talk("openai", 3)
    assert places(messages, prune_fifo(messages, 45).messages) == [2, 3, 4, 5]
    pruned = prune_fifo(messages, 45, tools=[TOOL])
    assert places(messages, pruned.messages) == [3, 4, 5]
    assert (pruned.tokens, pruned.receipt.before, pruned.receipt.after) == (45, 75, 45)


@every_provider
def test_tools_count_as_the_model_counts_them(provider: Provider) -> None:
    messages = talk(provider, 3)
    pruned = FifoPruner().prune(
        messages, 10_000, provider=provider, model=MODELS[provider], tools=[TOOL]
    )
    assert int(pruned.tokens) == int(counter_for(MODELS[provider]).count_messages(messages, [TOOL]))


def test_tools_that_leave_no_room_are_named() -> None:
    pruned = prune_fifo(talk("openai", 1), 20, tools=[TOOL])
    assert (pruned.fits, pruned.receipt.over_by) == (False, 5)
    assert "tools and framing 15" in pruned.receipt.reason


def test_a_receipt_says_what_left_and_why() -> None:
    messages = [*talk("openai", 2), *step("openai", "a", words(20)), user("openai", words(10))]
    receipt = prune_fifo(messages, 30).receipt
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
    assert (
        str(prune_fifo(talk("openai", 1), 1_000).receipt)
        == "fifo: nothing dropped, 20 of 1,000 tokens"
    )


def test_a_receipt_says_why_it_does_not_fit() -> None:
    pruned = prune_fifo([SYSTEM, *talk("openai", 1, each=2_000)], 1_000)
    reason = "what is never dropped takes 2,005 tokens, 1,005 too many (system messages 5, the last user message 2,000)"
    assert str(pruned.receipt) == (
        f"fifo: 1 message dropped, 4,005 -> 2,005 of 1,000 tokens; does not fit: {reason}"
    )
    assert (pruned.fits, pruned.receipt.over_by) == (False, 1_005)


def test_a_broken_message_leaves_even_if_everything_fits() -> None:
    pruned = prune_fifo([user("openai", "Hello"), chat_calls("a"), user("openai", "Bye")], 1_000)
    [dropped] = pruned.receipt.dropped
    assert (dropped.indices, dropped.kind) == ((1,), "broken")
    assert dropped.reason == "a has no result: the provider refuses it, and repair can fix it"


def test_what_is_broken_counts_before_and_not_after() -> None:
    pruned = prune_fifo([user("openai", words(3)), chat_result("a", words(4))], 1_000)
    assert (pruned.receipt.before, pruned.receipt.after, pruned.receipt.dropped[0].tokens) == (
        7,
        3,
        4,
    )


@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
def test_an_answer_before_the_first_prompt_leaves_with_its_reason(provider: Provider) -> None:
    pruned = prune_fifo([says(provider, "Hi"), user(provider, "Hello")], 1_000, provider)
    [dropped] = pruned.receipt.dropped
    assert (
        dropped.reason
        == "no message of the user's can stand before it, and the first must be the user's"
    )


@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
def test_an_answer_that_fits_but_cannot_come_first_is_not_said_not_to_fit(
    provider: Provider,
) -> None:
    dropped = prune_fifo(talk(provider, 5), 55, provider).receipt.dropped
    assert dropped[-1].indices == (5,)
    assert "does not fit" not in dropped[-1].reason


def test_thinking_that_stays_after_a_gap_is_noted() -> None:
    step_ = {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}],
    }
    messages = [*talk("anthropic", 2), user("anthropic", "Go"), step_, says("anthropic", "Well")]
    assert "thinking blocks stay" in prune_fifo(messages, 10, "anthropic").receipt.notes[0]
    assert prune_fifo(messages, 1_000, "anthropic").receipt.notes == ()


@every_provider
@settings(max_examples=40)
@given(data=st.data(), target=st.integers(0, 400), fill=st.booleans())
def test_kept_and_dropped_are_everything(
    provider: Provider, data: st.DataObject, target: int, fill: bool
) -> None:
    messages = data.draw(st.one_of(valid_histories(provider), any_histories(provider)))
    pruned = pruned_or_refused(lambda: prune_fifo(messages, target, provider, fill=fill))
    if pruned is None:
        return
    gone = [index for unit in pruned.receipt.dropped for index in unit.indices]
    stayed = [id(message) for message in pruned.messages]
    assert stayed == [id(message) for at, message in enumerate(messages) if at not in gone]
    assert len(gone) == len(set(gone)) == len(messages) - len(stayed)
    assert pruned.receipt.before == WordCounter().count_messages(messages)
    assert pruned.receipt.after == pruned.tokens == WordCounter().count_messages(pruned.messages)
    assert pruned.receipt.before - pruned.receipt.after == sum(
        unit.tokens for unit in pruned.receipt.dropped
    )


def prune_sliding(
    messages: list[Any], turns: int, target: int, provider: Provider = "openai", **options: Any
) -> Pruned:
    return SlidingWindowPruner(turns).prune(
        messages, target, provider=provider, counter=WordCounter(), **options
    )


def test_it_is_a_pruner_sliding() -> None:
    assert isinstance(SlidingWindowPruner(), Pruner)
    assert SlidingWindowPruner().turns == 10


@every_provider
def test_the_newest_turns_stay(provider: Provider) -> None:
    messages = talk(provider, 5)
    assert places(messages, prune_sliding(messages, 2, 1_000, provider).messages) == [6, 7, 8, 9]
    assert places(messages, prune_sliding(messages, 5, 1_000, provider).messages) == [*range(10)]
    assert places(messages, prune_sliding(messages, 50, 1_000, provider).messages) == [*range(10)]


@every_provider
def test_of_the_newest_turns_stays_what_fits(provider: Provider) -> None:
    messages = talk(provider, 5)
    assert places(messages, prune_sliding(messages, 4, 40, provider).messages) == [6, 7, 8, 9]


@every_provider
def test_a_turn_has_its_steps(provider: Provider) -> None:
    messages = []
    for turn in range(3):
        messages += [
            user(provider, words(2)),
            *step(provider, f"f{turn}", words(5)),
            says(provider, words(2)),
        ]
    assert places(messages, prune_sliding(messages, 2, 1_000, provider).messages) == [*range(4, 12)]


def test_two_prompts_in_a_row_are_two_turns() -> None:
    messages = [user("openai", text) for text in ("One", "Two", "Three")]
    assert places(messages, prune_sliding(messages, 2, 1_000).messages) == [1, 2]


def test_what_stands_before_the_first_prompt_stays_if_all_turns_do() -> None:
    messages = [says("openai", "Welcome"), *talk("openai", 2)]
    assert places(messages, prune_sliding(messages, 3, 1_000).messages) == [*range(5)]
    assert places(messages, prune_sliding(messages, 2, 1_000).messages) == [1, 2, 3, 4]


def test_system_messages_and_pins_stay_whatever_their_age() -> None:
    messages = [{"role": "system", "content": "Be brief."}, *talk("openai", 5)]
    assert places(messages, prune_sliding(messages, 1, 1_000, pin=[3]).messages) == [0, 3, 9, 10]


def test_the_last_step_stays_even_if_it_is_of_an_older_turn() -> None:
    messages = [user("openai", "Go"), *step("openai", "a", "done"), *talk("openai", 3)]
    assert places(messages, prune_sliding(messages, 1, 1_000).messages) == [1, 2, 7, 8]


def test_fill_stays_within_the_newest_turns() -> None:
    messages = [
        *talk("openai", 3),
        user("openai", words(5)),
        says("openai", words(90)),
        user("openai", words(5)),
    ]
    assert places(messages, prune_sliding(messages, 3, 30, fill=True).messages) == [4, 5, 6, 8]
    assert places(messages, prune_sliding(messages, 2, 30, fill=True).messages) == [6, 8]


def test_the_receipt_tells_what_is_too_old_from_what_does_not_fit() -> None:
    dropped = prune_sliding(talk("openai", 4), 2, 30).receipt.dropped
    assert [(unit.indices, unit.reason) for unit in dropped] == [
        *(((at,), "older than the newest 2 turns") for at in range(4)),
        ((4,), "it does not fit with what is newer"),
    ]


@pytest.mark.parametrize("turns", [0, -1, True, 1.5, "3", None])
def test_turns_are_a_whole_number_from_one_on(turns: Any) -> None:
    with pytest.raises(InputError, match="turns must be a whole number, 1 or more"):
        SlidingWindowPruner(turns)


PRUNERS_BAD: dict[str, Callable[[], Pruner]] = {
    "fifo": FifoPruner,
    "sliding": SlidingWindowPruner,
    "summarize": SummarizePruner,
    "watermark": WatermarkPruner,
    "auto": lambda: WatermarkPruner(low="auto"),
    "cap": lambda: ToolResultCap(50),
}
every_pruner = pytest.mark.parametrize("name", PRUNERS_BAD)


@every_pruner
@pytest.mark.parametrize("messages", [None, 5, 1.5, True, "text", b"", bytearray(), object()])
def test_what_is_no_list_is_an_input_error(name: str, messages: Any) -> None:
    with pytest.raises(InputError, match="expected a list of messages"):
        PRUNERS_BAD[name]().prune(messages, 100)


@every_pruner
@pytest.mark.parametrize("messages", [{"messages": []}, {"role": "user", "content": "Hello"}, {}])
def test_a_request_body_or_one_message_is_an_input_error(name: str, messages: Any) -> None:
    with pytest.raises(InputError, match="give its list of messages"):
        PRUNERS_BAD[name]().prune(messages, 100)


@every_pruner
def test_anything_that_gives_messages_is_a_list(name: str) -> None:
    messages = talk("openai", 3)
    givens: list[Any] = [
        tuple(messages),
        iter(messages),
        (message for message in messages),
        deque(messages),
    ]
    for several in givens:
        assert places(messages, PRUNERS_BAD[name]().prune(several, 1_000).messages) == [*range(6)]


def test_a_list_is_not_copied_and_all_else_is() -> None:
    messages = talk("openai", 1)
    assert as_list(messages) is messages
    assert as_list(tuple(messages)) == messages


@every_pruner
@every_provider
@pytest.mark.parametrize("target", [0, 10**9])
def test_an_empty_history_stays_empty(name: str, provider: Provider, target: int) -> None:
    pruned = PRUNERS_BAD[name]().prune([], target, provider=provider, counter=WordCounter())
    assert (pruned.messages, pruned.fits, pruned.receipt.dropped) == ([], True, ())


@every_pruner
@pytest.mark.parametrize("target", [-1, True, False, 1.0, "100", None, [100]])
def test_a_target_that_is_no_whole_number_is_an_input_error(name: str, target: Any) -> None:
    with pytest.raises(InputError, match="target must be a whole number of tokens, 0 or more"):
        PRUNERS_BAD[name]().prune(talk("openai", 2), target)


@every_pruner
@pytest.mark.parametrize("provider", ["claude", "OpenAI", "", None, 5, ["openai"]])
def test_an_unknown_provider_is_an_input_error(name: str, provider: Any) -> None:
    with pytest.raises(
        InputError, match="use one of openai, responses, anthropic, gemini, or auto"
    ):
        PRUNERS_BAD[name]().prune(talk("openai", 2), 100, provider=provider)


@every_pruner
@pytest.mark.parametrize("pin", [5, "a", b"a", object()])
def test_a_pin_of_a_wrong_type_is_an_input_error(name: str, pin: Any) -> None:
    with pytest.raises(InputError, match="pin must be a predicate or a collection"):
        PRUNERS_BAD[name]().prune(talk("openai", 2), 100, pin=pin)


@every_pruner
@pytest.mark.parametrize(
    ("provider", "field"), [("anthropic", "'system'"), ("gemini", "'systemInstruction'")]
)
def test_a_leading_system_message_is_an_input_error_where_it_has_another_place(
    name: str, provider: Provider, field: str
) -> None:
    messages = [{"role": "system", "content": "Be brief."}, *talk(provider, 2)]
    with pytest.raises(InputError, match=f"message 0 is a system message.*{field}"):
        PRUNERS_BAD[name]().prune(messages, 100, provider=provider)


@every_pruner
@every_provider
@pytest.mark.parametrize(
    "strange",
    [
        None,
        5,
        "",
        b"bytes",
        [],
        {},
        {"role": "stranger", "content": "Hi"},
        {"content": "Hi"},
        object(),
        {"role": 5},
    ],
)
def test_a_message_that_makes_no_sense_is_refused(
    name: str, provider: Provider, strange: Any
) -> None:
    messages = [user(provider, "Hello"), strange, user(provider, "Bye")]
    with pytest.raises(InputError, match=r"messages\[1\]"):
        PRUNERS_BAD[name]().prune(messages, 1_000, provider=provider, model=MODELS[provider])


@every_pruner
@every_provider
def test_calls_and_results_without_ids_leave_with_a_reason(name: str, provider: Provider) -> None:
    call, result = step(provider, "", "done")
    messages = [user(provider, "Hello"), call, result, user(provider, "Bye")]
    pruned = PRUNERS_BAD[name]().prune(messages, 1_000, provider=provider, model=MODELS[provider])
    assert places(messages, pruned.messages) == [0, 3]
    assert [(unit.indices, unit.kind) for unit in pruned.receipt.dropped] == [
        ((1,), "broken"),
        ((2,), "broken"),
    ]


@every_pruner
@every_provider
def test_one_message_larger_than_the_target_stays_and_says_so(
    name: str, provider: Provider
) -> None:
    messages = [user(provider, words(500))]
    pruned = PRUNERS_BAD[name]().prune(messages, 100, provider=provider, counter=WordCounter())
    assert (places(messages, pruned.messages), pruned.fits, pruned.receipt.over_by) == (
        [0],
        False,
        400,
    )
    assert pruned.receipt.reason == (
        "what is never dropped takes 500 tokens, 400 too many (the last user message 500)"
    )  # fmt: skip


def deep() -> list[Any]:
    content: list[Any] = [{"type": "text", "text": words(100)}]
    for _ in range(5_000):
        content = [{"type": "text", "text": words(100)}, content]
    return content


def itself() -> list[Any]:
    content: list[Any] = [{"type": "text", "text": words(100)}]
    content.append(content)
    return content


@every_pruner
@every_provider
@pytest.mark.parametrize("make", [deep, itself])
def test_content_that_is_deep_or_holds_itself_raises_nothing(
    name: str, provider: Provider, make: Callable[[], list[Any]]
) -> None:
    content: Any = make()
    call, result = step(provider, "f", content)
    messages = [
        user(provider, "Hello"),
        {**user(provider, ""), "content": content},
        says(provider, content),
    ]
    messages += [user(provider, "Go"), call, result, *talk(provider, 3)]
    for target in (10, 150, 1_000):
        pruned = PRUNERS_BAD[name]().prune(
            messages, target, provider=provider, model=MODELS[provider]
        )
        assert validate(pruned.messages, provider) == []


class BadCountingCounter:
    """A token for every message, and how often each was counted."""

    model = None

    def __init__(self) -> None:
        self.asked: Counter[int] = Counter()
        self.texts = 0

    def count(self, text: str, /) -> Count:
        self.texts += 1
        return Count(len(text) // 4)

    def count_messages(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> Count:
        self.asked.update(id(message) for message in messages)
        return Count(sum(len(str(message)) // 4 for message in messages))


LARGE = [
    *(("fifo", provider) for provider in PROVIDERS),
    *((name, "anthropic") for name in PRUNERS_BAD if name != "fifo"),
]


@pytest.mark.parametrize(("name", "provider"), LARGE)
def test_each_of_a_thousand_messages_is_counted_once(name: str, provider: Provider) -> None:
    messages = [
        message
        for turn in range(250)
        for message in (user(provider, f"Go {turn}"), says(provider, "Hi"))
    ]
    messages += [message for n in range(250) for message in step(provider, f"f{n}", f"done {n}")]
    counter = BadCountingCounter()
    pruned = PRUNERS_BAD[name]().prune(
        messages, 5_000, provider=provider, counter=counter, fill=True
    )
    assert 0 < len(pruned.messages) < len(messages) == 1_000
    assert max(counter.asked[id(message)] for message in messages) == 1
    assert sum(counter.asked.values()) <= 1_010
    assert counter.texts <= 1_200


def test_a_draft_reads_each_message_as_often_for_ten_times_the_messages() -> None:
    class Message(dict[str, Any]):
        read = 0

        def __getitem__(self, key: str) -> Any:
            Message.read += 1
            return super().__getitem__(key)

    reads = []
    for number in (200, 2_000):
        Message.read = 0
        pairs = ([chat_calls(f"a{n}"), chat_result(f"a{n}")] for n in range(number))
        draft(
            [Message(message) for pair in pairs for message in pair],
            100,
            counter=BadCountingCounter(),
        )
        reads.append(Message.read)
    assert 0 < reads[1] <= 10 * reads[0]


def test_a_function_is_not_a_counter() -> None:
    with pytest.raises(InputError, match=r"counter must be a TokenCounter, such as .*len"):
        FifoPruner().prune([user("openai", "Hi")], 100, counter=len)  # type: ignore[arg-type]
