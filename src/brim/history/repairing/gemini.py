"""Repairs Gemini's format: every content with calls stands behind the user's, and before one with all their results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brim.history.editing import with_fields
from brim.history.reading.gemini import call_in, is_empty_part, parts_of, result_in
from brim.history.repairing.functions import pair_functions
from brim.history.repairing.parts import set_parts
from brim.history.repairing.roles import give_roles
from brim.history.repairing.sides import split_sides
from brim.history.repairing.stubs import NO_BEGINNING, UNKNOWN_TOOL
from brim.history.repairing.words import words
from brim.history.speaking import user_message
from brim.tokens.messages.fields import get, string

if TYPE_CHECKING:
    from brim.history.repairing.draft import Draft, Pass, Slot


def fill_parts(draft: Draft) -> None:
    """Take out parts that hold nothing, and contents without parts; what one says elsewhere becomes its part."""
    for slot, entry in draft.read():
        parts = parts_of(slot.message)
        kept = [part for part in parts if not is_empty_part(part)]
        text = "" if parts else words(slot.message)
        if text.strip():
            role = "model" if entry.role == "assistant" else "user"
            draft.note(slot, "has-content", "changed", "what it says is a part of it")
            slot.message = {"role": role, "parts": [{"text": text}]}
        elif not parts:
            draft.note(slot, "has-content", "removed", text)
            draft.remove(slot)
        elif len(kept) < len(parts):
            draft.note(slot, "part-not-empty", "removed", words([part for part in parts if is_empty_part(part)]))
            set_parts(draft, slot, kept)


def split_contents(draft: Draft) -> None:
    """Give calls to the model and responses to the user."""
    split_sides(draft, parts_of, _side, {"assistant": "model", "user": "user"})


def _side(part: object) -> str:
    if call_in(part) is not None:
        return "assistant"
    return "user" if result_in(part) is not None else ""


def merge_before_calls(draft: Draft) -> None:
    """Join the model's contents before a call with it, so that the call comes right after the user."""
    run: list[Slot] = []
    for slot, entry in draft.read():
        if entry.calls and run:
            parts = [part for content in (*run, slot) for part in parts_of(content.message)]
            for content in run:
                draft.note(content, "call-after-user", "merged", "with the call that the model makes after it")
                set_parts(draft, content, [])
            set_parts(draft, slot, parts)
            run = []
        run = [*run, slot] if entry.role == "assistant" else []


def name_functions(draft: Draft) -> None:
    """Give a name to every call and response that has none: that of the other, or a stub."""
    names: list[str] = []
    for slot, entry in reversed(draft.read()):
        if entry.calls:
            names = [call.name or name or UNKNOWN_TOOL for call, name in zip(entry.calls, names, strict=False)]
            _set_names(draft, slot, "call", names)
        names = [result.name for result in entry.results]
    for slot, entry in draft.read():
        if entry.results:
            _set_names(draft, slot, "result", names)
        names = [call.name for call in entry.calls]


def _set_names(draft: Draft, slot: Slot, what: str, names: list[str]) -> None:
    """Name the calls, or the results, of a content where they have no name."""
    fields = ("functionCall", "function_call") if what == "call" else ("functionResponse", "function_response")
    left = list(names)
    changed: list[Any] = []
    for part in parts_of(slot.message):
        field = next((field for field in fields if get(part, field) is not None), "")
        name = left.pop(0) if field and left else ""
        if field and not string(get(get(part, field), "name")):
            draft.note(slot, f"{what}-has-name", "changed", f"named {name}; it was: {words(part)}")
            part = with_fields(part, **{field: with_fields(get(part, field), name=name)})  # noqa: PLW2901
        changed.append(part)
    if any(new is not old for new, old in zip(changed, parts_of(slot.message), strict=True)):
        set_parts(draft, slot, changed)


def begin_with_user(draft: Draft) -> None:
    """Let the user begin."""
    read = draft.read()
    if read and read[0][1].role == "assistant":
        draft.note(read[0][0], "first-is-user", "added", NO_BEGINNING)
        draft.insert(0, read[0][0].index, user_message("gemini", NO_BEGINNING))


PASSES: tuple[Pass, ...] = (
    give_roles,
    fill_parts,
    split_contents,
    merge_before_calls,
    pair_functions,
    name_functions,
    begin_with_user,
)
