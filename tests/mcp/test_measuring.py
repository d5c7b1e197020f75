"""Counting, budgets and pruning through the protocol."""

from __future__ import annotations

from typing import Any

import pytest

from tests.mcp.conftest import World

HISTORY: list[dict[str, Any]] = [
    {"role": "user", "content": "What is in the file? " * 40},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "apples " * 200},
    {"role": "assistant", "content": "Apples."},
    {"role": "user", "content": "Thank you. Now the next one."},
]  # fmt: skip


def test_a_count_says_what_it_rests_on(world: World) -> None:
    exact = world.call("count", text="Hello world", model="gpt-4o").data
    assert (exact["tokens"], exact["basis"], exact["context_window"]) == (2, "exact", 128_000)
    guess = world.call("count", text="Hello world", model="claude-sonnet-4-5").data
    assert guess["low"] <= guess["tokens"] <= guess["high"]
    assert guess["basis"] != "exact"


def test_a_setting_that_asks_a_provider_is_counted_on_this_machine(world: World) -> None:
    (world.user / "config.yaml").write_text("mode: api\nmodel: gpt-4o\n")
    assert world.call("count", text="Hello world").data["tokens"] == 2


def test_a_budget_is_that_of_the_calculator(world: World) -> None:
    data = world.call(
        "budget", messages=[{"role": "user", "content": "Hello world"}], model="gpt-4o"
    ).data
    assert data["memory_tokens"] == 117_494
    assert data["fits"]


def test_without_a_model_there_is_no_budget(world: World) -> None:
    told = world.call("budget", messages=[])
    assert told.failed
    assert "model=" in told.text
    (world.user / "config.yaml").write_text("model: gpt-4o\n")
    assert world.call("budget", messages=[]).data["model"] == "gpt-4o"


@pytest.mark.parametrize("strategy", ["tiered", "fifo", "sliding", "summarize"])
def test_what_is_fitted_is_valid_and_within_the_target(world: World, strategy: str) -> None:
    from brim.messages import validate

    data = world.call("fit", messages=HISTORY, tokens=150, model="gpt-4o", strategy=strategy).data
    assert data["fits"]
    assert data["tokens"] <= 150
    assert data["messages"][-1] == HISTORY[-1]
    assert not validate(data["messages"], provider="openai")
    assert data["dropped"]


def test_what_cannot_fit_says_so(world: World) -> None:
    data = world.call("fit", messages=HISTORY, tokens=3, model="gpt-4o").data
    assert not data["fits"]
    assert data["reason"]


def test_without_a_target_the_window_is_the_limit(world: World) -> None:
    data = world.call("fit", messages=HISTORY, model="gpt-4o").data
    assert data["target"] == 128_000 - 4_096 - 6_400
    assert data["messages"] == HISTORY
    assert data["dropped"] == []


@pytest.mark.parametrize("tool", ["count", "budget", "fit"])
def test_what_is_guessed_of_an_unknown_model_is_called_a_guess(world: World, tool: str) -> None:
    given = {"text": "hello"} if tool == "count" else {"messages": HISTORY}
    assert "guesses" in world.call(tool, model="nobody-knows-it", **given).data["warning"]
    assert world.call(tool, model="gpt-4o", **given).data["warning"] is None
    told = world.call(tool, model="x" * 1_000_000, **given)
    assert told.failed
    assert len(told.text) < 200
