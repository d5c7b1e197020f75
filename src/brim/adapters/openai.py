"""A client of the OpenAI SDK with a guard around every request."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, TypeVar, Unpack

from brim.adapters.guards import Body, Guards, Settings, settle, tap
from brim.errors import InputError
from brim.guard.conversation import Call, Guard

Client = TypeVar("Client")


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
        body = _body(options)
        if body is None:
            return send(cast_to, options, **more)
        with body.call(guards) as call:
            result = send(cast_to, _as_sent(options, body, call), **more)
            _take(body, call, result.parse() if hasattr(result, "http_response") else result)
        return result

    return request


def _async_request(send: Callable[..., Any], guards: Guards) -> Callable[..., Any]:
    async def request(cast_to: Any, options: Any, **more: Any) -> Any:
        body = _body(options)
        if body is None:
            return await send(cast_to, options, **more)
        async with body.call(guards) as call:
            result = await send(cast_to, _as_sent(options, body, call), **more)
            answer = result.parse() if hasattr(result, "http_response") else result
            _take(body, call, await answer if inspect.isawaitable(answer) else answer)
        return result

    return request


def _body(options: Any) -> Body | None:
    """Return the body of a request that is guarded; None for any other."""
    body, path = options.json_data, str(options.url).partition("?")[0].rstrip("/")
    if options.method.lower() != "post" or not isinstance(body, Mapping):
        return None
    if path.endswith("/chat/completions"):
        return Body(body, "openai")
    return Body(body, "responses") if path.endswith("/responses") else None


def _as_sent(options: Any, body: Body, call: Call[Any]) -> Any:
    return options.model_copy(update={"json_data": body.as_sent(call)})


def _take(body: Body, call: Call[Any], answer: Any) -> None:
    """Settle the answer, or see to it that a stream is settled at its end."""
    if not body.is_streamed:
        settle(call, answer)
        return
    tap(answer, call)
    if body.hides_usage:
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
