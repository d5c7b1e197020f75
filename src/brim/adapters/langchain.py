"""LangChain and LangGraph: a middleware for ``create_agent``.

agent = create_agent(model, tools, middleware=[BrimMiddleware(limit_usd=5)])
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
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
                _settle(
                    call, getattr(error, "ai_message", None)
                )  # what the model said isn't valid, but costs
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
                _settle(
                    call, getattr(error, "ai_message", None)
                )  # what the model said isn't valid, but costs
                raise
            _settle(call, *response.result)
        return response

    def call(self, request: ModelRequest[Any]) -> Call[AnyMessage]:
        """Return the guarded call of a *request*."""
        options = _options(request)
        system = request.system_message
        limits = [
            *map(request.model_settings.get, OUTPUTS),
            self.guard.max_output,
            *map(options.get, OUTPUTS),
        ]
        return self._guards.call(
            self._model or _model(request),
            request.messages,
            system=None if system is None else system.content,
            tools=[*map(_counted, request.tools), *_schemas(request.response_format)],
            max_output=next(filter(None, limits), None),
            thinks=thinking_of(options.get("thinking")),
            answers=options.get("n") or 1,
            options=options,
            id=_thread(request),
        )

    def _fitted(self, request: ModelRequest[Any], call: Call[AnyMessage]) -> ModelRequest[Any]:
        """Return *request* as it's sent."""
        system, model_settings = request.system_message, request.model_settings
        if call.system is not None and (system is None or call.system is not system.content):
            system = (system or SystemMessage("")).model_copy(update={"content": call.system})
        own = [name for name in OUTPUTS if name in model_settings]
        cap = cap_of(call) or (None if own else self.guard.max_output)
        if cap is not None:
            model_settings = {**model_settings, **dict.fromkeys(own or OUTPUTS[:1], cap)}
        return request.override(
            messages=call.messages, system_message=system, model_settings=model_settings
        )


def _model(request: ModelRequest[Any]) -> str:
    """Return the name of the model that is called."""
    for holder in (request.model_settings, request.model):
        for name in ("model", "model_name", "model_id"):
            if isinstance(found := _field(holder, name), str) and found:
                return found
    kind = type(request.model).__name__
    raise InputError(
        f"{kind} doesn't say which model it calls: name it, as in BrimMiddleware('gpt-4o', limit_usd=5)"
    )


def _options(request: ModelRequest[Any]) -> dict[str, Any]:
    """Return the fields of the request that brim looks at: from the agent's settings, or else from
    its model."""
    options: dict[str, Any] = {}
    for name in MODEL_FIELDS:
        value = _field(request.model, name)
        if value is not None:
            options[name] = value
    for holder in ("model_kwargs", "extra_body"):
        more = _field(request.model, holder)
        if isinstance(more, dict):
            options |= more
    options |= request.model_settings
    more = request.model_settings.get("extra_body")
    if isinstance(more, dict):
        options |= more
    if isinstance(request.response_format, ToolStrategy):
        options["tool_choice"] = (
            "any"  # the answer is a call, so LangChain makes the model call something
        )
    elif request.tool_choice is not None:
        options["tool_choice"] = "any" if request.tool_choice is True else request.tool_choice
    return options


def _thread(request: ModelRequest[Any]) -> str | None:
    """Return what identifies the conversation; None if the agent has no checkpointer."""
    info = getattr(request.runtime, "execution_info", None)
    thread = getattr(info, "thread_id", None)
    # An agent that another one calls has the same thread.
    return (
        None
        if thread is None
        else f"{thread} {str(getattr(info, 'checkpoint_ns', '')).rpartition('|')[0]}"
    )


def _settle(call: Call[Any], *messages: Any) -> None:
    """Settle *call* by the model's message among *messages*, if there is one."""
    answer = next((message for message in messages if isinstance(message, AIMessage)), None)
    if answer is not None and (answer.usage_metadata or {}).get("total_cost") == 0:
        # It was in LangChain's own cache.
        call.release()
    elif answer is not None:
        settle(call, answer)


def _counted(tool: Any) -> Any:
    """Return what the model is told about a tool; a dict is one that the provider runs."""
    return tool if isinstance(tool, dict) else convert_to_openai_tool(tool)


def _schemas(response_format: Any) -> list[dict[str, Any]]:
    """Return the schemas that an answer must follow, as tools: that's how most of them are sent."""
    if response_format is None:
        return []
    named = isinstance(response_format, AutoStrategy | ProviderStrategy | ToolStrategy)
    specs = ToolStrategy(response_format.schema if named else response_format).schema_specs
    return [
        {"name": "answer", "description": spec.description, "parameters": spec.json_schema}
        for spec in specs
    ]


def _field(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, dict) else getattr(holder, name, None)
