"""Makes entries that may be stored: without secrets, without what steers a terminal, and never endless."""

from __future__ import annotations

from brim.masking import mask
from brim.scratch.entries import Entry, identity
from brim.scratch.quoting import begun, cleaned, one_line, shortened
from brim.scratch.telling import telling_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

LONGEST_QUOTE = 20_000
LONGEST_OUTPUT = 2_000
"""The most characters that are kept of what an agent wrote and a tool printed. What a person typed is kept whole."""
_LOOKED_AT = 200_000


def draft(
    kind: str,
    text: str,
    *,
    session: str = "",
    agent: str = "",
    time: float | None = None,
    source: str = "",
    refs: Mapping[str, Any] | None = None,
) -> Entry:
    """Return an entry without a number. *source* is what tells this event from others of the same text."""
    kept = {key: mask(cleaned(value)) if isinstance(value, str) else value for key, value in (refs or {}).items()}
    if "output" in kept:
        kept["output"] = stored(kept["output"], LONGEST_OUTPUT)
    safe = stored(text) if "outcome" in kept or kind == "artifact" else mask(cleaned(text))
    id = identity(session, kind, safe, source) if source else ""
    return Entry(kind=kind, text=safe, id=id, session=session, agent=agent, time=time, refs=kept)


def stored(text: str, most: int = LONGEST_QUOTE) -> str:
    """Return a text of an agent or a tool as it is kept: one masked line."""
    # Masked before it is cut, since half of a secret is not recognised; and again as one line, where a name and its
    # value stand beside each other that were on two.
    return shortened(mask(one_line(mask(cleaned(_beginning(text))))), most)


def first_error(output: str) -> str:
    """Return the line of *output* that says best what went wrong, else its first line.

    >>> first_error("Exit code 1\\ncollected 3 items\\nE   AssertionError: 2 != 3\\nFAILED test_a.py")
    'E AssertionError: 2 != 3'
    """
    lines = mask(cleaned(_beginning(output))).split("\n")
    return shortened(mask(one_line(telling_line(lines))), LONGEST_OUTPUT)


def _beginning(text: str) -> str:
    """Return as much of *text* as is looked at: whole lines, since a secret is not recognised by its half."""
    if len(text) <= _LOOKED_AT:
        return text
    cut = text.rfind("\n", 0, _LOOKED_AT)
    return text[:cut] if cut > 0 else begun(text, _LOOKED_AT)
