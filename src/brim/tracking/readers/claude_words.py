"""Tells what a person typed from what Claude Code wrote into the same kind of message."""

from __future__ import annotations

import os

from brim.tracking.readers.fields import flag, text, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_openings: list[str] = []
_TYPED_TAGS = (("bash-input", "!"), ("user-memory-input", "#"))
"""What a person typed behind a sign of its own, and the sign."""
_REMINDER = "system-reminder"
_BEFORE = (f"<{_REMINDER}>", "<ide_", "<new-diagnostics>")
"""How a block opens that may stand before a person's words: what an editor shows, and reminders."""


def words(line: Mapping[str, Any], content: object) -> tuple[str, bool]:
    """Return the text of a user's *line*, and whether a person typed it; then without what the client added.

    A slash command is what was typed: ``/model sonnet``.
    """
    everything = text_of(content)
    if not everything or _is_machines(line):
        return everything, False
    parts = content if isinstance(content, list) else [content]
    typed = [found for part in parts if (found := typed_text(text_of(part)))]
    return ("\n".join(typed), True) if typed else (everything, False)


def typed_text(written: str) -> str:
    """Return what a person typed to get *written*, empty if no person did.

    >>> typed_text("<command-name>/model</command-name>\\n<command-args>sonnet</command-args>")
    '/model sonnet'
    """
    written = _without_reminders(written)
    opening = _without_blocks(written.lstrip())
    if opening.startswith("<command-") and (name := tagged(opening, "command-name")):
        arguments = tagged(opening, "command-args")
        return f"/{name.removeprefix('/')} {arguments}".rstrip()
    for tag, sign in _TYPED_TAGS:
        if opening.startswith(f"<{tag}>"):
            return sign + tagged(opening, tag)
    if opening.startswith(_machine_openings()):
        return ""
    return opening if written.lstrip() != opening else written


def _without_blocks(opening: str) -> str:
    """Return *opening* without the whole blocks that the client put before a person's words.

    A block goes to the last of its closing tags: what it shows may hold one too, and is nobody's words.
    """
    while opening.startswith(_BEFORE):
        tag, closed, _ = opening[1:].partition(">")
        _, found, rest = opening.rpartition(f"</{tag}>")
        if not (closed and found):
            break
        opening = rest.lstrip()
    return opening


def _without_reminders(written: str) -> str:
    """Return *written* without the blocks that the client put after it, each from the beginning of a line."""
    while written.rstrip().endswith(f"</{_REMINDER}>"):
        before, opened, _ = written.rpartition(f"\n<{_REMINDER}>")
        if not opened:
            break
        written = before.rstrip("\n")
    return written


def tagged(written: str, tag: str) -> str:
    """Return what stands between ``<tag>`` and ``</tag>`` in *written*, empty if nothing does."""
    _, opened, rest = written.partition(f"<{tag}>")
    inside, closed, _ = rest.partition(f"</{tag}>")
    return inside.strip() if opened and closed else ""


def _is_machines(line: Mapping[str, Any]) -> bool:
    return (
        any(flag(line, sign) for sign in ("isMeta", "isSynthetic", "isSidechain", "isVisibleInTranscriptOnly"))
        or text(line, "origin", "kind") not in ("", "human")
        or text(line, "promptSource") == "system"
        or bool(text(line, "parent_tool_use_id") or text(line, "sourceToolUseID"))
    )


def _machine_openings() -> tuple[str, ...]:
    if not _openings:
        with open(os.path.join(os.path.dirname(__file__), "data", "machine_openings.txt"), encoding="utf-8") as file:
            _openings.extend(line.strip() for line in file if line.strip() and not line.startswith("#"))
    return tuple(_openings)
