"""A client of google-genai with a guard around every request.

client = guard(genai.Client(), limit_usd="5")
"""

from __future__ import annotations

import copy
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, TypeVar, Unpack

from google.genai import Client
from google.genai.client import AsyncClient
from google.genai.models import Models

from brim.adapters.guards import Guards, Settings, cap_of, settle
from brim.errors import InputError
from brim.guard.call import Call
from brim.guard.conversation import Guard

AnyClient = TypeVar("AnyClient", bound=Client)
METHODS = ("generateContent", "streamGenerateContent")
"""What is guarded, as it stands in the path of a request."""


def guard(
    client: AnyClient,
    /,
    *,
    model: str = "",
    guard: Guard | None = None,
    **settings: Unpack[Settings],
) -> AnyClient:
    """Return a copy of *client* whose requests are fitted, reserved and settled.

    What it sends to ``generateContent`` is guarded, sync, async (``client.aio``) and streamed, also
    by chats and automatic function calls. *settings* are those of ``brim.Guard``, or give a
    *guard*; conversations are told apart by how they begin. *model* is only needed if the name in
    requests isn't one that brim knows.

    Raises ``LimitReached`` and ``DoesNotFit`` from the client's own calls, before anything is sent.
    """
    if not isinstance(client, Client):
        kind = type(client).__name__
        raise InputError(f"client must be a google.genai.Client, not {kind}")
    api = GuardedApi(client, Guards(guard, settings, model))
    guarded: Any = copy.copy(client)
    guarded.__class__ = type(type(client).__name__, (_Copy, type(client)), {})
    guarded._api_client = api
    guarded._models = Models(api)
    guarded._aio = _AsyncCopy(api)
    return guarded  # type: ignore[no-any-return]


class _Copy:
    """A client that leaves the connections open when it's collected: they are the original's."""

    def __del__(self) -> None:
        """Close nothing."""


class _AsyncCopy(_Copy, AsyncClient):
    """The same for an event loop."""


class GuardedApi:
    """What sends the requests of a client, with a guard around those to a model."""

    def __init__(self, client: Client, guards: Guards) -> None:
        self._client = client  # it closes its connections when it's collected
        self._api: Any = client._api_client
        self._guards = guards

    def __getattr__(self, name: str) -> Any:
        return getattr(self._api, name)

    def request(self, method: str, path: str, body: dict[str, Any], options: Any = None) -> Any:
        """Send one request."""
        if not _is_guarded(path):
            return self._api.request(method, path, body, options)
        with self._call(path, body) as call:
            response = self._api.request(method, path, self._as_sent(body, call), options)
            settle(call, _answer_in(response))
        return response

    async def async_request(
        self, method: str, path: str, body: dict[str, Any], options: Any = None
    ) -> Any:
        """Send one request in an event loop."""
        if not _is_guarded(path):
            return await self._api.async_request(method, path, body, options)
        async with self._call(path, body) as call:
            sent = self._as_sent(body, call)
            response = await self._api.async_request(method, path, sent, options)
            settle(call, _answer_in(response))
        return response

    def request_streamed(
        self, method: str, path: str, body: dict[str, Any], options: Any = None
    ) -> Iterator[Any]:
        """Send one request whose answer comes in pieces; a stream that is left early keeps its
        reservation."""
        with self._call(path, body) as call:
            sent = self._as_sent(body, call)
            answer = StreamedAnswer()
            for chunk in self._api.request_streamed(method, path, sent, options):
                answer.take(_answer_in(chunk))
                yield chunk
            settle(call, answer.usage)

    async def async_request_streamed(
        self, method: str, path: str, body: dict[str, Any], options: Any = None
    ) -> AsyncIterator[Any]:
        """Send one request whose answer comes in pieces, in an event loop."""
        return self._async_chunks(method, path, body, options)

    async def _async_chunks(
        self, method: str, path: str, body: dict[str, Any], options: Any
    ) -> AsyncIterator[Any]:
        async with self._call(path, body) as call:
            sent = self._as_sent(body, call)
            answer = StreamedAnswer()
            async for chunk in await self._api.async_request_streamed(method, path, sent, options):
                answer.take(_answer_in(chunk))
                yield chunk
            settle(call, answer.usage)

    def _call(self, path: str, body: Mapping[str, Any]) -> Call[Any]:
        """Return the guarded call of the request *body*."""
        config = body.get("generationConfig") or {}
        options = {name: value for name, value in body.items() if not name.startswith("_")}
        options.pop("contents", None)
        choice = _choice(body.get("toolConfig"))
        if choice:
            options["tool_choice"] = choice
        return self._guards.call(
            path.partition(":")[0].rpartition("/")[2],
            body.get("contents") or [],
            provider="gemini",
            system=body.get("systemInstruction"),
            tools=body.get("tools"),
            max_output=config.get("maxOutputTokens"),
            answers=config.get("candidateCount") or 1,
            options={**config, **options},
        )

    def _as_sent(self, body: Mapping[str, Any], call: Call[Any]) -> dict[str, Any]:
        """Return *body* fitted, with the guard's rules and its limit for the answer."""
        sent = {**body, "contents": call.messages}
        if call.system is not body.get("systemInstruction"):
            sent["systemInstruction"] = {"parts": [{"text": _text(call.system)}]}
        config = dict(body.get("generationConfig") or {})
        cap = cap_of(call)
        if cap is None and not config.get("maxOutputTokens"):
            cap = call.guard.max_output
        if cap is not None:
            sent["generationConfig"] = {**config, "maxOutputTokens": cap}
        return sent


class StreamedAnswer:
    """What the chunks of a streamed answer report: each one all of the usage so far.

    A connection that breaks off may look like an end, so only a chunk with a reason why the answer
    ended makes it whole.
    """

    def __init__(self) -> None:
        self._newest: Mapping[str, Any] = {}
        self._is_whole = False

    def take(self, chunk: Mapping[str, Any]) -> None:
        """Read one *chunk*."""
        if chunk.get("usageMetadata"):
            self._newest = chunk
        reasons = [candidate.get("finishReason") for candidate in chunk.get("candidates") or []]
        reasons.append((chunk.get("promptFeedback") or {}).get("blockReason"))
        self._is_whole = self._is_whole or any(reasons)

    @property
    def usage(self) -> Mapping[str, Any]:
        """The chunk with the usage of the whole answer; nothing if the stream broke off."""
        return self._newest if self._is_whole else {}


def _choice(tool_config: Any) -> str:
    """Return which function must be called: its name, ``required`` for any, or nothing."""
    calling = (tool_config or {}).get("functionCallingConfig") or {}
    if str(calling.get("mode")).upper() != "ANY":
        return ""
    names = calling.get("allowedFunctionNames") or []
    if len(names) == 1:
        return str(names[0])
    return "required"


def _is_guarded(path: str) -> bool:
    return path.partition("?")[0].rpartition(":")[2] in METHODS


def _answer_in(response: Any) -> Mapping[str, Any]:
    """Return what a response says; nothing if that isn't JSON."""
    try:
        answer = json.loads(response.body or "{}")
    except ValueError:
        return {}
    if isinstance(answer, Mapping):
        return answer
    return {}


def _text(system: Any) -> str:
    """Return the texts of a system prompt."""
    if isinstance(system, str):
        return system
    parts = system
    if isinstance(system, Mapping):
        parts = system.get("parts") or [system]
    texts = [part if isinstance(part, str) else part.get("text") or "" for part in parts]
    return "\n\n".join(text for text in texts if text)
