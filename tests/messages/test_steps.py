"""The newest step stays, with its results shortened if need be."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from brim.messages import (
    PROVIDERS,
    FifoPruner,
    Provider,
    SlidingWindowPruner,
    WatermarkPruner,
    shorten,
    validate,
)
from tests.messages.samples import step, user

MODELS = {
    "openai": "gpt-4o",
    "responses": "gpt-4o",
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-2.5-pro",
}
LONG = "\n".join(f"line {n} of a long listing" for n in range(400))


def history(provider: Provider) -> list[Any]:
    return [
        user(provider, "Hello"), *step(provider, "a", "short"),
        user(provider, "List it"), *step(provider, "b", LONG),
    ]  # fmt: skip


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("pruner", [FifoPruner(), SlidingWindowPruner(3)])
def test_the_newest_step_stays_when_it_is_shortened(pruner: Any, provider: Provider) -> None:
    messages = history(provider)
    before = deepcopy(messages)
    asked: dict[str, Any] = {"provider": provider, "model": MODELS[provider]}
    dropped = pruner.prune(messages, 500, **asked)
    assert messages[-1] not in dropped.messages
    kept = pruner.prune(messages, 500, **asked, shorten=True)
    assert messages[-2] in kept.messages
    assert kept.fits
    assert validate(kept.messages, provider) == []
    text = str(kept.messages[-1])
    assert "line 0 of" in text
    assert "line 399 of" in text
    assert "tokens are cut out here" in text
    assert any("shortened in messages 5" in note for note in kept.receipt.notes)
    assert messages == before


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_fits_is_left_alone(provider: Provider) -> None:
    messages = history(provider)
    result = shorten(messages, 50_000, provider=provider, model=MODELS[provider])
    assert [id(each) for each in result.messages] == [id(each) for each in messages]
    assert result.receipt.notes == ()


def test_shorten_changes_the_newest_step_alone_and_drops_nothing() -> None:
    messages = [
        user("openai", "Hello"),
        *step("openai", "a", LONG),
        user("openai", "Go"),
        *step("openai", "b", LONG),
    ]
    result = shorten(messages, 1_000, model="gpt-4o")
    assert len(result.messages) == len(messages)
    assert result.messages[:5] == messages[:5]
    assert len(result.messages[5]["content"]) < len(LONG) / 2


def test_a_step_that_is_too_large_without_its_results_says_so() -> None:
    messages = [user("openai", "Go"), *step("openai", "b", LONG)]
    result = FifoPruner().prune(messages, 30, model="gpt-4o", shorten=True)
    assert [each["role"] for each in result.messages] == ["user"]
    assert "however short" in result.receipt.notes[0]


def test_a_loop_with_watermarks_always_has_its_last_result() -> None:
    pruner, messages = WatermarkPruner(), [user("anthropic", "Go")]
    for turn in range(12):
        messages += step("anthropic", f"toolu_{turn}", LONG)
        pruned = pruner.prune(messages, 2_000, model="claude-sonnet-4-5", shorten=True)
        assert pruned.fits
        assert f"toolu_{turn}" in str(pruned.messages[-1])
