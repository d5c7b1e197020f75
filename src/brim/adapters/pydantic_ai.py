"""pydantic-ai: a capability for ``Agent``.

agent = Agent(model, capabilities=[guard(limit_usd="5")])
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Unpack

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import InstructionPart, ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext

from brim.adapters.guards import Guards, Settings, cap_of, settle
from brim.errors import InputError
from brim.guard import Call, Guard
from brim.models.terms import api_of

PROVIDERS = ("anthropic", "google", "openai")
"""Prefixes of settings."""
NATIVE_KINDS = {
    ("anthropic", "mcp_server"): "mcp_toolset",
    ("gemini", "web_search"): "google_search",
    ("openai", "code_execution"): "code_interpreter",
    ("openai", "mcp_server"): "mcp",
}
"""Tools that pydantic-ai calls otherwise than the provider."""


def guard(*, model: str = "", guard: Guard | None = None, **settings: Unpack[Settings]) -> Brim:
    """Return a capability that fits, reserves, settles and measures an agent's requests.

    It takes the arguments of ``Guard``, or a *guard*. *model* is only needed if the name of the
    agent's model isn't one that brim knows, such as a deployment's.
    """
    return Brim(guard, settings, model)


class Brim(AbstractCapability[Any]):
    """Fits, reserves, settles and measures every request to an agent's model.

    What is cut is missing in the request only; the history keeps it.

    Every attempt is a call of its own, with the model that answers it. Runs with the same
    ``conversation_id`` are one conversation. List it last: capabilities that come later change
    requests that were fitted already.
    """

    def __init__(self, guard: Guard | None, settings: Settings, model: str) -> None:
        self._model = model
        self._guards = Guards(guard, settings, model)
        self.guard: Guard = self._guards.guard
        """Where the money of all conversations is counted: ``guard.status()``."""

    def get_wrapper_model(self, model: Model) -> Model:
        """Return *model* with a guard around its requests."""
        if isinstance(model, FallbackModel):
            raise InputError(
                "brim can't reserve money for a FallbackModel before it has chosen a model: "
                "use capabilities=[ModelFallback(...), guard(...)]"
            )
        return GuardedModel(model, self._guards, self._model or model.model_name)

    @classmethod
    def get_serialization_name(cls) -> None:
        """Return None: a ledger can't be written into a spec."""


class GuardedModel(WrapperModel):
    """A model with a guard around each request."""

    def __init__(self, wrapped: Model, guards: Guards, name: str) -> None:
        super().__init__(wrapped)
        self._guards = guards
        self._name = name

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """Send what fits, if there's money for it."""
        async with self._call(messages, model_settings, model_request_parameters) as call:
            sent = self._sent(call, model_settings, model_request_parameters)
            response = await self.wrapped.request(*sent)
            settle(call, response)
        return response

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """Send what fits, if there's money for it; a stream that is left early keeps its
        reservation."""
        async with self._call(messages, model_settings, model_request_parameters) as call:
            sent = self._sent(call, model_settings, model_request_parameters)
            async with self.wrapped.request_stream(*sent, run_context) as stream:
                yield stream
            response = stream.get()
            if _is_whole(response):
                settle(call, response)

    def _call(
        self,
        messages: Sequence[ModelMessage],
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
    ) -> Call[ModelMessage]:
        tools = _tools(parameters, api_of(self._name))
        own_settings: dict[str, Any] = dict(settings or {})
        if tools and "1h" in own_settings.values():  # a cache for an hour costs more to write
            tools[-1] = {**tools[-1], "cache_control": {"ttl": "1h"}}
        options = _options(own_settings)
        options["tool_choice"] = _choice(own_settings.get("tool_choice"), parameters)
        return self._guards.call(
            self._name,
            messages,
            tools=tools,
            max_output=own_settings.get("max_tokens"),
            options=options,
            id=_conversation(messages),
        )

    def _sent(
        self,
        call: Call[ModelMessage],
        settings: ModelSettings | None,
        parameters: ModelRequestParameters,
    ) -> tuple[list[ModelMessage], ModelSettings | None, ModelRequestParameters]:
        """Return messages, settings and parameters as they are sent."""
        if call.system:  # the guard's rules: what the agent says itself is in the messages
            rules = InstructionPart(content=call.system, dynamic=False)
            parts = [*(parameters.instruction_parts or ()), rules]
            parameters = replace(parameters, instruction_parts=parts)
        own_cap = dict(settings or {}).get("max_tokens")
        cap = cap_of(call) or own_cap or self._guards.guard.max_output
        if cap is not None:
            settings = {**(settings or {}), "max_tokens": cap}
        return call.messages, settings, parameters


def _is_whole(response: ModelResponse) -> bool:
    """Whether *response* was streamed to its end.

    A connection that breaks off may look like an end, and the usage so far, such as that of
    Anthropic's first event, isn't what will be billed. Models of a test have no provider.
    """
    if response.state not in ("complete", "suspended"):
        return False
    if response.finish_reason or response.provider_name is None:
        return True
    return bool((response.provider_details or {}).get("finish_reason"))


def _conversation(messages: Sequence[ModelMessage]) -> str | None:
    """Return the id of the conversation that the last messages name; None if none does."""
    for message in reversed(messages):
        conversation: str | None = message.conversation_id
        if conversation:
            return conversation
    return None


def _tools(parameters: ModelRequestParameters, api: str) -> list[dict[str, Any]]:
    """Return what the model is told about its tools, the provider's own ones, and the schema of the
    answer."""
    tools: list[dict[str, Any]] = []
    for tool in (*parameters.declared_function_tools, *parameters.output_tools):
        about = {"name": tool.name, "description": tool.description}
        tools.append({**about, "parameters": tool.parameters_json_schema})
    for native_tool in parameters.native_tools:
        tools.append(_native(native_tool, api))
    answer = parameters.output_object
    if answer is not None and not parameters.output_tools:
        tools.append({"name": "answer", "parameters": answer.json_schema})
    return tools


def _choice(choice: Any, parameters: ModelRequestParameters) -> str | None:
    """Return the choice of a tool: the name of the only one that may be called, or whether one must
    be."""
    if isinstance(choice, list) and choice:
        is_only_tool = len(parameters.function_tools) + len(parameters.output_tools) == 1
        if len(choice) == 1 and not is_only_tool:
            return str(choice[0])
        return "required"
    allows_text = parameters.allow_text_output or parameters.allow_image_output
    if choice == "required" or not allows_text:
        return "required"
    if choice in ("none", []):
        return "none"
    return None


def _native(tool: Any, api: str) -> dict[str, Any]:
    """Return a tool that the provider runs."""
    native = {"type": NATIVE_KINDS.get((api, tool.kind), tool.kind)}
    max_uses = getattr(tool, "max_uses", None)
    if max_uses is not None:
        native["max_uses"] = max_uses
    return native


def _options(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the other fields of a request: pydantic-ai puts the provider's name before those of
    one provider."""
    options: dict[str, Any] = {}
    for name, value in settings.items():
        provider, _, field = name.partition("_")
        if provider not in PROVIDERS:
            field = name
        options[field] = value
    extra_body = settings.get("extra_body")
    if isinstance(extra_body, dict):
        options |= extra_body
    return options
