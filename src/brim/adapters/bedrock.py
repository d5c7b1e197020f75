"""A client of boto3 for Amazon Bedrock with a guard around every Converse request.

client = guard(boto3.client("bedrock-runtime"), limit_usd="5")
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar, Unpack

from botocore.client import BaseClient

from brim.adapters.guards import Guards, Settings, cap_of, settle, thinking_of
from brim.errors import InputError
from brim.guard.call import Call
from brim.guard.conversation import Guard

Client = TypeVar("Client", bound=BaseClient)
OPTIONS = "additionalModelRequestFields"
"""The field of a request with what only one maker's models take."""


def guard(
    client: Client,
    /,
    *,
    model: str = "",
    guard: Guard | None = None,
    **settings: Unpack[Settings],
) -> Client:
    """Return a copy of *client* whose ``converse`` and ``converse_stream`` are guarded.

    *client* is ``boto3.client("bedrock-runtime")``. *settings* are those of ``brim.Guard``, or give
    a *guard*; conversations are told apart by how they begin. *model* is only needed if the
    ``modelId`` doesn't name the model, such as an inference profile's ARN of your own.

    Raises ``LimitReached`` and ``DoesNotFit`` from the client's own calls, before anything is sent.
    """
    if not isinstance(client, BaseClient) or not hasattr(client, "converse"):
        kind = type(client).__name__
        raise InputError(f"client must be boto3.client('bedrock-runtime'), not {kind}")
    original: Any = type(client)
    guarded: Any = object.__new__(type(original.__name__, (GuardedConverse, original), {}))
    guarded.__dict__.update(client.__dict__)
    guarded.brim_guards = Guards(guard, settings, model)
    return guarded  # type: ignore[no-any-return]


class GuardedConverse:
    """Puts a guard around the requests of the client whose class comes after it."""

    brim_guards: Guards

    def converse(self, **request: Any) -> Any:
        """Send what fits, if there's money for it."""
        client: Any = super()
        with _call(self.brim_guards, request) as call:
            response = client.converse(**_as_sent(request, call))
            settle(call, {**response, "model": request.get("modelId")})
        return response

    def converse_stream(self, **request: Any) -> Any:
        """Send what fits, if there's money for it; a stream that is left early keeps its
        reservation."""
        client: Any = super()
        with _call(self.brim_guards, request) as call:
            response = client.converse_stream(**_as_sent(request, call))
            stream = response["stream"]
            return {**response, "stream": SettledStream(stream, call, request.get("modelId"))}


class SettledStream:
    """The events of a streamed answer, which settle its call at their end."""

    def __init__(self, stream: Any, call: Call[Any], model: str | None) -> None:
        self._stream = stream
        self._call = call
        self._model = model

    def __iter__(self) -> Iterator[Any]:
        for event in self._stream:
            metadata = event.get("metadata")
            if metadata is not None:
                settle(self._call, {**metadata, "model": self._model})
            yield event

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _call(guards: Guards, request: Mapping[str, Any]) -> Call[Any]:
    """Return the guarded call of a *request*."""
    tools = request.get("toolConfig") or {}
    limits = request.get("inferenceConfig") or {}
    options: dict[str, Any] = {**request, **(request.get(OPTIONS) or {})}
    for name in ("messages", "system", "toolConfig", "modelId", OPTIONS):
        options.pop(name, None)
    if tools.get("toolChoice"):
        options["tool_choice"] = _choice(tools["toolChoice"])
    return guards.call(
        str(request.get("modelId") or ""),
        request.get("messages") or [],
        system=request.get("system"),
        tools=tools.get("tools"),
        max_output=limits.get("maxTokens"),
        thinks=thinking_of(options.get("thinking")),
        options=options,
    )


def _choice(choice: Mapping[str, Any]) -> str:
    """Return which tool must be called: its name, ``required`` for any, or ``auto``."""
    named = choice.get("tool")
    if named:
        return str(named.get("name"))
    return "required" if "any" in choice else "auto"


def _as_sent(request: Mapping[str, Any], call: Call[Any]) -> dict[str, Any]:
    """Return the *request* fitted, with the guard's rules and its limit for the answer."""
    sent = {**request, "messages": _alternating(call.messages)}
    if call.system is not request.get("system"):
        sent["system"] = [_block(part) for part in _listed(call.system)]
    limits = dict(request.get("inferenceConfig") or {})
    cap = cap_of(call)
    if cap is None and not limits.get("maxTokens"):
        cap = call.guard.max_output
    if cap is not None:
        sent["inferenceConfig"] = {**limits, "maxTokens": cap}
    return sent


def _alternating(messages: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Return *messages* with those of one role in a row in one: Converse wants the roles to
    alternate, and a summary stands before a message of the user's."""
    turns: list[Any] = []
    for message in messages:
        if turns and turns[-1]["role"] == message["role"]:
            content = [*turns[-1]["content"], *message["content"]]
            turns[-1] = {**turns[-1], "content": content}
        else:
            turns.append(message)
    return turns


def _listed(system: Any) -> list[Any]:
    if isinstance(system, list | tuple):
        return list(system)
    return [system]


def _block(part: Any) -> Any:
    """Return a part of the system prompt as Converse takes it."""
    if isinstance(part, str):
        return {"text": part}
    if part.get("type") == "text":
        return {"text": part["text"]}
    return part
