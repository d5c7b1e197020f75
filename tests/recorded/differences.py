"""What may differ from the recordings, each with its reason."""

from __future__ import annotations

import re

WORDS: dict[str, str] = {}
"""Recorded words, as regular expressions, and the words that stand there now."""

REMOVED: tuple[str, ...] = ()
"""Places that are no longer answered, as ``scenario/answer/key/key``; ``*`` stands for anything."""


def reworded(text: str) -> str:
    """Return a recorded text in today's words."""
    for recorded, now in WORDS.items():
        text = re.sub(recorded, now, text)
    return text
