"""OpenAI Agents SDK: a ``RunConfig`` for ``Runner``.

    config = brim_run_config(limit_usd=5)
    result = await Runner.run(agent, task, run_config=config)
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any, Unpack

from agents import FunctionTool, Handoff, RunConfig, Tool
from agents.agent_output import AgentOutputSchemaBase
from agents.items import ModelResponse, TResponseInputItem, TResponseStreamEvent
from agents.model_settings import ModelSettings
from agents.models.interface import Model, ModelProvider
from agents.run_config import CallModelData, CallModelInputFilter, ModelInputData

from brim.adapters.guards import Guards, Settings, settle
from brim.errors import InputError
from brim.guard import Call, Guard


def brim_run_config(
    run_config: RunConfig | None = None, *, model: str = "", guard: Guard | None = None, **settings: Unpack[Settings]
) -> RunConfig:
    """Return *run_config*, or a new one, with a guard around every call of a model.

    It takes the arguments of ``Guard``, or a *guard*. *model* is only needed if the name of the agents' model isn't one
    that brim knows, such as a deployment's. Make the configuration once and use it for all runs: a limit without a
    ledger holds for one configuration. A transcript that continues another is the same conversation.

    An agent whose ``model`` is an object isn't looked up in the configuration: wrap that object with
    ``run_config.model_provider.guarded(...)``. Without that, the run is refused.
    """
    given = run_config or RunConfig()
    provider = GuardedProvider(given.model_provider, Guards(guard, settings), model)
    chosen = provider.guarded(given.model) if isinstance(given.model, Model) else given.model
    checked = _checked(given.call_model_input_filter, chosen)
    return replace(given, model=chosen, model_provider=provider, call_model_input_filter=checked)


class GuardedProvider(ModelProvider):
    """Looks up models by name, with a guard around each."""

    def __init__(self, wrapped: ModelProvider, guards: Guards, name: str = "") -> None:
        self.wrapped = wrapped
        self._guards, self._name = guards, name

    @property
    def guard(self) -> Guard:
        """Where the money of all conversations is counted: ``guard.status()``."""
        return self._guards.guard

    def get_model(self, model_name: str | None) -> Model:
        """Return the model, guarded."""
        return self.guarded(self.wrapped.get_model(model_name), model_name)

    def guarded(self, model: Model, name: str | None = None) -> Model:
        """Return *model* with a guard around each call."""
        named = self._name or getattr(model, "model", None) or name
        if not isinstance(named, str):
            kind = type(model).__name__
            raise InputError(f"{kind} doesn't say which model it calls: name it, as in brim_run_config(model='gpt-4o')")
        return GuardedModel(model, self._guards, named)

    async def aclose(self) -> None:
        """Close what the provider holds."""
        await self.wrapped.aclose()


class GuardedModel(Model):
    """A model with a guard around each call."""

    def __init__(self, wrapped: Model, guards: Guards, name: str) -> None:
        self.wrapped = wrapped
        self._guards, self._name = guards, name

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],
        model_settings: ModelSettings,
        tools: list[Tool],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[Handoff],
        *args: Any,
        **kwargs: Any,
    ) -> ModelResponse:
        """Send what fits, if there's money for it."""
        about = model_settings, tools, output_schema, handoffs
        async with self._call(system_instructions, input, *about, kwargs) as call:
            sent = call.system, call.messages, self._with_limit(model_settings), *about[1:], *args
            response = await self.wrapped.get_response(*sent, **kwargs)
            settle(call, response)
        return response

    async def stream_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],
        model_settings: ModelSettings,
        tools: list[Tool],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[Handoff],
        *args: Any,
        **kwargs: Any,
    ) -> AsyncIterator[TResponseStreamEvent]:
        """Send what fits, if there's money for it; a stream that is left early keeps its reservation."""
        about = model_settings, tools, output_schema, handoffs
        async with self._call(system_instructions, input, *about, kwargs) as call:
            sent = call.system, call.messages, self._with_limit(model_settings), *about[1:], *args
            async for event in call.stream(self.wrapped.stream_response(*sent, **kwargs)):
                yield event

    def _call(
        self,
        instructions: str | None,
        input: str | list[TResponseInputItem],
        settings: ModelSettings,
        tools: list[Tool],
        schema: AgentOutputSchemaBase | None,
        handoffs: list[Handoff],
        more: dict[str, Any],
    ) -> Call[Any]:
        items = [{"role": "user", "content": input}] if isinstance(input, str) else input
        kept_by_provider = ("previous_response_id", "conversation_id", "prompt")
        return self._guards.call(
            self._name,
            items,
            provider="responses",
            system=instructions,
            tools=[*map(_counted, [*tools, *handoffs]), *_answer(schema)],
            max_output=settings.max_tokens,
            has_unseen=any(more.get(name) for name in kept_by_provider),
        )

    def _with_limit(self, settings: ModelSettings) -> ModelSettings:
        most = self._guards.guard.max_output
        return settings if most is None or settings.max_tokens is not None else replace(settings, max_tokens=most)

    def get_retry_advice(self, request: Any) -> Any:
        """Return the wrapped model's advice."""
        return self.wrapped.get_retry_advice(request)

    async def close(self) -> None:
        """Close the wrapped model."""
        await self.wrapped.close()

    async def _cleanup_on_run_end(self, owner: object) -> None:
        await self.wrapped._cleanup_on_run_end(owner)

    def __getattr__(self, name: str) -> Any:
        if name == "wrapped":  # a copy asks before it has one
            raise AttributeError(name)
        return getattr(self.wrapped, name)


def _checked(inner: CallModelInputFilter | None, chosen: str | Model | None) -> CallModelInputFilter:
    """Return a filter that refuses calls which no guard would see."""

    async def check(data: CallModelData[Any]) -> ModelInputData:
        model = chosen or data.agent.model
        if isinstance(model, Model) and not isinstance(model, GuardedModel):
            raise InputError(
                f"agent {data.agent.name!r} has a model of its own that brim doesn't see: give its name, or wrap it: "
                "Agent(model=run_config.model_provider.guarded(model))"
            )
        found = data.model_data if inner is None else inner(data)
        return await found if inspect.isawaitable(found) else found

    return check


def _counted(tool: Tool | Handoff) -> dict[str, Any]:
    """Return what the model is told of a tool."""
    if isinstance(tool, FunctionTool):
        return {"name": tool.name, "description": tool.description, "parameters": tool.params_json_schema}
    if isinstance(tool, Handoff):
        about = {"name": tool.tool_name, "description": tool.tool_description}
        return {**about, "parameters": tool.input_json_schema}
    return {"type": tool.name}  # the provider's own


def _answer(schema: AgentOutputSchemaBase | None) -> list[dict[str, Any]]:
    """Return the schema that an answer must follow, as a tool."""
    if schema is None or schema.is_plain_text():
        return []
    return [{"name": "answer", "parameters": schema.json_schema()}]
