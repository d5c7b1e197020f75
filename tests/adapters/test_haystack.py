"""Haystack's own ``ChatMessage``s are read, counted, cut, shortened and validated as they are."""

from __future__ import annotations

import os
from typing import Any

import pytest

if os.environ.get("BRIM_ADAPTER") != "haystack":
    pytest.skip(
        "Haystack is tested in an environment of its own: scripts/adapters haystack",
        allow_module_level=True,
    )

from haystack.dataclasses import ChatMessage, ToolCall

import brim
from brim.messages import FifoPruner, Provider

MODELS: dict[Provider, str] = {"openai": "gpt-4o", "anthropic": "claude-sonnet-4-5"}


def transcript(steps: int) -> list[Any]:
    """Return a conversation in which every answer calls two tools at once."""
    messages = [ChatMessage.from_system("Be careful."), ChatMessage.from_user("Review it.")]
    for step in range(steps):
        calls = [
            ToolCall(tool_name="read_file", arguments={"path": f"{step}_{n}.py"}, id=f"c{step}_{n}")
            for n in range(2)
        ]
        messages.append(ChatMessage.from_assistant("I'll look.", tool_calls=calls))
        messages += [ChatMessage.from_tool("value = 1\n" * 60, origin=call) for call in calls]
    return messages


@pytest.mark.parametrize("provider", MODELS)
@pytest.mark.parametrize("strategy", ["tiered", "fifo", "sliding", "watermark", "summarize"])
def test_a_transcript_is_cut_and_stays_valid(provider: Provider, strategy: Any) -> None:
    messages = transcript(10)
    fitted = brim.fit(messages, model=MODELS[provider], target=1_500, strategy=strategy)
    assert fitted.fits
    assert len(fitted.messages) < len(messages)
    assert all(isinstance(message, ChatMessage) for message in fitted.messages)
    assert brim.validate(fitted.messages, provider) == []
    assert fitted.messages[0] is messages[0]
    assert fitted.messages[-1].tool_call_results


def test_results_are_cleared_and_shortened_in_copies() -> None:
    messages = transcript(6)
    before = [str(message) for message in messages]
    fitted = brim.fit(messages, model="gpt-4o", target=1_800)
    assert any("[Cleared to make room" in str(message) for message in fitted.messages)
    short = brim.fit(messages[:5], model="gpt-4o", target=300)
    assert short.fits
    assert "are cut out here" in str(short.messages[-1])
    assert [str(message) for message in messages] == before


def test_a_call_without_its_results_is_dropped() -> None:
    messages = transcript(2)[:-1]
    assert [problem.rule for problem in brim.validate(messages, "openai")] != []
    pruned = FifoPruner().prune(messages, 10_000, model="gpt-4o")
    assert brim.validate(pruned.messages, "openai") == []
