"""A middleware of the Anthropic SDK with a guard around every request."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Unpack

from anthropic import Middleware

from brim.adapters.guards import Guards, Settings, settle, tap
from brim.guard.conversation import Call, Guard
from brim.spend.spending import may_be_billed

WAITING = 1_000
"""How many calls are remembered that failed and may be tried again."""


def brim_middleware(guard: Guard | None = None, **settings: Unpack[Settings]) -> BrimMiddleware:
    """Return a middleware that fits, reserves and settles what a client sends to ``/v1/messages``.

    For ``Anthropic(middleware=[...])`` and ``AsyncAnthropic``: created, parsed or streamed, with or without a raw
    response. *settings* are those of ``brim.Guard``; conversations are told apart by how they begin. Give a *guard*
    instead if the client has only one conversation: then you can read its gauge.

    The client's own calls raise ``LimitReached`` and ``DoesNotFit``, before anything is sent.
    """
    return BrimMiddleware(Guards(guard, settings))


class Answered(Exception):
    """The provider answered with an error; the SDK raises its own for it."""

    def __init__(self, status_code: int) -> None:
        super().__init__(f"status {status_code}")
        self.status_code = status_code


class BrimMiddleware(Middleware):
    """Runs once for each HTTP attempt: attempts of one call share one reservation, by the call's idempotency key."""

    def __init__(self, guards: Guards) -> None:
        self._guards = guards
        self._waiting: OrderedDict[str, Call[Any]] = OrderedDict()
        self._lock = threading.Lock()

    def handle(self, request: Any, call_next: Any) -> Any:
        """Send one attempt of a sync client."""
        if not _is_guarded(request):
            return call_next(request)
        call = self._tried(request)
        if call is None:
            call = self._call(request).__enter__()
        try:
            response = call_next(_as_sent(request, call))
            if not response.http_response.is_success:
                raise Answered(response.status_code)
            answer = response.parse()
        except BaseException as error:
            self._failed(request, call, error)
            call.__exit__(type(error), error, None)
            if isinstance(error, Answered):
                return response
            raise
        _take(request, call, answer)
        return response

    async def handle_async(self, request: Any, call_next: Any) -> Any:
        """Send one attempt of an async client."""
        if not _is_guarded(request):
            return await call_next(request)
        call = self._tried(request)
        if call is None:
            call = await self._call(request).__aenter__()
        try:
            response = await call_next(_as_sent(request, call))
            if not response.http_response.is_success:
                raise Answered(response.status_code)
            answer = await response.parse()
        except BaseException as error:
            self._failed(request, call, error)
            await call.__aexit__(type(error), error, None)
            if isinstance(error, Answered):
                return response
            raise
        _take(request, call, answer)
        await call.__aexit__(None, None, None)
        return response

    def _call(self, request: Any) -> Call[Any]:
        body = request.json
        return self._guards.call(
            str(body.get("model") or ""),
            list(body.get("messages") or ()),
            provider="anthropic",
            system=body.get("system"),
            tools=body.get("tools"),
            max_output=body.get("max_tokens"),
        )

    def _tried(self, request: Any) -> Call[Any] | None:
        """Return the call that this attempt belongs to, if an earlier attempt may have been billed."""
        with self._lock:
            return self._waiting.pop(request.options.idempotency_key, None)

    def _failed(self, request: Any, call: Call[Any], error: BaseException) -> None:
        """Remember a call whose money stays reserved: the SDK may try it again."""
        if may_be_billed(error):
            with self._lock:
                self._waiting[request.options.idempotency_key] = call
                if len(self._waiting) > WAITING:
                    self._waiting.popitem(last=False)


def _is_guarded(request: Any) -> bool:
    path = str(request.url).partition("?")[0].rstrip("/")
    return request.method.lower() == "post" and path.endswith("/v1/messages") and isinstance(request.json, Mapping)


def _as_sent(request: Any, call: Call[Any]) -> Any:
    body = {**request.json, "messages": call.messages, **({"system": call.system} if call.system else {})}
    return request.copy(body=body)


def _take(request: Any, call: Call[Any], answer: Any) -> None:
    """Settle the answer, or see to it that a stream is settled at its end."""
    if request.json.get("stream"):
        tap(answer, call)
    else:
        settle(call, answer)
