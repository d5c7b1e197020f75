"""Byte-pair merging: into how many tokens does one piece of text fall?

The rule is the vocabulary's own: of all neighbouring parts whose joined bytes are a token, join the pair of the lowest
rank, the leftmost of equals, until no pair is left.
"""

from __future__ import annotations

from brim.tokens.table import NO_RANK, Table

WINDOW = 96
"""Bytes that are merged at a time: a longer piece is merged window by window."""

MARGIN = 16
"""Bytes at a window's end whose tokens are not kept, because what follows may still change them."""

WINDOWS_SEEN = 64
"""Windows remembered while one piece is merged: enough for a run, whose windows are all alike."""

STEPS_KEPT = 1024
"""Windows that can be taken back, one after the other; beyond that the piece is begun again."""

REMEMBERED = 1 << 18
"""Ranks, and joins of windows, that are remembered per vocabulary."""


class _Ranks(dict[bytes, int]):
    """Ranks looked up in the table once, then at the speed of a dict; bounded."""

    __slots__ = ("_rank",)

    def __init__(self, table: Table) -> None:
        self._rank = table.rank

    def __missing__(self, token: bytes) -> int:
        if len(self) >= REMEMBERED:
            self.clear()
        rank = self[token] = self._rank(token)
        return rank


class Merger:
    """Counts the tokens of pieces of one vocabulary."""

    __slots__ = ("_joins", "_margin", "_ranks", "_window")

    def __init__(self, table: Table, window: int = WINDOW, margin: int = MARGIN) -> None:
        self._ranks = _Ranks(table)
        self._joins: dict[tuple[bytes, bytes], bool] = {}
        self._window = window
        self._margin = margin

    def count(self, piece: bytes) -> int:
        """Return the number of tokens of *piece*."""
        if len(piece) > self._window:
            return self._count_long(piece)
        if len(piece) == 1 or self._ranks[piece] != NO_RANK:
            return 1
        return len(self.borders(piece)) - 1

    def borders(self, piece: bytes) -> list[int]:
        """Return where the tokens of *piece* begin, and its end, by repeated search for the lowest rank.

        The search costs the square of the piece's length, but it runs in C and a window is short.
        """
        ranks = self._ranks
        borders = list(range(len(piece) + 1))
        pair_ranks = [ranks[piece[at : at + 2]] for at in range(len(piece) - 1)]
        while pair_ranks:
            lowest = min(pair_ranks)
            if lowest == NO_RANK:
                break
            at = pair_ranks.index(lowest)
            del borders[at + 1], pair_ranks[at]
            if at < len(pair_ranks):
                pair_ranks[at] = ranks[piece[borders[at] : borders[at + 2]]]
            if at:
                pair_ranks[at - 1] = ranks[piece[borders[at - 1] : borders[at + 1]]]
        return borders

    def _count_long(self, piece: bytes) -> int:
        """Count window by window, in time that grows with the length only.

        A sequence of tokens is the right one exactly if every two neighbours, merged by themselves, stay the same two
        tokens. Inside a window that holds by construction, so it is enough to look at each join of two windows. Where
        it does not hold the window before was too short to see what follows: both are merged again at twice the size,
        and windows do not shrink before they are past that place.
        """
        window, margin = self._window, self._margin
        seen: dict[bytes, tuple[int, bytes, bytes, int]] = {}
        count, start, last = 0, 0, b""
        steps: list[tuple[int, int, bytes]] = []
        failed_at = -1
        while True:
            part = piece[start : start + window]
            is_rest = start + window >= len(piece)
            found = None if is_rest else seen.get(part)
            if found is None:
                found = self._kept(part, 0 if is_rest else margin)
                if not is_rest and len(seen) < WINDOWS_SEEN:
                    seen[part] = found
            tokens, first, final, advance = found
            if last and not self._stay_apart(last, first):
                failed_at = max(failed_at, start)
                count, start, last = steps.pop() if steps else (0, 0, b"")
                window, margin = 2 * window, 2 * margin
                continue
            if is_rest:
                return count + tokens
            if len(steps) >= STEPS_KEPT:
                del steps[: STEPS_KEPT // 2]
            steps.append((count, start, last))
            count, start, last = count + tokens, start + advance, final
            if start > failed_at:
                window, margin = max(self._window, window // 2), max(self._margin, margin // 2)

    def _kept(self, part: bytes, margin: int) -> tuple[int, bytes, bytes, int]:
        """Merge *part*; return how many tokens to keep, the first and the last of them, and where they end."""
        borders = self.borders(part) if len(part) <= self._window else self._borders_by_heap(part)
        tokens = len(borders) - 1
        while tokens > 1 and borders[tokens] > len(part) - margin:
            tokens -= 1
        return tokens, part[: borders[1]], part[borders[tokens - 1] : borders[tokens]], borders[tokens]

    def _stay_apart(self, left: bytes, right: bytes) -> bool:
        key = (left, right)
        answer = self._joins.get(key)
        if answer is None:
            if len(self._joins) >= REMEMBERED:
                self._joins.clear()
            answer = self._joins[key] = self.borders(left + right) == [0, len(left), len(left) + len(right)]
        return answer

    def _borders_by_heap(self, piece: bytes) -> list[int]:
        """Return the same as ``borders``, in n log n: for the rare window that had to grow."""
        from heapq import heapify, heappop, heappush

        ranks = self._ranks
        length = len(piece)
        ends = list(range(1, length + 1))
        previous = list(range(-1, length - 1))
        alive = bytearray(b"\1") * length
        heap = [(found, at, at + 2) for at in range(length - 1) if (found := ranks[piece[at : at + 2]]) != NO_RANK]
        heapify(heap)
        while heap:
            _, at, end = heappop(heap)
            middle = ends[at]
            if not alive[at] or middle >= length or ends[middle] != end:
                continue
            alive[middle] = 0
            ends[at] = end
            neighbours = [(previous[at], end)] if previous[at] >= 0 else []
            if end < length:
                previous[end] = at
                neighbours.append((at, ends[end]))
            for left, right in neighbours:
                found = ranks[piece[left:right]]
                if found != NO_RANK:
                    heappush(heap, (found, left, right))
        return [at for at in range(length) if alive[at]] + [length]
