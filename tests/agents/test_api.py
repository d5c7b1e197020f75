from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from brim.agents.call import Event, ToolCall
from brim.agents.events import Message, Usage
from brim.agents.responses import ApiResponseReader, provider_of
from tests.agents.mutated import is_sound, mutated, read

ANTHROPIC: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}},
    ],
    "usage": {
        "input_tokens": 10,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 300,
        "output_tokens": 40,
    },
}
CHAT: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1_794_725_338,
    "model": "gpt-5",
    "choices": [
        {
            "message": {
                "role": "assistant",
                "content": "I look.",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "function": {"name": "shell", "arguments": '{"command": ["ls"]}'},
                    }
                ],
            }
        }
    ],
    "usage": {
        "prompt_tokens": 330,
        "completion_tokens": 40,
        "prompt_tokens_details": {"cached_tokens": 300},
    },
}
RESPONSES: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1_794_725_338,
    "model": "gpt-5",
    "output": [
        {"type": "reasoning", "summary": []},
        {
            "type": "message",
            "id": "m1",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "I look."}],
        },
        {
            "type": "function_call",
            "call_id": "call_1",
            "name": "shell",
            "arguments": '{"command": "ls"}',
        },
    ],
    "usage": {
        "input_tokens": 330,
        "input_tokens_details": {"cached_tokens": 300},
        "output_tokens": 40,
    },
}
GEMINI: dict[str, Any] = {
    "responseId": "r1",
    "modelVersion": "gemini-3-pro",
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"text": "hm", "thought": True},
                    {"text": "I look."},
                    {"functionCall": {"name": "run_shell_command", "args": {"command": "ls"}}},
                ],
            },
            "finishReason": "STOP",
        }
    ],
    "usageMetadata": {
        "promptTokenCount": 330,
        "cachedContentTokenCount": 300,
        "candidatesTokenCount": 30,
        "thoughtsTokenCount": 10,
    },
}
BY_PROVIDER = {
    "anthropic": ANTHROPIC,
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
    "gemini": GEMINI,
}
KEYS = {
    "anthropic": "msg_1",
    "openai-chat": "chatcmpl-1",
    "openai-responses": "resp_1",
    "gemini": "r1",
}


def events(*lines: dict[str, Any]) -> list[Event]:
    return read(ApiResponseReader(), lines)


def only(kind: type[Any], *lines: dict[str, Any]) -> list[Any]:
    return [event for event in events(*lines) if isinstance(event, kind)]


@pytest.mark.parametrize("provider", BY_PROVIDER)
def test_a_response_is_its_providers(provider: str) -> None:
    assert provider_of(BY_PROVIDER[provider]) == provider


def test_what_is_no_response_is_nobodys() -> None:
    for line in (
        {},
        {"type": "user"},
        {"type": "message"},
        {"error": "no"},
        {"response": {"status": 200}},
    ):
        assert provider_of(line) is None
        assert events(line) == []


@pytest.mark.parametrize("provider", BY_PROVIDER)
def test_every_provider_tells_the_same_of_the_same(provider: str) -> None:
    response = BY_PROVIDER[provider]
    (said,), (call,), (used,) = (
        only(Message, response),
        only(ToolCall, response),
        only(Usage, response),
    )
    assert (said.role, said.text, said.human) == ("assistant", "I look.", False)
    assert (call.kind, call.input["command"]) == ("shell", "ls")
    assert (used.tokens.prompt, used.tokens.cache_read, used.tokens.output) == (330, 300, 40)
    assert (used.request, used.final) == (KEYS[provider], True)
    assert used.model in ("claude-sonnet-4-5", "gpt-5", "gemini-3-pro")


@pytest.mark.parametrize("provider", BY_PROVIDER)
def test_a_response_that_is_logged_twice_counts_once(provider: str) -> None:
    assert len(only(Usage, BY_PROVIDER[provider], BY_PROVIDER[provider])) == 1


@pytest.mark.parametrize("provider", BY_PROVIDER)
def test_a_line_with_a_request_is_read_by_its_response(provider: str) -> None:
    line = {
        "request": {"model": "asked", "messages": []},
        "response": BY_PROVIDER[provider],
        "session_id": "s1",
    }
    assert provider_of(line) == provider
    assert [(one.session, one.tokens.prompt) for one in only(Usage, line)] == [("s1", 330)]


def test_the_model_of_the_request_stands_in() -> None:
    line = {"request": {"model": "asked"}, "response": {**GEMINI, "modelVersion": None}}
    assert [one.model for one in only(Usage, line)] == ["asked"]


def test_the_result_of_a_batch_is_read_by_its_body() -> None:
    line = {"id": "batch_1", "custom_id": "a", "response": {"status_code": 200, "body": CHAT}}
    assert [one.request for one in only(Usage, line)] == ["chatcmpl-1"]


def test_a_streamed_anthropic_message_is_final_when_its_delta_came() -> None:
    start = {**ANTHROPIC, "content": [], "usage": {**ANTHROPIC["usage"], "output_tokens": 1}}
    delta = {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn"},
        "usage": {"output_tokens": 40},
    }
    told = only(Usage, {"type": "message_start", "message": start}, delta)
    assert [(one.request, one.tokens.prompt, one.tokens.output, one.final) for one in told] == [
        ("msg_1", 330, 1, False),
        ("msg_1", 330, 40, True),
    ]


def test_of_chat_chunks_the_one_with_usage_counts() -> None:
    chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "gpt-5"}
    pieces = {**chunk, "choices": [{"delta": {"content": "I"}}], "usage": None}
    told = events(pieces, {**chunk, "choices": [], "usage": CHAT["usage"]})
    assert [type(one) for one in told] == [Usage]


def test_of_streamed_responses_the_completed_one_counts() -> None:
    created = {"type": "response.created", "response": {**RESPONSES, "usage": None, "output": []}}
    piece = {"type": "response.output_text.delta", "delta": "I"}
    completed = {"type": "response.completed", "response": RESPONSES}
    assert {provider_of(line) for line in (created, piece, completed)} == {"openai-responses"}
    assert [type(one) for one in events(created, piece, completed)] == [Message, ToolCall, Usage]


def test_of_pieces_of_a_gemini_response_the_last_numbers_count() -> None:
    piece = {"responseId": "r1", "candidates": [{"content": {"parts": [{"text": "I"}]}}]}
    first = {**piece, "usageMetadata": {"promptTokenCount": 330, "candidatesTokenCount": 2}}
    told = only(Usage, first, GEMINI)
    assert [(one.request, one.tokens.output, one.final) for one in told] == [
        ("r1", 2, False),
        ("r1", 40, True),
    ]


def test_what_an_after_model_hook_gets_counts_once_for_all_pieces() -> None:
    hook = {
        "session_id": "s1",
        "hook_event_name": "AfterModel",
        "timestamp": "2026-03-01T10:00:00.000Z",
        "llm_request": {
            "model": "gemini-2.5-flash",
            "messages": [{"role": "user", "content": "hi"}],
        },
        "llm_response": {
            "candidates": [{"content": {"parts": ["I look."]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 5_984, "candidatesTokenCount": 38},
        },
    }
    told = only(Usage, hook, hook)
    assert [(one.session, one.model, one.tokens.prompt, one.request) for one in told] == [
        ("s1", "gemini-2.5-flash", 5_984, "s1:1:5984")
    ]


def test_a_service_tier_changes_the_price() -> None:
    assert [one.tokens.factors for one in only(Usage, {**RESPONSES, "service_tier": "flex"})] == [
        ("flex",)
    ]
    assert [one.tokens.factors for one in only(Usage, {**CHAT, "service_tier": "default"})] == [()]


@pytest.mark.parametrize(
    ("provider", "line"),
    [
        (
            "anthropic",
            {
                "type": "error",
                "error": {"type": "invalid_request_error", "message": "prompt is too long"},
            },
        ),
        (
            "openai-chat",
            {
                "error": {
                    "type": "invalid_request_error",
                    "code": "x",
                    "message": "prompt is too long",
                }
            },
        ),
        (
            "gemini",
            {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "prompt is too long"}},
        ),
        (
            "openai-responses",
            {
                "type": "response.failed",
                "response": {"id": "r", "error": {"message": "prompt is too long"}},
            },
        ),
        (
            "openai-responses",
            {"object": "response", "status": "failed", "error": {"message": "prompt is too long"}},
        ),
    ],
)
def test_errors_are_messages(provider: str, line: dict[str, Any]) -> None:
    assert provider_of(line) == provider
    assert [(one.role, one.text) for one in only(Message, line)] == [
        ("error", "prompt is too long")
    ]
    assert [(one.role, one.text) for one in only(Message, {"request": {}, "response": line})] == [
        ("error", "prompt is too long")
    ]


def test_a_prompt_that_was_blocked_is_an_error() -> None:
    line = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 7}}
    assert [(one.role, one.text) for one in only(Message, line)] == [
        ("error", "the prompt was blocked: SAFETY")
    ]


def test_a_response_without_usage_or_with_zeros_tells_none() -> None:
    zeros = {"input_tokens": 0, "output_tokens": 0}
    assert not only(
        Usage, {**ANTHROPIC, "usage": zeros}, {**CHAT, "usage": None}, {**RESPONSES, "usage": {}}
    )


@given(mutated([*BY_PROVIDER.values(), {"request": {"model": "m"}, "response": CHAT}]))
def test_whatever_is_in_a_line_it_is_read(lines: list[dict[str, Any]]) -> None:
    assert is_sound(events(*lines))
