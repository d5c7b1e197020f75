"""The provider's own count, through its SDK and counting endpoint.

``ApiTokenCounter`` is the only counter that is exact for Claude and Gemini, and the only one that
uses the network: nothing in brim chooses it unless you ask for it. An SDK takes a second to import,
so that waits for the first request.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Self

from brim.errors import InputError
from brim.tokens.anchor import Anchor, MemoryAnchorStore, digests
from brim.tokens.api_requests import (
    Request,
    Unconvertible,
    anthropic_request,
    gemini_request,
    openai_request,
)
from brim.tokens.approximate import NOT_A_TEXT
from brim.tokens.costs import MessageCosts, message_costs
from brim.tokens.count import Count
from brim.tokens.protocol import TokenCounter


@dataclass(frozen=True)
class Endpoint:
    """One provider's counting endpoint."""

    name: str
    """The name of the provider, and of brim's extra that installs its SDK."""
    connect: Callable[[float], Any]
    """Makes a client with a time limit.

    Key and address are what the SDK finds in the environment.
    """
    request: Callable[[Sequence[Any], Sequence[Any] | None], Request]
    """Writes messages and tools as the endpoint wants them."""
    ask: Callable[[Any, str, Request, float], object]
    """Returns what the endpoint answers for a client, a model, a request and a time limit."""


def _client_of(module: str, name: str) -> Callable[[float], Any]:
    return lambda timeout: getattr(import_module(module), name)(timeout=timeout, max_retries=0)


def _connect_gemini(timeout: float) -> Any:
    return import_module("google.genai").Client(http_options={"timeout": round(timeout * 1000)})


def _ask_anthropic(client: Any, model: str, request: Request, timeout: float) -> object:
    return _once(client).messages.count_tokens(model=model, timeout=timeout, **request).input_tokens


def _ask_openai(client: Any, model: str, request: Request, timeout: float) -> object:
    return (
        _once(client)
        .responses.input_tokens.count(model=model, timeout=timeout, **request)
        .input_tokens
    )


def _ask_gemini(client: Any, model: str, request: Request, timeout: float) -> object:
    """Ask google-genai, whose SDK takes a system instruction and tools for Vertex only, and raises
    otherwise.

    The endpoint does take them, as a whole request to generate content in place of ``contents``:
    documented for v1beta. The SDK passes that on as an extra field (google-genai 1.21 and newer).
    """
    options: dict[str, Any] = {"timeout": round(timeout * 1000)}
    config: dict[str, Any] = {"http_options": options}
    if len(request) > 1 and getattr(client, "vertexai", False):
        config["system_instruction"] = request.get("systemInstruction")
        config["tools"] = request.get("tools")
    elif len(request) > 1:
        options["api_version"] = "v1beta"
        full_name = model
        if "/" not in model:
            full_name = f"models/{model}"
        options["extra_body"] = {
            "contents": [],
            "generateContentRequest": {"model": full_name, **request},
        }
    return client.models.count_tokens(
        model=model, contents=request["contents"], config=config
    ).total_tokens


ENDPOINTS = {
    "anthropic": Endpoint(
        "anthropic", _client_of("anthropic", "Anthropic"), anthropic_request, _ask_anthropic
    ),
    "openai": Endpoint(
        "openai", _client_of("openai", "OpenAI"), openai_request, _ask_openai
    ),  # openai 2.6 and newer
    "gemini": Endpoint("gemini", _connect_gemini, gemini_request, _ask_gemini),
}
_MODULES = {"anthropic": "anthropic", "openai": "openai", "google": "gemini"}
_NAMES = {
    "anthropic": ("anthropic/", "claude"),
    "openai": ("openai/", "gpt-", "chatgpt-", "o1", "o3", "o4", "codex-"),
    "gemini": ("google/", "gemini/", "models/gemini", "gemini"),
}


def endpoint_for(model: str, provider: str | None, client: Any) -> Endpoint:
    """Return the endpoint of *provider*, else the one that *client* belongs to, else the one that
    has *model*."""
    if type(client).__name__.startswith("Async"):
        raise InputError(
            f"a count is made at once: pass a synchronous client, not {type(client).__name__}"
        )
    if provider is None and client is not None:
        provider = _MODULES.get(type(client).__module__.partition(".")[0])
    if provider is None:
        provider = _provider_of(model)
    if provider not in ENDPOINTS:
        problem = f"provider {provider!r}"
        if provider is None:
            problem = f"no counting endpoint is known for model {model!r}"
        raise InputError(
            f"{problem}: pass provider= as one of {', '.join(ENDPOINTS)}, or count with mode='auto'"
        )
    return ENDPOINTS[provider]


def _provider_of(model: str) -> str | None:
    name = model.lower()
    for provider, beginnings in _NAMES.items():
        if name.startswith(beginnings):
            return provider
    return None


def _once(client: Any) -> Any:
    """Return *client* without retries: someone waits, and there is a local count to fall back
    on."""
    if hasattr(client, "with_options"):
        return client.with_options(max_retries=0)
    return client


_ROUTER_PREFIXES = ("anthropic", "openai", "google", "gemini", "models")
_OWN_FAULT = frozenset({400, 413, 422})
"""What a provider answers to a wrong request: the next one may be right."""


class ApiTokenCounter:
    """Counts by the provider's endpoint.

    It promises: a count is ``exact`` if the endpoint gave it, and otherwise the *fallback*'s count
    with the fallback's basis and a ``note`` that says why; ``last_error`` says the same of the last
    count. It never raises because of the network, the key, the SDK or the answer, and prints no
    warning: the note says what happened.

    Each content is asked for once: the last *cache* answers are kept by a hash of what was asked. A
    request may take *timeout* seconds and is not repeated; after a failure that will meet the next
    request too (no answer, no key, too many requests), the endpoint is left alone for *pause*
    seconds, so that a thousand counts do not wait a thousand times.

    The SDK (``brim[anthropic]``, ``brim[openai]``, ``brim[gemini]``) is imported, and a client
    made, for the first request. A *client* that is given is used as it is, and never closed.
    """

    def __init__(
        self,
        model: str,
        *,
        fallback: TokenCounter,
        client: Any = None,
        provider: str | None = None,
        timeout: float = 5.0,
        cache: int = 1024,
        pause: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.model = model
        self.fallback = fallback
        self.timeout = timeout
        self.last_error: str | None = None
        """Why the last count is the fallback's; None if it is the provider's."""
        self._endpoint = endpoint_for(model, provider, client)
        self._client = client
        self._own = client is None
        self._answers: MemoryAnchorStore | None = None
        if cache > 0:
            self._answers = MemoryAnchorStore(cache)
        self._pause = pause
        self._clock = clock
        self._paused_until = clock()
        self._pause_reason = ""
        self._lock = threading.Lock()

    @property
    def provider(self) -> str:
        """Whose endpoint is asked: ``anthropic``, ``openai`` or ``gemini``."""
        return self._endpoint.name

    def count(self, text: str, /) -> Count:
        """Return what the endpoint counts for *text* as the only message.

        That includes the framing of one message, which no endpoint gives separately: a few tokens
        more than the text alone, so such counts do not add up to the count of a conversation.
        Nothing is 0, without asking.
        """
        if not isinstance(text, str):
            raise InputError(NOT_A_TEXT.format(type(text).__name__))
        if not text:
            return Count(0)
        return self._count(
            [{"role": "user", "content": text}], None, lambda: self.fallback.count(text)
        )

    def count_messages(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> Count:
        """Return what the endpoint counts for *messages* and *tools*.

        They may have any provider's shape.
        """
        return self._count(messages, tools, lambda: self.fallback.count_messages(messages, tools))

    def costs(self, messages: Sequence[Any], tools: Sequence[Any] | None = None) -> MessageCosts:
        """Return what the fallback gives for each message.

        Asking would be one request per message.
        """
        return message_costs(self.fallback, messages, tools)

    def close(self) -> None:
        """Close the client that was made here; the next count makes another."""
        if not self._own:
            return
        with self._lock:
            client = self._client
            self._client = None
        if client is not None and hasattr(client, "close"):  # google-genai has it since 1.40
            client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _count(
        self, messages: Sequence[Any], tools: Sequence[Any] | None, local: Callable[[], Count]
    ) -> Count:
        try:
            tokens = self._remembered(self._endpoint.request(messages, tools))
        except Exception as error:  # whatever an SDK raises: the local count is there
            self.last_error = self._describe(error)
            count = local()
            note = (
                f"counted locally, as {self.provider}'s endpoint gave no count ({self.last_error})"
            )
            if count.note:
                note = f"{count.note}; {note}"
            return Count(int(count), count.basis, count.low, count.high, note)
        self.last_error = None
        return Count(tokens)

    def _remembered(self, request: Request) -> int:
        key = next(digests([request], None, self.model), "")
        if key and self._answers is not None:
            answer = self._answers.get(key)
            if answer is not None:
                return answer.tokens
        with self._lock:
            if self._clock() < self._paused_until:
                raise _Paused(self._pause_reason)
        tokens = self._ask(request)
        if key and self._answers is not None:  # no key: it holds what can't be written down
            self._answers.put(Anchor(key, 1, tokens, self.model))
        return tokens

    def _ask(self, request: Request) -> int:
        try:
            with self._lock:
                if self._client is None:
                    self._client = self._endpoint.connect(self.timeout)
                client = self._client
            tokens = self._endpoint.ask(client, _bare_name(self.model), request, self.timeout)
            if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
                raise ValueError(f"the answer holds no number of tokens but {tokens!r}")
        except Exception as error:
            status = getattr(error, "status_code", None) or getattr(error, "code", None)
            if status not in _OWN_FAULT:
                with self._lock:
                    self._paused_until = self._clock() + self._pause
                    self._pause_reason = self._describe(error)
            raise
        return tokens

    def _describe(self, error: Exception) -> str:
        """Return *error* in one short line; a semicolon would end a note."""
        if isinstance(error, _Paused):
            return f"not asked again so soon after: {error}"
        if isinstance(error, ImportError):
            return f"the SDK is not installed: pip install 'brim[{self.provider}]'"
        if isinstance(error, Unconvertible):
            return f"{error} cannot be sent to {self.provider}"
        text = " ".join(str(error).replace(";", ",").split())
        if not text:
            return type(error).__name__
        return f"{type(error).__name__}: {text[:200]}"


class _Paused(Exception):
    """The endpoint failed a moment ago."""


def _bare_name(model: str) -> str:
    """Return the name that the provider knows: without a router's prefix, and without a window in
    brackets."""
    name = model.partition("[")[0]
    prefix, _, name_of_provider = name.partition("/")
    if prefix.lower() in _ROUTER_PREFIXES and "/" in name:
        return name_of_provider
    return name
