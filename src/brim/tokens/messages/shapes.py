"""Reads one message: a chat message, an item of the Responses API, a turn of Gemini, a string, or none of these."""

from __future__ import annotations

from brim.tokens.messages.fields import compact, get, is_sequence, string
from brim.tokens.messages.rules import width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.tokens.messages.walk import Walk

__all__ = ["add_message", "add_system"]

_ROLES = frozenset(("system", "user", "assistant"))
"""The roles that the published rule knows."""
_PLAIN = frozenset(("role", "content", "name"))
_OTHER_NAMES = {"human": "user", "ai": "assistant"}
_RESULT_ROLES = frozenset(("tool", "function"))


def add_message(message: object, walk: Walk) -> None:
    """Add *message* with its framing; whatever it is, it does not raise."""
    if type(message) is dict and _PLAIN.issuperset(message) and _add_plain(message, walk):
        return
    if message is None:
        walk.ledger.width(width("empty"))
    elif isinstance(message, str):
        _frame(walk)
        walk.ledger.text(message)
        walk.ledger.width(width("no_role"))
    elif is_sequence(message) or isinstance(message, (bytes, int, float)):
        _frame(walk)
        walk.part(message)
        walk.ledger.width(width("no_role"))
    else:
        _add_fields(message, walk)


def add_system(value: object, walk: Walk) -> None:
    """Add a system text that is given apart from the messages: a string, blocks, or an object with parts."""
    if value is None:
        return
    _frame(walk)
    _add_role("system", walk)
    inner = get(value, "parts")
    walk.part(inner if inner is not None else value)
    walk.ledger.width(width("item"))


def _add_plain(message: dict[object, object], walk: Walk) -> bool:
    """The common case, without detours: role, text, perhaps a name."""
    role, content, name = message.get("role"), message.get("content"), message.get("name")
    if not (type(role) is type(content) is str and role in _ROLES and (name is None or type(name) is str)):
        return False
    _frame(walk)
    _add_role(role, walk)
    _add_name(name, walk)
    walk.ledger.text(content)
    return True


def _add_fields(message: object, walk: Walk) -> None:
    from brim.tokens.messages.parts import PARTS

    kind, role = string(get(message, "type")), string(get(message, "role"))
    content = get(message, "content")
    if content is None:
        content = get(message, "parts")
    inner = get(message, "message")
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
        _frame(walk)
        walk.part(message)
        walk.ledger.width(width("no_role"))
        return
    _frame(walk)
    _add_role(role, walk)
    _add_name(get(message, "name"), walk)
    _add_content(content, bool(any(called)), walk)
    _add_rest(message, called, walk)
    if kind:
        walk.ledger.width(width("item"))
    if role in _RESULT_ROLES:
        walk.ledger.width(width("tool_result"))
    elif not role and walk.family.unnamed:
        walk.ledger.width(width("no_role"))
    elif role and role not in _ROLES and walk.family.published:
        walk.ledger.width(width("role"))


def _add_content(content: object, called: bool, walk: Walk) -> None:
    if content is None:
        if not called:
            walk.ledger.width(width("empty"))
        return
    walk.part(content)


def _add_rest(message: object, called: tuple[object, object], walk: Walk) -> None:
    """What a chat message can hold beside its content."""
    from brim.tokens.messages.calls import add_chat_call
    from brim.tokens.messages.media import add_audio
    from brim.tokens.messages.reasoning import add_reasoning_text

    several, one = called
    for call in several if is_sequence(several) else (several,):  # type: ignore[attr-defined]
        if call:
            add_chat_call(call, walk)
    if one:
        add_chat_call(one, walk)
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
        add_audio(audio, walk)


def _frame(walk: Walk) -> None:
    walk.ledger.other(*walk.family.message)


def _add_role(role: str, walk: Walk) -> None:
    if role and walk.family.roles:
        walk.ledger.text(role)


def _add_name(name: object, walk: Walk) -> None:
    if name is None:
        return
    if isinstance(name, str):
        walk.ledger.text(name)
        walk.ledger.other(*(walk.family.name,) * 3)
    else:
        walk.unknown(compact(name))
