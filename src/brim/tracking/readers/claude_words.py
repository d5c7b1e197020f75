"""What a person typed to Claude Code, without what the client wrote around it.

A hook asks this at every prompt, so it imports nothing of the reader.
"""

from __future__ import annotations

from brim.files import data_lines

_TYPED_TAGS = (("bash-input", "!"), ("user-memory-input", "#"))
"""What a person typed behind a sign of its own, and the sign."""
_REMINDER = "system-reminder"
_BEFORE = (f"<{_REMINDER}>", "<ide_", "<new-diagnostics>")
"""How a block opens that may stand before a person's words: what an editor shows, and reminders."""


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
    if opening.startswith(data_lines(__file__, "machine_openings.txt")):
        return ""
    return opening if written.lstrip() != opening else written


def _without_blocks(opening: str) -> str:
    """Return *opening* without the whole blocks that the client put before a person's words.

    A block goes to the last of its closing tags: what it shows may hold one too, and no person
    typed it.
    """
    while opening.startswith(_BEFORE):
        tag, closed, _ = opening[1:].partition(">")
        _, found, rest = opening.rpartition(f"</{tag}>")
        if not (closed and found):
            break
        opening = rest.lstrip()
    return opening


def _without_reminders(written: str) -> str:
    """Return *written* without the blocks that the client put after it, each from the beginning of
    a line."""
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
