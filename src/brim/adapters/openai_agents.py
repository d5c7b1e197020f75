"""OpenAI Agents SDK: a ``RunConfig`` for ``Runner``.

config = brim_run_config(limit_usd=5)
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


def brim_run_config(
    run_config: RunConfig | None = None,
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
        self.guard: Guard = guards.guard
        """Where the money of all conversations is counted: ``guard.status()``."""

    def get_model(self, model_name: str | None) -> Model:
        """Return the model, guarded."""
        return self.guarded(self.wrapped.get_model(model_name), model_name)

    def guarded(self, model: Model, name: str | None = None) -> Model:
        """Return *model* with a guard around each call."""
        named = self._name or getattr(model, "model", None) or name
        if not isinstance(named, str):
            kind = type(model).__name__
            raise InputError(
                f"{kind} doesn't say which model it calls: name it, as in brim_run_config(model='gpt-4o')"
            )
        return GuardedAgentsModel(model, self._guards, named)

    async def aclose(self) -> None:
        """Close what the provider holds."""
        await self.wrapped.aclose()


class GuardedAgentsModel(Model):
    """A model with a guard around each call."""

    def __init__(self, wrapped: Model, guards: Guards, name: str) -> None:
        self.wrapped = wrapped
        self._guards, self._name = guards, name

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
            async for event in call.stream(
                self.wrapped.stream_response(*request.args[1:], **request.kwargs)
            ):
                yield event

    def _call(self, asked: Mapping[str, Any]) -> Call[Any]:
        items, schema = asked["input"], asked["output_schema"]
        answer = (
            []
            if schema is None or schema.is_plain_text()
            else [{"name": "answer", "parameters": schema.json_schema()}]
        )
        return self._guards.call(
            self._name,
            [{"role": "user", "content": items}] if isinstance(items, str) else items,
            provider="responses",
            system=asked["system_instructions"],
            tools=[*map(_counted, [*asked["tools"], *asked["handoffs"]]), *answer],
            max_output=asked["model_settings"].max_tokens,
            has_unseen=any(
                asked.get(name) for name in ("previous_response_id", "conversation_id", "prompt")
            ),
            options=_options(asked["model_settings"]),
        )

    def _fit(self, asked: dict[str, Any], call: Call[Any]) -> None:
        """Put what is sent in place of what was asked."""
        settings = asked["model_settings"]
        cap = cap_of(call) or settings.max_tokens or self._guards.guard.max_output
        asked["model_settings"] = replace(settings, max_tokens=cap)
        asked["system_instructions"], asked["input"] = call.system, call.messages

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
    inner: CallModelInputFilter | None, chosen: str | Model | None
) -> CallModelInputFilter:
    """Return a filter that refuses calls which no guard would see."""

    async def check(data: CallModelData[Any]) -> ModelInputData:
        model = chosen or data.agent.model
        if isinstance(model, Model) and not isinstance(model, GuardedAgentsModel):
            raise InputError(
                f"agent {data.agent.name!r} has a model of its own that brim doesn't see: give its name, or wrap it: "
                "Agent(model=run_config.model_provider.guarded(model))"
            )
        found = data.model_data if inner is None else inner(data)
        return await found if inspect.isawaitable(found) else found

    return check


def _options(settings: ModelSettings) -> dict[str, Any]:
    """Return the other fields of a request."""
    options: dict[str, Any] = {}
    for more in (settings.extra_args, settings.extra_body):
        if isinstance(more, Mapping):
            options |= more
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
    return {"type": "mcp" if tool.name == "hosted_mcp" else tool.name}  # the provider's own
