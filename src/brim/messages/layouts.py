"""Finds out whose format a history is in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from brim.errors import InputError
from brim.messages import responses
from brim.messages.content import filled, listed
from brim.messages.entries import PROVIDERS, Provider
from brim.messages.gemini import reading as gemini
from brim.models.names import CLAUDE
from brim.tokens.messages.fields import get, is_mapping, string
from brim.tokens.messages.frameworks import framework_of
from brim.tokens.messages.parts import has_gemini_parts

BLOCKS: dict[str, Provider] = {
    "tool_use": "anthropic",
    "tool_result": "anthropic",
    "thinking": "anthropic",
    "redacted_thinking": "anthropic",
    "server_tool_use": "anthropic",
    "image": "anthropic",
    "document": "anthropic",
    "search_result": "anthropic",
    "input_text": "responses",
    "output_text": "responses",
    "input_image": "responses",
    "input_file": "responses",
    "image_url": "openai",
    "input_audio": "openai",
    "file": "openai",
    "refusal": "openai",
}
"""Types of content that only one format has."""
INSTRUCTORS = ("system", "developer")
"""Roles that Anthropic's messages don't have."""
ITEM_TEXTS = frozenset(("input_text", "output_text", "refusal"))
"""Types of texts in a message item of the Responses API."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Who gets a history, whose rules it keeps, and which framework wrote it."""

    provider: Provider
    """Whose API gets it."""
    rules: Provider
    """Whose rules are checked: the provider's, unless a framework translates for it."""
    framework: str = ""
    """``langchain``, ``pydantic-ai``, ``haystack``, ``converse``, or empty for a provider's own
    format."""

    @property
    def translated(self) -> bool:
        """Whether messages are read as the framework sends them, and not as they are."""
        if self.framework in ("pydantic-ai", "haystack", "converse"):
            return True

        return self.framework == "langchain" and self.rules == "anthropic"


def layout_of(
    messages: Sequence[Any], provider: Provider | Literal["auto"], model: str | None = None
) -> Layout:
    """Return how *messages* are laid out, for *provider* or, with ``auto``, for whom they seem to
    be.

    The first message that only one format has decides. Plain messages, with a role and a text, are
    in every format: then Claude's name in *model* means Anthropic, and anything else, or a system
    message, OpenAI's chat format.

    A framework's messages are for the provider of *model*. The framework joins what Anthropic and
    Gemini want in one message, so for both of them Anthropic's rules about turns hold.
    """
    if provider != "auto" and provider not in PROVIDERS:
        names = ", ".join(PROVIDERS)
        raise InputError(f"unknown provider {provider!r}: use one of {names}, or auto")

    framework, message_format = _first_sign(messages, provider)
    if framework == "converse":  # which has Anthropic's rules about turns, for every model
        return Layout("anthropic", "anthropic", framework)

    if framework:
        receiver = _maker_of(model) if provider == "auto" else provider
        rules: Provider = "anthropic" if receiver in ("anthropic", "gemini") else "openai"
        return Layout(receiver, rules, framework)

    if provider == "auto":
        provider = message_format or _format_of_plain(messages, model)

    return Layout(provider, provider)


def _first_sign(
    messages: Sequence[Any], provider: Provider | Literal["auto"]
) -> tuple[str, Provider | None]:
    """Return the framework and the format of the first message that shows either."""
    for message in messages:
        # A dict with a type and no role is an item of the Responses API, if that was named.
        if provider != "responses" or not is_mapping(message):
            framework = framework_of(message)
            if framework:
                return framework, None

        message_format = _format_of(message)
        if message_format:
            return "", message_format

    return "", None


def _format_of_plain(messages: Sequence[Any], model: str | None) -> Provider:
    """Return the format of messages that are in every format."""
    if _maker_of(model) != "anthropic":
        return "openai"

    for message in messages:
        if string(get(message, "role")) in INSTRUCTORS:
            return "openai"

    return "anthropic"


def provider_of(
    messages: Sequence[Any], provider: Provider | Literal["auto"], model: str | None = None
) -> Provider:
    """Return *provider*, or for ``auto`` the one that *messages* are for."""
    return layout_of(messages, provider, model).provider


def _maker_of(model: str | None) -> Provider:
    """Return whose model it is, by its name; other makers' APIs are OpenAI's."""
    name = (model or "").lower()
    if CLAUDE in name:
        return "anthropic"

    if "gemini" in name:
        return "gemini"

    return "openai"


def _format_of(message: object) -> Provider | None:
    """Return the only format that *message* can be in; None if there are several."""
    role = string(get(message, "role"))
    if _is_gemini(message, role):
        return "gemini"

    kinds = [string(get(block, "type")) for block in listed(get(message, "content"))]
    if _is_item(message, kinds):
        return "responses"

    if role in ("tool", "function") or filled(get(message, "tool_calls")):
        return "openai"

    for kind in kinds:
        if kind in BLOCKS:
            return BLOCKS[kind]

    return None


def _is_gemini(message: object, role: str) -> bool:
    """Whether *message* can only be one of Gemini's contents."""
    if role == "model" and get(message, "parts") is None:
        return True

    if role not in gemini.ROLES or get(message, "content") is not None:
        return False

    return has_gemini_parts(message)


def _is_item(message: object, kinds: list[str]) -> bool:
    """Whether *message*, with blocks of these *kinds*, can only be an item of the Responses API."""
    kind = string(get(message, "type"))
    if kind not in responses.TYPES:
        return False

    return kind != "message" or not ITEM_TEXTS.isdisjoint(kinds)
