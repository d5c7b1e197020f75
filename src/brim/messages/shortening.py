"""Texts cut in the middle, so that beginning and end stay."""

from __future__ import annotations

from brim.tokens.protocol import TokenCounter

HEAD = 0.6
"""The share of what stays that comes from the beginning: headers and first errors are there, totals
at the end."""
ROUNDS = 40
NOTE = 20
"""Tokens that the note may take."""
SMALLEST = 40
"""A text shortened to fewer tokens would hold little more than the note."""


def shorten_text(text: str, limit: int, counter: TokenCounter) -> str:
    """Return *text*, cut in the middle to at most *limit* tokens if it is longer."""
    tokens = int(counter.count(text))
    if tokens <= limit:
        return text

    scale = 1.0
    for _ in range(ROUNDS):
        room = len(text) * limit * scale / tokens
        gone = tokens - int(limit * scale)
        short = _cut(text, int(room * HEAD), int(room * (1 - HEAD)), gone)
        size = int(counter.count(short))
        if size <= limit:
            return short

        scale *= 0.98 * limit / size

    return ""


def shorten_together(texts: list[str], limit: int, counter: TokenCounter) -> list[str]:
    """Return *texts* in at most *limit* tokens together: the short ones whole, the long ones an
    equal share each.

    If there are too many for that, the first and the last stay, and those between them are emptied.
    """
    sizes = [int(counter.count(text)) for text in texts]
    if sum(sizes) <= limit:
        return texts

    share = _equal_share(sizes, limit)
    if share < SMALLEST:
        return _Ends(texts, sizes, counter).shortened(limit)

    short = []
    for text, size in zip(texts, sizes, strict=True):
        short.append(text if size <= share else shorten_text(text, share, counter))

    return short


def _equal_share(sizes: list[int], limit: int) -> int:
    """Return how many tokens each long text gets after the short ones stayed whole."""
    share = limit
    room = limit
    ascending = sorted(sizes)
    for at, size in enumerate(ascending):
        share = room // (len(ascending) - at)
        if size > share:
            break

        room -= size

    return share


class _Ends:
    """The first and the last of some texts, as many as fit."""

    def __init__(
        self,
        texts: list[str],
        sizes: list[int],
        counter: TokenCounter,
    ) -> None:
        self.texts = texts
        self.sizes = sizes
        self.counter = counter
        self.begin = 0
        """The first text that doesn't stay whole."""
        self.end = len(texts)
        """The first text that stays whole again."""

    def shortened(self, limit: int) -> list[str]:
        """Return the texts that fit into *limit*, and empty texts between them; the first says
        so."""
        room = max(0, limit - NOTE)
        head = int(room * HEAD)
        tail = room - head
        while self.begin < self.end and self.sizes[self.begin] <= head:
            head -= self.sizes[self.begin]
            self.begin += 1

        while self.end > self.begin and self.sizes[self.end - 1] <= tail:
            tail -= self.sizes[self.end - 1]
            self.end -= 1

        return self.texts[: self.begin] + self._middle(head, tail) + self.texts[self.end :]

    def _middle(self, head: int, tail: int) -> list[str]:
        """Return what stands in place of the texts that don't stay whole."""
        cut = self.end - self.begin
        if not cut:
            return []

        first = ""
        last = ""
        if self.begin == 0:
            first = part_of(self.texts[0], head, self.counter)

        if self.end == len(self.texts) > 1:
            last = part_of(self.texts[-1], tail, self.counter, from_end=True)

        visible = int(self.counter.count(first)) + int(self.counter.count(last))
        gone = sum(self.sizes[self.begin : self.end]) - visible
        note = f"{first}\n{_note(gone)}".lstrip("\n")
        if cut == 1:
            return [f"{note}\n{last}".rstrip("\n")]

        return [note, *[""] * (cut - 2), last]


def part_of(
    text: str,
    limit: int,
    counter: TokenCounter,
    *,
    from_end: bool = False,
) -> str:
    """Return as much of the beginning, or end, of *text* as takes at most *limit* tokens."""
    size = min(len(text), len(text) * limit // max(1, int(counter.count(text))))
    while size > 0:
        part = text[-size:] if from_end else text[:size]
        tokens = int(counter.count(part))
        if tokens <= limit:
            return part

        size = min(size - 1, size * limit // tokens)

    return ""


def _note(gone: int) -> str:
    return f"[about {gone:,} tokens are cut out here]"


def _cut(
    text: str,
    head: int,
    tail: int,
    gone: int,
) -> str:
    """Return *head* characters of the beginning and *tail* of the end of *text*.

    Whole lines read better: a border moves to the nearest line's end, if that costs less than a
    quarter.
    """
    begin = text[:head]
    end = text[len(text) - tail :]
    last_line = begin.rfind("\n")
    if last_line > head * 3 // 4:
        begin = begin[:last_line]

    first_line = end.find("\n")
    if 0 <= first_line < tail // 4:
        end = end[first_line + 1 :]

    return f"{begin}\n{_note(gone)}\n{end}"
