"""Reads messages and their parts in every provider's format.

``Walk`` is one measurement on its way: what it adds to, for which model, at which message.
``add_message`` reads a chat message, an item of the Responses API, a Gemini turn or a string; each
kind of part has its own reader below.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

from brim.files import data_rows
from brim.tokens.messages import media
from brim.tokens.messages.fields import (
    DEEPEST,
    REPEATS,
    compact,
    first,
    get,
    is_mapping,
    is_sequence,
    items,
    pairs,
    string,
)
from brim.tokens.messages.frameworks import framework_of
from brim.tokens.messages.rules import Family, best, load, width
from brim.tokens.messages.tally import TallyLedger

Reader = Callable[[object, "Walk"], None]


class Walk:
    """Where one measurement stands: what it adds to, for which model, at which message."""

    def __init__(
        self, ledger: TallyLedger, family: Family, names: tuple[str, ...], messages: list[object]
    ) -> None:
        self.ledger = ledger
        self.family = family
        self.names = names
        self.messages = messages
        self.provider = family.provider
        self.index = 0
        self._read: set[int] = set()
        self._repeats_left = REPEATS
        self._depth = 0

    def begin(self, index: int) -> None:
        """Begin to read the message at *index*."""
        self.index = index
        if self._read:
            self._read = set()
            self._repeats_left = REPEATS

    def text_or_json(self, value: object) -> None:
        """Add *value* as it is if it is text, else as compact JSON."""
        if isinstance(value, str):
            self.ledger.text(value)
        elif value is not None:
            self.rough(compact(value), "json")

    def rough(self, text: str, row: str = "unknown") -> None:
        """Add *text* that stands for something else, with the interval of a *row* of
        ``widths.tsv``."""
        size = width(row)
        self.ledger.text(text, size.text_low, size.text_high)
        self.ledger.width(size)

    def part(self, value: object) -> None:
        """Add one part, or a list of parts."""
        if isinstance(value, str):
            self.ledger.text(value)
        elif is_sequence(value):
            self.parts(value)
        elif value is not None:
            self._one_part(value)

    def _one_part(self, value: object) -> None:
        reader = None
        if self._depth < DEEPEST and not isinstance(value, bool | int | float | bytes):
            reader = reader_of(value)
        if reader is None:
            self.rough(compact(value))
            return
        self._depth += 1
        reader(value, self)
        self._depth -= 1

    def parts(self, value: object) -> None:
        """Add each part of a list.

        Anything else is read as one part.
        """
        if not is_sequence(value):
            self.part(value)
            return
        parts = items(value)
        if len(parts) > 1:
            self.ledger.width(width("join"), len(parts) - 1)
        if id(value) in self._read:
            self._repeats_left -= len(parts)
        self._read.add(id(value))
        if self._repeats_left < 0:
            self.rough("")
            return
        if self._depth >= DEEPEST:
            self.rough(compact(value))
            return
        self._depth += 1
        for part in parts:
            self.part(part)
        self._depth -= 1

    @cached_property
    def last_prompt(self) -> int:
        """Where a person spoke last; -1 if nowhere.

        What the model reasoned before that is an earlier turn's.
        """
        for at in range(len(self.messages) - 1, -1, -1):
            if is_prompt(self.messages[at]):
                return at
        return -1

    @cached_property
    def keeps_reasoning(self) -> bool:
        """Whether the model keeps the reasoning of earlier turns."""
        rows = [
            {"models": ["*"], "keeps": False},
            {"models": load("reasoning")["keeps_all_turns"], "keeps": True},
        ]
        return bool(best(rows, self.names)["keeps"])


# What reasoning takes when it is sent back: thinking blocks, reasoning items, thoughts.
#
# Providers drop the reasoning of earlier turns, or keep it, by model. What they return is a
# summary, and a signature or an encrypted copy of the whole that only the provider can read. So the
# visible text is the point if it is kept at all, and the interval reaches from nothing to what the
# encrypted copy can hold.
#
# Source:
# https://platform.claude.com/docs/en/build-with-claude/extended-thinking#thinking-block-preservation-by-model


def add_thinking(part: object, walk: Walk) -> None:
    """Add an Anthropic ``thinking`` block."""
    add_reasoning_text(get(part, "thinking"), walk)
    add_opaque(get(part, "signature"), walk)


def add_redacted(part: object, walk: Walk) -> None:
    """Add a block that is encrypted altogether: ``redacted_thinking``, ``compaction``."""
    add_opaque(get(part, "data") or get(part, "encrypted_content"), walk)
    walk.part(get(part, "content"))


def add_reasoning(part: object, walk: Walk) -> None:
    """Add a Responses ``reasoning`` item.

    Its summary is for people: it is in the interval only.

    Source:
    https://developers.openai.com/api/docs/guides/reasoning#keeping-reasoning-items-in-context
    """
    for name in ("summary", "content", "text", "reasoning"):
        field = get(part, name)
        texts = [field]
        if is_sequence(field):
            texts = items(field)
        for text in texts:
            add_reasoning_text(string(text) or get(text, "text"), walk, sent=name != "summary")
    add_opaque(get(part, "encrypted_content") or get(part, "signature"), walk)


def add_reasoning_text(text: object, walk: Walk, *, sent: bool = True) -> None:
    """Add visible reasoning, which counts if it is *sent* to the model and the model keeps it."""
    if isinstance(text, str):
        likely = sent and (walk.keeps_reasoning or walk.index >= walk.last_prompt)
        walk.ledger.maybe(text, likely)
    walk.ledger.width(width("reasoning"))


def add_opaque(blob: object, walk: Walk) -> None:
    """Add a signature or encrypted content: nothing to the point, what it can hold at most to the
    interval."""
    if not isinstance(blob, str | bytes) or not blob:
        return
    size = len(blob)
    if isinstance(blob, str):
        size = size * 3 // 4
    walk.ledger.other(0, 0, -(-size // load("reasoning")["bytes_per_token"]))
    walk.ledger.because("opaque reasoning content")


# Calls of tools and their results.

SIGNATURES = ("thoughtSignature", "thought_signature")


def _fields_by_type(group: str) -> dict[str, tuple[str, ...]]:
    fields_by_type = {}
    for row_group, kind, fields in data_rows(__file__, "parts.tsv"):
        if row_group == group:
            fields_by_type[kind] = tuple(fields.split())
    return fields_by_type


CALLS = _fields_by_type("call")
"""Type of a call, and the fields of it that the model is sent."""
RESULTS = _fields_by_type("result")
"""The same of results of tools."""
TEXTS = _fields_by_type("text")
"""The same of parts inside a result."""


def add_call(part: object, walk: Walk) -> None:
    """Add a call whose type is in ``CALLS``."""
    add_fields(part, CALLS.get(string(get(part, "type")), ("name", "arguments")), walk)


def add_fields(part: object, names: tuple[str, ...], walk: Walk) -> None:
    """Add the fields *names* of a call, and what surrounds a call."""
    for name in names:
        walk.text_or_json(get(part, name))
    add_opaque(first(part, *SIGNATURES), walk)
    walk.ledger.width(width("tool_call"))


def add_chat_call(call: object, walk: Walk) -> None:
    """Add an entry of ``tool_calls``, or a ``function_call``, of a chat message.

    Also the form that LangChain uses.
    """
    function = get(call, "function") or get(call, "custom") or call
    walk.text_or_json(get(function, "name"))
    walk.text_or_json(first(function, "arguments", "args", "input"))
    walk.ledger.width(width("tool_call"))


def add_result(part: object, walk: Walk) -> None:
    """Add a result whose type is in ``RESULTS``."""
    for name in RESULTS[string(get(part, "type"))]:
        walk.part(get(part, name))
    walk.ledger.width(width("tool_result"))


def add_texts(part: object, walk: Walk) -> None:
    """Add a part of a result whose type is in ``TEXTS``.

    What is encrypted for the provider alone is opaque.
    """
    for name in TEXTS[string(get(part, "type"))]:
        walk.part(get(part, name))
    add_opaque(get(part, "encrypted_content") or get(part, "encrypted_stdout"), walk)
    walk.ledger.because(width("tool_result").reason)


def add_generated_image(part: object, walk: Walk) -> None:
    """Add an image that a tool of the provider made."""
    walk.part(get(part, "revised_prompt"))
    media.add_image(part, walk)


# Reads one part of a message, whatever its provider calls it: one function per type, found in a
# table.
#
# A part of unknown type is counted as its compact JSON, without what looks like base64.


def _text(part: object, walk: Walk) -> None:
    text = first(part, "text", "refusal")
    if get(part, "thought") is True:
        add_reasoning_text(text, walk)
    else:
        walk.part(text)
    add_opaque(first(part, *SIGNATURES), walk)


def _gemini_call(part: object, walk: Walk) -> None:
    add_fields(first(part, "functionCall", "function_call"), ("name", "args"), walk)
    add_opaque(first(part, *SIGNATURES), walk)


def _gemini_response(part: object, walk: Walk) -> None:
    response = first(part, "functionResponse", "function_response")
    walk.part(get(response, "name"))
    walk.text_or_json(get(response, "response"))
    walk.parts(get(response, "parts"))
    walk.ledger.width(width("tool_result"))


def _converse_result(part: object, walk: Walk) -> None:
    walk.part(get(get(part, "toolResult"), "content"))
    walk.ledger.width(width("tool_result"))


PARTS: dict[str, Reader] = {
    **dict.fromkeys(
        ("text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal"), _text
    ),
    **dict.fromkeys(("image", "image_url", "input_image", "computer_screenshot"), media.add_image),
    **dict.fromkeys(("audio", "input_audio", "output_audio"), media.add_audio),
    **dict.fromkeys(
        ("video", "video_url", "input_video"),
        lambda part, walk: media.add_timed("video", part, walk),
    ),
    **dict.fromkeys(("document", "file", "input_file", "container_upload"), media.add_document),
    **dict.fromkeys(CALLS, add_call),
    **dict.fromkeys(RESULTS, add_result),
    **dict.fromkeys(TEXTS, add_texts),
    **dict.fromkeys(("redacted_thinking", "compaction"), add_redacted),
    "thinking": add_thinking,
    "reasoning": add_reasoning,
    "image_generation_call": add_generated_image,
    "item_reference": lambda _, walk: walk.ledger.width(
        width("reference")
    ),  # its content is at the provider
    "message": lambda part, walk: walk.part(get(part, "content")),
}
"""The reader of each type of part or item."""

KEYED: dict[str, Reader] = {
    "text": _text,
    **dict.fromkeys(("functionCall", "function_call"), _gemini_call),
    **dict.fromkeys(("functionResponse", "function_response"), _gemini_response),
    **dict.fromkeys(("inlineData", "inline_data", "fileData", "file_data"), media.add_by_mime),
    "executableCode": lambda part, walk: add_fields(get(part, "executableCode"), ("code",), walk),
    "executable_code": lambda part, walk: add_fields(get(part, "executable_code"), ("code",), walk),
    "codeExecutionResult": lambda part, walk: walk.text_or_json(get(part, "codeExecutionResult")),
    "code_execution_result": lambda part, walk: walk.text_or_json(
        get(part, "code_execution_result")
    ),
    "toolUse": lambda part, walk: add_fields(get(part, "toolUse"), ("name", "input"), walk),
    "toolResult": _converse_result,
    "json": lambda part, walk: walk.text_or_json(get(part, "json")),
    "image": media.add_image,
    "document": media.add_document,
    "cachePoint": lambda _, __: None,  # a mark for the provider, not for the model
}
"""The reader of a part that has no type but a field of this name: Gemini, and Amazon's Converse
API."""


def reader_of(value: object) -> Reader | None:
    """Return the function that reads *value*.

    ``None`` if it is of no known kind.
    """
    kind = string(get(value, "type"))
    if kind:
        return PARTS.get(kind)
    for name, reader in KEYED.items():
        if get(value, name) is not None:
            return reader
    return None


def is_prompt(message: object) -> bool:
    """Whether a person wrote *message*: results of tools also come in the name of the user."""
    role = string(get(message, "role"))
    if not role:
        # A content of Gemini's that names no role is the user's.
        return isinstance(message, str) or get(message, "parts") is not None
    if role not in ("user", "human"):
        return False
    parts = items(first(message, "content", "parts"))
    return not parts or not all(_is_result(part) for part in parts)


def _is_result(part: object) -> bool:
    if string(get(part, "type")) in RESULTS:
        return True
    return first(part, "functionResponse", "function_response") is not None


# Reads one message: a chat message, an item of the Responses API, a turn of Gemini, a string, or
# none of these.


_ROLES = frozenset(("system", "user", "assistant"))
"""The roles that the published rule knows."""
_OTHER_NAMES = {"human": "user", "ai": "assistant"}
_RESULT_ROLES = frozenset(("tool", "function"))


def is_message(message: object) -> bool:
    """Whether *message* is one of some format: a text, or something with a role, a content, parts
    or a type.

    Parts are Gemini's; a message of another program with parts of its own has no known format.
    """
    if isinstance(message, str) or framework_of(message):
        return True
    if isinstance(message, bytes | bytearray | int | float) or is_sequence(message):
        return False
    has_body = first(message, "content", "tool_calls", "function_call") is not None
    if has_body:
        return True
    if is_sequence(get(message, "parts")):
        return has_gemini_parts(message)
    return first(message, "role", "parts", "type", "message") is not None


GEMINI_PART_FIELDS = frozenset(
    (
        "text",
        "thought",
        "thought_signature",
        "inline_data",
        "file_data",
        "function_call",
        "function_response",
        "executable_code",
        "code_execution_result",
        "tool_call",
        "tool_response",
        "video_metadata",
        "media_resolution",
        "part_metadata",
        "audio_transcription",
        "media_processing",
        "speech_metadata",
    )
)
"""The fields of a part. Source: ``google.genai.types.Part`` of google-genai 3.1.0, 2026-11-18."""
_KINDS_OF_PARTS = ("type", "kind", "part_kind")
"""Fields that say what a part is: Gemini's parts have none, those of other programs have one."""


def has_gemini_parts(message: object) -> bool:
    """Whether *message* has the parts of Gemini's contents.

    Of dicts only those are refused whose parts are of another program: what is in a dict may be
    anything. An object must have the fields of Google's own classes.
    """
    if not is_sequence(get(message, "parts")):
        return False
    parts = items(get(message, "parts"))
    if is_mapping(message):
        return not any(_has_kind(part) for part in parts)
    return _has_field(message, "role") and all(_is_gemini_part(part) for part in parts)


def _has_field(message: object, name: str) -> bool:
    try:
        return hasattr(message, name)
    except Exception:  # a class may refuse to be asked
        return False


def _has_kind(part: object) -> bool:
    return any(string(get(part, name)) for name in _KINDS_OF_PARTS)


def _is_gemini_part(part: object) -> bool:
    """Whether *part* has no kind, and fields of Gemini's parts alone; Google's classes may get new
    ones."""
    if _has_kind(part):
        return False
    if type(part).__module__.startswith("google."):
        return True
    fields = {_snake_case(name) for name, _ in pairs(part)}
    return fields <= GEMINI_PART_FIELDS and (is_mapping(part) or bool(fields))


def _snake_case(name: str) -> str:
    return re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", name)


def add_message(message: object, walk: Walk) -> None:
    """Add *message* with its framing; whatever it is, it does not raise."""
    if message is None:
        walk.ledger.width(width("empty"))
    elif is_sequence(message) or isinstance(message, (str, bytes, int, float)):
        walk.ledger.other(*walk.family.message)
        walk.part(message)
        walk.ledger.width(width("no_role"))
    else:
        _add_fields(message, walk)


def add_system(value: object, walk: Walk) -> None:
    """Add a system text that is given apart from the messages: a string, blocks, or an object with
    parts."""
    if value is None:
        return
    walk.ledger.other(*walk.family.message)
    _add_role("system", walk)
    parts = get(value, "parts")
    if parts is None:
        walk.part(value)
    else:
        walk.part(parts)
    walk.ledger.width(width("item"))


def _add_fields(message: object, walk: Walk) -> None:
    kind = string(get(message, "type"))
    role = string(get(message, "role"))
    has_content = first(message, "content", "parts") is not None
    inner = get(message, "message")
    if not role and not has_content and get(inner, "role") is not None:
        _add_fields(inner, walk)
        return
    if kind in PARTS and kind != "message":
        walk.part(message)
        walk.ledger.width(width("item"))
        return
    role = role or _role_of_type(kind)
    walk.ledger.other(*walk.family.message)
    if not role and not has_content and not _has_calls(message):
        walk.part(message)
        walk.ledger.width(width("no_role"))
        return
    _add_role(role, walk)
    _add_body(message, walk)
    if kind:
        walk.ledger.width(width("item"))
    _add_framing_of(role, walk)


def _role_of_type(kind: str) -> str:
    """Return the role of a message that has a type in its place; empty if it's not a role."""
    if kind in _RESULT_ROLES or kind in _ROLES:
        return kind
    return _OTHER_NAMES.get(kind, "")


def _has_calls(message: object) -> bool:
    return bool(get(message, "tool_calls") or get(message, "function_call"))


def _add_calls(message: object, walk: Walk) -> None:
    """Add the calls that a chat message has beside its content."""
    calls = [get(message, "tool_calls")]
    if is_sequence(calls[0]):
        calls = items(calls[0])
    for call in (*calls, get(message, "function_call")):
        if call:
            add_chat_call(call, walk)


def _add_body(message: object, walk: Walk) -> None:
    """Add a chat message's name, content, and what it can hold in addition to its content."""
    name = get(message, "name")
    if isinstance(name, str):
        walk.ledger.text(name)
        walk.ledger.other(*(walk.family.name,) * 3)
    elif name is not None:
        walk.rough(compact(name))
    content = first(message, "content", "parts")
    if content is not None:
        walk.part(content)
    elif not _has_calls(message):
        walk.ledger.width(width("empty"))
    _add_calls(message, walk)
    refusal = get(message, "refusal")
    if isinstance(refusal, str):
        walk.ledger.text(refusal)
        walk.ledger.width(width("item"))
    for field in ("reasoning_content", "reasoning", "thinking"):
        reasoning = get(message, field)
        if isinstance(reasoning, str) and reasoning:
            add_reasoning_text(reasoning, walk)
    audio = get(message, "audio")
    if audio is not None and not isinstance(audio, str | bool):
        media.add_audio(audio, walk)


def _add_framing_of(role: str, walk: Walk) -> None:
    """Add what isn't published about a message of this *role*."""
    if role in _RESULT_ROLES:
        walk.ledger.width(width("tool_result"))
    elif not role and walk.family.unnamed:
        walk.ledger.width(width("no_role"))
    elif role and role not in _ROLES and walk.family.published:
        walk.ledger.width(width("role"))


def _add_role(role: str, walk: Walk) -> None:
    if role and walk.family.roles:
        walk.ledger.text(role)
