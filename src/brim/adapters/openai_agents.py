"""OpenAI Agents SDK: a ``RunConfig`` for ``Runner``.

config = guard(limit_usd="5")
result = await Runner.run(agent, task, run_config=config)
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any, Unpack

from agents import CodeInterpreterTool, FunctionTool, Handoff, ModelSettings, RunConfig, Tool
from agents.items import ModelResponse, TResponseStreamEvent
from agents.models.interface import Model, ModelProvider
from agents.run_config import CallModelData, CallModelInputFilter, ModelInputData

from brim.adapters.guards import Guards, Settings, cap_of, settle
from brim.errors import InputError
from brim.guard import Call, Guard

SIGNATURE = inspect.signature(Model.get_response)
"""What both ways of calling a model take."""
STORED = ("previous_response_id", "conversation_id", "prompt")
"""Arguments that name a part of the prompt that the provider keeps."""


def guard(
    run_config: RunConfig | None = None,
    /,
    *,
    model: str = "",
    guard: Guard | None = None,
    **settings: Unpack[Settings],
) -> RunConfig:
    """Return *run_config*, or a new one, with a guard around every call of a model.

    It takes the arguments of ``Guard``, or a *guard*. *model* is only needed if the name of the
    agents' model isn't one that brim knows, such as a deployment's. Make the configuration once and
    use it for all runs: a limit without a ledger holds for one configuration. A transcript that
    continues another is the same conversation.

    An agent whose ``model`` is an object isn't looked up in the configuration: wrap that object
    with ``run_config.model_provider.guarded(...)``. Without that, the run is refused.
    """
    config = run_config or RunConfig()
    provider = GuardedProvider(config.model_provider, Guards(guard, settings), model)
    run_model = config.model
    if isinstance(run_model, Model):
        run_model = provider.guarded(run_model)
    return replace(
        config,
        model=run_model,
        model_provider=provider,
        call_model_input_filter=_checked(config.call_model_input_filter, run_model),
    )


class GuardedProvider(ModelProvider):
    """Looks up models by name, with a guard around each."""

    def __init__(self, wrapped: ModelProvider, guards: Guards, name: str = "") -> None:
        self.wrapped = wrapped
        self._guards = guards
        self._name = name
        self.guard: Guard = guards.guard
        """Where the money of all conversations is counted: ``guard.status()``."""

    def get_model(self, model_name: str | None) -> Model:
        """Return the model, guarded."""
        return self.guarded(self.wrapped.get_model(model_name), model_name)

    def guarded(self, model: Model, name: str | None = None) -> Model:
        """Return *model* with a guard around each call."""
        model_name = self._name or getattr(model, "model", None) or name
        if not isinstance(model_name, str):
            kind = type(model).__name__
            remedy = "name it, as in guard(model='gpt-4o')"
            raise InputError(f"{kind} doesn't say which model it calls: {remedy}")
        return GuardedAgentsModel(model, self._guards, model_name)

    async def aclose(self) -> None:
        """Close what the provider holds."""
        await self.wrapped.aclose()


class GuardedAgentsModel(Model):
    """A model with a guard around each call."""

    def __init__(self, wrapped: Model, guards: Guards, name: str) -> None:
        self.wrapped = wrapped
        self._guards = guards
        self._name = name

    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
        """Send what fits, if there's money for it."""
        request = SIGNATURE.bind(self, *args, **kwargs)
        async with self._call(request.arguments) as call:
            self._fit(request.arguments, call)
            response = await self.wrapped.get_response(*request.args[1:], **request.kwargs)
            settle(call, response)
        return response

    async def stream_response(
        self, *args: Any, **kwargs: Any
    ) -> AsyncIterator[TResponseStreamEvent]:
        """Send what fits, if there's money for it; a stream that is left early keeps its
        reservation."""
        request = SIGNATURE.bind(self, *args, **kwargs)
        async with self._call(request.arguments) as call:
            self._fit(request.arguments, call)
            events = self.wrapped.stream_response(*request.args[1:], **request.kwargs)
            async for event in call.stream(events):
                yield event

    def _call(self, arguments: Mapping[str, Any]) -> Call[Any]:
        items = arguments["input"]
        if isinstance(items, str):
            items = [{"role": "user", "content": items}]
        tools = list(map(_counted, [*arguments["tools"], *arguments["handoffs"]]))
        schema = arguments["output_schema"]
        if schema is not None and not schema.is_plain_text():
            tools.append({"name": "answer", "parameters": schema.json_schema()})
        return self._guards.call(
            self._name,
            items,
            provider="responses",
            system=arguments["system_instructions"],
            tools=tools,
            max_output=arguments["model_settings"].max_tokens,
            has_unseen=any(map(arguments.get, STORED)),
            options=_options(arguments["model_settings"]),
        )

    def _fit(self, arguments: dict[str, Any], call: Call[Any]) -> None:
        """Put what is sent into the *arguments* of a request."""
        settings = arguments["model_settings"]
        cap = cap_of(call) or settings.max_tokens or self._guards.guard.max_output
        arguments["model_settings"] = replace(settings, max_tokens=cap)
        arguments["system_instructions"] = call.system
        arguments["input"] = call.messages

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


def _checked(
    inner: CallModelInputFilter | None, run_model: str | Model | None
) -> CallModelInputFilter:
    """Return a filter that refuses calls which no guard would see."""

    async def check(data: CallModelData[Any]) -> ModelInputData:
        model = run_model or data.agent.model
        if isinstance(model, Model) and not isinstance(model, GuardedAgentsModel):
            raise InputError(
                f"agent {data.agent.name!r} has a model of its own that brim doesn't see:"
                " give its name, or wrap it:"
                " Agent(model=run_config.model_provider.guarded(model))"
            )
        if inner is None:
            return data.model_data
        filtered = inner(data)
        if inspect.isawaitable(filtered):
            return await filtered
        return filtered

    return check


def _options(settings: ModelSettings) -> dict[str, Any]:
    """Return the other fields of a request."""
    options: dict[str, Any] = {}
    for extra_options in (settings.extra_args, settings.extra_body):
        if isinstance(extra_options, Mapping):
            options |= extra_options
    if settings.tool_choice is not None:
        options["tool_choice"] = settings.tool_choice
    return options


def _counted(tool: Tool | Handoff) -> dict[str, Any]:
    """Return what the model is told about a tool."""
    if isinstance(tool, FunctionTool):
        return {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.params_json_schema,
        }
    if isinstance(tool, Handoff):
        about = {"name": tool.tool_name, "description": tool.tool_description}
        return {**about, "parameters": tool.input_json_schema}
    config = getattr(tool, "tool_config", None)
    if isinstance(tool, CodeInterpreterTool) and isinstance(config, Mapping):
        return dict(config)
    # One that the provider runs.
    if tool.name == "hosted_mcp":
        return {"type": "mcp"}
    return {"type": tool.name}
