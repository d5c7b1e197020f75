"""What a response of a provider's says about itself: its usage, its model and its id."""

from __future__ import annotations

from brim.errors import InputError
from brim.models.usage import Tokens, read_usage
from brim.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MODELS = ("model", "model_version", "modelVersion", "model_name")
_IDS = ("id", "response_id", "responseId", "provider_response_id")


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
    metadata = _field(response, "response_metadata")  # LangChain's
    details = _field(response, "provider_details")  # pydantic-ai's
    given: object = response
    if metadata is not None:
        given = {"usage": _field(response, "usage_metadata"), "service_tier": _field(metadata, "service_tier")}
    elif details is not None:
        given = {"usage": _field(response, "usage"), "service_tier": _field(details, "service_tier")}
    try:
        tokens = read_usage(given)
    except InputError as error:
        what = type(response).__name__
        raise InputError(f"{what}: can't read its usage: give the provider's whole response ({error})") from None
    return Reported(tokens, _text(response, *_MODELS) or _text(metadata, "model_name", "model"), _text(response, *_IDS))


def _text(holder: object, *names: str) -> str:
    """Return the first of the fields *names* that holds a text."""
    return next((found for name in names if isinstance(found := _field(holder, name), str) and found), "")


def _field(holder: object, name: str) -> Any:
    if isinstance(holder, dict):
        return holder.get(name)
    try:
        return getattr(holder, name, None)
    except Exception:  # a property of a stranger's class can raise anything
        return None
