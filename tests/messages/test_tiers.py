"""Tiered fitting: what is lost least goes first, and each step is in the receipt."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.errors import InputError
from brim.messages import PROVIDERS, Provider, Pruned, TieredPruner, validate
from tests.messages.histories import any_histories, valid_histories
from tests.messages.samples import function_calls, function_responses, step, talk, user, words
from tests.messages.test_fitting import MODELS


def reading(path: str, number: int, text: str) -> list[Any]:
    """Return a step of the chat format that reads a file."""
    function = {"name": "read_file", "arguments": json.dumps({"path": path})}
    call = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
    }
    return [call, {"role": "tool", "tool_call_id": f"c{number}", "content": text}]


def prune(
    pruner: TieredPruner,
    history: list[Any],
    target: int,
    provider: Provider = "openai",
    **more: Any,
) -> Pruned:
    return pruner.prune(history, target, model=MODELS[provider], provider=provider, **more)


def actions(pruned: Pruned) -> list[str]:
    return [step.action for step in pruned.receipt.steps]


def test_nothing_happens_up_to_the_high_mark() -> None:
    history = [
        user("openai", "Go."),
        *(each for n in range(9) for each in reading(f"{n}.py", n, words(50))),
    ]
    pruned = prune(TieredPruner(), history, 10_000)
    assert pruned.messages == history
    assert pruned.receipt.steps == ()
    assert pruned.receipt.cache is None


def test_old_results_are_cleared_first_and_the_note_names_the_call() -> None:
    history = [
        user("openai", "Go."),
        *(each for n in range(20) for each in reading(f"{n}.py", n, words(100))),
    ]
    pruned = prune(TieredPruner(keep_results=2), history, 2_000)
    assert actions(pruned) == ["cleared"]
    assert len(pruned.messages) == len(history)
    assert 'read_file({"path":"0.py"})' in pruned.messages[2]["content"]
    assert "Cleared" in pruned.messages[2]["content"]
    assert pruned.messages[-1] is history[-1]
    assert pruned.messages[-3] is history[-3]
    # Down to the low mark, so that the next turns fit without another cut.
    assert pruned.tokens <= 0.7 * 2_000
    (cleared,) = pruned.receipt.steps
    assert cleared.tokens == pruned.receipt.before - pruned.tokens
    assert (
        cleared.saving == cleared.tokens * 125 // 100
    )  # $1.25 for a million tokens from the cache
    assert history[2]["content"] == words(100)


def test_excluded_tools_and_pins_are_not_cleared() -> None:
    history = [
        user("openai", "Go."),
        *(each for n in range(8) for each in reading(f"{n}.py", n, words(60))),
    ]
    kept = prune(TieredPruner(keep_results=0, exclude_tools=["read_file"]), history, 800)
    assert "cleared" not in actions(kept)
    pinned = prune(TieredPruner(keep_results=0), history, 800, pin=["c0"])
    assert pinned.messages[2] is history[2]


def test_repeated_reads_are_folded_into_the_last() -> None:
    repeated = [each for n in range(6) for each in reading("same.py", n, words(100))]
    history = [user("openai", "Go."), *repeated, *reading("other.py", 7, words(20))]
    pruned = prune(TieredPruner(exclude_tools=["read_file"]), history, 600)
    assert actions(pruned)[0] == "folded"
    assert "read again later" in json.dumps(pruned.messages)
    assert pruned.messages[-3] is history[-3]


def test_calls_that_read_nothing_are_not_folded() -> None:
    history = [
        user("openai", "Go."),
        *(each for n in range(6) for each in step("openai", f"c{n}", words(100))),
    ]
    assert "folded" not in actions(prune(TieredPruner(keep_results=9), history, 300))


def test_long_results_are_shortened_then_the_oldest_are_dropped() -> None:
    history = [
        user("openai", "Go."),
        *(each for n in range(6) for each in reading(f"{n}.py", n, words(3_000))),
    ]
    pruned = prune(TieredPruner(exclude_tools=["read_file"], longest_result=100), history, 4_000)
    assert actions(pruned) == ["shortened"]
    dropped = prune(TieredPruner(exclude_tools=["read_file"], longest_result=1_000), history, 2_500)
    assert actions(dropped) == ["shortened", "dropped"]
    assert dropped.receipt.steps[1].indices == tuple(
        index for each in dropped.receipt.dropped for index in each.indices
    )


def test_a_summary_stands_for_what_was_dropped() -> None:
    asked: list[int] = []

    def summarize(messages: list[Any]) -> str:
        asked.append(len(messages))
        return "All files were read."

    history = talk("openai", 60, 30)
    pruned = prune(TieredPruner(summarize=summarize), history, 1_000)
    assert asked
    assert actions(pruned) == ["summarized"]
    assert "All files were read." in pruned.messages[0]["content"]
    assert pruned.tokens <= 1_000
    assert pruned.receipt.fits
    assert pruned.receipt.target == 1_000


def test_a_summarizer_may_be_async() -> None:
    async def summarize(messages: list[Any]) -> str:
        await asyncio.sleep(0)
        return f"{len(messages)} messages in loop {id(asyncio.get_running_loop())}"

    history, pruner = talk("openai", 60, 30), TieredPruner(summarize=summarize)
    assert "messages in loop" in prune(pruner, history, 1_000).messages[0]["content"]

    async def main() -> None:
        pruned = await pruner.aprune(history, 1_000, model="gpt-4o")
        assert f"in loop {id(asyncio.get_running_loop())}" in pruned.messages[0]["content"]
        blocking = prune(pruner, history, 1_000)  # blocks this loop, so it's awaited in another one
        assert "in loop" in blocking.messages[0]["content"]

    asyncio.run(main())


def test_gemini_has_no_ids_and_is_cleared_all_the_same() -> None:
    steps = [
        each
        for n in range(9)
        for each in (
            function_calls("read", "search"),
            function_responses("read", "search", text=words(60)),
            user("gemini", f"next {n}"),
        )
    ]
    history = [user("gemini", "Go."), *steps]
    pruned = prune(TieredPruner(), history, 1_000, "gemini")
    assert actions(pruned)[0] == "cleared"
    assert "the result of read(" in json.dumps(pruned.messages[2])
    assert "the result of search(" in json.dumps(pruned.messages[2])
    assert validate(pruned.messages, "gemini") == []


@pytest.mark.parametrize("provider", PROVIDERS)
@given(data=st.data(), target=st.integers(0, 300), keep=st.integers(0, 2))
@settings(max_examples=30)
def test_the_result_is_valid_fits_and_is_stable(
    provider: Provider, data: st.DataObject, target: int, keep: int
) -> None:
    pruner = TieredPruner(keep_results=keep, low=0.5)
    history = data.draw(valid_histories(provider, rare=False))
    pruned = prune(pruner, history, target, provider)
    assert validate(pruned.messages, provider) == []
    assert pruned.fits == (pruned.tokens <= target)
    if pruned.fits:
        assert prune(pruner, pruned.messages, target, provider).messages == pruned.messages


@pytest.mark.parametrize("provider", PROVIDERS)
@given(data=st.data(), target=st.integers(0, 200))
@settings(max_examples=25)
def test_broken_histories_become_valid_or_are_refused(
    provider: Provider, data: st.DataObject, target: int
) -> None:
    history = data.draw(any_histories(provider))
    try:
        pruned = prune(TieredPruner(low=0.5), history, target, provider)
    except InputError:
        return
    assert validate(pruned.messages, provider) == []


@pytest.mark.parametrize(
    "wrong",
    [
        *({"low": 1.0}, {"low": 0}, {"high": 1.2}, {"low": "a"}, {"keep_results": -1}),
        *({"exclude_tools": "read"}, {"longest_result": 3}, {"summarize": "yes"}),
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        TieredPruner(**wrong)
