"""The single requests behind ``brim usage``, with the keys that ``brim limit forget`` takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from brim.sessions.report.usage import UsageFilter, in_calendar
from brim.sessions.requests import IndexedRequest
from brim.sessions.up_to_date import SessionsReading


@dataclass(frozen=True)
class RequestList:
    """Single requests, the newest first."""

    requests: tuple[IndexedRequest, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return them as JSON has them, costs in micro-dollars."""
        return {"requests": [_as_dict(request) for request in self.requests]}


def request_list(reading: SessionsReading, wanted: UsageFilter, *, utc: bool) -> RequestList:
    """Return the requests of *reading* that are *wanted*."""
    day_of = partial(in_calendar, utc=utc)
    requests = []
    for request in reading.index.requests():
        if wanted.lets_pass(request, day_of):
            requests.append(request)
    requests.sort(key=_time_of, reverse=True)
    return RequestList(tuple(requests))


def _time_of(request: IndexedRequest) -> float:
    return request.time or 0.0


def _as_dict(request: IndexedRequest) -> dict[str, Any]:
    return {
        "key": request.key,
        "time": request.time,
        "agent": request.agent,
        "project": request.project,
        "session": request.session,
        "model": request.model,
        "input_tokens": request.input,
        "output_tokens": request.output,
        "cache_creation_input_tokens": request.write_5m + request.write_1h,
        "cache_read_input_tokens": request.cache_read,
        "cost": request.cost,
    }
