"""LangChain and LangGraph: a chat model with a guard, or a middleware for ``create_agent``.

model = guard(ChatOpenAI(model="gpt-5"), limit_usd="5")
agent = create_agent(model, tools, middleware=[guard(limit_usd="5")])
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar, TypeVar, Unpack, overload

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.structured_output import AutoStrategy, ProviderStrategy, ToolStrategy
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, SystemMessage
from langchain_core.messages.ai import UsageMetadata, add_usage
from langchain_core.utils.function_calling import convert_to_openai_tool

from brim.adapters.guards import Guards, Settings, cap_of, settle, thinking_of
from brim.errors import InputError
from brim.guard import Call, Guard

Chat = TypeVar("Chat", bound=BaseChatModel)
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


@overload
def guard(
    *, model: str = "", guard: Guard | None = None, **settings: Unpack[Settings]
) -> BrimMiddleware: ...
@overload
def guard(
    chat_model: Chat,
    /,
    *,
    model: str = "",
    guard: Guard | None = None,
    **settings: Unpack[Settings],
) -> Chat: ...
def guard(
    chat_model: BaseChatModel | None = None,
    /,
    *,
    model: str = "",
    guard: Guard | None = None,
    **settings: Unpack[Settings],
) -> Any:
    """Return *chat_model* with a guard around its calls, or a middleware for ``create_agent``.

    A guarded chat model is a copy of the same class: it binds tools, streams, batches and gives
    structured output as before, in any graph or chain. The middleware guards one agent.

    It takes the arguments of ``Guard``, or a *guard*. *model* is only needed if the name of the
    chat model isn't one that brim knows, such as a deployment's. What is cut is missing in the
    request only.
    """
    guards = Guards(guard, settings, model)
    if chat_model is None:
        return BrimMiddleware(guards, model)
    if not isinstance(chat_model, BaseChatModel):
        kind = type(chat_model).__name__
        raise InputError(f"guard takes a chat model such as ChatOpenAI(...), not {kind}")
    return guarded_model(chat_model, guards, model)


# A chat model -------------------------------------------------------------------------------------

_IN_CALL: ContextVar[object] = ContextVar("brim_in_call", default=None)
"""The chat model whose guarded call is running here: what it calls of its own isn't guarded again.
"""


def guarded_model(model: Chat, guards: Guards, name: str) -> Chat:
    """Return a copy of *model* whose calls are guarded.

    The copy's class inherits from the model's own, so everything else stays as it is.
    """
    kind: Any = type(model)
    bases: list[type] = [GuardedChat]
    # LangChain looks at the class to see whether it streams.
    if kind._stream is not BaseChatModel._stream:
        bases.append(GuardedStream)
    if kind._astream is not BaseChatModel._astream:
        bases.append(GuardedAsyncStream)
    about = {"__module__": kind.__module__, "__doc__": kind.__doc__}
    guarded_kind = type(kind)(kind.__name__, (*bases, kind), about)
    guarded_kind.brim_calls = ChatCalls(guards, name)
    asked: dict[str, Any] = {}
    if "stream_usage" in kind.model_fields:
        # Not as an argument of each stream: that would be sent to OpenAI's Responses API.
        asked["stream_usage"] = True
    guarded: Chat = model.model_copy(update=asked)
    object.__setattr__(guarded, "__class__", guarded_kind)
    return guarded


class GuardedChat:
    """Puts a guard around the calls of the chat model whose class comes after it."""

    brim_calls: ClassVar[ChatCalls]

    def _generate(self: Any, messages: Any, *args: Any, **settings: Any) -> Any:
        model: Any = super()
        if _IN_CALL.get() is self:
            return model._generate(messages, *args, **settings)
        with self.brim_calls.call(self, messages, settings) as call, _inside(self):
            fitted, settings = self.brim_calls.as_sent(self, call, settings)
            result = model._generate(fitted, *args, **settings)
            _settle(call, *(generation.message for generation in result.generations))
        return result

    async def _agenerate(self: Any, messages: Any, *args: Any, **settings: Any) -> Any:
        model: Any = super()
        if _IN_CALL.get() is self:
            return await model._agenerate(messages, *args, **settings)
        async with self.brim_calls.call(self, messages, settings) as call:
            fitted, settings = self.brim_calls.as_sent(self, call, settings)
            with _inside(self):
                result = await model._agenerate(fitted, *args, **settings)
            _settle(call, *(generation.message for generation in result.generations))
        return result


class GuardedStream:
    """The same for a chat model that streams."""

    def _stream(self: Any, messages: Any, *args: Any, **settings: Any) -> Any:
        model: Any = super()
        if _IN_CALL.get() is self:
            yield from model._stream(messages, *args, **settings)
            return
        with self.brim_calls.call(self, messages, settings) as call:
            fitted, settings = self.brim_calls.as_sent(self, call, settings)
            chunks = iter(model._stream(fitted, *args, **settings))
            usage = StreamUsage()
            while True:
                with _inside(self):  # not while the caller has a chunk
                    chunk = next(chunks, None)
                if chunk is None:
                    break
                usage.take(chunk.message)
                yield chunk
            settle(call, usage.message)


class GuardedAsyncStream:
    """The same for a chat model that streams in an event loop."""

    async def _astream(self: Any, messages: Any, *args: Any, **settings: Any) -> Any:
        model: Any = super()
        if _IN_CALL.get() is self:
            async for chunk in model._astream(messages, *args, **settings):
                yield chunk
            return
        async with self.brim_calls.call(self, messages, settings) as call:
            fitted, settings = self.brim_calls.as_sent(self, call, settings)
            chunks = model._astream(fitted, *args, **settings)
            usage = StreamUsage()
            while True:
                with _inside(self):
                    chunk = await anext(chunks, None)
                if chunk is None:
                    break
                usage.take(chunk.message)
                yield chunk
            settle(call, usage.message)


class ChatCalls:
    """Makes guarded calls of a chat model's requests."""

    def __init__(self, guards: Guards, name: str) -> None:
        self._guards = guards
        self._name = name
        self.guard: Guard = guards.guard
        """Where the money of all conversations is counted: ``guard.status()``."""

    def call(
        self, model: BaseChatModel, messages: Sequence[BaseMessage], settings: Mapping[str, Any]
    ) -> Call[BaseMessage]:
        """Return the guarded call of a request with *messages* and *settings*."""
        options = _fields_of(model, settings)
        guard_cap = _cap_beside(model, self._guards.guard.max_output)
        max_output = _max_output(settings) or guard_cap or _max_output(options)
        system, transcript = _without_system(messages)
        return self._guards.call(
            self._name or _model_name(settings, model),
            transcript,
            system=system,
            tools=settings.get("tools") or settings.get("functions"),
            max_output=max_output,
            thinks=thinking_of(options.get("thinking")),
            answers=options.get("n") or 1,
            options=options,
        )

    def as_sent(
        self, model: BaseChatModel, call: Call[BaseMessage], settings: Mapping[str, Any]
    ) -> tuple[list[BaseMessage], dict[str, Any]]:
        """Return messages and settings as they are sent."""
        messages = list(call.messages)
        if call.system:
            messages.insert(0, SystemMessage(call.system))
        guard_cap = _cap_beside(model, self._guards.guard.max_output)
        return messages, _with_cap(settings, call, guard_cap)


class StreamUsage:
    """Adds up what the chunks of a stream report."""

    def __init__(self) -> None:
        self._usage: UsageMetadata | None = None
        self._metadata: dict[str, Any] = {}

    def take(self, chunk: BaseMessage) -> None:
        """Read one chunk."""
        usage = getattr(chunk, "usage_metadata", None)
        if usage:
            self._usage = add_usage(self._usage, usage)
        self._metadata |= chunk.response_metadata

    @property
    def message(self) -> AIMessage:
        """A message that reports all of it."""
        return AIMessage("", usage_metadata=self._usage, response_metadata=self._metadata)


@contextmanager
def _inside(model: BaseChatModel) -> Iterator[None]:
    token = _IN_CALL.set(model)
    try:
        yield
    finally:
        _IN_CALL.reset(token)


def _without_system(
    messages: Sequence[BaseMessage],
) -> tuple[str | list[str | dict[str, Any]] | None, list[BaseMessage]]:
    """Return the system prompt at the beginning of *messages*, and the others."""
    if messages and isinstance(messages[0], SystemMessage):
        return messages[0].content, list(messages[1:])
    return None, list(messages)


# A middleware -------------------------------------------------------------------------------------


class BrimMiddleware(AgentMiddleware[Any, Any, Any]):
    """Fits, reserves, settles and measures every call of an agent's model.

    Put the middleware last in the list: what comes later changes requests that were fitted already.
    The agent's state keeps every message.

    A thread of LangGraph is one conversation. Without a thread, messages that begin with the same
    one are.
    """

    def __init__(self, guards: Guards, model: str) -> None:
        super().__init__()
        self._model = model
        self._guards = guards
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
        guard_cap = _cap_beside(request.model, self.guard.max_output)
        max_output = _max_output(request.model_settings) or guard_cap or _max_output(options)
        return self._guards.call(
            self._model or _model_name(request.model_settings, request.model),
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
        guard_cap = _cap_beside(request.model, self.guard.max_output)
        model_settings = _with_cap(request.model_settings, call, guard_cap)
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


def _cap_beside(model: BaseChatModel, max_output: int | None) -> int | None:
    """Return the guard's *max_output*; None if the *model* has a lower limit of its own."""
    own_cap = _max_output(_fields_of(model, {}))
    if own_cap is not None and max_output is not None and own_cap <= max_output:
        return None
    return max_output


def _model_name(*holders: Any) -> str:
    """Return the name of the model that is called; the last of the *holders* is the chat model."""
    for holder in holders:
        for name in ("model", "model_name", "model_id"):
            model = _field(holder, name)
            if isinstance(model, str) and model:
                return model
    kind = type(holders[-1]).__name__
    remedy = "name it, as in guard(model='gpt-4o', limit_usd='5')"
    raise InputError(f"{kind} doesn't say which model it calls: {remedy}")


def _options(request: ModelRequest[Any]) -> dict[str, Any]:
    """Return the fields of the request that brim looks at: from the agent's settings, or else from
    its model."""
    options = _fields_of(request.model, request.model_settings)
    if isinstance(request.response_format, ToolStrategy) or request.tool_choice is True:
        # If the answer is a call, LangChain makes the model call something.
        options["tool_choice"] = "any"
    elif request.tool_choice is not None:
        options["tool_choice"] = request.tool_choice
    return options


def _fields_of(model: BaseChatModel, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a request of *model*: those of *settings*, or else the model's own."""
    options: dict[str, Any] = {}
    for name in MODEL_FIELDS:
        value = _field(model, name)
        if value is not None:
            options[name] = value
    _add(options, _field(model, "model_kwargs"))
    _add(options, _field(model, "extra_body"))
    options |= settings
    _add(options, settings.get("extra_body"))
    return options


def _with_cap(
    settings: Mapping[str, Any], call: Call[Any], max_output: int | None
) -> dict[str, Any]:
    """Return *settings* with the guard's limit for the answer, if it has one."""
    capped = dict(settings)
    own_fields = [name for name in OUTPUTS if name in capped]
    cap = cap_of(call) or None
    if cap is None and not own_fields:
        cap = max_output
    if cap is not None:
        capped.update(dict.fromkeys(own_fields or OUTPUTS[:1], cap))
    return capped


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
