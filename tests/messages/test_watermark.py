"""Cuts that are rare and deep, the decisions they leave, and how deep they should go."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.errors import InputError
from brim.messages import (
    PROVIDERS,
    Decisions,
    FifoPruner,
    Provider,
    Pruned,
    Pruner,
    WatermarkPruner,
    validate,
)
from brim.messages.caching import CachePrices
from brim.messages.watermark import DEFAULT_LOW, MARKS, OVERHEAD, Outlook
from brim.models.catalog import Price
from tests.messages.samples import (
    MODELS,
    WordCounter,
    chat_result,
    item_call,
    places,
    says,
    step,
    talk,
    user,
    words,
)

every_provider = pytest.mark.parametrize("provider", PROVIDERS)
CLAUDE = Price(input=Decimal(3), cache_read=Decimal("0.3"), cache_write_5m=Decimal("3.75"))
SAME = Price(input=Decimal(3), cache_read=Decimal(3), cache_write_5m=Decimal(3))


def prune(
    pruner: WatermarkPruner, messages: list[Any], target: int, provider: Provider, **options: Any
) -> Pruned:
    return pruner.prune(messages, target, provider=provider, counter=WordCounter(), **options)


def decided(pruned: Pruned) -> Decisions:
    assert pruned.decisions is not None
    return pruned.decisions


def test_it_is_a_pruner() -> None:
    assert isinstance(WatermarkPruner(), Pruner)


@every_provider
def test_nothing_is_cut_up_to_the_high_mark(provider: Provider) -> None:
    messages = talk(provider, 5)
    pruned = prune(WatermarkPruner(), messages, 100, provider)
    assert places(messages, pruned.messages) == [*range(10)]
    assert (pruned.receipt.dropped, pruned.receipt.cache, decided(pruned).cuts) == ((), None, 0)


@every_provider
def test_over_the_high_mark_it_is_cut_to_the_low_one(provider: Provider) -> None:
    messages = talk(provider, 5)
    pruned = prune(WatermarkPruner(low=0.41, min_turns=0), messages, 99, provider)
    assert places(messages, pruned.messages) == [6, 7, 8, 9]
    assert decided(pruned).cuts == 1


@every_provider
def test_marks_are_shares_of_the_target(provider: Provider) -> None:
    messages = talk(provider, 5)
    pruner = WatermarkPruner(high=0.5, low=0.11, min_turns=0)
    assert places(messages, prune(pruner, messages, 200, provider).messages) == [*range(10)]
    assert places(messages, prune(pruner, messages, 199, provider).messages) == [8, 9]


@every_provider
def test_the_newest_turns_stay_though_they_are_over_the_low_mark(provider: Provider) -> None:
    messages = talk(provider, 5)
    kept = {
        turns: prune(WatermarkPruner(low=0.1, min_turns=turns), messages, 99, provider)
        for turns in range(6)
    }
    assert {turns: places(messages, pruned.messages) for turns, pruned in kept.items()} == {
        0: [8],
        1: [8, 9],
        2: [*range(6, 10)],
        3: [*range(4, 10)],
        4: [*range(2, 10)],
        5: [*range(2, 10)],
    }


@every_provider
def test_many_turns_pass_between_two_cuts(provider: Provider) -> None:
    messages = talk(provider, 60)
    pruner, moves, sent = WatermarkPruner(low=0.5), 0, ""
    fifo_moves, fifo_sent = 0, ""
    for turn in range(1, 61):
        pruned = prune(pruner, messages[: 2 * turn], 400, provider)
        fifo = FifoPruner().prune(
            messages[: 2 * turn], 400, provider=provider, counter=WordCounter()
        )
        body, fifo_body = (json.dumps(each.messages)[:-1] for each in (pruned, fifo))
        moves, sent = moves + (not body.startswith(sent)), body
        fifo_moves, fifo_sent = fifo_moves + (not fifo_body.startswith(fifo_sent)), fifo_body
        assert pruned.fits
    assert (moves, fifo_moves) == (4, 40)
    assert pruner.decisions.cuts == 4


@every_provider
def test_what_was_cut_stays_away_though_there_is_room_again(provider: Provider) -> None:
    messages = talk(provider, 5)
    pruner = WatermarkPruner(low=0.41, min_turns=0)
    prune(pruner, messages, 99, provider)
    pruned = prune(pruner, messages, 1_000, provider)
    assert places(messages, pruned.messages) == [6, 7, 8, 9]
    assert "6 messages were cut away before" in pruned.receipt.notes


@every_provider
def test_the_same_transcript_again_is_cut_no_further(provider: Provider) -> None:
    messages = talk(provider, 5)
    pruner = WatermarkPruner(low=0.4, min_turns=0)
    one, two = (prune(pruner, messages, 99, provider) for _ in range(2))
    assert places(messages, one.messages) == places(messages, two.messages)
    assert decided(one) == decided(two) == pruner.decisions


def test_what_cannot_be_cut_is_not_a_cut() -> None:
    pruner = WatermarkPruner()
    for _ in range(3):
        assert not prune(pruner, [user("openai", words(20))], 10, "openai").fits
    assert pruner.decisions.cuts == 0


def test_decisions_of_another_transcript_are_forgotten_with_a_note() -> None:
    pruner = WatermarkPruner(low=0.4)
    prune(pruner, talk("openai", 5), 90, "openai")
    other = [user("openai", f"another {n}") for n in range(12)]
    pruned = prune(pruner, other, 90, "openai")
    assert places(other, pruned.messages) == [*range(12)]
    assert pruned.receipt.notes == ("the decisions are of another transcript: started over",)
    assert pruner.decisions == Decisions()


def test_a_transcript_that_became_shorter_is_another_one() -> None:
    pruner, messages = WatermarkPruner(low=0.4, min_turns=0), talk("openai", 5)
    prune(pruner, messages, 90, "openai")
    assert len(prune(pruner, messages[:3], 90, "openai").messages) == 3


def test_other_settings_of_the_cache_do_not_make_another_transcript() -> None:
    pruner, messages = WatermarkPruner(low=0.4, min_turns=0), talk("anthropic", 5)
    prune(pruner, messages, 90, "anthropic")
    marked = [{**message, "cache_control": {"type": "ephemeral"}} for message in messages]
    assert len(prune(pruner, marked, 90, "anthropic").messages) == 2


@every_provider
def test_a_call_that_waits_at_a_cut_is_there_when_its_result_is(provider: Provider) -> None:
    call, result = step(provider, "late", "done")
    before = [*talk(provider, 5), user(provider, "Go")]
    pruner = WatermarkPruner(low=0.4, min_turns=0)
    waiting = prune(pruner, [*before, call], 90, provider)
    assert validate(waiting.messages, provider) == []
    assert decided(waiting).cuts == 1
    pruned = prune(pruner, [*before, call, result], 90, provider)
    assert pruned.messages[-2:] == [call, result]
    assert decided(pruned).cuts == 1


def test_a_misplaced_note_where_it_was_cut_is_no_leading_system_message() -> None:
    messages = [
        *talk("anthropic", 5),
        {"role": "system", "content": "Be brief."},
        *talk("anthropic", 2),
    ]
    pruner = WatermarkPruner(low=0.41, min_turns=0)
    for _ in range(2):
        assert places(messages, prune(pruner, messages, 99, "anthropic").messages) == [
            11,
            12,
            13,
            14,
        ]


@pytest.mark.parametrize("provider", ["openai", "responses"])
def test_parallel_calls_that_wait_at_a_cut_come_back_whole(provider: Provider) -> None:
    if provider == "openai":
        calls: list[Any] = [{**step("openai", "a", "")[0]}]
        calls[0]["tool_calls"] = [
            {"id": id_, "function": {"name": "read", "arguments": "{}"}} for id_ in "ab"
        ]
        results: list[Any] = [chat_result("a"), chat_result("b")]
    else:
        calls = [item_call("a"), item_call("b")]
        results = [step("responses", id_, "done")[1] for id_ in "ab"]
    before = [*talk(provider, 5), user(provider, "Go")]
    pruner = WatermarkPruner(low=0.4, min_turns=0)
    prune(pruner, [*before, *calls, results[0]], 90, provider)
    assert prune(pruner, [*before, *calls, *results], 90, provider).messages[-len(calls) - 2 :] == [
        *calls,
        *results,
    ]


PROCESS = """
import json, sys
from brim.messages import Decisions, WatermarkPruner
given = json.load(sys.stdin)
pruner = WatermarkPruner(low=0.5, decisions=Decisions.from_json(given["decisions"]))
pruned = pruner.prune(given["messages"], 150, provider=given["provider"], model=given["model"])
sys.stdout.write(json.dumps([pruned.messages, pruned.decisions.to_json()]))
"""


@every_provider
def test_another_process_renders_the_same_bytes(provider: Provider) -> None:
    messages = [*talk(provider, 6), user(provider, "Go"), *step(provider, "a", words(5))]
    pruner = WatermarkPruner(low=0.5)
    pruner.prune(messages[:-3], 150, provider=provider, model=MODELS[provider])
    given = {"messages": messages, "decisions": pruner.decisions.to_json()}
    given |= {"provider": provider, "model": MODELS[provider]}
    command = [sys.executable, "-c", PROCESS]
    ran = subprocess.run(
        command, input=json.dumps(given), capture_output=True, text=True, check=False
    )
    here = pruner.prune(messages, 150, provider=provider, model=MODELS[provider])
    assert (ran.stderr, ran.stdout) == ("", json.dumps([here.messages, decided(here).to_json()]))
    assert 0 < len(here.messages) < len(messages)


def test_fill_adds_older_units_up_to_the_low_mark() -> None:
    messages = [
        user("openai", words(10)),
        says("openai", words(60)),
        user("openai", words(30)),
        *talk("openai", 1),
    ]
    pruned, filled = (
        prune(WatermarkPruner(min_turns=0), messages, 100, "openai", fill=fill)
        for fill in (False, True)
    )
    assert places(messages, pruned.messages) == [2, 3, 4]
    assert places(messages, filled.messages) == [0, 2, 3, 4]


def left(prices: Price | None, **options: Any) -> tuple[int, str]:
    """Return what an automatic cut leaves of 10,000 tokens, and what the receipt says about it."""
    pruner = WatermarkPruner(low="auto", min_turns=0, prices=prices, **options)
    pruned = prune(pruner, talk("openai", 101, each=50), 10_000, "openai")
    return int(pruned.tokens), pruned.receipt.notes[0]


def test_an_automatic_cut_is_deeper_where_writing_the_cache_is_dear() -> None:
    claude, note = left(CLAUDE)
    assert claude < left(SAME)[0] == 9_000
    assert "rewriting the cache adds" in note
    assert "writing the cache costs no more than reading" in left(SAME)[1]


def test_an_automatic_cut_is_shallow_where_the_cache_is_cold() -> None:
    cold, note = left(CLAUDE, turn_seconds=301)
    assert left(CLAUDE, turn_seconds=300)[0] == left(CLAUDE)[0] < cold == 9_000
    assert "the cache does not live until the next turn" in note
    assert left(CLAUDE, turn_seconds=301, ttl=3_600)[0] < cold


def test_an_automatic_cut_goes_to_the_default_where_prices_are_unknown() -> None:
    assert left(None) == (
        10_000 * DEFAULT_LOW,
        "low mark 0.6: the prices of the cache are not known",
    )
    assert left(Price(input=Decimal(3)))[0] == 6_000


def test_an_automatic_cut_takes_the_prices_of_the_model() -> None:
    pruner, messages = WatermarkPruner(low="auto", min_turns=0), talk("anthropic", 101, each=50)
    pruned = pruner.prune(
        messages, 10_000, provider="anthropic", counter=WordCounter("claude-sonnet-4-5")
    )
    assert "rewriting the cache adds" in pruned.receipt.notes[0]


def test_the_reason_of_a_cut_is_the_high_mark() -> None:
    dropped = prune(WatermarkPruner(), talk("openai", 5), 90, "openai").receipt.dropped
    assert {unit.reason for unit in dropped} == {"over the high mark of 90 tokens"}


def test_the_reason_of_a_cut_is_the_high_mark_though_the_target_is_higher() -> None:
    dropped = prune(
        WatermarkPruner(high=0.5, low=0.3), talk("openai", 5), 150, "openai"
    ).receipt.dropped
    assert {unit.reason for unit in dropped} == {"over the high mark of 75 tokens"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"high": 0},
        {"high": -0.5},
        {"high": 1.1},
        {"high": True},
        {"high": "1"},
        {"high": None},
        {"high": float("nan")},
        {"low": 0},
        {"low": 1.0},
        {"low": 0.7, "high": 0.7},
        {"low": "deep"},
        {"low": None},
        {"low": float("nan")},
        {"min_turns": -1},
        {"min_turns": 1.5},
        {"min_turns": True},
        {"ttl": 0},
        {"ttl": "300"},
        {"expected_turns": 0},
        {"expected_turns": None},
        {"turn_seconds": "10"},
        {"turn_seconds": -1},
        {"turn_seconds": float("nan")},
        {"decisions": "{}"},
        {"prices": 3},
    ],
    ids=str,
)
def test_wrong_arguments_are_input_errors(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        WatermarkPruner(**wrong)


MESSAGES = talk("openai", 5)


@st.composite
def any_decisions(draw: st.DrawFn) -> Decisions:
    cut = draw(st.integers(0, 50))
    kept = draw(st.sets(st.integers(0, 49)))
    return Decisions(
        cut,
        tuple(sorted(at for at in kept if at < cut)),
        draw(st.text(max_size=40)),
        draw(st.integers(0)),
    )


@given(decisions=any_decisions())
def test_decisions_come_back_from_json(decisions: Decisions) -> None:
    text = decisions.to_json()
    assert Decisions.from_json(text) == decisions
    assert "\n" not in text


def test_new_decisions_keep_everything() -> None:
    assert Decisions().view(MESSAGES) == list(range(10))
    assert Decisions().view([]) == []


def test_what_was_kept_and_all_after_the_cut_are_seen() -> None:
    decided = Decisions().cut_again(MESSAGES, [0, 3, 7, 8, 9], ())
    assert (decided.cut, decided.kept, decided.cuts) == (7, (0, 3), 1)
    assert decided.view(MESSAGES) == [0, 3, 7, 8, 9]
    assert decided.view([*MESSAGES, user("openai", "More")]) == [0, 3, 7, 8, 9, 10]


def test_cuts_are_counted_on() -> None:
    assert Decisions(cuts=4).cut_again(MESSAGES, [9], ()).cuts == 5


def test_broken_messages_do_not_end_the_run() -> None:
    decided = Decisions().cut_again(MESSAGES, [0, 7, 9], [8])
    assert (decided.cut, decided.kept) == (7, (0,))
    assert Decisions().cut_again(MESSAGES, [0], [8, 9]).view(MESSAGES) == [0, 8, 9]


def test_what_stays_when_the_newest_left_too() -> None:
    decided = Decisions().cut_again(MESSAGES, [0, 4], ())
    assert (decided.cut, decided.kept) == (10, (0, 4))
    assert decided.view([*MESSAGES, user("openai", "More")]) == [0, 4, 10]


def test_another_transcript_is_not_seen() -> None:
    decided = Decisions().cut_again(MESSAGES, [7, 8, 9], ())
    assert decided.view(MESSAGES[:6]) is None
    assert decided.view([user("openai", "Other"), *MESSAGES[1:]]) is None
    assert decided.view([]) is None


def test_what_changes_after_the_cut_is_the_same_transcript() -> None:
    decided = Decisions().cut_again(MESSAGES, [7, 8, 9], ())
    assert decided.view([*MESSAGES[:7], user("openai", "Other")]) == [7]


def test_objects_and_dicts_with_the_same_fields_are_the_same_transcript() -> None:
    decided = Decisions().cut_again(MESSAGES, [7, 8, 9], ())
    assert decided.view([SimpleNamespace(**message) for message in MESSAGES]) == [7, 8, 9]


@pytest.mark.parametrize("strange", [object(), {1, 2}])
def test_what_cannot_be_written_down_matches_nothing(strange: object) -> None:
    first = {"role": "user", "content": [strange]}
    decided = Decisions().cut_again([first, *MESSAGES], [8, 9, 10], ())
    assert decided.view([first, *talk("openai", 5, each=3)]) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "5",
        '"text"',
        "[]",
        "{}",
        "NaN",
        '{"version": 1}',
        '{"version": 1, "kept": 5}',
        '{"version": 1, "kept": "ab", "cut": 3}',
        '{"version": 1, "kept": [[1]], "cut": 3}',
        '{"version": 1, "kept": [], "cut": "3"}',
        '{"version": 1, "kept": [], "cut": -1}',
        '{"version": 1, "kept": [], "cut": 1.5}',
        '{"version": 1, "kept": [], "cut": true}',
        '{"version": 1, "kept": [], "cuts": null}',
        '{"version": 1, "kept": [], "digest": 5}',
        '{"version": 1, "kept": [], "other": 5}',
        '{"version": 1, "kept": [3], "cut": 3}',
        '{"version": 1, "kept": [2, 1], "cut": 3}',
        '{"version": 1, "kept": [1, 1], "cut": 3}',
        '{"version": 2, "kept": [], "cut": 0, "digest": "", "cuts": 0}',
        '{"version": null, "kept": []}',
        "[" * 100_000,
        None,
        5,
    ],
)
def test_garbage_is_an_input_error(text: Any) -> None:
    with pytest.raises(InputError, match="decisions: "):
        Decisions.from_json(text)


@given(
    text=st.one_of(
        st.text(), st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists)
    )
)
def test_any_other_text_is_an_input_error(text: Any) -> None:
    with pytest.raises(InputError):
        Decisions.from_json(text if isinstance(text, str) else json.dumps(text))


def test_a_place_beyond_the_transcript_is_another_transcript() -> None:
    assert Decisions(cut=10**9, digest="x").view(MESSAGES) is None


CLAUDE_DEPTH = CachePrices(write=Decimal("3.75"), read=Decimal("0.3"))
GPT = CachePrices(write=Decimal("2.5"), read=Decimal("1.25"))
SAME_DEPTH = CachePrices(write=Decimal(1), read=Decimal(1))
OUTLOOK = Outlook(high=100_000, static=5_000, growth=2_000, turns=20, warm=True)

outlooks = st.builds(
    Outlook,
    high=st.integers(0, 10**6),
    static=st.integers(0, 10**6),
    growth=st.integers(0, 10**5),
    turns=st.integers(1, 1_000),
    warm=st.booleans(),
)
prices = st.builds(
    CachePrices,
    write=st.decimals(0, 100, places=2),
    read=st.decimals(0, 100, places=2),
)


def test_the_overhead_is_what_is_written_anew_by_what_the_turns_cost() -> None:
    # Down to 50,000, then 25 turns of 2,000 until the next cut: one cut in 20 turns, 75,000 tokens
    # on the average.
    plain = 20 * (75_000 * 0.3 + 2_000 * 3.75)
    assert OUTLOOK.overhead(0.5, CLAUDE_DEPTH) == pytest.approx((50_000 - 5_000) * 3.45 / plain)


def test_a_shallow_cut_is_made_again_and_again() -> None:
    # Down to 90,000: five turns until the next cut, so four cuts in 20 turns.
    plain = 20 * (95_000 * 0.3 + 2_000 * 3.75)
    assert OUTLOOK.overhead(0.9, CLAUDE_DEPTH) == pytest.approx(4 * (90_000 - 5_000) * 3.45 / plain)


def test_what_never_changes_is_never_written_anew() -> None:
    assert replace(OUTLOOK, static=100_000).overhead(0.5, CLAUDE_DEPTH) == 0


def test_the_mark_is_the_highest_that_costs_little_enough() -> None:
    low, why = OUTLOOK.low_mark(CLAUDE_DEPTH)
    assert (
        OUTLOOK.overhead(low, CLAUDE_DEPTH)
        <= OVERHEAD
        < OUTLOOK.overhead(MARKS[MARKS.index(low) - 1], CLAUDE_DEPTH)
    )
    assert f"low mark {low}: with 2,000 tokens a turn and 20 turns to come" in why
    assert "the aim is at most 20%" in why


def test_dear_writes_make_deeper_cuts() -> None:
    assert (
        OUTLOOK.low_mark(CLAUDE_DEPTH)[0]
        < OUTLOOK.low_mark(GPT)[0]
        <= OUTLOOK.low_mark(SAME_DEPTH)[0]
    )


def test_fast_growth_makes_deeper_cuts() -> None:
    slow, fast = (
        replace(OUTLOOK, growth=growth, turns=100).low_mark(GPT)[0] for growth in (500, 10_000)
    )
    assert fast < slow


def test_a_cold_cache_makes_a_cut_free() -> None:
    low, why = replace(OUTLOOK, warm=False).low_mark(CLAUDE_DEPTH)
    assert (low, "the cache does not live until the next turn" in why) == (MARKS[0], True)


def test_writes_that_cost_no_more_than_reads_make_a_cut_free() -> None:
    low, why = OUTLOOK.low_mark(SAME_DEPTH)
    assert (low, "writing the cache costs no more than reading" in why) == (MARKS[0], True)


def test_unknown_prices_give_the_default_and_say_so() -> None:
    assert OUTLOOK.low_mark(None) == (
        DEFAULT_LOW,
        "low mark 0.6: the prices of the cache are not known",
    )
    assert replace(OUTLOOK, warm=False).low_mark(None)[0] == DEFAULT_LOW


def test_where_no_mark_is_cheap_the_cheapest_is_taken_and_said() -> None:
    dear = CachePrices(write=Decimal(100), read=Decimal("0.01"))
    low, why = replace(OUTLOOK, turns=1).low_mark(dear)
    assert low == min(MARKS, key=lambda mark: replace(OUTLOOK, turns=1).overhead(mark, dear))
    assert "no mark reaches the aim of 20%" in why


@given(outlook=outlooks, price=prices)
def test_any_outlook_has_a_mark_and_a_reason(outlook: Outlook, price: CachePrices) -> None:
    low, why = outlook.low_mark(price)
    assert low in MARKS
    assert why.startswith(f"low mark {low}: ")


def test_two_conversations_keep_their_cuts_when_they_alternate() -> None:
    def conversation(name: str, length: int) -> list[Any]:
        return [{"role": "user", "content": f"{name} {n} " + "word " * 30} for n in range(length)]

    pruner = WatermarkPruner(low=0.5)
    alone = {name: WatermarkPruner(low=0.5) for name in "ab"}
    for length in range(8, 30):
        for name in "ab":
            messages = conversation(name, length)
            shared = pruner.prune(messages, 400, model="gpt-4o")
            own = alone[name].prune(messages, 400, model="gpt-4o")
            assert shared.messages == own.messages
            assert shared.decisions == own.decisions
