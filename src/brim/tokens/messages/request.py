"""Finds the messages in a value of the caller's, and measures them.

The value is a list, any other iterable, a string, or the body of a whole request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from brim.errors import InputError
from brim.tokens.messages.fields import first, get, is_mapping, is_sequence, items, string
from brim.tokens.messages.frameworks import as_blocks, instructions_of
from brim.tokens.messages.parts import Walk, add_message, add_system, is_message
from brim.tokens.messages.rules import Framing, family, spellings
from brim.tokens.messages.schemas import add_output_schema, add_tools
from brim.tokens.messages.tally import Tally, TallyLedger

BODIES = ("messages", "input", "contents")
"""Where a request has its messages: chat and Anthropic's API, OpenAI's Responses, Gemini's."""

_SYSTEMS = ("system", "instructions", "systemInstruction", "system_instruction")
TOOL_CHOICE = "brim.tool_choice"
OUTPUT_SCHEMA = "brim.output_schema"
READABLE = (
    "dicts, or objects of openai, anthropic, google-genai, langchain, pydantic-ai or haystack"
)
"""The messages that brim reads."""


class MessagesRequest:
    """What a request sends: ``messages``, ``system``, ``tools``, the ``choice`` of tools, and an
    output ``schema``."""

    def __init__(self, messages: list[object], tools: object) -> None:
        self.messages = messages
        self.system: list[object] = []
        self.tools, self.choice, self.schema = without_options(tools)


def split(value: object, tools: object) -> MessagesRequest:
    """Return the parts of *value*.

    *tools* outrank the tools of a request body.

    Raises ``InputError`` for what is neither messages nor a request.
    """
    if isinstance(value, str):
        return MessagesRequest([value], tools)
    if is_sequence(value):
        return MessagesRequest(items(value), tools)
    for name in BODIES:
        inner = get(value, name)
        if inner is not None and not callable(inner):
            return _body(value, inner, tools)
    return MessagesRequest(_iterate(value), tools)


def _body(body: object, inner: object, tools: object) -> MessagesRequest:
    messages = [inner]
    if _is_iterable(inner) and not isinstance(inner, str) and not _names_a_role(inner):
        messages = _iterate(inner)
    request = MessagesRequest(messages, tools)
    holders = (body, get(body, "config"))
    for holder in holders:
        for name in _SYSTEMS:
            system = get(holder, name)
            if system is not None:
                request.system.append(system)
    if tools is None:
        request.tools = _tools(holders)
    request.choice = request.choice or first(body, "tool_choice", "function_call")
    request.schema = request.schema or _schema(body)
    return request


def _tools(holders: tuple[object, ...]) -> list[object]:
    """Return all definitions of tools in a request and its configuration."""
    definitions = []
    for holder in holders:
        for name in ("tools", "functions"):
            tools = get(holder, name)
            if tools:
                definitions.append(tools)
    return definitions


def _schema(body: object) -> object:
    """Return the schema that the answer to a request must follow; None if it has none."""
    response_format = get(body, "response_format")
    if isinstance(response_format, type):  # LiteLLM takes a class of pydantic
        return response_format
    generation = (
        get(body, "generationConfig") or get(body, "generation_config") or get(body, "config")
    )
    return (
        first(response_format, "json_schema", "schema")
        or get(get(get(body, "text"), "format"), "schema")
        or get(get(body, "output_format"), "schema")
        or get(get(get(body, "output_config"), "format"), "schema")
        or first(
            generation,
            "responseSchema",
            "response_schema",
            "responseJsonSchema",
            "response_json_schema",
        )
        or None
    )


def with_options(tools: Sequence[Any] | None, options: Mapping[str, Any]) -> Sequence[Any] | None:
    """Return *tools* and what else in a request is counted with them: the choice of a tool, and the
    answer's schema.

    Counters take messages and tools. So these come as two more entries, which only ``split`` and
    the writers of API requests know.
    """
    entries: list[dict[str, Any]] = []
    choice = first(options, "tool_choice", "function_call")
    if choice is not None:
        entries.append({TOOL_CHOICE: choice})
    schema = _schema(options)
    if schema is not None:
        entries.append({OUTPUT_SCHEMA: schema})
    if not entries:
        return tools
    return [*(tools or ()), *entries]


def without_options(tools: object) -> tuple[object, object, object]:
    """Return the tools, the choice and the schema that ``with_options`` joined."""
    if not is_sequence(tools):
        return tools, None, None
    definitions: list[object] = []
    choice = None
    schema = None
    for tool in items(tools):
        if is_mapping(tool) and TOOL_CHOICE in tool:  # type: ignore[operator]
            choice = tool[TOOL_CHOICE]  # type: ignore[index]
        elif is_mapping(tool) and OUTPUT_SCHEMA in tool:  # type: ignore[operator]
            schema = tool[OUTPUT_SCHEMA]  # type: ignore[index]
        else:
            definitions.append(tool)
    return definitions, choice, schema


def _iterate(value: object) -> list[object]:
    if is_mapping(value):
        raise InputError(
            "messages: a dict without 'messages', 'input' or 'contents' is not a list of messages; "
            "put a single message into a list"
        )
    if isinstance(value, bytes | bytearray) or not _is_iterable(value):
        raise InputError(
            f"messages: expected a list of messages or a request body, not {type(value).__name__}"
        )
    if _names_a_role(value):
        raise InputError("messages: expected a list, not a single message; put it into a list")
    messages: Iterable[object] = value  # type: ignore[assignment]
    return list(messages)


def _is_iterable(value: object) -> bool:
    return hasattr(type(value), "__iter__")


def _names_a_role(value: object) -> bool:
    return is_mapping(value) or get(value, "role") is not None


def refuse_strangers(messages: Sequence[object]) -> None:
    """Raise ``InputError`` if one of *messages* isn't a message of any format."""
    for index, message in enumerate(messages):
        if not is_message(message):
            raise InputError(
                f"messages[{index}]: can't read {described(message)} as a message. Pass {READABLE}."
            )


def measure(
    messages: object,
    tools: object = None,
    *,
    model_name: str | None = None,
    encoding: str | None = None,
    count_text: Callable[[str], int],
    framing: Framing | None = None,
) -> Tally:
    """Return what *messages*, and *tools*, take for the model *model_name*.

    *messages* is a list (or other iterable) of messages in the shape of any provider, a string, or
    the body of a whole request, whose system text and tools count too. *count_text* counts the
    tokens of a text, and *encoding* names its vocabulary (``None`` if it has none): the result is
    exact only if that is the model's own. *count_text* is called once for each distinct text.
    *framing* is a formula to use in place of the provider's framing.

    Framing of OpenAI's chat models:
    https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken

    Raises ``InputError`` if *messages*, or one of them, is something else; never for what is in a
    message. With a *framing* of the caller's own, anything in the list is counted somehow.

    >>> chat = [{"role": "user", "content": "two words"}]
    >>> measure(chat, model_name="gpt-4o", encoding="o200k_base", count_text=lambda text: len(text.split()))
    Tally(9, exact)
    """
    request = split(messages, tools)
    if framing is None:
        refuse_strangers(request.messages)
    instructions = instructions_of(request.messages)
    if instructions:
        request.system.append(instructions)
    request.messages = [as_blocks(message) for message in request.messages]
    names = spellings(model_name or "")
    rule = family(names)
    if framing is not None:
        rule = rule.framed(framing)
    ledger = TallyLedger(count_text)
    if not rule.published:
        ledger.because("framing of this model's messages is not published")
    if encoding is None or encoding != rule.encoding:
        ledger.because("text not counted with the model's own vocabulary")
    if isinstance(messages, str):
        ledger.because("a plain string is not a chat message")
    walk = Walk(ledger, rule, names, request.messages)
    _add_outside(request, walk)
    _add_messages(request.messages, walk)
    return ledger.tally()


def _add_outside(request: MessagesRequest, walk: Walk) -> None:
    """Add what a request sends apart from its messages."""
    walk.ledger.other(*walk.family.priming)
    for system in request.system:
        add_system(system, walk)
    if request.tools is not None:
        add_tools(request.tools, walk, request.choice)
    if request.schema is not None:
        add_output_schema(request.schema, walk)
    walk.ledger.close()


def _add_messages(messages: list[object], walk: Walk) -> None:
    replaced = compacted(messages)
    for index, message in enumerate(messages):
        walk.begin(index)
        if index not in replaced:
            add_message(message, walk)
        walk.ledger.close()


def described(message: object) -> str:
    """Return what *message* is, for an error: ``a haystack ChatMessage``, ``None``, ``a dict
    without role``."""
    if message is None:
        return "None"
    if is_mapping(message):
        if get(message, "parts") is not None:
            return "a dict with parts that aren't Gemini's"
        return "a dict without a role, content or parts"
    name = type(message).__name__
    package = type(message).__module__.partition(".")[0]
    if package not in ("builtins", "__main__"):
        name = f"{package} {name}"
    article = "a"
    if name[0] in "aeio":
        article = "an"
    return f"{article} {name}"


def compacted(messages: list[object]) -> frozenset[int]:
    """Return the places of messages that a provider's own compaction replaces: the model isn't sent
    them.

    Anthropic ignores what stands before the last compaction block that has a summary. OpenAI's
    compaction item replaces all but the user's and the developer's messages: those are kept next to
    it. Sources: https://platform.claude.com/docs/en/build-with-claude/compaction and
    https://developers.openai.com/api/docs/guides/compaction
    """
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if get(message, "type") == "compaction":
            return frozenset(place for place in range(at) if not _stays(messages[place]))
        if any(_is_summary(block) for block in items(get(message, "content"))):
            return frozenset(range(at))
    return frozenset()


def _stays(message: object) -> bool:
    """Whether OpenAI keeps *message* next to its compaction item."""
    return string(get(message, "role")) in ("user", "system", "developer")


def _is_summary(block: object) -> bool:
    return get(block, "type") == "compaction" and get(block, "content") is not None
