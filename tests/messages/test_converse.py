"""Bedrock's Converse messages are read, counted, cut, shortened and validated as they are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brim
from brim.errors import InputError
from brim.messages import repair
from brim.money import estimate_cost

MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"


def transcript(steps: int, calls: int = 2) -> list[Any]:
    """Return a conversation in which every answer calls tools."""
    messages: list[Any] = [{"role": "user", "content": [{"text": "Review it."}]}]
    for step in range(steps):
        uses: list[Any] = [{"text": "I'll look."}]
        results = []
        for number in range(calls):
            name = f"{step}_{number}"
            use = {"toolUseId": name, "name": "read_file", "input": {"path": f"{name}.py"}}
            uses.append({"toolUse": use})
            content = [{"text": "value = 1\n" * 60}, {"json": {"lines": 60}}]
            results.append({"toolResult": {"toolUseId": name, "content": content}})
        messages.append({"role": "assistant", "content": uses})
        messages.append({"role": "user", "content": results})
    return messages


def as_anthropic(message: Any) -> Any:
    """Return a message as Anthropic's own API takes it."""
    blocks = []
    for block in message["content"]:
        if "text" in block:
            blocks.append({"type": "text", "text": block["text"]})
        elif "toolUse" in block:
            use = block["toolUse"]
            about = {"id": use["toolUseId"], "name": use["name"], "input": use["input"]}
            blocks.append({"type": "tool_use", **about})
        else:
            result = block["toolResult"]
            texts = [{"type": "text", "text": result["content"][0]["text"]}]
            texts.append({"type": "text", "text": '{"lines":60}'})
            about = {"tool_use_id": result["toolUseId"], "content": texts}
            blocks.append({"type": "tool_result", **about})
    return {"role": message["role"], "content": blocks}


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "gpt-4o"])
def test_it_counts_as_anthropics_form_does(model: str) -> None:
    messages = transcript(3)
    counter = brim.counter_for(model)
    native = [as_anthropic(message) for message in messages]
    assert int(counter.count_messages(messages)) == int(counter.count_messages(native))


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 12),
    st.integers(1, 3),
    st.integers(200, 6_000),
    st.sampled_from(["tiered", "fifo"]),
)
def test_what_is_cut_is_valid_and_the_callers_stays(
    steps: int, calls: int, target: int, strategy: Any
) -> None:
    messages = transcript(steps, calls)
    before = str(messages)
    fitted = brim.fit(messages, model=MODEL, target=target, strategy=strategy)
    assert brim.validate(fitted.messages) == []
    assert fitted.fits == (int(fitted.tokens) <= target)
    assert str(messages) == before
    assert fitted.messages[0] is messages[0]


def test_a_result_is_cleared_and_shortened_as_a_list_of_blocks() -> None:
    fitted = brim.fit(transcript(6), model=MODEL, target=3_000)
    contents = [
        block["toolResult"]["content"]
        for message in fitted.messages
        for block in message["content"]
        if "toolResult" in block
    ]
    assert all(isinstance(content, list) for content in contents)
    assert any("[Cleared to make room" in content[0]["text"] for content in contents)
    short = brim.fit(transcript(1, 1), model=MODEL, target=250)
    text = short.messages[-1]["content"][0]["toolResult"]["content"][0]["text"]
    assert "are cut out here" in text


def test_calls_and_results_must_be_pairs() -> None:
    messages = transcript(2)
    assert brim.validate(messages) == []
    assert {each.rule for each in brim.validate(messages[:-1])} == {"call-has-result"}
    assert {each.rule for each in brim.validate([messages[0], *messages[2:]])} >= {
        "result-has-call"
    }
    with pytest.raises(InputError, match="repair can't change messages of converse"):
        repair(messages[:-1])


def test_thinking_marks_and_files_are_read() -> None:
    thought = {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}}
    messages: list[Any] = [
        {"role": "user", "content": [{"text": "Go"}, {"cachePoint": {"type": "default"}}]},
        {"role": "assistant", "content": [thought, {"text": "Done."}]},
        {"role": "user", "content": [{"image": {"format": "png", "source": {"bytes": b"x"}}}]},
    ]
    assert brim.validate(messages) == []
    assert int(brim.counter_for(MODEL).count_messages(messages)) > 20


def test_its_usage_is_priced() -> None:
    usage = {
        "inputTokens": 1_000,
        "outputTokens": 100,
        "totalTokens": 1_300,
        "cacheReadInputTokens": 150,
        "cacheWriteInputTokens": 50,
    }
    expected = estimate_cost(
        MODEL, input_tokens=1_000, output_tokens=100, cache_read_tokens=150, cache_write_tokens=50
    )
    assert brim.cost({"usage": usage}, MODEL) == expected
