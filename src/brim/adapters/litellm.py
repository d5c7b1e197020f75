"""LiteLLM with a guard around every request: a logger for its callbacks, and wrapped functions."""

from __future__ import annotations

import threading
import warnings
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, ClassVar, Unpack

import litellm
from litellm.integrations.custom_logger import CustomLogger

from brim.adapters.guards import Attempts, Body, Guards, Settings, refuse_other_models, settle
from brim.errors import InputError
from brim.guard.call import Call
from brim.guard.conversation import Guard
from brim.messages.entries import Provider
from brim.messages.receipt import digest_of
from brim.models.light import lookup
from brim.models.names import CLAUDE
from brim.money.unsent import may_be_billed

APIS: dict[str, Provider] = {
    "acompletion": "openai",
    "aresponses": "responses",
    "anthropic_messages": "anthropic",
}
"""LiteLLM's async functions that are guarded, and what their arguments look like."""
OPEN = 10_000
"""How many calls are remembered whose end LiteLLM hasn't reported."""


def guard(
    *, model: str = "", guard: Guard | None = None, **settings: Unpack[Settings]
) -> BrimLogger:
    """Return a logger that fits, reserves and settles what LiteLLM sends.

    For ``litellm.callbacks = [guard(limit_usd="5")]``. *settings* are those of ``brim.Guard``, or
    give a *guard*. *model* is only needed if brim doesn't know the names in requests.
    """
    return BrimLogger(guard, settings, model)


class BrimLogger(CustomLogger):
    """Fits, reserves and settles what LiteLLM sends: ``litellm.callbacks =
    [guard(limit_usd="5")]``.

    It guards ``acompletion``, ``aresponses`` and ``anthropic_messages``, a ``Router`` and the
    proxy. LiteLLM asks no logger before a sync ``completion``: use ``wrap`` for that. Pass model
    and messages by name. *settings* are those of ``brim.Guard``; conversations are told apart by
    how they begin. Give a *guard* instead if there's only one.

    The money of a stream is settled by a task that LiteLLM starts when the stream ends.
    """

    # For all loggers: LiteLLM reports the end of a call to the first one of a class that it has
    # ever seen.
    _open: ClassVar[OrderedDict[str, tuple[str, Call[Any]]]] = OrderedDict()
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, guard: Guard | None, settings: Settings, model: str) -> None:
        super().__init__()
        self._guards = Guards(guard, settings, model)
        self.guard: Guard = self._guards.guard
        """Ledger, scope and limit: ``guard.status()`` says what was spent."""
        self._attempts = Attempts()

    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: Any
    ) -> dict[str, Any] | None:
        """Fit and reserve one attempt; what this raises, the caller gets."""
        api = APIS.get(_name(call_type))
        if api is None:
            return None
        body = _body(kwargs, api, self._guards)
        if "model" not in kwargs or not body.messages:
            raise InputError(
                f"{_name(call_type)}: brim needs model and messages by name, as in model='gpt-4o'"
            )
        # A router gives each attempt another id and all of them one trace, which may also be that
        # of other requests.
        trace = kwargs.get("litellm_trace_id") or kwargs.get("litellm_call_id")
        key = f"{trace} {kwargs['model']} {digest_of(body.messages)}"
        call = self._attempts.take(key)
        if call is None or call.reported is not None:
            call = await body.call(self._guards).__aenter__()
        self._remember(kwargs, key, call)
        return body.as_sent(call)

    async def async_post_call_success_deployment_hook(
        self, request_data: Mapping[str, Any], response: Any, *_: Any
    ) -> None:
        """Settle one answer."""
        _key, call = self._take(request_data)
        if call is not None:
            # The last event of a Responses stream has it inside.
            settle(call, getattr(response, "response", response))
            await call.__aexit__(None, None, None)

    async def async_post_call_failure_deployment_hook(
        self, request_data: Mapping[str, Any], exception: Exception, *_: Any
    ) -> None:
        """Give the money back if the attempt provably cost nothing."""
        key, call = self._take(request_data)
        if call is None:
            return
        error = _origin(exception)
        self._attempts.keep(key, call, error)
        await call.__aexit__(type(error), error, None)
        if may_be_billed(error):
            # LiteLLM may try it again on its own, and report a stream then.
            self._remember(request_data, key, call)

    async def async_log_success_event(
        self, kwargs: Mapping[str, Any], response_obj: Any, **_: Any
    ) -> None:
        """Settle a stream that has ended, and release an answer that came from LiteLLM's own
        cache."""
        _key, call = self._take(kwargs)
        if call is None:
            return
        if kwargs.get("cache_hit"):
            call.release()
        else:
            settle(call, response_obj)
        await call.__aexit__(None, None, None)

    def log_pre_api_call(self, *_: Any, kwargs: Mapping[str, Any], **__: Any) -> None:
        """Warn about a request that LiteLLM sends without having asked."""
        if kwargs.get("call_type") == "completion":
            hint = "use brim.adapters.litellm.wrap, or acompletion"
            warnings.warn(f"litellm.completion isn't guarded by BrimLogger: {hint}", stacklevel=2)

    def _remember(self, about: Mapping[str, Any], key: str, call: Call[Any]) -> None:
        with self._lock:
            self._open[str(about.get("litellm_call_id"))] = key, call
            if len(self._open) > OPEN:
                self._open.popitem(last=False)

    def _take(self, about: Mapping[str, Any]) -> tuple[str, Call[Any] | None]:
        with self._lock:
            return self._open.pop(str(about.get("litellm_call_id")), ("", None))


def wrap(*, model: str = "", guard: Guard | None = None, **settings: Unpack[Settings]) -> Wrapped:
    """Return ``completion`` and ``acompletion`` of LiteLLM with a guard:
    ``wrap(limit_usd="5").completion(...)``.

    They take and return what LiteLLM's take and return; a stream is an iterator of its chunks.
    Don't use a ``BrimLogger`` as well: then every call is paid twice.
    """
    return Wrapped(Guards(guard, settings, model))


class Wrapped:
    """LiteLLM's functions with a guard around every request."""

    def __init__(self, guards: Guards) -> None:
        self._guards = guards
        self.guard: Guard = guards.guard
        """Ledger, scope and limit: ``guard.status()`` says what was spent."""

    def completion(self, model: str, messages: list[Any], **options: Any) -> Any:
        """Call ``litellm.completion``."""
        refuse_other_models(options, "fallbacks", self._guards)
        body = _body({"model": model, "messages": messages, **options}, "openai", self._guards)
        with body.call(self._guards) as call:
            try:
                answer = litellm.completion(**body.as_sent(call))
            except Exception as error:
                _failed(call, error)
                raise
            if body.is_streamed:
                # LiteLLM's own object is an async iterator as well.
                return call.stream(chunk for chunk in answer)
            _take(call, answer)
        return answer

    async def acompletion(self, model: str, messages: list[Any], **options: Any) -> Any:
        """Call ``litellm.acompletion``."""
        refuse_other_models(options, "fallbacks", self._guards)
        body = _body({"model": model, "messages": messages, **options}, "openai", self._guards)
        async with body.call(self._guards) as call:
            try:
                answer = await litellm.acompletion(**body.as_sent(call))
            except Exception as error:
                _failed(call, error)
                raise
            if body.is_streamed:
                return call.stream(answer)
            _take(call, answer)
        return answer


def _body(fields: Mapping[str, Any], api: Provider, guards: Guards) -> Body:
    """Return the body of a request.

    Where nothing limits an answer of Claude's, LiteLLM asks for the longest one, and that counts as
    part of the window.
    """
    body = Body(fields, api)
    model = str(fields.get("model"))
    if body.max_output is not None or guards.guard.max_output is not None:
        return body
    if CLAUDE not in model:
        return body
    longest = lookup(model).max_output
    if longest is None:
        return body
    return Body({**fields, "max_tokens": longest}, api)


def _take(call: Call[Any], answer: Any) -> None:
    """Settle an answer, or release it if it came from LiteLLM's own cache."""
    if (getattr(answer, "_hidden_params", None) or {}).get("cache_hit"):
        call.release()
    else:
        settle(call, answer)


def _failed(call: Call[Any], error: Exception) -> None:
    if not may_be_billed(_origin(error)):
        call.release()


def _origin(error: BaseException) -> BaseException:
    """Return the error that LiteLLM translated: its own says 500 where no connection was made."""
    while type(error).__module__.startswith("litellm") and error.__context__ is not None:
        error = error.__context__
    return error


def _name(call_type: Any) -> str:
    return str(getattr(call_type, "value", call_type))
