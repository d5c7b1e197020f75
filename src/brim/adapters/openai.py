"""A client of the OpenAI SDK with a guard around every request."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, Unpack

from brim.adapters.guards import Guards, Settings, settle, tap
from brim.errors import InputError
from brim.guard.conversation import Call, Guard

Client = TypeVar("Client")

KEPT = ("previous_response_id", "conversation", "prompt")
"""Fields of a Responses request that name something which the provider keeps: brim can't see it."""


def wrap(client: Client, guard: Guard | None = None, **settings: Unpack[Settings]) -> Client:
    """Return a copy of *client* whose requests are fitted, reserved and settled.

    *client* is an ``OpenAI``, ``AsyncOpenAI``, or one of their kind for Azure and others. What it sends to
    ``/chat/completions`` and ``/responses`` is guarded: created, parsed or streamed, with or without a raw response.
    *settings* are those of ``brim.Guard``; conversations are told apart by how they begin. Give a *guard* instead if
    the client has only one conversation: then you can read its gauge.

    Raises ``LimitReached`` and ``DoesNotFit`` from the client's own calls, before anything is sent.
    """
    if not (hasattr(client, "request") and hasattr(client, "copy")):
        raise InputError(f"client must be an openai.OpenAI or openai.AsyncOpenAI, not {type(client).__name__}")
    return _guarded(client, Guards(guard, settings))


def _guarded(client: Client, guards: Guards, **options: Any) -> Client:
    made: Any = client.copy(**options)  # type: ignore[attr-defined]
    request = made.request
    is_async = inspect.iscoroutinefunction(request)
    made.request = _async_request(request, guards) if is_async else _sync_request(request, guards)
    made.copy = made.with_options = lambda **more: _guarded(client, guards, **{**options, **more})
    return made  # type: ignore[no-any-return]


def _sync_request(send: Callable[..., Any], guards: Guards) -> Callable[..., Any]:
    def request(cast_to: Any, options: Any, **more: Any) -> Any:
        asked = Asked.read(options)
        if asked is None:
            return send(cast_to, options, **more)
        with asked.call(guards) as call:
            result = send(cast_to, asked.options(call, guards), **more)
            answer = result.parse() if hasattr(result, "http_response") else result
            asked.take(call, answer)
        return result

    return request


def _async_request(send: Callable[..., Any], guards: Guards) -> Callable[..., Any]:
    async def request(cast_to: Any, options: Any, **more: Any) -> Any:
        asked = Asked.read(options)
        if asked is None:
            return await send(cast_to, options, **more)
        async with asked.call(guards) as call:
            result = await send(cast_to, asked.options(call, guards), **more)
            answer = result.parse() if hasattr(result, "http_response") else result
            asked.take(call, await answer if inspect.isawaitable(answer) else answer)
        return result

    return request


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of the SDK that is guarded."""

    given: Any
    """The SDK's options of the request."""
    body: Mapping[str, Any]
    is_chat: bool

    @classmethod
    def read(cls, options: Any) -> Asked | None:
        """Return what is asked; None if it isn't guarded."""
        body, path = options.json_data, str(options.url).partition("?")[0].rstrip("/")
        if options.method.lower() != "post" or not isinstance(body, Mapping):
            return None
        is_chat = path.endswith("/chat/completions")
        return cls(options, body, is_chat) if is_chat or path.endswith("/responses") else None

    @property
    def messages(self) -> list[Any]:
        """The messages, or the items."""
        found = self.body.get("messages" if self.is_chat else "input") or []
        return [{"role": "user", "content": found}] if isinstance(found, str) else list(found)

    @property
    def hides_usage(self) -> bool:
        """Whether it's a stream of the chat API that doesn't ask for usage: brim asks, and the caller doesn't see it."""
        return self.is_chat and bool(self.body.get("stream")) and not self.body.get("stream_options")

    def call(self, guards: Guards) -> Call[Any]:
        """Return the call of the guard."""
        body = self.body
        caps = (body.get(name) for name in ("max_completion_tokens", "max_tokens", "max_output_tokens"))
        return guards.call(
            str(body.get("model") or guards.guard.model),
            self.messages,
            provider="openai" if self.is_chat else "responses",
            system=None if self.is_chat else body.get("instructions"),
            tools=body.get("tools") or body.get("functions"),
            max_output=next((cap for cap in caps if isinstance(cap, int)), None),
            answers=body.get("n") or 1,
            has_unseen=not self.is_chat and any(body.get(name) for name in KEPT),
        )

    def options(self, call: Call[Any], guards: Guards) -> Any:
        """Return the SDK's options with what is to be sent."""
        body = dict(self.body)
        if self.is_chat:
            rules = [{"role": "system", "content": call.system}] if call.system else []
            body["messages"] = [*rules, *call.messages]
            cap, caps = "max_completion_tokens", ("max_completion_tokens", "max_tokens")
        else:
            cap, caps = "max_output_tokens", ("max_output_tokens",)
            if not isinstance(body.get("input"), str):
                body["input"] = call.messages
            if call.system:
                body["instructions"] = call.system
        if guards.guard.max_output is not None and all(body.get(name) is None for name in caps):
            body[cap] = call.max_output
        if self.hides_usage:
            body["stream_options"] = {"include_usage": True}
        return self.given.model_copy(update={"json_data": body})

    def take(self, call: Call[Any], answer: Any) -> None:
        """Settle the answer, or see to it that a stream is settled at its end."""
        if not self.body.get("stream"):
            settle(call, answer)
            return
        tap(answer, call)
        if self.hides_usage:
            hide = _ahidden if hasattr(answer, "__aiter__") else _hidden
            answer._iterator = hide(answer._iterator)


def _is_only_usage(chunk: Any) -> bool:
    return not getattr(chunk, "choices", None) and getattr(chunk, "usage", None) is not None


def _hidden(chunks: Iterator[Any]) -> Iterator[Any]:
    """Pass on chunks, without the one that has no choice: most code takes the first choice of each."""
    for chunk in chunks:
        if not _is_only_usage(chunk):
            yield chunk


async def _ahidden(chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for chunk in chunks:
        if not _is_only_usage(chunk):
            yield chunk
