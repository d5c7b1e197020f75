"""Remembers which requests were reported, so that each is counted once however many lines repeat it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.models.usage import Tokens

MOST = 200_000
"""How many are remembered; the oldest are forgotten first. Repetitions follow within a few lines, or in one replay."""


class Requests:
    """The requests of a stream, by key. Only hashes are kept: a long session takes a few megabytes."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._seen: dict[int, int] = {}

    def is_news(self, key: str, tokens: Tokens, *, final: bool) -> bool:
        """Return whether the report says something new of request *key*, and remember it.

        What is final is not replaced by what is not. A report without a key is always news.
        """
        if not key:
            return True
        request = hash(key)
        told = hash(tokens) * 2 + final
        before = self._seen.get(request)
        if before == told or (before is not None and before % 2 == 1 and not final):
            return False
        self._seen[request] = told
        if before is None:
            _forget_oldest(self._seen, self._most)
        return True


class Ids:
    """Ids that were seen, at most so many, as hashes."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._seen: dict[int, int] = {}

    def add(self, id: str) -> None:
        """Remember *id*, unless it is empty."""
        if id and (key := hash(id)) not in self._seen:
            self._seen[key] = 1
            _forget_oldest(self._seen, self._most)

    def __contains__(self, id: object) -> bool:
        return hash(id) in self._seen


def _forget_oldest(seen: dict[int, int], most: int) -> None:
    if len(seen) > most:
        del seen[next(iter(seen))]
