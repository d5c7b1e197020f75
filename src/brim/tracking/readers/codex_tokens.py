"""Which requests a Codex rollout shows, each once.

Newer clients write a record per request. Before that there are only notes of the sum so far: they are written more
often than requests are made (twice around a compaction), so what counts is by how much the sum grew. The first sum of a
file is only where it begins: it may contain a parent's. If it grew by more than the last request, requests are missing,
and a ``RunTotal`` tells the sum.
"""

from __future__ import annotations

from brim.models.usage import Tokens
from brim.tracking.events import RunTotal, Usage
from brim.tracking.readers.fields import count, mapping, text, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from brim.tracking.events import Event

_COUNTERS = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
_NONE = (0, 0, 0, 0)


class Requests:
    """The requests of one thread."""

    def __init__(self) -> None:
        self._records = False
        self._seen: dict[str, Tokens] = {}
        self._sum: tuple[int, ...] | None = None
        self._begin: tuple[int, ...] = ()
        self._models: set[str] = set()

    def recorded(self, payload: Mapping[str, Any], model: str, where: Mapping[str, Any]) -> list[Event]:
        """Return the request of a ``token_usage_record``."""
        self._records = True
        found = tokens(mapping(payload, "usage"))
        thread = mapping(payload, "thread_token_usage")
        request = text(payload, "response_id") or f"{text(payload, 'thread_id')}:{count(thread, 'total_tokens')}"
        if found is None or self._seen.get(request) == found:
            return []
        self._seen[request] = found
        if len(self._seen) > 1_000:
            del self._seen[next(iter(self._seen))]
        return [Usage(tokens=found, model=model, request=request, **where)]

    def counted(
        self, info: Mapping[str, Any], model: str, where: Mapping[str, Any], *, copied: bool = False
    ) -> list[Event]:
        """Return the request that a ``token_count`` tells of, if it is new and no record tells of it."""
        now, last = _counters(mapping(info, "total_token_usage")), _counters(mapping(info, "last_token_usage"))
        if not any(now):
            return []
        before, self._sum = self._sum, now
        if copied or self._records:
            return []
        if before is None or any(new < old for new, old in zip(now, before, strict=True)):
            before = _less(now, last) if any(last) else _NONE
        self._begin = self._begin or before
        grown = _less(now, before)
        if not any(grown):
            return []
        if model:
            self._models.add(model)
        one = last if mapping(info, "last_token_usage") else grown
        events: list[Event] = []
        if any(one):
            request = f"{where.get('agent') or where.get('session')}:{now[0]}:{now[3]}"
            events.append(Usage(tokens=_tokens(one), model=model, request=request, **where))
        if grown != one:
            total = _tokens(_less(now, self._begin))
            by_model = {model: total} if self._models == {model} else {}
            events.append(RunTotal(tokens=by_model, usage=total, **where))
        return events


def _counters(usage: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple([count(usage, name) for name in _COUNTERS])


def _less(more: tuple[int, ...], less: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([max(0, one - other) for one, other in zip(more, less, strict=True)])


def _tokens(counters: tuple[int, ...]) -> Tokens:
    prompt, read, written, output = counters
    fresh = max(0, prompt - read - written)
    return Tokens(input=fresh, cache_read=read, cache_write_5m=written, output=output, writes_are_input=True)
