"""A long text cut in the middle: its beginning and its end stay, and a note says what is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from brim.tokens.counters import TokenCounter

HEAD = 0.6
"""The share of what stays that is the beginning: headers and first errors stand there; totals stand at the end."""
ROUNDS = 40
NOTE = 20
"""Tokens that the note may take."""
SMALLEST = 40
"""A text shortened to fewer tokens would hold little more than the note."""


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


def shorten_together(texts: list[str], limit: int, counter: TokenCounter) -> list[str]:
    """Return *texts* in at most *limit* tokens together: the short ones whole, the long ones an equal share each.

    If there are too many for that, the first and the last stay, and those between them are emptied.
    """
    sizes = [int(counter.count(text)) for text in texts]
    if sum(sizes) <= limit:
        return texts
    share, left, room = limit, sorted(sizes), limit
    while left:
        share = room // len(left)
        if left[0] > share:
            break
        room -= left.pop(0)
    if share < SMALLEST:
        return _ends(texts, sizes, limit, counter)
    return [text if size <= share else shorten(text, share, counter) for text, size in zip(texts, sizes, strict=True)]


def _ends(texts: list[str], sizes: list[int], limit: int, counter: TokenCounter) -> list[str]:
    """Return the first and the last of *texts*, as many as fit, and empty texts between them; the first says so."""
    room = max(0, limit - NOTE)
    head, tail, begin, end = int(room * HEAD), room - int(room * HEAD), 0, len(texts)
    while begin < end and sizes[begin] <= head:
        head -= sizes[begin]
        begin += 1
    while end > begin and sizes[end - 1] <= tail:
        tail -= sizes[end - 1]
        end -= 1
    first = _part(texts[begin], head, counter) if begin == 0 < end else ""
    last = _part(texts[end - 1], tail, counter, from_end=True) if begin < end == len(texts) > 1 else ""
    gone = sum(sizes[begin:end]) - int(counter.count(first)) - int(counter.count(last))
    note = f"{first}\n[about {gone:,} tokens are cut out here]".lstrip("\n")
    middle = [note, *[""] * (end - begin - 2), last] if end - begin > 1 else [f"{note}\n{last}".rstrip("\n")]
    return [*texts[:begin], *(middle if begin < end else []), *texts[end:]]


def _part(text: str, limit: int, counter: TokenCounter, *, from_end: bool = False) -> str:
    """Return as much of the beginning, or end, of *text* as takes at most *limit* tokens."""
    size = min(len(text), len(text) * limit // max(1, int(counter.count(text))))
    while size > 0:
        part = text[len(text) - size :] if from_end else text[:size]
        tokens = int(counter.count(part))
        if tokens <= limit:
            return part
        size = min(size - 1, size * limit // tokens)
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
