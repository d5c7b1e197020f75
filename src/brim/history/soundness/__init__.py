"""Which messages can never be sent? One function per provider finds them; ``find_broken`` repeats it until all are out.

A pruner only selects. What the provider refuses wherever it stands (a result without its call, a call that was never
answered) must leave, whatever the target is. Leaving can break others (the results of such a call), hence the loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim.history.soundness.anthropic import broken_messages, is_empty_answer
from brim.history.soundness.chat import broken_chat
from brim.history.soundness.gemini import broken_contents
from brim.history.soundness.responses import broken_items

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from brim.history.reading.entry import Entry
    from brim.history.types import Provider

__all__ = ["find_broken"]

FINDERS: dict[Provider, Callable[[Sequence[Entry]], dict[int, str]]] = {
    "openai": broken_chat,
    "responses": broken_items,
    "anthropic": broken_messages,
    "gemini": broken_contents,
}


def find_broken(entries: Sequence[Entry], provider: Provider) -> dict[int, str]:
    """Return the messages that *provider* refuses wherever they stand: their index, and why."""
    found = {entry.index: entry.problem for entry in entries if entry.problem}
    if provider == "anthropic" and entries and is_empty_answer(entries[-1]):
        del found[entries[-1].index]
    left = [entry for entry in entries if entry.index not in found]
    while True:
        more = FINDERS[provider](left)
        if not more:
            return found
        found.update(more)
        left = [entry for entry in left if entry.index not in more]
