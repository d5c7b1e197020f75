"""LangChain and LangGraph: a middleware for ``create_agent``.

agent = create_agent(model, tools, middleware=[BrimMiddleware(limit_usd="5")])
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Unpack

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.structured_output import AutoStrategy, ProviderStrategy, ToolStrategy
from langchain_core.messages import AIMessage, AnyMessage, SystemMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from brim.adapters.guards import Guards, Settings, cap_of, settle, thinking_of
from brim.errors import InputError
from brim.guard import Call, Guard

OUTPUTS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
"""Names for the most tokens of an answer."""
MODEL_FIELDS = (
    *OUTPUTS,
    "cached_content",
    "context_management",
    "inference_geo",
    "max_tool_calls",
    "mcp_servers",
    "modalities",
    "n",
    "output_config",
    "response_modalities",
    "service_tier",
    "speed",
    "thinking",
    "use_previous_response_id",
)
"""Fields of a model that change what a request may cost."""


class BrimMiddleware(AgentMiddleware[Any, Any, Any]):
    """Fits, reserves, settles and measures every call of an agent's model.

    It takes the arguments of ``Guard``. *model* is only needed if the name of the agent's model
    isn't one that brim knows, such as a deployment's. Put the middleware last in the list: what
    comes later changes requests that were fitted already. What is cut is missing in the request
    only; the agent's state keeps every message.

    A thread of LangGraph is one conversation. Without a thread, messages that begin with the same
    one are.
    """

    def __init__(
        self, model: str = "", *, guard: Guard | None = None, **settings: Unpack[Settings]
    ) -> None:
        super().__init__()
        self._model = model
        self._guards = Guards(guard, settings)
        self.guard: Guard = self._guards.guard
        """Where the money of all conversations is counted: ``guard.status()``."""

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Call the model with a request that fits and is paid for."""
        with self.call(request) as call:
            try:
                response = handler(self._fitted(request, call))
            except Exception as error:
                # What the model said isn't valid, but costs.
                _settle(call, getattr(error, "ai_message", None))
                raise
            _settle(call, *response.result)
        return response

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the model with a request that fits and is paid for."""
        async with self.call(request) as call:
            try:
                response = await handler(self._fitted(request, call))
            except Exception as error:
                # What the model said isn't valid, but costs.
                _settle(call, getattr(error, "ai_message", None))
                raise
            _settle(call, *response.result)
        return response

    def call(self, request: ModelRequest[Any]) -> Call[AnyMessage]:
        """Return the guarded call of a *request*."""
        options = _options(request)
        system = None
        if request.system_message is not None:
            system = request.system_message.content
        max_output = (
            _max_output(request.model_settings) or self.guard.max_output or _max_output(options)
        )
        return self._guards.call(
            self._model or _model(request),
            request.messages,
            system=system,
            tools=[*map(_counted, request.tools), *_schemas(request.response_format)],
            max_output=max_output,
            thinks=thinking_of(options.get("thinking")),
            answers=options.get("n") or 1,
            options=options,
            id=_thread(request),
        )

    def _fitted(self, request: ModelRequest[Any], call: Call[AnyMessage]) -> ModelRequest[Any]:
        """Return *request* as it's sent."""
        system = request.system_message
        if call.system is not None and (system is None or call.system is not system.content):
            system = (system or SystemMessage("")).model_copy(update={"content": call.system})
        model_settings = dict(request.model_settings)
        own_fields = [name for name in OUTPUTS if name in model_settings]
        cap = cap_of(call) or None
        if cap is None and not own_fields:
            cap = self.guard.max_output
        if cap is not None:
            model_settings.update(dict.fromkeys(own_fields or OUTPUTS[:1], cap))
        return request.override(
            messages=call.messages, system_message=system, model_settings=model_settings
        )


def _max_output(options: Mapping[str, Any]) -> int | None:
    """Return the first limit for the answer in *options*; None if there is none."""
    for name in OUTPUTS:
        limit: int | None = options.get(name)
        if limit:
            return limit
    return None


def _model(request: ModelRequest[Any]) -> str:
    """Return the name of the model that is called."""
    for holder in (request.model_settings, request.model):
        for name in ("model", "model_name", "model_id"):
            model = _field(holder, name)
            if isinstance(model, str) and model:
                return model
    kind = type(request.model).__name__
    remedy = "name it, as in BrimMiddleware('gpt-4o', limit_usd='5')"
    raise InputError(f"{kind} doesn't say which model it calls: {remedy}")


def _options(request: ModelRequest[Any]) -> dict[str, Any]:
    """Return the fields of the request that brim looks at: from the agent's settings, or else from
    its model."""
    options: dict[str, Any] = {}
    for name in MODEL_FIELDS:
        value = _field(request.model, name)
        if value is not None:
            options[name] = value
    _add(options, _field(request.model, "model_kwargs"))
    _add(options, _field(request.model, "extra_body"))
    options |= request.model_settings
    _add(options, request.model_settings.get("extra_body"))
    if isinstance(request.response_format, ToolStrategy) or request.tool_choice is True:
        # If the answer is a call, LangChain makes the model call something.
        options["tool_choice"] = "any"
    elif request.tool_choice is not None:
        options["tool_choice"] = request.tool_choice
    return options


def _add(options: dict[str, Any], extra_options: Any) -> None:
    if isinstance(extra_options, dict):
        options |= extra_options


def _thread(request: ModelRequest[Any]) -> str | None:
    """Return what identifies the conversation; None if the agent has no checkpointer."""
    info = getattr(request.runtime, "execution_info", None)
    thread = getattr(info, "thread_id", None)
    if thread is None:
        return None
    # An agent that another one calls has the same thread.
    namespace = str(getattr(info, "checkpoint_ns", "")).rpartition("|")[0]
    return f"{thread} {namespace}"


def _settle(call: Call[Any], *messages: Any) -> None:
    """Settle *call* by the model's message among *messages*, if there is one."""
    for message in messages:
        if not isinstance(message, AIMessage):
            continue
        if (message.usage_metadata or {}).get("total_cost") == 0:
            # It was in LangChain's own cache.
            call.release()
        else:
            settle(call, message)
        return


def _counted(tool: Any) -> Any:
    """Return what the model is told about a tool; a dict is one that the provider runs."""
    if isinstance(tool, dict):
        return tool
    return convert_to_openai_tool(tool)


def _schemas(response_format: Any) -> list[dict[str, Any]]:
    """Return the schemas that an answer must follow, as tools: that's how most of them are sent."""
    if response_format is None:
        return []
    schema = response_format
    if isinstance(response_format, AutoStrategy | ProviderStrategy | ToolStrategy):
        schema = response_format.schema
    schemas = []
    for spec in ToolStrategy(schema).schema_specs:
        about = {"name": "answer", "description": spec.description}
        schemas.append({**about, "parameters": spec.json_schema})
    return schemas


def _field(holder: Any, name: str) -> Any:
    if isinstance(holder, dict):
        return holder.get(name)
    return getattr(holder, name, None)
