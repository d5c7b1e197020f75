"""What a response of a provider's says about itself: model, usage and service tier.

Responses are objects of an SDK or a framework, or the same as dicts.
"""

from __future__ import annotations

from brim.errors import InputError
from brim.models.usage import Tokens, read_usage
from brim.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MODELS = ("model", "model_version", "modelVersion", "model_name")
_REPORTS = ("usage", "usage_metadata", "usageMetadata")
_STANDARD = ("", "standard", "default", "auto")


class Reported(Record):
    """What one request took, as its response says."""

    tokens: Tokens
    model: str = ""
    """The model that answered; empty if the response doesn't say."""
    request_id: str = ""
    """The provider's id of the response; empty if it has none."""


def read_response(response: object) -> Reported:
    """Read a response of Anthropic, OpenAI (chat, Responses), Gemini, LiteLLM, LangChain or pydantic-ai.

    A bare usage report is read too; its model is unknown. ``InputError`` if there's no usage in it: a streamed answer
    has it at its end, and OpenAI's chat only with ``stream_options={"include_usage": True}``.
    """
    usage = next((found for name in _REPORTS if (found := _value(response, name)) is not None), response)
    metadata = _field(response, "response_metadata")
    models = [_field(response, name) for name in _MODELS] + [_field(metadata, name) for name in ("model_name", "model")]
    try:
        tokens = read_usage(_with_parts_of_input(usage))
    except InputError as error:
        if usage is not response:
            raise
        raise InputError(f"{type(response).__name__} has no usage to read: give the whole response ({error})") from None
    tier = next(
        (each for holder in (response, metadata) if (each := _text(_field(holder, "service_tier")))), ""
    ).lower()
    if tier not in _STANDARD and tier not in tokens.factors:
        tokens = tokens.replace(factors=(tier, *tokens.factors))
    ids = (_field(response, name) for name in ("id", "response_id", "responseId", "provider_response_id"))
    return Reported(tokens, next(filter(None, map(_text, models)), ""), next(filter(None, map(_text, ids)), ""))


def _with_parts_of_input(usage: object) -> object:
    """Return the usage of a framework in OpenAI's form: in both, the input contains what a cache had.

    LangChain: https://docs.langchain.com/oss/python/langchain/messages#token-usage
    pydantic-ai: https://ai.pydantic.dev/api/usage/
    """
    details = _field(usage, "input_token_details")
    if details is not None:
        read, written = _field(details, "cache_read"), _field(details, "cache_creation")
    elif _field(usage, "cache_read_tokens") is not None or _field(usage, "cache_write_tokens") is not None:
        read, written = _field(usage, "cache_read_tokens"), _field(usage, "cache_write_tokens")
    else:
        return usage
    cached = {"cached_tokens": read, "cache_write_tokens": written}
    fields = {name: _field(usage, name) for name in ("input_tokens", "output_tokens")}
    return {**fields, "input_tokens_details": cached}


def _value(holder: object, name: str) -> Any:
    """Return a field; pydantic-ai has ``usage`` as a method in some versions."""
    found = _field(holder, name)
    return found() if callable(found) else found


def _field(holder: object, name: str) -> Any:
    if isinstance(holder, dict):
        return holder.get(name)
    try:
        return getattr(holder, name, None)
    except Exception:  # a property of a stranger's class can raise anything
        return None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
