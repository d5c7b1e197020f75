"""Gives every message somebody who says it, and turns what is no message at all into one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brim.history.editing import is_structured, with_fields
from brim.history.reading.chat import type_name
from brim.history.reading.entry import filled
from brim.history.repairing.words import words
from brim.tokens.messages.fields import get, is_sequence, string

if TYPE_CHECKING:
    from brim.history.repairing.draft import Draft, Slot
    from brim.history.types import Provider

NAMES = {"human": "user", "ai": "assistant", "model": "assistant"}
"""What other programs call the two who speak."""
KNOWN: dict[Provider, tuple[str, ...]] = {
    "openai": ("system", "developer", "user", "assistant", "tool", "function"),
    "responses": ("system", "developer", "user", "assistant"),
    "anthropic": ("system", "user", "assistant"),
    "gemini": ("user", "model"),
}


def give_roles(draft: Draft) -> None:
    """Let a known role say what an unknown one says, or nobody."""
    for slot, entry in draft.read():
        if entry.role:
            continue
        text = words(slot.message)
        if not text.strip() and not _calls(slot.message):
            draft.note(slot, "known-role", "removed", text)
            draft.remove(slot)
            continue
        role = role_for(slot.message, draft.provider)
        draft.note(slot, "known-role", "changed", f"role {get(slot.message, 'role')!r} to {role!r}")
        slot.message = _said_by(slot, role, text, draft.provider)


def role_for(message: Any, provider: Provider) -> str:
    """Return who most probably says *message*: by the name of the role, else by what the message holds."""
    name = (string(get(message, "role")) or type_name(message)).lower()
    name = NAMES.get(name, name)
    if name == "assistant" and provider == "gemini":
        name = "model"
    if name in KNOWN[provider]:
        return name
    if provider == "openai" and string(get(message, "tool_call_id")):
        return "tool"
    return "assistant" if _calls(message) and provider != "gemini" else "user"


def _said_by(slot: Slot, role: str, text: str, provider: Provider) -> Any:
    """Return the message with *role*; if it has no content of its format, what it says becomes one."""
    message, body = slot.message, "parts" if provider == "gemini" else "content"
    if is_structured(message) and (filled(get(message, body)) or (_calls(message) and role == "assistant")):
        return with_fields(message, role=role)
    return {"role": role, body: [{"text": text}] if provider == "gemini" else text}


def _calls(message: Any) -> bool:
    """Whether *message* calls something, as a message of OpenAI's or of Anthropic's does."""
    content = get(message, "content")
    blocks = content if is_sequence(content) else []
    if any(string(get(block, "type")) == "tool_use" for block in blocks):  # type: ignore[attr-defined]
        return True
    return is_sequence(get(message, "tool_calls")) and filled(get(message, "tool_calls"))
