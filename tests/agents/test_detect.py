"""The format of a line is found, kept as long as it fits, and nothing in a line raises."""

from __future__ import annotations

from typing import Any

import pytest

from brim.agents.call import ToolCall
from brim.agents.claude.transcript import (
    ClaudeStatusReader,
    ClaudeStreamReader,
    ClaudeTranscriptReader,
)
from brim.agents.codex.transcript import CodexExecReader, CodexRolloutReader
from brim.agents.events import Usage
from brim.agents.gemini.transcript import GeminiStreamReader, GeminiTranscriptReader
from brim.agents.opencode.transcript import OpencodeReader
from brim.agents.readers import AnyReader, format_of
from brim.errors import InputError
from tests.agents.claude_lines import (
    STATUS,
    STREAM,
    TRANSCRIPT,
    kept_answer,
    stream_answer,
    tool_block,
)

ONE_OF_EACH: dict[str, dict[str, Any]] = {
    "claude-stream": stream_answer("m1"),
    "claude-transcript": kept_answer("m1"),
    "claude-status": STATUS,
    "codex-exec": {
        "type": "turn.completed",
        "usage": {"input_tokens": 3, "cached_input_tokens": 1, "output_tokens": 2},
    },
    "codex-rollout": {
        "timestamp": "2026-11-15T06:45:13Z",
        "type": "event_msg",
        "payload": {"type": "task_started"},
    },
    "gemini-stream": {
        "type": "init",
        "timestamp": "2026-11-15T06:47:24Z",
        "session_id": "s",
        "model": "gemini-2.5-pro",
    },
    "gemini-transcript": {
        "id": "g1",
        "timestamp": "2026-11-15T06:47:24Z",
        "type": "gemini",
        "content": "Hi.",
        "tokens": {"input": 5, "output": 3, "cached": 0, "thoughts": 0, "tool": 0, "total": 8},
        "model": "gemini-2.5-pro",
    },
    "opencode": {
        "type": "step_finish",
        "timestamp": 1794725338583,
        "sessionID": "ses_1",
        "part": {"type": "step-finish", "tokens": {"input": 5, "output": 3}, "cost": 0.1},
    },
    "qwen-chat": {
        "type": "user",
        "uuid": "u1",
        "sessionId": "s1",
        "provenance": "real_user",
        "message": {"role": "user", "parts": [{"text": "hi"}]},
    },
    "copilot-events": {
        "type": "session.usage_record",
        "data": {"usage": {"inputTokens": 5, "outputTokens": 3}},
        "id": "e1",
        "parentId": None,
    },
    "anthropic": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [],
        "usage": {"input_tokens": 3, "output_tokens": 2},
    },
    "openai-chat": {
        "id": "c1",
        "object": "chat.completion",
        "model": "gpt-4o",
        "choices": [],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    },
    "openai-responses": {
        "id": "r1",
        "object": "response",
        "model": "gpt-5",
        "output": [],
        "usage": {"input_tokens": 3, "output_tokens": 2},
    },
    "gemini": {
        "candidates": [],
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2},
    },
}


@pytest.mark.parametrize("format", ONE_OF_EACH)
def test_every_format_is_found(format: str) -> None:
    assert format_of(ONE_OF_EACH[format]) == format


@pytest.mark.parametrize("line", STREAM)
def test_every_event_of_the_claude_stream_is_found(line: dict[str, Any]) -> None:
    assert format_of(line) == "claude-stream"


@pytest.mark.parametrize("line", TRANSCRIPT)
def test_every_line_of_a_claude_transcript_is_found(line: dict[str, Any]) -> None:
    assert format_of(line) == "claude-transcript"


AGENTS: dict[str, Any] = {
    "claude-stream": ClaudeStreamReader,
    "claude-transcript": ClaudeTranscriptReader,
    "claude-status": ClaudeStatusReader,
    "codex-exec": CodexExecReader,
    "codex-rollout": CodexRolloutReader,
    "gemini-stream": GeminiStreamReader,
    "gemini-transcript": GeminiTranscriptReader,
    "opencode": OpencodeReader,
}


@pytest.mark.parametrize("format", AGENTS)
def test_an_agents_line_is_of_one_format_only(format: str) -> None:
    assert [name for name, reader in AGENTS.items() if reader.recognises(ONE_OF_EACH[format])] == [
        format
    ]


@pytest.mark.parametrize(
    "line", [{}, {"type": "noise"}, {"a": 1}, {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}]
)
def test_what_is_of_no_format_has_none(line: dict[str, Any]) -> None:
    assert format_of(line) is None


def test_a_reader_keeps_the_format_and_counts_what_is_of_none() -> None:
    reader = AnyReader()
    reader.events(stream_answer("m1"))
    assert reader.events({"type": "noise"}) == []
    assert (reader.format, reader.unknown) == ("claude-stream", 1)


def test_formats_may_be_mixed_and_each_keeps_what_it_knows() -> None:
    reader = AnyReader()
    lines = [
        stream_answer("m1"),
        kept_answer("m9", request="r9"),
        stream_answer("m1"),
        kept_answer("m9", request="r9"),
    ]
    found = [event for line in lines for event in reader.events(line) if isinstance(event, Usage)]
    assert [used.request for used in found] == ["m1:req_1", "m9:r9"]


def test_a_given_format_is_used_for_every_line() -> None:
    reader = AnyReader("claude-stream")
    (call,) = [
        event
        for event in reader.events({**tool_block("t1", "Write"), "extra": 1})
        if isinstance(event, ToolCall)
    ]
    assert call.kind == "write"
    assert reader.events({"type": "noise"}) == []


def test_an_unknown_format_is_an_error_that_names_the_known() -> None:
    with pytest.raises(InputError, match="claude-stream"):
        AnyReader("cobol")


@pytest.mark.parametrize("line", [None, 3, "x", [], [1], True])
def test_what_is_no_object_is_unknown(line: Any) -> None:
    reader = AnyReader()
    assert reader.events(line) == []
    assert reader.unknown == 1
