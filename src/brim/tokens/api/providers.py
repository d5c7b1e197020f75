"""The three counting endpoints, each through its provider's own SDK.

An SDK takes a second to import, so each is imported when the first request is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

from brim.errors import InputError
from brim.tokens.api.requests import Request, anthropic_request, gemini_request, openai_request


class Provider(Protocol):
    """One provider's endpoint."""

    name: str
    """What the provider is called, and brim's extra that installs its SDK."""

    def connect(self, timeout: float) -> Any:
        """Return a client of the SDK, with the key and the address that the SDK finds in the environment."""
        ...

    def request(self, messages: Sequence[Any], tools: Sequence[Any] | None) -> Request:
        """Return *messages* and *tools* as the endpoint wants them."""
        ...

    def ask(self, client: Any, model: str, request: Request, timeout: float) -> object:
        """Return what the endpoint answers; whatever goes wrong is raised as the SDK raises it."""
        ...


class Anthropic:
    """``client.messages.count_tokens``."""

    name = "anthropic"

    def connect(self, timeout: float) -> Any:
        """Return an ``anthropic.Anthropic``."""
        return import_module("anthropic").Anthropic(timeout=timeout, max_retries=0)

    def request(self, messages: Sequence[Any], tools: Sequence[Any] | None) -> Request:
        """Return ``messages``, ``system`` and ``tools``."""
        return anthropic_request(messages, tools)

    def ask(self, client: Any, model: str, request: Request, timeout: float) -> object:
        """Return ``input_tokens``."""
        return _once(client).messages.count_tokens(model=model, timeout=timeout, **request).input_tokens


class OpenAI:
    """``client.responses.input_tokens.count`` (openai 2.6 and newer)."""

    name = "openai"

    def connect(self, timeout: float) -> Any:
        """Return an ``openai.OpenAI``."""
        return import_module("openai").OpenAI(timeout=timeout, max_retries=0)

    def request(self, messages: Sequence[Any], tools: Sequence[Any] | None) -> Request:
        """Return ``input`` and ``tools``."""
        return openai_request(messages, tools)

    def ask(self, client: Any, model: str, request: Request, timeout: float) -> object:
        """Return ``input_tokens``."""
        return _once(client).responses.input_tokens.count(model=model, timeout=timeout, **request).input_tokens


class Gemini:
    """``client.models.count_tokens`` of google-genai."""

    name = "gemini"

    def connect(self, timeout: float) -> Any:
        """Return a ``google.genai.Client``."""
        return import_module("google.genai").Client(http_options={"timeout": round(timeout * 1000)})

    def request(self, messages: Sequence[Any], tools: Sequence[Any] | None) -> Request:
        """Return ``contents``, ``systemInstruction`` and ``tools``."""
        return gemini_request(messages, tools)

    def ask(self, client: Any, model: str, request: Request, timeout: float) -> object:
        """Return ``total_tokens``.

        The SDK takes a system instruction and tools for Vertex only, and raises otherwise. The endpoint does take them,
        as a whole request to generate content, in place of ``contents``: documented for v1beta. The SDK passes that on
        as an extra field (google-genai 1.21 and newer).
        """
        options: dict[str, Any] = {"timeout": round(timeout * 1000)}
        config: dict[str, Any] = {"http_options": options}
        if len(request) > 1 and getattr(client, "vertexai", False):
            config["system_instruction"] = request.get("systemInstruction")
            config["tools"] = request.get("tools")
        elif len(request) > 1:
            options["api_version"] = "v1beta"
            full_name = model if "/" in model else f"models/{model}"
            options["extra_body"] = {"contents": [], "generateContentRequest": {"model": full_name, **request}}
        return client.models.count_tokens(model=model, contents=request["contents"], config=config).total_tokens


PROVIDERS: dict[str, Provider] = {provider.name: provider for provider in (Anthropic(), OpenAI(), Gemini())}
_MODULES = {"anthropic": "anthropic", "openai": "openai", "google": "gemini"}
_NAMES = {
    "anthropic": ("anthropic/", "claude"),
    "openai": ("openai/", "gpt-", "chatgpt-", "o1", "o3", "o4", "codex-"),
    "gemini": ("google/", "gemini/", "models/gemini", "gemini"),
}


def provider_for(model: str, provider: str | None, client: Any) -> Provider:
    """Return the provider that was named, else the one *client* belongs to, else the one that has such a model."""
    if type(client).__name__.startswith("Async"):
        raise InputError(f"a count is made at once: pass a synchronous client, not {type(client).__name__}")
    if provider is None and client is not None:
        provider = _MODULES.get(type(client).__module__.partition(".")[0])
    if provider is None:
        lower = model.lower()
        provider = next((name for name, starts in _NAMES.items() if lower.startswith(starts)), None)
    if provider not in PROVIDERS:
        known = ", ".join(PROVIDERS)
        what = f"no counting endpoint is known for model {model!r}" if provider is None else f"provider {provider!r}"
        raise InputError(f"{what}: pass provider= as one of {known}, or count with mode='auto'")
    return PROVIDERS[provider]


def _once(client: Any) -> Any:
    """Return *client* without retries: there is a local count to fall back on, and someone waits for it."""
    return client.with_options(max_retries=0) if hasattr(client, "with_options") else client
