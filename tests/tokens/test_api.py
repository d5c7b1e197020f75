"""The provider's own count through the real SDKs, against a server on this machine; the local count
when it fails."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from brim.errors import InputError
from brim.tokens.api import ApiTokenCounter
from brim.tokens.count import Count
from tests.waiting import wait_until

MODELS = {"anthropic": "claude-sonnet-4-5", "openai": "gpt-4o", "gemini": "gemini-2.5-flash"}
PATHS = {
    "anthropic": "/v1/messages/count_tokens",
    "openai": "/v1/responses/input_tokens",
    "gemini": "/models/gemini-2.5-flash:countTokens",  # after v1beta, or v1 from google-genai 3 on
}
every_provider = pytest.mark.parametrize("provider", list(MODELS))


class Endpoint(ThreadingHTTPServer):
    """Answers every request with *tokens*, or as *status*, *body* and *delay* say; keeps what it
    was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.tokens, self.status, self.delay = 42, 200, 0.0
        self.body: bytes | None = None
        self.kind = "application/json"
        self.asked: list[tuple[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append((self.path, asked))
        time.sleep(self.server.delay)
        answer = {
            "input_tokens": self.server.tokens,
            "totalTokens": self.server.tokens,
            "object": "response.input_tokens",
        }
        body = json.dumps(answer).encode() if self.server.body is None else self.server.body
        try:
            self.send_response(self.server.status)
            self.send_header("content-type", self.server.kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            pass  # the client did not wait

    def log_message(self, format: str, *args: object) -> None: ...


class Local:
    """The fallback: three tokens, more or less."""

    model = "local"

    def count(self, text: str, /) -> Count:
        return Count(3, "estimated", 2, 4)

    def count_messages(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> Count:
        return Count(30, "calibrated", 20, 40, "images")


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with Endpoint() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        reach(monkeypatch, server.url)
        yield server
        server.shutdown()
        thread.join()


def reach(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Let the SDKs find this machine in the environment, as a user would tell them, and nothing
    else."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", url)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "not-a-key")
    for name in ("GOOGLE_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GOOGLE_GENAI_USE_VERTEXAI"):
        monkeypatch.delenv(name, raising=False)


@contextmanager
def counting(provider: str, **options: Any) -> Iterator[ApiTokenCounter]:
    with ApiTokenCounter(MODELS[provider], fallback=Local(), **options) as counter:
        assert counter.provider == provider
        yield counter


def body_of(endpoint: Endpoint) -> Any:
    return endpoint.asked[-1][1]


@every_provider
def test_the_endpoint_answers(endpoint: Endpoint, provider: str) -> None:
    with counting(provider) as counter:
        assert repr(counter.count("Hello world")) == "Count(42)"
        assert counter.last_error is None
    path, asked = endpoint.asked[0]
    assert path.endswith(PATHS[provider])
    assert "Hello world" in json.dumps(asked)


@every_provider
def test_the_same_content_is_asked_for_once(endpoint: Endpoint, provider: str) -> None:
    with counting(provider) as counter:
        first = counter.count_messages([{"role": "user", "content": "Hello"}])
        endpoint.tokens = 7
        assert (
            counter.count_messages([{"content": "Hello", "role": "user"}])
            == first
            == counter.count("Hello")
            == 42
        )
        assert len(endpoint.asked) == 1
        assert counter.count("Hello!") == 7
        assert len(endpoint.asked) == 2


def test_the_cache_is_bounded_and_can_be_off(endpoint: Endpoint) -> None:
    with counting("anthropic", cache=2) as counter:
        for text in ("a", "b", "a", "c", "a", "b"):
            # C pushes out b, which was not used for longest.
            counter.count(text)
        assert [asked["messages"][0]["content"] for _, asked in endpoint.asked] == [
            "a",
            "b",
            "c",
            "b",
        ]
    with counting("anthropic", cache=0) as counter:
        counter.count("z")
        counter.count("z")
    assert len(endpoint.asked) == 6


def test_nothing_is_nothing_without_asking(endpoint: Endpoint) -> None:
    with counting("anthropic") as counter:
        assert repr(counter.count("")) == "Count(0)"
    assert endpoint.asked == []


FAILURES: dict[str, dict[str, Any]] = {
    "server error": {"status": 500},
    "no such model": {"status": 404},
    "wrong key": {"status": 401},
    "too many requests": {"status": 429},
    "too slow": {"delay": 0.6},
    "not JSON": {"body": b"<html>busy</html>"},
    "not JSON, and says so": {"body": b"<html>busy</html>", "kind": "text/html"},
    "empty": {"body": b"{}"},
    "null": {"body": b"null"},
    "text for a number": {"body": b'{"input_tokens": "many", "totalTokens": "many"}'},
    "negative": {"body": b'{"input_tokens": -1, "totalTokens": -1}'},
    "a list": {"body": b"[1, 2]"},
}


@every_provider
@pytest.mark.parametrize("failure", list(FAILURES))
def test_a_failure_falls_back_and_says_so(endpoint: Endpoint, provider: str, failure: str) -> None:
    for name, value in FAILURES[failure].items():
        setattr(endpoint, name, value)
    with counting(provider, timeout=0.2 if failure == "too slow" else 300) as counter:
        count = counter.count("Hello")
        assert repr(count) == "Count(3, estimated, 2 to 4)"
        assert counter.last_error
        assert counter.last_error in count.note
        assert f"counted locally, as {provider}'s endpoint gave no count" in count.note
    wait_until(
        lambda: bool(endpoint.asked)
    )  # a busy server may read it after the client has given up
    assert len(endpoint.asked) == 1  # one request, no retries


@every_provider
def test_a_closed_port_falls_back(monkeypatch: pytest.MonkeyPatch, provider: str) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        reach(monkeypatch, f"http://127.0.0.1:{unused.getsockname()[1]}")
        with counting(provider, timeout=2.0) as counter:
            count = counter.count_messages([{"role": "user", "content": "Hello"}])
            assert (count, count.basis, count.low, count.high) == (30, "calibrated", 20, 40)
            assert count.note.startswith("images; counted locally")


@every_provider
def test_no_key_falls_back(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name)
    with counting(provider) as counter:
        assert counter.count("Hello").basis == "estimated"
        assert "key" in str(counter.last_error).lower()
    assert endpoint.asked == []


@every_provider
def test_no_sdk_falls_back(monkeypatch: pytest.MonkeyPatch, provider: str) -> None:
    for name in ("anthropic", "openai", "google.genai"):
        monkeypatch.setitem(sys.modules, name, None)
    with counting(provider) as counter:
        assert counter.count("Hello") == 3
        assert counter.last_error == f"the SDK is not installed: pip install 'brim[{provider}]'"


@every_provider
def test_after_a_failure_the_endpoint_is_left_alone_for_a_while(
    endpoint: Endpoint, provider: str
) -> None:
    clock = Clock()
    with counting(provider, clock=clock) as counter:
        assert counter.count("known") == 42
        endpoint.status = 503
        assert counter.count("first").basis == "estimated"
        endpoint.status = 200
        assert "not asked again so soon after" in counter.count("second").note
        assert counter.count("known") == 42  # what is known is known
        assert counter.last_error is None
        assert len(endpoint.asked) == 2
        clock.now += 30.1
        assert counter.count("second").basis == "exact"


@every_provider
@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_request_that_is_wrong_in_itself_stops_no_other(
    endpoint: Endpoint, provider: str, status: int
) -> None:
    with counting(provider) as counter:
        endpoint.status = status
        assert counter.count("wrong").basis == "estimated"
        endpoint.status = 200
        assert counter.count("right").basis == "exact"


def test_a_given_client_is_used_without_its_retries_and_left_open(endpoint: Endpoint) -> None:
    import anthropic

    with anthropic.Anthropic(api_key="k", base_url=endpoint.url, max_retries=5) as client:
        with ApiTokenCounter("some-model", client=client, fallback=Local(), pause=0) as counter:
            assert counter.provider == "anthropic"
            endpoint.status = 500
            assert counter.count("a") == 3
            assert len(endpoint.asked) == 1
            endpoint.status = 200
            assert counter.count("a") == 42
        assert not client.is_closed()
        assert counter.count("b") == 42


def test_a_closed_counter_can_count_again(endpoint: Endpoint) -> None:
    with counting("openai") as counter:
        counter.count("a")
        counter.close()
        assert counter.count("b") == 42


def test_an_asynchronous_client_is_refused() -> None:
    import anthropic

    with pytest.raises(InputError, match="synchronous client, not AsyncAnthropic"):
        ApiTokenCounter(
            "claude-sonnet-4-5", client=anthropic.AsyncAnthropic(api_key="k"), fallback=Local()
        )


@pytest.mark.parametrize(
    ("model", "provider", "sent"),
    [
        ("claude-opus-4-1", "anthropic", "claude-opus-4-1"),
        ("anthropic/claude-sonnet-4-5[1m]", "anthropic", "claude-sonnet-4-5"),
        ("openai/gpt-5", "openai", "gpt-5"),
        ("o3-mini", "openai", "o3-mini"),
    ],
)
def test_the_provider_is_known_by_the_model(
    endpoint: Endpoint, model: str, provider: str, sent: str
) -> None:
    with ApiTokenCounter(model, fallback=Local()) as counter:
        assert (counter.provider, counter.model) == (provider, model)
        assert counter.count("a") == 42
    assert body_of(endpoint)["model"] == sent


def test_a_model_of_nobody_is_refused() -> None:
    with pytest.raises(InputError, match=r"llama-3.*provider= as one of anthropic, openai, gemini"):
        ApiTokenCounter("llama-3-70b", fallback=Local())
    with pytest.raises(InputError, match="provider 'mistral'"):
        ApiTokenCounter("claude-sonnet-4-5", provider="mistral", fallback=Local())


SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}
CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Find it"}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "search", "arguments": '{"q":"it"}'},
            },
            {"id": "c2", "type": "function", "function": {"name": "search", "arguments": ""}},
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "found"},
    {"role": "tool", "tool_call_id": "c2", "content": "nothing"},
]
CHAT_TOOLS = [
    {
        "type": "function",
        "function": {"name": "search", "description": "Searches", "parameters": SCHEMA},
    }
]
ANTHROPIC = [
    {"role": "user", "content": "Find it"},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "id": "c1", "name": "search", "input": {"q": "it"}},
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "c1",
                "content": [{"type": "text", "text": "found"}],
            }
        ],
    },
]
ANTHROPIC_TOOLS = [{"name": "search", "description": "Searches", "input_schema": SCHEMA}]
GEMINI = [
    {"role": "user", "parts": [{"text": "Find it"}]},
    {"role": "model", "parts": [{"functionCall": {"name": "search", "args": {"q": "it"}}}]},
    {
        "role": "user",
        "parts": [{"functionResponse": {"name": "search", "response": {"result": "found"}}}],
    },
]
GEMINI_TOOLS = [
    {"functionDeclarations": [{"name": "search", "description": "Searches", "parameters": SCHEMA}]}
]
RESPONSES = [
    {"role": "user", "content": [{"type": "input_text", "text": "Find it"}]},
    {"type": "function_call", "call_id": "c1", "name": "search", "arguments": '{"q":"it"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "found"},
]
RESPONSES_TOOLS = [
    {"type": "function", "name": "search", "description": "Searches", "parameters": SCHEMA}
]


def asked_for(
    endpoint: Endpoint, provider: str, messages: Sequence[Any], tools: Sequence[Any] | None = None
) -> Any:
    with counting(provider) as counter:
        assert counter.count_messages(messages, tools).exact, counter.last_error
    return body_of(endpoint)


def test_chat_messages_for_anthropic(endpoint: Endpoint) -> None:
    assert asked_for(endpoint, "anthropic", CHAT, CHAT_TOOLS) == {
        "model": "claude-sonnet-4-5",
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "Find it"},
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "c1", "name": "search", "input": {"q": "it"}},
                    {"type": "tool_use", "id": "c2", "name": "search", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "found"},
                    {"type": "tool_result", "tool_use_id": "c2", "content": "nothing"},
                ],
            },
        ],
        "tools": ANTHROPIC_TOOLS,
    }


def test_chat_messages_for_openai(endpoint: Endpoint) -> None:
    assert asked_for(endpoint, "openai", CHAT, CHAT_TOOLS) == {
        "model": "gpt-4o",
        "input": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Find it"},
            {"type": "function_call", "call_id": "c1", "name": "search", "arguments": '{"q":"it"}'},
            {"type": "function_call", "call_id": "c2", "name": "search", "arguments": ""},
            {"type": "function_call_output", "call_id": "c1", "output": "found"},
            {"type": "function_call_output", "call_id": "c2", "output": "nothing"},
        ],
        "tools": RESPONSES_TOOLS,
    }


def test_chat_messages_for_gemini(endpoint: Endpoint) -> None:
    asked = asked_for(endpoint, "gemini", CHAT, CHAT_TOOLS)
    assert endpoint.asked[-1][0].startswith("/v1beta/")
    assert asked["contents"] == []  # the endpoint takes the one or the other
    assert asked["generateContentRequest"] == {
        "model": "models/gemini-2.5-flash",
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Find it"}]},
            {
                "role": "model",
                "parts": [
                    {"functionCall": {"name": "search", "args": {"q": "it"}}},
                    {"functionCall": {"name": "search", "args": {}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "search", "response": {"result": "found"}}}
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "search", "response": {"result": "nothing"}}}
                ],
            },
        ],
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "search", "description": "Searches", "parametersJsonSchema": SCHEMA}
                ]
            }
        ],
    }


def test_vertex_takes_system_and_tools_by_itself(endpoint: Endpoint) -> None:
    from google import genai

    with genai.Client(
        vertexai=True, api_key="k", http_options={"base_url": endpoint.url}
    ) as client:
        counter = ApiTokenCounter("gemini-2.5-flash", client=client, fallback=Local())
        assert counter.count_messages(CHAT, CHAT_TOOLS).exact, counter.last_error
    asked = body_of(endpoint)
    assert asked["systemInstruction"]["parts"] == [{"text": "Be brief."}]
    assert asked["tools"][0]["functionDeclarations"][0]["name"] == "search"
    assert len(asked["contents"]) == 4


def test_plain_gemini_contents_need_no_whole_request(endpoint: Endpoint) -> None:
    asked = asked_for(endpoint, "gemini", GEMINI)
    assert [content["role"] for content in asked["contents"]] == ["user", "model", "user"]
    assert "generateContentRequest" not in asked


@pytest.mark.parametrize(
    ("provider", "messages", "tools", "key"),
    [
        ("anthropic", ANTHROPIC, ANTHROPIC_TOOLS, "messages"),
        ("openai", RESPONSES[1:], RESPONSES_TOOLS, "input"),
        ("gemini", GEMINI, GEMINI_TOOLS, "contents"),
    ],
)
def test_a_providers_own_shape_is_passed_on(
    endpoint: Endpoint, provider: str, messages: Any, tools: Any, key: str
) -> None:
    asked = asked_for(endpoint, provider, messages, tools)
    asked = asked.get("generateContentRequest", asked)
    assert (asked[key], asked["tools"]) == (messages, tools)


@every_provider
@pytest.mark.parametrize(
    ("messages", "tools"),
    [
        (CHAT, CHAT_TOOLS),
        (ANTHROPIC, ANTHROPIC_TOOLS),
        (GEMINI, GEMINI_TOOLS),
        (RESPONSES, RESPONSES_TOOLS),
    ],
)
def test_every_shape_reaches_every_provider(
    endpoint: Endpoint, provider: str, messages: Any, tools: Any
) -> None:
    text = json.dumps(asked_for(endpoint, provider, messages, tools))
    for word in ("Find it", "search", "found", "Searches"):
        assert word in text


IMAGE = "data:image/png;base64,iVBORw0KGgo="


@pytest.mark.parametrize(
    ("provider", "expected"),
    [
        (
            "anthropic",
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
            },
        ),
        ("openai", {"type": "input_image", "image_url": IMAGE, "detail": "low"}),
        ("gemini", {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}),
    ],
)
def test_images_are_converted(endpoint: Endpoint, provider: str, expected: Any) -> None:
    part = {"type": "image_url", "image_url": {"url": IMAGE, "detail": "low"}}
    system = {"role": "system", "content": "Look."}
    asked = asked_for(
        endpoint,
        provider,
        [system, {"role": "user", "content": [{"type": "text", "text": "?"}, part]}],
    )
    assert expected in [
        part
        for message in asked.get("generateContentRequest", {}).get("contents")
        or asked.get("messages")
        or asked["input"]
        for part in message.get("parts") or message["content"]
    ]


class Plain:
    role = "user"
    content = "Hello"


def test_objects_are_messages_too(endpoint: Endpoint) -> None:
    from openai.types.chat import ChatCompletionMessage

    reply = ChatCompletionMessage(role="assistant", content="Hi")
    asked = asked_for(endpoint, "anthropic", [Plain(), reply])
    assert asked["messages"] == [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi"},
    ]


@pytest.mark.parametrize(
    ("provider", "message", "why"),
    [
        ("anthropic", {"type": "reasoning", "summary": []}, "an item of type 'reasoning'"),
        (
            "openai",
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]},
            "type 'thinking'",
        ),
        (
            "gemini",
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": "https://example.com/a.png"}],
            },
            "image",
        ),
        (
            "gemini",
            {"role": "assistant", "tool_calls": [{"id": "1", "type": "custom"}]},
            "a tool call of type 'custom'",
        ),
        ("anthropic", object(), "neither role nor content"),
    ],
)
def test_what_has_no_counterpart_is_counted_locally(
    endpoint: Endpoint, provider: str, message: Any, why: str
) -> None:
    with counting(provider) as counter:
        count = counter.count_messages([message])
        assert count.basis == "calibrated"
        assert why in count.note
        assert counter.count("right") == 42  # and the endpoint is not blamed for it
    assert len(endpoint.asked) == 1


def test_importing_it_imports_no_sdk() -> None:
    import brim

    code = "import sys, brim.tokens.api; print([m for m in ('anthropic', 'openai', 'google.genai') if m in sys.modules])"
    env = {"PYTHONPATH": str(brim.__path__[0]).removesuffix("brim")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env
    )
    assert done.stdout.strip() == "[]"
