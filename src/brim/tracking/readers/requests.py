"""Remembers which requests were reported, so that each is counted once however many lines repeat it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.models.usage import Tokens

MOST_REQUESTS = 200_000
MOST_IDS = 50_000
"""How many are remembered. Repetitions follow within a few lines, or as the history that a session begins with."""


class _Recent:
    """Hashes of the last keys, with a number each: at most *most*, and never fewer than the last half of that.

    The older half is forgotten at once: to take the oldest out of one dict again and again would search for it.
    """

    def __init__(self, most: int) -> None:
        self._half = max(1, most // 2)
        self._new: dict[int, int] = {}
        self._old: dict[int, int] = {}

    def get(self, key: int) -> int | None:
        found = self._new.get(key)
        return self._old.get(key) if found is None else found

    def put(self, key: int, number: int) -> None:
        if len(self._new) >= self._half and key not in self._new:
            self._old, self._new = self._new, {}
        self._new[key] = number


class Requests:
    """The requests of a stream, by key. Only hashes are kept: a long session takes a few megabytes."""

    def __init__(self, most: int = MOST_REQUESTS) -> None:
        self._seen = _Recent(most)

    def is_news(self, key: str, tokens: Tokens, *, final: bool) -> bool:
        """Return whether the report says something new of request *key*, and remember it.

        What is final is not replaced by what is not. A report without a key is always news.
        """
        if not key:
            return True
        request, told = hash(key), hash(tokens) * 2 + final
        before = self._seen.get(request)
        if before == told or (before is not None and before % 2 == 1 and not final):
            return False
        self._seen.put(request, told)
        return True


class Ids:
    """Ids that were seen, at most so many, as hashes."""

    def __init__(self, most: int = MOST_IDS) -> None:
        self._seen = _Recent(most)

    def add(self, id: str) -> None:
        """Remember *id*, unless it is empty."""
        if id:
            self._seen.put(hash(id), 1)

    def __contains__(self, id: object) -> bool:
        return self._seen.get(hash(id)) is not None
