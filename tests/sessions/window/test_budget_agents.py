"""One budget for every agent: a line of each format, as it is, says what is in the window."""

from __future__ import annotations

from typing import Any

import pytest

from brim.sessions.window.budget import ContextBudget
from tests.sessions.window.lines import assistant

CLAUDE = {
    "input_tokens": 8,
    "cache_creation_input_tokens": 300,
    "cache_read_input_tokens": 9_000,
    "output_tokens": 70,
}
LINES: dict[str, tuple[dict[str, Any], int]] = {
    "claude-stream": (assistant("m1", 9_308), 9_308),
    "claude-transcript": (
        {
            "type": "assistant",
            "uuid": "u1",
            "parentUuid": None,
            "isSidechain": False,
            "sessionId": "s1",
            "requestId": "req_1",
            "message": {
                "id": "msg_1",
                "role": "assistant",
                "model": "claude-sonnet-4-5",
                "content": [],
                "usage": CLAUDE,
            },
        },
        9_308,
    ),
    "claude-status": (
        {
            "session_id": "s1",
            "model": {"id": "claude-sonnet-4-5", "display_name": "Sonnet"},
            "workspace": {"current_dir": "/home/user/project"},
            "context_window": {"context_window_size": 200_000, "current_usage": CLAUDE},
        },
        9_308,
    ),
    "codex-rollout": (
        {
            "timestamp": "2026-01-05T06:44:11.427Z",
            "type": "token_usage_record",
            "payload": {
                "response_id": "resp_1",
                "usage": {"input_tokens": 9_338, "cached_input_tokens": 9_248, "output_tokens": 81},
            },
        },
        9_338,
    ),
    "gemini-transcript": (
        {
            "id": "d8d0cfd5",
            "timestamp": "2026-01-05T06:47:24.874Z",
            "type": "gemini",
            "content": "Done.",
            "tokens": {
                "input": 5_984,
                "output": 38,
                "cached": 2_090,
                "thoughts": 0,
                "tool": 0,
                "total": 6_022,
            },
            "model": "gemini-2.5-flash",
        },
        5_984,
    ),
    "opencode": (
        {
            "type": "step_finish",
            "timestamp": 1_767_000_000_000,
            "sessionID": "ses_1",
            "part": {
                "id": "prt_1",
                "messageID": "msg_1",
                "sessionID": "ses_1",
                "type": "step-finish",
                "tokens": {
                    "input": 8,
                    "output": 38,
                    "reasoning": 0,
                    "cache": {"write": 1, "read": 7_727},
                },
            },
        },
        7_736,
    ),
    "anthropic": (
        {
            "id": "msg_2",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [],
            "usage": CLAUDE,
        },
        9_308,
    ),
    "openai-chat": (
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": "gpt-4o",
            "choices": [],
            "usage": {
                "prompt_tokens": 4_000,
                "completion_tokens": 7,
                "prompt_tokens_details": {"cached_tokens": 3_000},
            },
        },
        4_000,
    ),
    "openai-responses": (
        {
            "id": "resp_1",
            "object": "response",
            "model": "gpt-4o",
            "output": [],
            "usage": {
                "input_tokens": 4_000,
                "output_tokens": 7,
                "input_tokens_details": {"cached_tokens": 3_000},
            },
        },
        4_000,
    ),
    "gemini": (
        {
            "responseId": "r1",
            "modelVersion": "gemini-2.5-flash",
            "candidates": [],
            "usageMetadata": {
                "promptTokenCount": 700,
                "candidatesTokenCount": 5,
                "cachedContentTokenCount": 200,
            },
        },
        700,
    ),
}


@pytest.mark.parametrize("format", LINES)
def test_the_prompt_of_the_call_is_the_occupancy(format: str) -> None:
    line, tokens = LINES[format]
    budget = ContextBudget()
    for _ in range(2):
        budget.update(line)
    assert (budget.used_tokens, budget.basis) == (tokens, "call")


def test_agents_may_be_mixed_in_one_stream() -> None:
    budget = ContextBudget()
    for line, tokens in LINES.values():
        budget.update(line)
        assert budget.used_tokens == tokens
