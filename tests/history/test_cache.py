"""What a cut means for the provider's prompt cache, in tokens and micro-dollars, by hand arithmetic."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from brim.history import (
    CacheEffect,
    FifoPruner,
    Pruned,
    SummarizePruner,
    ToolResultCap,
    WatermarkPruner,
)
from brim.history.cache import CachePrices, cache_prices, model_prices
from brim.models import model
from brim.models.catalog import Price, Tier
from tests.history.samples import WordCounter, chat_calls, chat_result, step, talk, user, words

CLAUDE, GPT = "claude-sonnet-4-5", "gpt-4o"


def prune(messages: list[Any], target: int, name: str | None = CLAUDE, **options: Any) -> Pruned:
    return FifoPruner().prune(messages, target, provider="openai", counter=WordCounter(name), **options)


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
    assert (gpt.input, gpt.cache_write_5m, gpt.cache_read) == (Decimal("2.5"), None, Decimal("1.25"))


def test_nothing_dropped_is_no_effect() -> None:
    assert prune(talk("openai", 5), 1_000).receipt.cache is None


def test_everything_behind_the_first_gap_is_written_anew() -> None:
    cache = effect(prune(talk("openai", 10, each=100), 800))
    assert (cache.prefix_tokens, cache.rewritten_tokens, cache.saved_tokens) == (0, 800, 1_200)
    assert cache.rewrite_cost == 2_760  # 800 x (3.75 - 0.30)
    assert cache.saving_per_turn == 360  # 1,200 x 0.30
    assert cache.pays_after == 8  # 7 x 360 = 2,520


def test_what_stands_before_the_gap_is_still_read() -> None:
    system = {"role": "system", "content": words(50)}
    tool = {"type": "function", "function": {"name": "read", "description": words(30)}}
    cache = effect(prune([system, *talk("openai", 10, each=100)], 880, tools=[tool]))
    assert (cache.prefix_tokens, cache.rewritten_tokens, cache.saved_tokens) == (80, 800, 1_200)


def test_pins_at_the_beginning_are_still_read() -> None:
    cache = effect(prune(talk("openai", 10, each=100), 800, pin=[0, 1, 5]))
    assert (cache.prefix_tokens, cache.rewritten_tokens, cache.saved_tokens) == (200, 600, 1_200)


def test_a_provider_that_caches_by_itself_writes_at_the_price_of_input() -> None:
    cache = effect(prune(talk("openai", 10, each=100), 800, GPT))
    assert (cache.rewrite_cost, cache.saving_per_turn, cache.pays_after) == (1_000, 1_500, 1)


@pytest.mark.parametrize("name", [None, "no-such-model", "gpt-4"])
def test_unknown_prices_are_unknown_and_not_nothing(name: str | None) -> None:
    cache = effect(prune(talk("openai", 10, each=100), 800, name))
    assert (cache.saved_tokens, cache.rewrite_cost, cache.saving_per_turn, cache.pays_after) == (
        1_200,
        None,
        None,
        None,
    )


def test_costs_are_rounded_up_and_savings_down() -> None:
    cache = effect(prune(talk("openai", 2, each=11), 22))
    assert (cache.rewrite_cost, cache.saving_per_turn) == (76, 6)  # 75.9 and 6.6


def test_a_broken_message_that_leaves_is_a_gap() -> None:
    messages = [user("openai", words(10)), chat_result("a", words(5)), user("openai", words(20))]
    cache = effect(prune(messages, 1_000))
    assert (cache.prefix_tokens, cache.rewritten_tokens, cache.saved_tokens) == (10, 20, 5)


def test_a_shortened_result_is_a_gap() -> None:
    messages = [user("openai", words(10)), chat_calls("a"), chat_result("a", words(500)), user("openai", words(20))]
    pruned = ToolResultCap(100).prune(messages, 200, provider="openai", counter=WordCounter(CLAUDE))
    cache = effect(pruned)
    assert cache.prefix_tokens == 10
    assert cache.rewritten_tokens == pruned.tokens - 10
    assert cache.saved_tokens == 530 - pruned.tokens


def test_a_summary_is_written_anew_too() -> None:
    pruner = SummarizePruner(lambda messages: words(7), min_turns=0)
    pruned = pruner.prune(talk("openai", 10, each=100), 900, provider="openai", counter=WordCounter(CLAUDE))
    cache = effect(pruned)
    assert (cache.prefix_tokens, cache.rewritten_tokens) == (0, 807)
    assert cache.saved_tokens == 2_000 - 807


def watermark(messages: list[Any], target: int, pruner: WatermarkPruner, **options: Any) -> Pruned:
    return pruner.prune(messages, target, provider="anthropic", counter=WordCounter(CLAUDE), **options)


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
        tiers=(Tier(above=1_000, input=Decimal(2), cache_read=Decimal("0.2")),),
    )
    assert cache_prices(price, 1_000) == CachePrices(Decimal(1), Decimal("0.1"))
    assert cache_prices(price, 1_001) == CachePrices(Decimal(2), Decimal("0.2"))


def test_a_price_that_is_not_known_makes_all_unknown() -> None:
    assert cache_prices(None, 100) is None
    assert cache_prices(Price(input=Decimal(1)), 100) is None
    assert cache_prices(Price(cache_read=Decimal(1)), 100) is None
    assert model_prices(None, 100) is None
    assert model_prices("no-such-model", 100) is None


def test_an_effect_pays_after_as_many_requests_as_its_cost_takes() -> None:
    assert CacheEffect(0, 0, 0, 100, 30).pays_after == 4
    assert CacheEffect(0, 0, 0, 90, 30).pays_after == 3
    assert CacheEffect(0, 0, 0, 0, 30).pays_after == 0
    assert CacheEffect(0, 0, 0, 100, 0).pays_after is None
    assert CacheEffect(0, 0, 0, None, None).pays_after is None
