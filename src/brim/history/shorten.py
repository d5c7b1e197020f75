"""A long text cut in the middle: its beginning and its end stay, and a note says what is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brim.tokens.types import TokenCounter

HEAD = 0.6
"""The share of what stays that is the beginning: headers and first errors stand there; totals stand at the end."""
ROUNDS = 40


def shorten(text: str, limit: int, counter: TokenCounter) -> str:
    """Return *text* in at most *limit* tokens, as *counter* counts; *text* itself if it is no longer than that."""
    tokens = int(counter.count(text))
    if tokens <= limit:
        return text
    scale = 1.0
    for _ in range(ROUNDS):
        room = len(text) * limit * scale / tokens
        short = _cut(text, int(room * HEAD), int(room * (1 - HEAD)), tokens - int(limit * scale))
        size = int(counter.count(short))
        if size <= limit:
            return short
        scale *= 0.98 * limit / size
    return ""


def _cut(text: str, head: int, tail: int, gone: int) -> str:
    note = f"[about {gone:,} tokens are cut out here]"
    begin, end = text[:head], text[len(text) - tail :]
    # Whole lines read better: a border moves to the nearest line's end, if that costs less than a quarter.
    line = begin.rfind("\n")
    begin = begin[:line] if line > head * 3 // 4 else begin
    line = end.find("\n")
    end = end[line + 1 :] if 0 <= line < tail // 4 else end
    return f"{begin}\n{note}\n{end}"
