"""Errors of requests: which of them show that nothing was billed?"""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType

NEVER_SENT = frozenset(
    (
        *(
            "ConnectionRefusedError",
            "gaierror",
            "ConnectError",
            "ConnectTimeout",
            "NewConnectionError",
        ),
        *(
            "ConnectTimeoutError",
            "ClientConnectorError",
            "PoolTimeout",
            "UnsupportedProtocol",
            "LocalProtocolError",
            "EndpointConnectionError",
            "NoCredentialsError",
        ),
    )
)
"""Errors of ``socket``, httpx, urllib3, aiohttp and botocore that are raised before a request has
left."""

UNSURE = (408, 499)
"""Client errors that also stand for an answer which came too late."""

BUILDERS = {
    "agents.models": (
        *(
            "_build_response_create_kwargs",
            "_handle_unsupported_prompt",
            "_handle_unsupported_reasoning_settings",
        ),
        *(
            "_validate_official_openai_input_content_types",
            "convert_handoff_tool",
            "convert_response_format",
        ),
        *("convert_tool_choice", "convert_tools", "items_to_messages", "tool_to_openai"),
    ),
    "anthropic._base_client": (
        "_build_request",
        "_calculate_nonstreaming_timeout",
        "_prepare_options",
    ),
    "anthropic._client": ("__init__",),
    "anthropic._utils._transform": ("async_transform", "maybe_transform"),
    "botocore.client": ("_convert_to_request_dict", "_emit_api_params"),
    "google.genai._api_client": ("_build_request", "dumps"),
    "httpx._client": ("build_request",),
    "httpx2._client": ("build_request",),
    "langchain.agents.factory": ("_get_bound_model",),
    "langchain_anthropic.chat_models": ("_get_request_payload",),
    "langchain_openai.chat_models": ("_get_request_payload",),
    "litellm.llms": ("map_openai_params", "transform_request", "validate_environment"),
    "litellm.llms.anthropic.chat.handler": ("dumps",),
    "litellm.llms.custom_httpx.llm_http_handler": ("dumps",),
    "litellm.utils": (
        *(
            "get_optional_params",
            "validate_and_fix_openai_messages",
            "validate_and_fix_openai_tools",
        ),
        "validate_chat_completion_tool_choice",
    ),
    "openai._base_client": ("_build_request", "_prepare_options"),
    "openai._client": ("__init__",),
    "openai._utils._transform": ("async_transform", "maybe_transform"),
    "pydantic_ai.models": (
        *("_build_responses_request_params", "_get_tool_choice", "_map_message", "_map_messages"),
        *("_prepare_tools_and_tool_choice", "prepare_request", "resolve_tool_choice"),
    ),
}
"""Functions of SDKs and frameworks that turn arguments into a request, by the beginning of their
module's name."""

CREATORS = (
    *(
        "Completions",
        "AsyncCompletions",
        "Messages",
        "AsyncMessages",
        "Responses",
        "AsyncResponses",
    ),
    *("completions", "responses"),
    "BaseChatModel",
)
"""What has methods that send a request, as errors call it: in the SDKs of OpenAI and Anthropic, in
the OpenAI Agents SDK, and in LangChain."""

WRONG_ARGUMENTS = (
    "got an unexpected keyword argument",
    "got multiple values for",
    "missing ",
    "takes ",
)
"""How Python says that a function wasn't called: ``Messages.create() got an unexpected keyword
argument 'n'``."""


def may_be_billed(error: BaseException | None) -> bool:
    """Whether the request that ended in *error* may have cost something.

    It hasn't if no connection was made, if the provider refused it (400 to 499, timeouts aside), or
    if an SDK or a framework that brim knows failed before it had built the request.
    """
    errors: set[int] = set()
    while isinstance(error, BaseException) and id(error) not in errors:
        errors.add(id(error))
        status = _status(error)
        if status:
            is_refused = 400 <= status < 500 and status not in UNSURE
            return not is_refused
        if any(kind.__name__ in NEVER_SENT for kind in type(error).__mro__):
            return False
        if _was_building(error) or _has_wrong_arguments(error):
            return False
        # Not __context__: an attempt that was refused may be the context of one that was answered.
        error = error.__cause__ or getattr(error, "reason", None)
    return True


def _status(error: BaseException) -> int:
    """Return the HTTP status that *error* names; 0 if it names none."""
    response = getattr(error, "response", None)
    if isinstance(response, dict):  # botocore's
        about = response.get("ResponseMetadata") or {}
        return int(about.get("HTTPStatusCode") or 0)
    for holder in (error, response):
        for name in ("status_code", "status", "code"):
            value = getattr(holder, name, None)
            if isinstance(value, int) and 100 <= value < 600:
                return value
    return 0


def _was_building(error: BaseException) -> bool:
    """Whether *error* was raised while a client was made, or the first attempt of a request was
    built.

    ``retries_taken`` is how many attempts there were: OpenAI's and Anthropic's SDKs have it in
    every function from the one that counts to ``_build_request``.
    """
    caller = ""
    for frame in _frames(error):
        if frame.f_locals.get("retries_taken"):
            return False
        module = str(frame.f_globals.get("__name__"))
        function = frame.f_code.co_name
        # The body is written by ``json``: then the function that matters is the one that called it.
        place = caller if module == "json" else module
        if any(
            _is_within(place, name) and function in functions
            for name, functions in BUILDERS.items()
        ):
            return True
        caller = module
    return False


def _frames(error: BaseException) -> Iterator[FrameType]:
    """Yield the frames that *error* went through, the outermost first."""
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


def _is_within(module: str, name: str) -> bool:
    return module == name or module.startswith(f"{name}.")


def _has_wrong_arguments(error: BaseException) -> bool:
    """Whether a method that sends a request wasn't called, because it doesn't take the
    arguments."""
    if not isinstance(error, TypeError):
        return False
    method, _, problem = str(error).partition("() ")
    owner = method.rpartition(".")[0].rpartition(".")[2]
    return owner in CREATORS and problem.startswith(WRONG_ARGUMENTS)
