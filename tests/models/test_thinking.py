"""Which models bind their thinking blocks to the conversation before them."""

from __future__ import annotations

import pytest

from brim.models import lookup, model, models, use

BINDING = [
    "claude-opus-5-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
    "claude-fable-5-1",
    "claude-fable-5-2",
    "claude-mythos-5-1",
    "claude-mythos-5-2",
    "claude-opus-6",
    "claude-fable-5-3",
    "claude-sonnet-10-1",
    "claude-saga-7",
    "claude-5.5-opus",
    "Claude-Opus-5.5",
    "claude-opus-5-5-20260921",
    "claude-opus-5-5[1m]",
    "claude-opus-5-5@20260921",
    "claude-fable-latest",
    "opus",
    "sonnet[1m]",
    "anthropic/claude-opus-5.5",
    "anthropic:claude-opus-5-5",
    "anthropic.claude-fable-5-1-v1:0",
    "us.anthropic.claude-opus-6-v1:0",
    "bedrock/eu.anthropic.claude-haiku-5-5-20261001-v1:0",
    "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-5-5-v1:0",
    "vertex_ai/claude-fable-5-1@default",
    "openrouter/anthropic/claude-fable-5.1-20260831",
    "openrouter/anthropic/claude-opus-5.5:batch",
    "openrouter/~anthropic/claude-fable-latest",
    "databricks/databricks-claude-opus-5-5",
    "github_copilot/claude-opus-5.5",
    "azure_ai/claude-opus-5-5-fast",
]

FREE = [
    "claude-opus-5",
    "claude-opus-5-20260723",
    "claude-opus-5-latest",
    "claude-sonnet-5",
    "claude-fable-5",
    "claude-mythos-5",
    "claude-mythos-preview",
    "claude-opus-4-8",
    "claude-opus-4-20250514",
    "claude-sonnet-4-5@20250929",
    "claude-3-5-sonnet-20241022",
    "claude-3-opus-latest",
    "anthropic.claude-3-sonnet-20240229-v1:0:28k",
    "openrouter/anthropic/claude-5-fable-20260609",
    "claude-instant-1.2",
    "claude-2.1",
    "claude-v1",
    "gpt-5.5",
    "gemini-3-pro",
    "my-host/opus-5-5",
    "",
    "whatever",
]


@pytest.mark.parametrize("name", BINDING)
def test_newer_claude_models_bind_their_thinking(name: str) -> None:
    assert lookup(name).binds_thinking
    assert model(name).binds_thinking


@pytest.mark.parametrize("name", FREE)
def test_other_models_do_not(name: str) -> None:
    assert not lookup(name).binds_thinking
    assert not model(name).binds_thinking


def test_every_host_of_a_model_agrees() -> None:
    for size in ("opus", "sonnet", "haiku"):
        for record in models(f"claude-{size}-5-5"):
            assert record.binds_thinking, record.name
    for record in models("claude-*-4-*"):
        assert not record.binds_thinking, record.name


def test_a_configured_model_binds_like_its_base() -> None:
    use(
        {
            "my-deployment": {"like": "claude-opus-5-5"},
            "my-claude-fable-5-2": {"context_window": 200_000},
        }
    )
    assert lookup("my-deployment").binds_thinking
    assert lookup("my-claude-fable-5-2").binds_thinking
    use({"my-deployment": {"like": "claude-opus-4-8"}})
    assert not lookup("my-deployment").binds_thinking
