"""What is in the parts of a Gemini CLI message: words, what the client put around them, and what tools answered."""

from __future__ import annotations

import re

from brim.tracking.readers.fields import mapping, text, text_of, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HOOK, _HOOK_END = "<hook_context>", "</hook_context>"
_AROUND = re.compile(r"</?untrusted_context>\n?|^Process Group PGID: \d+\n?", re.MULTILINE)
_EXIT = re.compile(r"^Exit Code: (-?\d{1,9})$", re.MULTILINE)
_MACHINE = ("<session_context>", "<environment_context>", "<state_snapshot>", "<loaded_context>")


def words(content: object) -> str:
    """Return the words in *content* without what hooks added to them."""
    rest, kept = text_of(content), []
    begin = 0
    while (start := rest.find(_HOOK, begin)) >= 0 and (end := rest.find(_HOOK_END, start)) >= 0:
        kept.append(rest[begin:start])
        begin = end + len(_HOOK_END)
    return "".join([*kept, rest[begin:]]).strip()


def is_typed(said: str) -> bool:
    """Return whether a person typed *said*, the words of a user message."""
    return bool(said) and not said.startswith(_MACHINE)


def answered(result: object) -> str:
    """Return the text that a tool answered, without what differs each time.

    It is a list of parts with a ``functionResponse`` each, or a text.
    """
    parts = result if isinstance(result, list) else [result]
    found = [_response(part) or text_of(part) for part in parts]
    return _AROUND.sub("", words("\n".join([part for part in found if part])))


def exit_code(said: str) -> int | None:
    """Return the exit code that a shell's answer names, None if it names none: it is said only if it is not 0."""
    found = _EXIT.search(said)
    return int(found[1]) if found else None


def failure(part: object) -> str:
    """Return the error in a tool's answer, empty if there is none."""
    parts = part if isinstance(part, list) else [part]
    return next((found for found in [text(one, "functionResponse", "response", "error") for one in parts] if found), "")


def _response(part: object) -> str:
    response: Any = mapping(value(part, "functionResponse"), "response")
    return text(response, "output") or text(response, "error") or text_of(value(response, "content"))
