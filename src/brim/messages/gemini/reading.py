"""Reads a content of Gemini's, and its parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from brim.messages.content import call_of, items_of
from brim.messages.entries import NO_FAULT, Entry, EntryCall, Fault, Role, unknown_role
from brim.tokens.messages.fields import first, get, pairs, string

ROLES: dict[str, Role] = {
    "user": "user",
    "model": "assistant",
    "function": "user",
    "tool": "user",
    "": "user",
}
"""A content without a role is the user's; old programs answer calls as ``function``, Google's own
SDK as ``tool``."""
NO_DATA = frozenset(
    ("thought", "thoughtSignature", "thought_signature", "videoMetadata", "video_metadata")
)
"""Fields of a part that describe its data and aren't data themselves."""
CALLS = ("functionCall", "function_call")
RESULTS = ("functionResponse", "function_response")


def parts_of(content: object) -> list[Any]:
    """Return the parts of *content*; a text is one part."""
    if isinstance(content, str):
        return items_of(content)

    return items_of(get(content, "parts"))


def call_in(part: object) -> object:
    """Return the function call in *part*, or None."""
    return first(part, *CALLS)


def result_in(part: object) -> object:
    """Return the function response in *part*, or None."""
    return first(part, *RESULTS)


def is_empty_part(part: object) -> bool:
    """Whether *part* holds no data at all: no text, not even an empty one, no image, no call."""
    if isinstance(part, str):
        return False

    return all(name in NO_DATA for name, _ in pairs(part))


def _says_something(part: object) -> bool:
    """Whether *part* is more than a thought."""
    return not is_empty_part(part) and get(part, "thought") is not True


@dataclass(frozen=True, slots=True)
class ContentParts:
    """The parts of one content, sorted."""

    calls: list[EntryCall]
    results: list[EntryCall]
    other_parts: list[Any]
    """Parts that are neither calls nor results."""

    @classmethod
    def of(cls, parts: list[Any]) -> ContentParts:
        """Return *parts*, sorted."""
        sorted_parts = cls([], [], [])
        for part in parts:
            if call_in(part) is not None:
                sorted_parts.calls.append(call_of(call_in(part)))
            elif result_in(part) is not None:
                sorted_parts.results.append(call_of(result_in(part)))
            else:
                sorted_parts.other_parts.append(part)

        return sorted_parts

    @property
    def says(self) -> bool:
        """Whether there is more than calls, results and thoughts."""
        return any(_says_something(part) for part in self.other_parts)

    def fault(self, role: Role) -> Fault:
        """Return the rule that a content of *role* with these parts breaks."""
        if self.calls and role != "assistant":
            return "call-by-assistant", "only the model can call a function"

        if self.results and role != "user":
            return "result-by-user", "only the user can answer a call"

        return self._fault_inside()

    def _fault_inside(self) -> Fault:
        """Return the rule that a part breaks, whoever says it."""
        if any(not result.name for result in self.results):
            return "result-has-name", "a function response has no name"

        if any(not call.name for call in self.calls):
            return "call-has-name", "a call has no name"

        if not (self.calls or self.results or self.other_parts):
            return "has-content", "it has no parts"

        if any(is_empty_part(part) for part in self.other_parts):
            return "part-not-empty", "a part of it is empty"

        return NO_FAULT


def read_content(index: int, message: object) -> Entry:
    """Return what the content *message* holds."""
    if isinstance(message, str):
        fault = NO_FAULT if message else ("has-content", "it is empty")
        return Entry(
            index,
            message,
            "user",
            says=True,
            fault=fault,
        )

    name = string(get(message, "role"))
    role = ROLES.get(name, "")
    if not role:
        problem = f"{name!r} is not a role: only user and model speak"
        return unknown_role(index, message, "", problem)

    parts = parts_of(message)
    sorted_parts = ContentParts.of(parts)
    thoughts = [get(part, "thought") is True for part in parts]
    return Entry(
        index,
        message,
        role,
        calls=tuple(sorted_parts.calls),
        results=tuple(sorted_parts.results),
        says=sorted_parts.says,
        reasons=any(thoughts),
        ends_in_reasoning=bool(thoughts) and thoughts[-1],
        fault=sorted_parts.fault(role),
    )
