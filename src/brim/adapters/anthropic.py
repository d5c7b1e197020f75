"""A middleware of the Anthropic SDK with a guard around every request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

try:
    from anthropic import Middleware
except ImportError as error:
    raise ImportError(
        "brim.adapters.anthropic needs version 2.8 or newer of the Anthropic SDK:"
        " pip install 'anthropic>=2.8'"
    ) from error

from brim.adapters.guards import Attempts, Body, Guards, Settings, settle, tap
from brim.guard.call import Call
from brim.guard.conversation import Guard


def guard(
    *, model: str = "", guard: Guard | None = None, **settings: Unpack[Settings]
) -> AnthropicMiddleware:
    """Return a middleware that fits, reserves and settles what a client sends to ``/v1/messages``.

    For ``Anthropic(middleware=[guard(limit_usd="5")])`` and ``AsyncAnthropic``: created, parsed or
    streamed, with or without a raw response. *settings* are those of ``brim.Guard``; conversations
    are told apart by how they begin. Give a *guard* instead if the client has only one
    conversation: then you can read its gauge. *model* is only needed if the name in requests isn't
    one that brim knows.

    The client's own calls raise ``LimitReached`` and ``DoesNotFit``, before anything is sent.
    """
    return AnthropicMiddleware(Guards(guard, settings, model))


class Answered(Exception):
    """The provider answered with an error; the SDK raises its own for it."""

    def __init__(self, status_code: int) -> None:
        super().__init__(f"status {status_code}")
        self.status_code = status_code


class AnthropicMiddleware(Middleware):
    """Runs once for each HTTP attempt: attempts of one call share one reservation, by the call's
    idempotency key."""

    def __init__(self, guards: Guards) -> None:
        self._guards = guards
        self.guard: Guard = guards.guard
        """Ledger, scope and limit: ``guard.status()`` says what was spent."""
        self._attempts = Attempts()

    def handle(self, request: Any, call_next: Any) -> Any:
        """Send one attempt of a sync client."""
        body = _body(request)
        if body is None:
            return call_next(request)
        call = self._attempts.take(request.options.idempotency_key)
        if call is None:
            call = body.call(self._guards).__enter__()
        try:
            response = call_next(request.copy(body=body.as_sent(call)))
            if not response.http_response.is_success:
                raise Answered(response.status_code)
            answer = response.parse()
        except BaseException as error:
            self._attempts.keep(request.options.idempotency_key, call, error)
            call.__exit__(type(error), error, None)
            if isinstance(error, Answered):
                return response
            raise
        _take(body, call, answer)
        return response

    async def handle_async(self, request: Any, call_next: Any) -> Any:
        """Send one attempt of an async client."""
        body = _body(request)
        if body is None:
            return await call_next(request)
        call = self._attempts.take(request.options.idempotency_key)
        if call is None:
            call = await body.call(self._guards).__aenter__()
        try:
            response = await call_next(request.copy(body=body.as_sent(call)))
            if not response.http_response.is_success:
                raise Answered(response.status_code)
            answer = await response.parse()
        except BaseException as error:
            self._attempts.keep(request.options.idempotency_key, call, error)
            await call.__aexit__(type(error), error, None)
            if isinstance(error, Answered):
                return response
            raise
        _take(body, call, answer)
        await call.__aexit__(None, None, None)
        return response


def _body(request: Any) -> Body | None:
    """Return the body of a request that is guarded; None for any other."""
    path = str(request.url).partition("?")[0].rstrip("/")
    if request.method.lower() != "post" or not path.endswith("/v1/messages"):
        return None
    if not isinstance(request.json, Mapping):
        return None
    return Body(request.json, "anthropic")


def _take(body: Body, call: Call[Any], answer: Any) -> None:
    """Settle the answer, or see to it that a stream is settled at its end."""
    if body.is_streamed:
        tap(answer, call)
    else:
        settle(call, answer)
