"""Whose words a user message of a Codex rollout holds, and that each is told once.

The same words are written up to three times: as the item that the model gets and as one or two notes for the screen.
"""

from __future__ import annotations

import os

from brim.tracking.readers.fields import items, text, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_REQUEST = "## My request for Codex:"
_MOST = 64
_files: dict[str, tuple[str, ...]] = {}


def lines_of(name: str) -> tuple[str, ...]:
    """Return the lines of the data file *name*, in lower case, after the comment that it begins with."""
    if name not in _files:
        with open(os.path.join(os.path.dirname(__file__), "data", name), encoding="utf-8") as file:
            _files[name] = tuple([line.strip().lower() for line in file.readlines()[1:] if line.strip()])
    return _files[name]


def typed(payload: Mapping[str, Any], words: str) -> bool:
    """Return whether a person typed *words*, the text of the user message *payload*."""
    about = value(payload, "internal_chat_message_metadata_passthrough")
    sources = [text(part, "provenance", "type") for part in items(about, "content_item_metadata")]
    if any(sources):
        return "user" in sources
    return bool(words.strip()) and not words.lstrip().lower().startswith(lines_of("codex_machine.txt"))


def asked(words: str) -> str:
    """Return what was asked in *words*: editors put what is open in them before the request."""
    return words.rpartition(_REQUEST)[2].strip() if _REQUEST in words else words.strip()


class Heard:
    """Which words were told already. Two sources that say the same tell it once; one source twice tells it twice."""

    def __init__(self) -> None:
        self._times: dict[int, dict[str, int]] = {}

    def is_new(self, words: str, source: str) -> bool:
        """Take note that *source* says *words*; return whether nobody said it as often before."""
        times = self._times.setdefault(hash(words), {})
        most = max(times.values(), default=0)
        times[source] = times.get(source, 0) + 1
        while len(self._times) > _MOST:
            del self._times[next(iter(self._times))]
        return times[source] > most
