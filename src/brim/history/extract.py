"""A summary without a model: the words of the people first, then what was called and what was said, cut to a budget.

It is deterministic and invents nothing: every line is quoted or counted.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from brim.history.words import result_text, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brim.history.reading.entry import Entry
    from brim.tokens.counters import TokenCounter

HEAD = re.compile(r"Summary of [\d,]+ earlier messages, made by quoting:")
"""The first line of a summary."""
LINE = 200
"""A quoted line has at most so many characters."""
TROUBLE = ("error", "traceback", "failed", "exception", "denied", "not found")
"""A line of a result that holds one of these words is worth a line of the summary."""


def extract(entries: Sequence[Entry], counter: TokenCounter, budget: int) -> str:
    """Return a summary of *entries* of at most *budget* tokens, the most important lines; empty if none goes in."""
    head = f"Summary of {len(entries):,} earlier messages, made by quoting:"  # HEAD matches it
    lines = [
        *((0, at, line) for at, entry in enumerate(entries) if entry.is_prompt for line in _said(entry)),
        *((1, len(entries), line) for line in _calls(entries)),
        *((2, at, f"- a tool: {line}") for at, e in enumerate(entries) if e.results for line in _troubles(e)),
        *((3, at, f"- the assistant: {_line(text_of(e.message))}") for at, e in enumerate(entries) if _speaks(e)),
    ]
    room = budget - int(counter.count(head)) - 1
    if room < 0:
        return ""
    chosen = []
    # The newest of each kind matter most, so they are taken first; what is printed stands in its own order.
    for rank, at, line in sorted(lines, key=lambda row: (row[0], -row[1])):
        tokens = int(counter.count(line)) + 1
        if tokens <= room:
            room -= tokens
            chosen.append((at, rank, line))
    return "\n".join([head, *(line for _, _, line in sorted(chosen))])


def _said(entry: Entry) -> list[str]:
    """Return the user's words as a line; of an earlier summary, which speaks for the user, the lines it has."""
    text = text_of(entry.message)
    if text.startswith("<summary>") and text.endswith("</summary>"):
        lines = text.removeprefix("<summary>").removesuffix("</summary>").splitlines()
        return [f"- {_line(line.removeprefix('- '))}" for line in lines if line.strip() and not HEAD.fullmatch(line)]
    return [f"- the user: {_line(text)}"]


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
