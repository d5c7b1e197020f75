"""A summary without a model: the words of the people first, then what was called and what was said, cut to a budget.

It is deterministic and invents nothing: every line is quoted or counted.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from brim.history.words import result_text, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brim.history.reading.entry import Entry
    from brim.tokens.types import TokenCounter

LINE = 200
"""A quoted line has at most so many characters."""
TROUBLE = ("error", "traceback", "failed", "exception", "denied", "not found")
"""A line of a result that holds one of these words is worth a line of the summary."""


def extract(entries: Sequence[Entry], counter: TokenCounter, budget: int) -> str:
    """Return a summary of *entries* of at most *budget* tokens; the most important lines first, then in order."""
    head = f"Summary of {len(entries):,} earlier messages, made by quoting:"
    lines = [
        *((0, at, f"- the user: {_line(text_of(e.message))}") for at, e in enumerate(entries) if e.is_prompt),
        *((1, len(entries), line) for line in _calls(entries)),
        *((2, at, f"- a tool: {line}") for at, e in enumerate(entries) if e.results for line in _troubles(e)),
        *((3, at, f"- the assistant: {_line(text_of(e.message))}") for at, e in enumerate(entries) if _speaks(e)),
    ]
    room = budget - int(counter.count(head)) - 1
    chosen = []
    # The newest of each kind matter most, so they are taken first; what is printed stands in its own order.
    for rank, at, line in sorted(lines, key=lambda row: (row[0], -row[1])):
        tokens = int(counter.count(line)) + 1
        if tokens <= room:
            room -= tokens
            chosen.append((at, rank, line))
    return "\n".join([head, *(line for _, _, line in sorted(chosen))])


def _speaks(entry: Entry) -> bool:
    return entry.role == "assistant" and bool(text_of(entry.message))


def _calls(entries: Sequence[Entry]) -> list[str]:
    names = Counter(call.name or "a tool" for entry in entries for call in entry.calls)
    if not names:
        return []
    return ["- called: " + ", ".join(f"{name} ({count})" for name, count in sorted(names.items()))]


def _troubles(entry: Entry) -> list[str]:
    lines = result_text(entry.message).splitlines()
    found = [line for line in lines if any(word in line.lower() for word in TROUBLE)]
    return [_line(found[-1])] if found else []


def _line(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= LINE else words[: LINE - 1].rstrip() + "…"
