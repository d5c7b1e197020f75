from __future__ import annotations

import pytest

from brim.tokens.messages import Tally, measure

ASK = {"role": "user", "content": "go on"}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]}


def words(text: str) -> int:
    return len(text.split())


def tally(messages: list[object], model: str) -> Tally:
    return measure(messages, model_name=model, encoding="o200k_base", count_text=words)


def thinking(text: str = "five words of a thought", signature: str = "") -> dict[str, object]:
    return {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": text, "signature": signature}],
    }


@pytest.mark.parametrize(
    ("model", "kept"), [("claude-opus-4-5", 5), ("claude-sonnet-4-5", 0), ("claude-haiku-4-5", 0)]
)
def test_thinking_of_an_earlier_turn_counts_where_the_model_keeps_it(model: str, kept: int) -> None:
    result = tally([ASK, thinking(), ASK], model)
    assert result.text_tokens == 4 + kept
    assert result.high - result.tokens >= 5 - kept


@pytest.mark.parametrize("model", ["claude-opus-4-5", "claude-sonnet-4-5", "o3", "unknown"])
def test_thinking_before_a_tool_result_belongs_to_the_running_turn(model: str) -> None:
    assert tally([ASK, thinking(), RESULT], model).per_message[1] >= 5


def test_reasoning_content_of_a_chat_message() -> None:
    said = {"role": "assistant", "content": "so", "reasoning_content": "five words of a thought"}
    assert tally([ASK, said], "deepseek-reasoner").text_tokens == 8
    assert tally([ASK, said, ASK], "deepseek-reasoner").text_tokens == 5


@pytest.mark.parametrize(
    "part",
    [
        {"type": "thinking", "thinking": "", "signature": "QUJD" * 1000},
        {"type": "redacted_thinking", "data": "QUJD" * 1000},
        {"type": "reasoning", "summary": [], "encrypted_content": "QUJD" * 1000},
        {"type": "compaction", "encrypted_content": "QUJD" * 1000},
        {"text": "", "thoughtSignature": "QUJD" * 1000},
        {"type": "web_search_result", "encrypted_content": "QUJD" * 1000},
    ],
)
@pytest.mark.parametrize("model", ["claude-opus-5", "gpt-5", "gemini-3-pro"])
def test_what_is_encrypted_is_in_the_interval_and_not_in_the_point(
    part: object, model: str
) -> None:
    empty = tally([{"role": "assistant", "content": [{"type": "text", "text": ""}]}], model)
    result = tally([{"role": "assistant", "content": [part]}], model)
    assert result.tokens <= empty.tokens + 10
    assert result.high >= empty.high + 750
    assert "opaque reasoning content" in result.reasons


def test_a_summary_is_for_people() -> None:
    item = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "three short words"}]}
    result = tally([item], "gpt-5")
    assert result.text_tokens == 0
    assert result.high - result.tokens >= 3


def test_thoughts_of_gemini_count_in_the_running_turn() -> None:
    said = {
        "role": "model",
        "parts": [{"text": "a thought", "thought": True}, {"text": "an answer"}],
    }
    assert tally([said], "gemini-2.5-pro").text_tokens == 4
    assert tally([said, ASK], "gemini-2.5-pro").text_tokens == 4
