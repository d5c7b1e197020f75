"""Finds the messages in what was given: a list, any other iterable, a string, or the body of a whole request."""

from __future__ import annotations

from brim.errors import InputError
from brim.tokens.messages.fields import get, is_mapping, is_sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Request", "split"]

_BODIES = ("messages", "input", "contents")
_SYSTEMS = ("system", "instructions", "systemInstruction", "system_instruction")


class Request:
    """What a request sends: ``messages``, ``system``, ``tools``, the ``choice`` of tools, and an output ``schema``."""

    __slots__ = ("choice", "messages", "schema", "system", "tools")

    def __init__(self, messages: list[object], tools: object) -> None:
        self.messages = messages
        self.tools = tools
        self.system: list[object] = []
        self.choice: object = None
        self.schema: object = None


def split(given: object, tools: object) -> Request:
    """Return the parts of *given*; *tools* outrank the tools of a request body.

    Raises ``InputError`` for what is neither messages nor a request.
    """
    if isinstance(given, str):
        return Request([given], tools)
    if is_sequence(given):
        return Request(list(given), tools)  # type: ignore[call-overload]
    for name in _BODIES:
        inner = get(given, name)
        if inner is not None and not callable(inner):
            return _body(given, inner, tools)
    return Request(_iterate(given), tools)


def _body(body: object, inner: object, tools: object) -> Request:
    if isinstance(inner, str) or not _is_iterable(inner) or _names_a_role(inner):
        request = Request([inner], tools)
    else:
        request = Request(_iterate(inner), tools)
    config = get(body, "config")
    holders = (body, config)
    request.system = [found for holder in holders for name in _SYSTEMS if (found := get(holder, name)) is not None]
    if tools is None:
        request.tools = [found for holder in holders for name in ("tools", "functions") if (found := get(holder, name))]
    request.choice = get(body, "tool_choice")
    generation = get(body, "generationConfig") or get(body, "generation_config") or config
    for holder, name in (
        (get(body, "response_format"), "json_schema"),
        (get(get(body, "text"), "format"), "schema"),
        (get(body, "output_format"), "schema"),
        (get(get(body, "output_config"), "format"), "schema"),
        (generation, "responseSchema"),
        (generation, "response_schema"),
        (generation, "responseJsonSchema"),
    ):
        request.schema = request.schema or get(holder, name)
    return request


def _iterate(given: object) -> list[object]:
    if is_mapping(given):
        raise InputError(
            "messages: a dict without 'messages', 'input' or 'contents' is not a list of messages; "
            "put a single message into a list"
        )
    if isinstance(given, (bytes, bytearray)) or not _is_iterable(given):
        raise InputError(f"messages: expected a list of messages or a request body, not {type(given).__name__}")
    if _names_a_role(given):
        raise InputError("messages: expected a list, not a single message; put it into a list")
    several: Iterable[object] = given  # type: ignore[assignment]
    return list(several)


def _is_iterable(given: object) -> bool:
    return hasattr(type(given), "__iter__")


def _names_a_role(given: object) -> bool:
    return is_mapping(given) or get(given, "role") is not None
