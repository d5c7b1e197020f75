"""The real SDKs: their responses are settled, their streams are read, their errors are told
apart."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

from brim.guard import Guard
from brim.models import cost
from brim.money import may_be_billed

pytestmark = pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")

MESSAGES: list[Any] = [{"role": "user", "content": "Hello"}]
ANTHROPIC = {
    "input_tokens": 12,
    "output_tokens": 5,
    "cache_read_input_tokens": 3,
    "cache_creation_input_tokens": 0,
}
OPENAI = {
    "prompt_tokens": 15,
    "completion_tokens": 5,
    "total_tokens": 20,
    "prompt_tokens_details": {"cached_tokens": 3},
}
RESPONSES = {
    "input_tokens": 15,
    "output_tokens": 5,
    "total_tokens": 20,
    "input_tokens_details": {"cached_tokens": 3},
}
GEMINI = {
    "promptTokenCount": 15,
    "candidatesTokenCount": 5,
    "cachedContentTokenCount": 3,
    "totalTokenCount": 20,
}


def message() -> dict[str, Any]:
    content = [{"type": "text", "text": "Hi"}]
    about = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": content,
    }
    return {**about, "stop_reason": "end_turn", "stop_sequence": None, "usage": ANTHROPIC}


def completion() -> dict[str, Any]:
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": "Hi"},
    }
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o",
        "choices": [choice],
        "usage": OPENAI,
    }


def generated() -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": [{"text": "Hi"}]}, "finishReason": "STOP"}
    return {
        "candidates": [candidate],
        "modelVersion": "gemini-2.5-pro",
        "responseId": "g1",
        "usageMetadata": GEMINI,
    }


def responded() -> dict[str, Any]:
    about = {
        "id": "r1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-5",
        "status": "completed",
        "output": [],
    }
    return {
        **about,
        "usage": RESPONSES,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
    }


def streamed(path: str) -> list[dict[str, Any]]:
    if path.endswith("/messages"):
        started = {**message(), "content": [], "usage": {**ANTHROPIC, "output_tokens": 1}}
        delta = {"type": "text_delta", "text": "Hi"}
        return [
            {"type": "message_start", "message": started},
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "text", "text": ""},
            },
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": "end_turn"},
                "usage": {"output_tokens": 5},
            },
            {"type": "message_stop"},
        ]
    if path.endswith("/responses"):
        return [
            {
                "type": "response.created",
                "response": {**responded(), "usage": None},
                "sequence_number": 0,
            },
            {"type": "response.completed", "response": responded(), "sequence_number": 1},
        ]
    if "Content" in path:
        return [{**generated(), "usageMetadata": {"promptTokenCount": 15}}, generated()]
    chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o"}
    said = {"index": 0, "delta": {"content": "Hi"}, "finish_reason": None}
    return [{**chunk, "choices": [said], "usage": None}, {**chunk, "choices": [], "usage": OPENAI}]


class Handler(BaseHTTPRequestHandler):
    """Answers as the four APIs do."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status = int(self.headers.get("X-Status", "200"))
        plain = {"messages": message, "completions": completion, "responses": responded}
        made = plain.get(self.path.partition("?")[0].rpartition("/")[2], generated)
        if status == 200 and (body.get("stream") or "stream" in self.path):
            named = [
                (f"event: {each['type']}\n" if "type" in each else "", each)
                for each in streamed(self.path)
            ]
            lines = [f"{event}data: {json.dumps(each)}\n\n" for event, each in named]
            self.answer(200, "text/event-stream", "".join(lines).encode())
        else:
            answer = (
                made()
                if status == 200
                else {"type": "error", "error": {"type": "x", "message": "no"}}
            )
            self.answer(status, "application/json", json.dumps(answer).encode())

    def answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def sender(name: str, url: str, status: int = 200) -> Callable[[Any, bool], Any]:
    """Return a function that sends a call for the model *name* with its SDK, streamed or not."""
    headers = {"X-Status": str(status)}
    about: Any = {"api_key": "x", "max_retries": 0, "default_headers": headers}
    if name.startswith("claude"):
        import anthropic

        claude = anthropic.Anthropic(base_url=url, **about)
        return lambda call, stream: claude.messages.create(
            model=call.model, messages=call.messages, max_tokens=call.max_output, stream=stream
        )
    if name.startswith("gpt"):
        import openai

        gpt = openai.OpenAI(base_url=f"{url}/v1", **about)
        if name == "gpt-5":
            return lambda call, stream: gpt.responses.create(
                model=call.model, input=call.messages, stream=stream
            )
        return lambda call, stream: gpt.chat.completions.create(
            model=call.model, messages=call.messages, stream=stream
        )
    from google import genai

    gemini = genai.Client(
        api_key="x", http_options=genai.types.HttpOptions(base_url=url, headers=headers)
    )

    def ask_gemini(call: Any, stream: bool) -> Any:
        contents = call.messages[0]["parts"][0]["text"]
        send = gemini.models.generate_content_stream if stream else gemini.models.generate_content
        return send(model=call.model, contents=contents)

    return ask_gemini


NAMES = ["claude-sonnet-4-5", "gpt-4o", "gpt-5", "gemini-2.5-pro"]


def asked(name: str) -> list[Any]:
    return (
        [{"role": "user", "parts": [{"text": "Hello"}]}] if name.startswith("gemini") else MESSAGES
    )


def expected(name: str) -> int | None:
    return cost(dict(zip(NAMES, (ANTHROPIC, OPENAI, RESPONSES, GEMINI), strict=True))[name], name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("stream", [False, True])
def test_a_response_is_settled_and_anchored(url: str, name: str, stream: bool) -> None:
    guard, send = (
        Guard(name, limit_usd="1"),
        sender(name, url),
    )  # Google's client closes itself when it's forgotten
    with guard.call(asked(name)) as call:
        answer = send(call, stream)
        if stream:
            assert list(call.stream(answer))
        else:
            call.done(answer)
    assert call.reported is not None
    assert call.reported.tokens.prompt == 15
    assert call.cost == expected(name)
    assert guard.gauge.used_tokens == 15
    assert guard.count(call.messages, call.system).basis == "anchored"


def test_an_async_stream_is_settled(url: str) -> None:
    import anthropic

    async def main() -> None:
        client = anthropic.AsyncAnthropic(base_url=url, api_key="x", max_retries=0)
        guard = Guard("claude-sonnet-4-5", limit_usd="1")
        async with guard.call(MESSAGES) as call:
            about: Any = {"messages": call.messages, "max_tokens": call.max_output, "stream": True}
            events = await client.messages.create(model=call.model, **about)
            assert [event async for event in call.stream(events)]
        assert call.cost == expected("claude-sonnet-4-5")

    asyncio.run(main())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("status", "is_kept"), [(400, False), (401, False), (429, False), (500, True), (0, False)]
)
def test_an_error_gives_the_money_back_only_if_it_cost_nothing(
    url: str, name: str, status: int, is_kept: bool
) -> None:
    guard = Guard(name, limit_usd="1")
    where = "http://127.0.0.1:9" if status == 0 else url
    with pytest.raises(Exception) as raised, guard.call(asked(name)) as call:  # noqa: PT011
        sender(name, where, status)(call, False)
    assert may_be_billed(raised.value) == is_kept
    found = guard.status()
    assert found is not None
    assert (found.reserved > 0) == is_kept


def test_an_sdk_without_middleware_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "brim.adapters.anthropic", raising=False)
    for found in (ModuleType("anthropic"), None):  # an older SDK, and none
        monkeypatch.setitem(sys.modules, "anthropic", found)
        with pytest.raises(ImportError, match="or newer of the Anthropic SDK"):
            import_module("brim.adapters.anthropic")
