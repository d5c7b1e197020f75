"""Reads messages and their parts in every provider's format.

``Walk`` is one measurement on its way: what it adds to, for which model, at which message.
``add_message`` reads a chat message, an item of the Responses API, a Gemini turn or a string; each
kind of part has its own reader below.
"""

from __future__ import annotations

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
        self.ledger, self.family, self.names, self.messages = ledger, family, names, messages
        self.provider = family.provider
        self.index = 0
        self._left, self._seen = REPEATS, set[int]()
        self._depth = 0

    def begin(self, index: int) -> None:
        """Begin to read the message at *index*."""
        self.index = index
        if self._seen:
            self._left, self._seen = REPEATS, set()

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
            is_plain = isinstance(value, (bool, int, float, bytes)) or self._depth >= DEEPEST
            reader = None if is_plain else reader_of(value)
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
        several: list[object] = list(value)  # type: ignore[call-overload]
        if len(several) > 1:
            self.ledger.width(width("join"), len(several) - 1)
        if id(value) in self._seen:
            self._left -= len(several)
        self._seen.add(id(value))
        if self._depth >= DEEPEST or self._left < 0:
            self.rough(compact(value) if self._left >= 0 else "")
            return
        self._depth += 1
        for inner in several:
            self.part(inner)
        self._depth -= 1

    @cached_property
    def last_prompt(self) -> int:
        """Where a person spoke last; -1 if nowhere.

        What the model reasoned before that is an earlier turn's.
        """
        newest_first = range(len(self.messages) - 1, -1, -1)
        return next((at for at in newest_first if is_prompt(self.messages[at])), -1)

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
    for name, sent in (("summary", False), ("content", True), ("text", True), ("reasoning", True)):
        found = get(part, name)
        for inner in found if is_sequence(found) else (found,):  # type: ignore[attr-defined]
            add_reasoning_text(string(inner) or get(inner, "text"), walk, sent=sent)
    add_opaque(get(part, "encrypted_content") or get(part, "signature"), walk)


def add_reasoning_text(text: object, walk: Walk, *, sent: bool = True) -> None:
    """Add visible reasoning, which counts if it is *sent* to the model and the model keeps it."""
    if isinstance(text, str):
        walk.ledger.maybe(
            text, likely=sent and (walk.keeps_reasoning or walk.index >= walk.last_prompt)
        )
    walk.ledger.width(width("reasoning"))


def add_opaque(blob: object, walk: Walk) -> None:
    """Add a signature or encrypted content: nothing to the point, what it can hold at most to the
    interval."""
    if isinstance(blob, (str, bytes)) and blob:
        size = len(blob) * 3 // 4 if isinstance(blob, str) else len(blob)
        walk.ledger.other(0, 0, -(-size // load("reasoning")["bytes_per_token"]))
        walk.ledger.because("opaque reasoning content")


# Calls of tools and their results.

SIGNATURES = ("thoughtSignature", "thought_signature")


def _fields_by_type(group: str) -> dict[str, tuple[str, ...]]:
    rows = data_rows(__file__, "parts.tsv")
    return {kind: tuple(fields.split()) for found, kind, fields in rows if found == group}


CALLS, RESULTS, TEXTS = map(_fields_by_type, ("call", "result", "text"))
"""Type of a call, of a result or of a part inside a result, and the fields of it that the model is
sent."""


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
    found = first(part, "text", "refusal")
    if get(part, "thought") is True:
        add_reasoning_text(found, walk)
    else:
        walk.part(found)
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
    return next((reader for name, reader in KEYED.items() if get(value, name) is not None), None)


def is_prompt(message: object) -> bool:
    """Whether a person wrote *message*: results of tools also come in the name of the user."""
    role = string(get(message, "role"))
    if role not in ("user", "human"):
        # A content of Gemini's that names no role is the user's.
        return isinstance(message, str) or (not role and get(message, "parts") is not None)
    content = first(message, "content", "parts")
    several: list[object] = list(content) if is_sequence(content) else []  # type: ignore[call-overload]
    return not several or not all(
        string(get(part, "type")) in RESULTS
        or first(part, "functionResponse", "function_response") is not None
        for part in several
    )


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
    if isinstance(message, (bytes, bytearray, int, float)) or is_sequence(message):
        return False
    has_other_body = first(message, "content", "tool_calls", "function_call") is not None
    if is_sequence(get(message, "parts")) and not has_other_body:
        return has_gemini_parts(message)
    return (
        first(message, "role", "content", "parts", "type", "message", "tool_calls", "function_call")
        is not None
    )


GEMINI_PART_FIELDS = frozenset(
    (
        *(
            "text",
            "thought",
            "thought_signature",
            "inline_data",
            "file_data",
            "function_call",
            "function_response",
        ),
        *(
            "executable_code",
            "code_execution_result",
            "tool_call",
            "tool_response",
            "video_metadata",
        ),
        *(
            "media_resolution",
            "part_metadata",
            "audio_transcription",
            "media_processing",
            "speech_metadata",
        ),
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
    parts = get(message, "parts")
    if not is_sequence(parts):
        return False
    several: list[object] = list(parts)  # type: ignore[call-overload]
    if is_mapping(message):
        return not any(_has_kind(part) for part in several)
    return _has_field(message, "role") and all(_is_gemini_part(part) for part in several)


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
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


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
    inner = get(value, "parts")
    walk.part(value if inner is None else inner)
    walk.ledger.width(width("item"))


def _add_fields(message: object, walk: Walk) -> None:  # noqa: C901 - a parser: one branch for each field of a message
    kind, role = string(get(message, "type")), string(get(message, "role"))
    content, inner = first(message, "content", "parts"), get(message, "message")
    if not role and content is None and get(inner, "role") is not None:
        _add_fields(inner, walk)
        return
    if kind in PARTS and kind != "message":
        walk.part(message)
        walk.ledger.width(width("item"))
        return
    role = role or _OTHER_NAMES.get(kind, kind if kind in _RESULT_ROLES or kind in _ROLES else "")
    called = get(message, "tool_calls"), get(message, "function_call")
    if not role and content is None and not any(called):
        walk.ledger.other(*walk.family.message)
        walk.part(message)
        walk.ledger.width(width("no_role"))
        return
    walk.ledger.other(*walk.family.message)
    _add_role(role, walk)
    name = get(message, "name")
    if isinstance(name, str):
        walk.ledger.text(name)
        walk.ledger.other(*(walk.family.name,) * 3)
    elif name is not None:
        walk.rough(compact(name))
    if content is not None:
        walk.part(content)
    elif not any(called):
        walk.ledger.width(width("empty"))
    _add_rest(message, called, walk)
    if kind:
        walk.ledger.width(width("item"))
    if role in _RESULT_ROLES:
        walk.ledger.width(width("tool_result"))
    elif not role and walk.family.unnamed:
        walk.ledger.width(width("no_role"))
    elif role and role not in _ROLES and walk.family.published:
        walk.ledger.width(width("role"))


def _add_rest(message: object, called: tuple[object, object], walk: Walk) -> None:
    """Add what a chat message can hold in addition to its content."""
    several, one = called
    for call in (*(several if is_sequence(several) else (several,)), one):  # type: ignore[misc]
        if call:
            add_chat_call(call, walk)
    refusal = get(message, "refusal")
    if isinstance(refusal, str):
        walk.ledger.text(refusal)
        walk.ledger.width(width("item"))
    for name in ("reasoning_content", "reasoning", "thinking"):
        found = get(message, name)
        if isinstance(found, str) and found:
            add_reasoning_text(found, walk)
    audio = get(message, "audio")
    if audio is not None and not isinstance(audio, (str, bool)):
        media.add_audio(audio, walk)


def _add_role(role: str, walk: Walk) -> None:
    if role and walk.family.roles:
        walk.ledger.text(role)
