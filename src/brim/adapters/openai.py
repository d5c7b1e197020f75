"""A client of the OpenAI SDK with a guard around every request."""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, TypeVar, Unpack

from brim.adapters.guards import Body, Guards, Settings, settle, settle_reported, tap
from brim.errors import InputError
from brim.guard.call import Call, StreamedUsage
from brim.guard.conversation import Guard

Client = TypeVar("Client")


def guard(
    client: Client, /, *, model: str = "", guard: Guard | None = None, **settings: Unpack[Settings]
) -> Client:
    """Return a copy of *client* whose requests are fitted, reserved and settled.

    *client* is an ``OpenAI``, ``AsyncOpenAI``, or one of their kind for Azure and others. What it
    sends to ``/chat/completions`` and ``/responses`` is guarded: created, parsed or streamed, with
    or without a raw response. *settings* are those of ``brim.Guard``; conversations are told apart
    by how they begin. Give a *guard* instead if the client has only one conversation: then you can
    read its gauge.

    Raises ``LimitReached`` and ``DoesNotFit`` from the client's own calls, before anything is sent.
    """
    if not (hasattr(client, "request") and hasattr(client, "copy")):
        raise InputError(
            f"client must be an openai.OpenAI or openai.AsyncOpenAI, not {type(client).__name__}"
        )
    return _guarded(client, Guards(guard, settings, model))


def _guarded(client: Client, guards: Guards, **options: Any) -> Client:
    guarded: Any = client.copy(**options)  # type: ignore[attr-defined]
    if inspect.iscoroutinefunction(guarded.request):
        guarded.request = _async_request(guarded.request, guards)
    else:
        guarded.request = _sync_request(guarded.request, guards)

    def copy(**changes: Any) -> Client:
        return _guarded(client, guards, **{**options, **changes})

    guarded.copy = copy
    guarded.with_options = copy
    return guarded  # type: ignore[no-any-return]


def _sync_request(send: Callable[..., Any], guards: Guards) -> Callable[..., Any]:
    def request(cast_to: Any, options: Any, **kwargs: Any) -> Any:
        body = _body(options)
        if body is None:
            return send(cast_to, options, **kwargs)
        with body.call(guards) as call:
            result = send(cast_to, _as_sent(options, body, call), **kwargs)
            raw = getattr(result, "http_response", None)
            if raw is None:
                _take(body, call, result)
            elif body.is_streamed:
                RawStream(call).watch(raw)
                _hide_usage(body, result.parse())
            else:
                _take(body, call, result.parse())
        return result

    return request


def _async_request(send: Callable[..., Any], guards: Guards) -> Callable[..., Any]:
    async def request(cast_to: Any, options: Any, **kwargs: Any) -> Any:
        body = _body(options)
        if body is None:
            return await send(cast_to, options, **kwargs)
        async with body.call(guards) as call:
            result = await send(cast_to, _as_sent(options, body, call), **kwargs)
            raw = getattr(result, "http_response", None)
            answer = result
            if raw is not None:
                answer = result.parse()
            if inspect.isawaitable(answer):
                answer = await answer
            if raw is not None and body.is_streamed:
                RawStream(call).watch_async(raw)
                _hide_usage(body, answer)
            else:
                _take(body, call, answer)
        return result

    return request


def _body(options: Any) -> Body | None:
    """Return the body of a request that is guarded; None for any other."""
    path = str(options.url).partition("?")[0].rstrip("/")
    if options.method.lower() != "post" or not isinstance(options.json_data, Mapping):
        return None
    extra_body = getattr(options, "extra_json", None) or {}
    body = {**options.json_data, **extra_body}
    if path.endswith("/chat/completions"):
        return Body(body, "openai")
    if path.endswith("/responses"):
        return Body(body, "responses")
    return None


def _as_sent(options: Any, body: Body, call: Call[Any]) -> Any:
    return options.model_copy(update={"json_data": body.as_sent(call), "extra_json": None})


def _take(body: Body, call: Call[Any], answer: Any) -> None:
    """Settle the answer, or see to it that a stream is settled at its end."""
    if not body.is_streamed:
        settle(call, answer)
        return
    tap(answer, call)
    _hide_usage(body, answer)


def _hide_usage(body: Body, answer: Any) -> None:
    """Take the chunk with the usage out of a stream whose reader didn't ask for it."""
    if not body.hides_usage:
        return
    if hasattr(answer, "__aiter__"):
        answer._iterator = _without_usage_async(answer._iterator)
    else:
        answer._iterator = _without_usage(answer._iterator)


class RawStream:
    """Settles a call by the bytes of a streamed response, however they are read.

    ``with_streaming_response`` lets the caller read lines, text or bytes. All of them come from
    ``iter_bytes`` of the HTTP response. If it's closed before the usage came, there's a warning.
    """

    def __init__(self, call: Call[Any]) -> None:
        self._call = call
        self._usage = StreamedUsage()
        self._unfinished_line = b""
        self._is_read = False
        self._is_warned = False

    def watch(self, response: Any) -> None:
        """Look at what is read from *response*."""
        read = response.iter_bytes
        close = response.close

        def iter_bytes(*args: Any, **kwargs: Any) -> Iterator[bytes]:
            self._is_read = True
            try:
                for chunk in read(*args, **kwargs):
                    self._take(chunk)
                    yield chunk
            finally:
                self._finish()

        def closed() -> None:
            close()
            if not self._is_read:
                self._finish()

        response.iter_bytes = iter_bytes
        response.close = closed

    def watch_async(self, response: Any) -> None:
        """Look at what is read from an async *response*."""
        read = response.aiter_bytes
        close = response.aclose

        async def aiter_bytes(*args: Any, **kwargs: Any) -> AsyncIterator[bytes]:
            self._is_read = True
            try:
                async for chunk in read(*args, **kwargs):
                    self._take(chunk)
                    yield chunk
            finally:
                self._finish()
                await self._call.finish()

        async def closed() -> None:
            await close()
            if not self._is_read:
                self._finish()

        response.aiter_bytes = aiter_bytes
        response.aclose = closed

    def _take(self, chunk: bytes) -> None:
        *lines, self._unfinished_line = (self._unfinished_line + chunk).split(b"\n")
        for line in lines:
            name, _, value = line.strip().partition(b":")
            if name == b"data" and value.strip() != b"[DONE]":
                self._usage.take(_json(value))

    def _finish(self) -> None:
        if self._call.reported is not None or self._is_warned:
            return
        if self._usage.reported is not None:
            settle_reported(self._call, self._usage.reported)
            return
        self._is_warned = True
        result = "its money stays reserved and counts in full when the lease ends"
        warnings.warn(
            f"brim: a streamed response was closed before its usage came, so {result}",
            stacklevel=3,
        )


def _json(data: bytes) -> Any:
    """Return what *data* says; None if it isn't JSON."""
    try:
        return json.loads(data)
    except ValueError:
        return None


def _is_only_usage(chunk: Any) -> bool:
    return not getattr(chunk, "choices", None) and getattr(chunk, "usage", None) is not None


def _without_usage(chunks: Iterator[Any]) -> Iterator[Any]:
    """Pass on chunks, without the one that has no choice: most code takes the first choice of
    each."""
    for chunk in chunks:
        if not _is_only_usage(chunk):
            yield chunk


async def _without_usage_async(chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for chunk in chunks:
        if not _is_only_usage(chunk):
            yield chunk
