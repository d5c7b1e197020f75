"""Which units stay, what is pinned, and what a cut does to the prompt cache."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from statistics import mean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.errors import InputError
from brim.messages import (
    PROVIDERS,
    CacheEffect,
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
from brim.messages.caching import CachePrices
from brim.messages.cuts import legal_cuts
from brim.messages.draft import Draft
from brim.messages.drafting import draft
from brim.messages.formats import read
from brim.models import model
from brim.models.catalog import Price, PriceTier
from brim.tokens import Count
from brim.usd import Money
from tests.messages.histories import valid_histories
from tests.messages.samples import (
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


def kept_of(
    messages: list[Any], target: int, provider: Provider, **options: Any
) -> tuple[Pruned, list[int]]:
    pruned = FifoPruner().prune(
        messages, target, provider=provider, counter=LengthCounter(), **options
    )
    return pruned, places(messages, pruned.messages)


def answers_itself(messages: list[Any], kept: list[int], provider: Provider) -> bool:
    """Whether two messages of the assistant's that did not stand together do so now."""
    entries = read(messages, provider)
    return any(
        one + 1 != two and entries[one].role == entries[two].role == "assistant"
        for one, two in pairwise(kept)
    )


@every_provider
@given(data=st.data(), target=TARGETS)
def test_no_longer_legal_run_also_fits(
    provider: Provider, data: st.DataObject, target: int
) -> None:
    messages = data.draw(valid_histories(provider))
    _, kept = kept_of(messages, target, provider)
    for cut in legal_cuts(read(messages, provider), provider):
        longer = sorted({*kept, *range(cut, len(messages))})
        candidate = [messages[at] for at in longer]
        if longer != kept and LengthCounter().count_messages(candidate) <= target:
            itself = provider in STRICT and answers_itself(messages, longer, provider)
            assert itself or validate(candidate, provider), (
                f"everything from {cut} on fits and is legal"
            )


@every_provider
@given(data=st.data(), target=TARGETS)
def test_fill_keeps_all_of_the_run_and_stays_within_the_target(
    provider: Provider, data: st.DataObject, target: int
) -> None:
    messages = data.draw(valid_histories(provider))
    (_, run), (filled, more) = (
        kept_of(messages, target, provider, fill=fill) for fill in (False, True)
    )
    assert set(run) <= set(more)
    assert filled.tokens <= target or run == more
    assert validate(filled.messages, provider) == []
    assert provider not in STRICT or not answers_itself(messages, more, provider)


@every_provider
@given(data=st.data(), target=TARGETS)
def test_the_last_complete_step_stays_whenever_it_fits(
    provider: Provider, data: st.DataObject, target: int
) -> None:
    messages = data.draw(valid_histories(provider))
    work = draft(messages, target, provider=provider, counter=LengthCounter())
    steps = [at for at, unit in enumerate(work.units) if unit.kind == "step"]
    if not steps:
        return
    last_step = steps[-1]
    least = {*work.pins, *work.prompts[-1:], last_step}
    with_prompts = replace(work, target=10**9).required
    _, kept = kept_of(messages, target, provider)
    if last_step in with_prompts and work.price(with_prompts) <= target:
        assert {index for at in with_prompts for index in work.units[at].indices} <= set(kept)
    elif work.price(least) > target:
        assert not {*work.units[last_step].indices} <= set(kept) or last_step in {
            *work.pins,
            *work.prompts,
        }


@every_provider
def test_fill_adds_older_whole_units_newest_first(provider: Provider) -> None:
    messages = [user(provider, words(5))]
    for number, size in enumerate((10, 10, 50, 10)):
        messages += step(provider, f"f{number}", words(size))
    run, filled = (
        FifoPruner().prune(messages, 30, provider=provider, counter=WordCounter(), fill=fill)
        for fill in (False, True)
    )
    assert places(messages, run.messages) == [0, 7, 8]
    assert places(messages, filled.messages) == [0, 3, 4, 7, 8]


@pytest.mark.parametrize("provider", STRICT)
def test_fill_brings_the_prompt_that_an_answer_needs(provider: Provider) -> None:
    messages = [
        user(provider, words(2)),
        says(provider, words(3)),
        user(provider, words(90)),
        says(provider, "Hi"),
    ]
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
            pruned = FifoPruner().prune(
                messages, target, provider=provider, counter=WordCounter(), fill=True
            )
            assert pruned.fits
            used.append(pruned.tokens / target)
    assert mean(used) >= 0.95


@every_provider
def test_what_must_stay_is_pins_the_last_prompt_and_the_last_step(provider: Provider) -> None:
    messages = [
        *talk(provider, 2),
        user(provider, words(5)),
        *step(provider, "f", words(20)),
        says(provider, words(9)),
    ]
    for target, stays in ((35, [0, 4, 5, 6]), (34, [0, 4]), (0, [0, 4])):
        work = drafted(messages, provider, target, pin=[0])
        assert work.indices(work.required) == stays


@every_provider
def test_select_takes_nothing_older_than_it_may(provider: Provider) -> None:
    work = drafted(talk(provider, 4), provider)
    assert work.select(1_000, oldest=4) == {4, 5, 6, 7}
    assert work.select(1_000, oldest=4, fill=True) == {4, 5, 6, 7}
    assert work.select(1_000) == set(range(8))


@pytest.mark.parametrize("provider", STRICT)
def test_what_cannot_be_legal_is_left_out(provider: Provider) -> None:
    work = drafted(talk(provider, 3), provider, 0, pin=[1, 3])
    assert work.required == [0, 1, 2, 3, 4]
    headless = drafted([says(provider, "Hi"), *talk(provider, 2)], provider, 0, pin=[0, 2])
    assert headless.required == [1, 2, 3]


@every_provider
def test_the_cut_for_turns_holds_as_many_as_fit(provider: Provider) -> None:
    work = drafted(talk(provider, 5), provider)
    assert [work.cut_for_turns(3, limit) for limit in (100, 60, 59, 20, 19)] == [4, 4, 6, 8, 10]
    assert work.cut_for_turns(0, 1_000) == 10


@every_provider
def test_the_newest_messages_of_at_least_so_many_tokens(provider: Provider) -> None:
    messages = talk(provider, 5)
    found = [sorted(drafted(messages, provider, target).newest()) for target in (30, 10**6, 0)]
    assert found == [[6, 7, 8, 9] if provider in STRICT else [7, 8, 9], [*range(10)], [8]]


@every_provider
def test_an_empty_history_needs_nothing(provider: Provider) -> None:
    work = drafted([], provider)
    assert (work.required, work.select(10), work.select(10, fill=True)) == ([], set(), set())
    assert work.newest() == set()


PRUNERS: list[Callable[[], Pruner]] = [
    FifoPruner,
    lambda: SlidingWindowPruner(turns=1),
    SummarizePruner,
    WatermarkPruner,
    ToolResultCap,
]

every_pruner = pytest.mark.parametrize("pruner", PRUNERS)


def prune(
    messages: list[Any], target: int, provider: Provider = "openai", **options: Any
) -> Pruned:
    return FifoPruner().prune(messages, target, provider=provider, counter=WordCounter(), **options)


def kept(
    messages: list[Any], target: int, provider: Provider = "openai", **options: Any
) -> list[int]:
    return places(messages, prune(messages, target, provider, **options).messages)


def test_a_predicate_pins_what_it_is_true_for() -> None:
    messages = talk("openai", 4)
    assert kept(messages, 40, pin=lambda message: message["content"].startswith("1")) == [
        2,
        3,
        6,
        7,
    ]


@pytest.mark.parametrize("pin", [[1, 4], (1, 4), {1, 4}, {1: "", 4: ""}, range(1, 5, 3)])
def test_places_pin_the_messages_there(pin: Any) -> None:
    assert kept(talk("openai", 4), 40, pin=pin) == [1, 4, 6, 7]


def test_a_message_id_pins_its_message() -> None:
    items = [{**message, "id": f"msg_{at}"} for at, message in enumerate(talk("responses", 4))]
    assert kept(items, 40, "responses", pin=["msg_1", "msg_4"]) == [1, 4, 6, 7]


@pytest.mark.parametrize("pin", [["b"], {"b", "no such id"}])
def test_an_id_of_a_call_pins_its_whole_step(pin: Any) -> None:
    messages = [
        user("openai", words(5)),
        chat_calls("a", "b"),
        chat_result("a", words(5)),
        chat_result("b", words(5)),
    ]
    assert kept([*messages, *talk("openai", 3)], 30, pin=pin) == [1, 2, 3, 8, 9]
    use = assistant(tool_use("a"), tool_use("b"))
    claude = [
        user("anthropic", words(5)),
        use,
        answers(tool_result("a", words(5)), tool_result("b", words(5))),
    ]
    assert kept([*claude, *talk("anthropic", 3)], 35, "anthropic", pin=pin) == [0, 1, 2, 7, 8]
    items = [
        item_call("a"),
        item_output("a", words(5)),
        item_call("b"),
        item_output("b", words(10)),
    ]
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
    assert (
        "the last user message 10" in prune(talk(provider, 4), 0, provider, pin=[1]).receipt.reason
    )


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
    assert (
        "it is pinned, but no message of the user's can stand before it"
        in pruned.receipt.dropped[0].reason
    )


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
    assert sorted(pruned.receipt.notes) == [
        "pin 'call_typo' names no message",
        "pin 999 names no message",
    ]


CLAUDE, GPT = "claude-sonnet-4-5", "gpt-4o"


def prune_cache(
    messages: list[Any], target: int, name: str | None = CLAUDE, **options: Any
) -> Pruned:
    return FifoPruner().prune(
        messages, target, provider="openai", counter=WordCounter(name), **options
    )


def effect(pruned: Pruned) -> CacheEffect:
    assert pruned.receipt.cache is not None
    return pruned.receipt.cache


def test_the_prices_of_the_examples_are_the_tables() -> None:
    claude, gpt = model(CLAUDE).price(), model(GPT).price()
    assert claude is not None
    assert (claude.cache_write_5m, claude.cache_write_1h, claude.cache_read) == (
        Decimal("3.75"),
        Decimal(6),
        Decimal("0.3"),
    )
    assert gpt is not None
    assert (gpt.input, gpt.cache_write_5m, gpt.cache_read) == (
        Decimal("2.5"),
        None,
        Decimal("1.25"),
    )


def test_nothing_dropped_is_no_effect() -> None:
    assert prune_cache(talk("openai", 5), 1_000).receipt.cache is None


def test_everything_behind_the_first_gap_is_written_anew() -> None:
    cache = effect(prune_cache(talk("openai", 10, each=100), 800))
    assert (cache.prefix_tokens, cache.rewritten_tokens, cache.saved_tokens) == (0, 800, 1_200)
    assert cache.rewrite_cost == 2_760  # 800 x (3.75 - 0.30)
    assert cache.saving_per_turn == 360  # 1,200 x 0.30
    assert cache.pays_after == 8  # 7 x 360 = 2,520


def test_what_stands_before_the_gap_is_still_read() -> None:
    system = {"role": "system", "content": words(50)}
    tool = {"type": "function", "function": {"name": "read", "description": words(30)}}
    cache = effect(prune_cache([system, *talk("openai", 10, each=100)], 880, tools=[tool]))
    assert (cache.prefix_tokens, cache.rewritten_tokens, cache.saved_tokens) == (80, 800, 1_200)


def test_pins_at_the_beginning_are_still_read() -> None:
    cache = effect(prune_cache(talk("openai", 10, each=100), 800, pin=[0, 1, 5]))
    assert (cache.prefix_tokens, cache.rewritten_tokens, cache.saved_tokens) == (200, 600, 1_200)


def test_a_provider_that_caches_by_itself_writes_at_the_price_of_input() -> None:
    cache = effect(prune_cache(talk("openai", 10, each=100), 800, GPT))
    assert (cache.rewrite_cost, cache.saving_per_turn, cache.pays_after) == (1_000, 1_500, 1)


@pytest.mark.parametrize("name", [None, "no-such-model", "gpt-4"])
def test_unknown_prices_are_unknown_and_not_nothing(name: str | None) -> None:
    cache = effect(prune_cache(talk("openai", 10, each=100), 800, name))
    assert (cache.saved_tokens, cache.rewrite_cost, cache.saving_per_turn, cache.pays_after) == (
        1_200,
        None,
        None,
        None,
    )


def test_costs_are_rounded_up_and_savings_down() -> None:
    cache = effect(prune_cache(talk("openai", 2, each=11), 22))
    assert (cache.rewrite_cost, cache.saving_per_turn) == (76, 6)  # 75.9 and 6.6


def test_a_broken_message_that_leaves_is_a_gap() -> None:
    messages = [user("openai", words(10)), chat_result("a", words(5)), user("openai", words(20))]
    cache = effect(prune_cache(messages, 1_000))
    assert (cache.prefix_tokens, cache.rewritten_tokens, cache.saved_tokens) == (10, 20, 5)


def test_a_shortened_result_is_a_gap() -> None:
    messages = [
        user("openai", words(10)),
        chat_calls("a"),
        chat_result("a", words(500)),
        user("openai", words(20)),
    ]
    pruned = ToolResultCap(100).prune(messages, 200, provider="openai", counter=WordCounter(CLAUDE))
    cache = effect(pruned)
    assert cache.prefix_tokens == 10
    assert cache.rewritten_tokens == pruned.tokens - 10
    assert cache.saved_tokens == 530 - pruned.tokens


def test_a_summary_is_written_anew_too() -> None:
    pruner = SummarizePruner(lambda messages: words(7), min_turns=0)
    pruned = pruner.prune(
        talk("openai", 10, each=100), 900, provider="openai", counter=WordCounter(CLAUDE)
    )
    cache = effect(pruned)
    assert (cache.prefix_tokens, cache.rewritten_tokens) == (0, 807)
    assert cache.saved_tokens == 2_000 - 807


def watermark(messages: list[Any], target: int, pruner: WatermarkPruner, **options: Any) -> Pruned:
    return pruner.prune(
        messages, target, provider="anthropic", counter=WordCounter(CLAUDE), **options
    )


def test_a_watermark_receipt_has_the_prices_of_its_cache() -> None:
    messages = talk("anthropic", 10, each=100)
    for_minutes = effect(watermark(messages, 1_500, WatermarkPruner()))
    for_hours = effect(watermark(messages, 1_500, WatermarkPruner(ttl=3_600)))
    assert (for_minutes.rewritten_tokens, for_minutes.saved_tokens) == (800, 1_200)
    assert (for_minutes.rewrite_cost, for_hours.rewrite_cost) == (2_760, 4_560)  # 800 x (6 - 0.3)
    given = Price(input=Decimal(10), cache_read=Decimal(1), cache_write_5m=Decimal(2))
    assert effect(watermark(messages, 1_500, WatermarkPruner(prices=given))).rewrite_cost == 800


def test_a_turn_without_a_cut_has_no_effect() -> None:
    messages, pruner = talk("anthropic", 10, each=100), WatermarkPruner()
    watermark(messages, 1_500, pruner)
    assert watermark([*messages, user("anthropic", words(5))], 1_500, pruner).receipt.cache is None


def test_a_call_that_waits_moves_nothing_though_there_was_a_cut_before() -> None:
    messages, pruner = talk("anthropic", 10, each=100), WatermarkPruner()
    watermark(messages, 1_500, pruner)
    messages += [user("anthropic", words(5)), step("anthropic", "a", "")[0]]
    cache = watermark(messages, 1_500, pruner).receipt.cache
    assert cache is None or (cache.prefix_tokens, cache.rewritten_tokens) == (805, 0)


def test_what_an_earlier_cut_kept_at_the_beginning_is_still_read_after_the_next() -> None:
    messages, pruner = talk("anthropic", 20, each=100), WatermarkPruner()
    watermark(messages[:20], 1_500, pruner, pin=[2, 3])
    cache = effect(watermark(messages, 1_500, pruner, pin=[2, 3]))
    assert cache.prefix_tokens == 200


def test_prices_are_taken_for_the_length_of_the_prompt() -> None:
    price = Price(
        input=Decimal(1),
        cache_read=Decimal("0.1"),
        tiers=(PriceTier(above=1_000, input=Decimal(2), cache_read=Decimal("0.2")),),
    )
    assert CachePrices.of(price, 1_000) == CachePrices(Decimal(1), Decimal("0.1"))
    assert CachePrices.of(price, 1_001) == CachePrices(Decimal(2), Decimal("0.2"))


def test_a_price_that_is_not_known_makes_all_unknown() -> None:
    assert CachePrices.of(None, 100) is None
    assert CachePrices.of(Price(input=Decimal(1)), 100) is None
    assert CachePrices.of(Price(cache_read=Decimal(1)), 100) is None


def test_an_effect_pays_after_as_many_requests_as_its_cost_takes() -> None:
    assert CacheEffect(0, 0, 0, Money(100), Money(30)).pays_after == 4
    assert CacheEffect(0, 0, 0, Money(90), Money(30)).pays_after == 3
    assert CacheEffect(0, 0, 0, Money(0), Money(30)).pays_after == 0
    assert CacheEffect(0, 0, 0, Money(100), Money(0)).pays_after is None
    assert CacheEffect(0, 0, 0, None, None).pays_after is None
