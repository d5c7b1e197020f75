"""What fills a session's window: one request taken apart, two compared, or all of them on a
timeline.

``RequestIndex`` keeps what was read of a session, so that the next time only what is new is read.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import FileIO
from itertools import pairwise
from typing import Any

from brim.errors import InputError, StoreError
from brim.models.charges import charged, charges_of, day_of, today
from brim.record import PlainData
from brim.sessions.composition.composed_request import (
    ComposedRequest,
    CompositionChange,
    RequestPart,
    compare,
    requests_of,
    tokens_of_part,
)
from brim.sessions.composition.pieces import (
    AGENTS,
    BRIM,
    IMAGES,
    MEMORY,
    REMINDERS,
    RESULTS,
    SUMMARY,
    SYSTEM,
    TASK,
    THINKING,
    TOOLS,
    YOURS,
    Label,
)
from brim.sessions.composition.reading import Mark, ThreadReading, read_thread
from brim.sessions.composition.thread import Thread
from brim.sessions.lines import EventsOfLine, SessionLine
from brim.sessions.report.index import forget_gone, open_index, put_aside
from brim.sessions.window.live import Reading
from brim.tokens.calibrate import (
    MAX_RATIO,
    MIN_RATIO,
    MIN_SAMPLES,
    Calibration,
    MemoryCalibrationStore,
)

MOST_SIBLINGS = 3
LARGEST_SIBLING = 20_000_000
"""Earlier sessions that are read to learn a model's ratio: how many at most, and how many bytes
each may have."""

_MOST_ASKED = 50
"""Earlier sessions that are asked for a ratio, the latest first."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "system + tools": (SYSTEM, TOOLS, MEMORY, REMINDERS),
    "brim": (BRIM,),
    "you + agent": (YOURS, TASK, AGENTS, THINKING, IMAGES, SUMMARY),
    "tool results": (RESULTS,),
}
"""The parts of a request that are drawn as one.

What a client doesn't record is system and tools.
"""


@dataclass(frozen=True)
class _Share(PlainData):
    """Some tokens of a request, priced by the length of the whole request."""

    prompt: int
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    writes_are_input: bool = False


def price_of(request: ComposedRequest, *, fresh: int = 0, read: int = 0) -> int | None:
    """Return the micro-dollars of *fresh* and of cached tokens in *request*; None if there's no
    price for its model.

    Fresh tokens cost what the request paid for its own: a cache write if it wrote to a cache, else
    plain input.
    """
    used = request.usage
    day = today() if request.time is None else day_of(request.time)
    tiers = charges_of(request.model).tiers(day, used.factors)
    kind = (
        "cache_write_1h"
        if used.cache_write_1h
        else "cache_write_5m"
        if used.cache_write_5m
        else "input"
    )
    share = _Share(
        used.prompt, cache_read=read, writes_are_input=used.writes_are_input, **{kind: fresh}
    )
    if tiers is None:
        return None
    return charged(share, tiers)


def rewrite_price(request: ComposedRequest, tokens: int) -> int | None:
    """Return what it cost more, in micro-dollars, to send *tokens* again than to read them from the
    cache."""
    fresh = price_of(request, fresh=tokens)
    read = price_of(request, read=tokens)
    if fresh is None or read is None:
        return None
    return max(0, fresh - read)


@dataclass(frozen=True)
class BrimsShare(PlainData):
    """What brim's own texts took in a session."""

    tokens: int
    """In the request that is shown."""
    sent_tokens: int
    """In all requests up to it together: each sends everything again."""
    cost: int | None
    """Micro-dollars of that, None if a model has no price."""
    resumes: int
    """How often the session was resumed, as far as the client records it."""
    rewritten_tokens: int
    """Tokens that could have come from a cache and were sent again after resuming."""
    rewrite_cost: int | None
    """Micro-dollars of that, over reading them from the cache."""
    rewritten_without: int
    """Tokens that would have been sent again, had brim's texts never been there."""
    rewrite_cost_without: int | None
    """Micro-dollars of that."""


def brims_share(requests: Sequence[ComposedRequest]) -> BrimsShare:
    """Return what brim's texts took in *requests*, of which there is at least one."""
    sizes = tokens_of_part(requests, BRIM)
    costs: list[int | None] = []
    for request, size in zip(requests, sizes, strict=True):
        read = size * request.usage.cache_read // max(1, request.billed)
        costs.append(price_of(request, fresh=size - read, read=read) if size else 0)
    resumes = sum(request.resumed for request in requests[1:])
    again = (*_rewritten(requests, ""), *_rewritten(requests, BRIM))
    return BrimsShare(sizes[-1], sum(sizes), _sum(costs), resumes, *again)


def _rewritten(requests: Sequence[ComposedRequest], without: str) -> tuple[int, int | None]:
    """Return the tokens that were sent again after resuming, and what that cost more, *without* one
    part."""
    resumed = [(before, after) for before, after in pairwise(requests) if after.resumed]
    sizes = [
        (after, compare(before, after, without=without).rewritten_tokens)
        for before, after in resumed
    ]
    return sum(size for _, size in sizes), _sum(
        [rewrite_price(*request_and_size) for request_and_size in sizes]
    )


def _sum(costs: Sequence[int | None]) -> int | None:
    """Return the sum of *costs*; None if one isn't known."""
    if None in costs:
        return None
    return sum(cost or 0 for cost in costs)


@dataclass(frozen=True)
class ContextReport:
    """What fills the window at one request of a session."""

    reading: Reading
    """The state of the session at its end."""
    request: ComposedRequest | None
    """The request that is shown; None if the file has none that is understood."""
    count: int
    """How many requests the file has."""
    brim: BrimsShare | None = None
    since: ComposedRequest | None = None
    change: CompositionChange | None = None
    """What changed since the request ``since``."""

    @property
    def parts(self) -> tuple[RequestPart, ...]:
        """The tree, the largest part first."""
        if self.request:
            return self.request.parts
        return ()

    @property
    def is_now(self) -> bool:
        """Whether the request is what is in the window now."""
        return self.request is not None and self.request.billed == self.reading["used_tokens"]

    @property
    def rewrite_cost(self) -> int | None:
        """Micro-dollars that the cache break cost, None if that isn't known."""
        if self.request is None or self.change is None:
            return None
        return rewrite_price(self.request, self.change.rewritten_tokens)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values: those of ``brim context --watch``, and what is known about the
        request."""
        values: dict[str, Any] = {
            **self.reading,
            "requests": self.count,
            "request": None,
            "parts": [],
            "brim": None,
        }
        if self.request is None or self.brim is None:
            return values
        request = self.request
        known = request.known
        values["request"] = {
            "number": request.number,
            "id": request.id,
            "time": request.time,
            "model": request.model,
            "billed_tokens": request.billed,
            "basis": "request record" if request.recorded else "lines of the transcript",
            "ratio": round(known.ratio, 4),
            "ratio_basis": known.basis,
            "not_recorded": list(request.hidden),
            "not_recorded_tokens": request.balance.not_recorded,
            "estimate": "failed" if request.balance.failed else "ok",
            "scale": round(request.balance.scale, 4),
        }
        values["parts"] = [part.to_dict() for part in self.parts]
        values["brim"] = self.brim.to_dict()
        if self.is_now:
            values["filling"] = {part.name: part.tokens for part in self.parts if part.tokens}
        if self.change is not None and self.since is not None:
            cost = {"since": self.since.number, "rewrite_cost": self.rewrite_cost}
            values["change"] = {**cost, **self.change.to_dict()}
        return values


def context_at(
    reading: Reading,
    requests: Sequence[ComposedRequest],
    at: int | None = None,
    since: int | None = None,
) -> ContextReport:
    """Return what fills the window of the session in *reading*, whose *requests* were read
    before."""
    for name, number in (("--at", at), ("--since", since)):
        if number is not None and not 1 <= number <= len(requests):
            numbers = "it has none that brim can take apart"
            if requests:
                numbers = f"it has 1 to {len(requests)}"
            raise InputError(f"{name} {number}: the session has no such request; {numbers}")
    if not requests:
        return ContextReport(reading, None, 0)
    number = at or len(requests)
    request = requests[number - 1]
    before = None
    if since:
        before = requests[since - 1]
    change = None
    if before is not None:
        change = compare(before, request)
    return ContextReport(
        reading, request, len(requests), brims_share(requests[:number]), before, change
    )


class SessionComposition:
    """Takes a session's requests apart while its file *path* is read for other reasons.

    *index* is the file that keeps what was read for the next time.
    """

    def __init__(self, path: str, *, index: str = "") -> None:
        self._path = os.path.realpath(path)
        self._index = RequestIndex(index)
        self._known = self._index.mark(self._path)
        self._reading = ThreadReading(self._path, mark=self._known)

    def take(self, line: SessionLine, lines: EventsOfLine) -> None:
        """Take the next line of the file."""
        self._reading.take(line, lines)

    def end_lines(self, file: FileIO, offset: int) -> None:
        """Note that all lines that have an end were read."""
        self._reading.end_lines(file, offset)

    def requests(self, at: int | None = None) -> list[ComposedRequest]:
        """Return the requests, each with what was known before it, from other sessions too.

        If request *at* (None: the last one) has only a prior, and the index doesn't help, earlier
        sessions next to the file are read.
        """
        thread = self._reading.finish()
        begins = _first_time(thread)
        requests = requests_of(thread, *self._index.learned(self._path, begins))
        reached = self._reading.mark
        if thread.sent and (self._known is None or self._known.offset != reached.offset):
            self._index.keep(self._path, reached, requests)
        selected = requests[-1 if at is None else at - 1 :][:1]
        if not selected or selected[0].known.basis != "estimated":
            return requests
        for sibling in _earlier(self._path, begins):
            with suppress(InputError):
                ratios, hidden = learned_from(requests_of(read_thread(sibling)[0]))
                if selected[0].model in ratios:
                    return requests_of(thread, ratios, hidden)
        return requests


def _first_time(thread: Thread) -> float:
    """Return when the first request of *thread* was made, 0 if no line says it."""
    for sent in thread.sent:
        if sent.time is not None:
            return sent.time
    return 0.0


def _earlier(path: str, before: float) -> list[str]:
    """Return the sessions next to *path* that were last written *before* this time, the latest
    first."""
    siblings = []
    with suppress(OSError), os.scandir(os.path.dirname(path)) as entries:
        for entry in entries:
            with suppress(OSError):
                about = entry.stat()
                is_session = (
                    entry.path != path and entry.name.endswith(".jsonl") and entry.is_file()
                )
                if is_session and about.st_size <= LARGEST_SIBLING:
                    siblings.append((about.st_mtime, entry.path))
    return [sibling for written, sibling in sorted(siblings, reverse=True) if written <= before][
        :MOST_SIBLINGS
    ]


@dataclass(frozen=True, slots=True)
class Moment:
    """One request on the timeline."""

    number: int
    time: float | None
    model: str
    billed: int
    """Tokens of the whole prompt."""
    cached: int
    """Those of them that came from the provider's cache."""
    parts: Mapping[str, int]
    """Tokens of each of ``GROUPS``."""
    cause: Label
    """The largest part that came in with it, as ``brim context`` names it; empty if nothing did."""
    cause_tokens: int
    basis: str
    """How the parts were counted."""
    id: str = field(repr=False, default="")

    @property
    def rest(self) -> int:
        """Tokens of a request whose estimate failed, and what rounding leaves; never negative."""
        return max(0, self.billed - sum(self.parts.values()))

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        named = {name: getattr(self, name) for name in self.__slots__}
        return {**named, "parts": dict(self.parts), "rest": self.rest, "cause": list(self.cause)}


def timeline(requests: Sequence[ComposedRequest]) -> list[Moment]:
    """Return the moments of a thread's *requests*: all of them, from the first."""
    sizes = {
        group: [
            sum(sizes_of_names)
            for sizes_of_names in zip(
                *(tokens_of_part(requests, name) for name in names), strict=True
            )
        ]
        for group, names in GROUPS.items()
    }
    hidden = "system + tools"
    moments = list[Moment]()
    before = set[str]()
    for at, request in enumerate(requests):
        parts = {group: tokens[at] for group, tokens in sizes.items()}
        parts[hidden] += request.balance.not_recorded
        items = request.items
        came = [piece for item in items if item.key not in before for piece in item.pieces]
        cause = max(came, key=lambda piece: request.tokens_of([piece]), default=None)
        before = {item.key for item in items}
        largest = 0 if cause is None else request.tokens_of([cause])
        about = (
            request.number,
            request.time,
            request.model,
            request.billed,
            request.usage.cache_read,
        )
        label: Label = ()
        if cause is not None and largest:
            label = cause.label
        moments.append(Moment(*about, parts, label, largest, request.known.basis, request.id))
    return moments


class RequestIndex:
    """The index at *path*; with an empty one nothing is kept.

    It's only a cache: nothing that happens to it raises.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    @property
    def is_kept(self) -> bool:
        """Whether anything is kept."""
        return bool(self._path)

    def mark(self, file: str) -> Mark | None:
        """Return how far *file* was read; None if that isn't known."""
        with (
            suppress(StoreError, ValueError, TypeError, zlib.error, RecursionError),
            open_index(self._path) as index,
        ):
            sql = "SELECT read_to, read_check, state FROM threads WHERE path = ?"
            for offset, check, state in index.rows(sql, [file]):
                return Mark(offset, check, json.loads(zlib.decompress(state)))
        return None

    def learned(self, file: str, before: float) -> tuple[MemoryCalibrationStore, dict[str, int]]:
        """Return what sessions other than *file* that ended *before* this time showed about each
        model.

        That is the ratio of its tokens, and how many of them its client sends without recording
        them.
        """
        ratios = MemoryCalibrationStore()
        hidden = dict[str, int]()
        with (
            suppress(StoreError, ValueError, TypeError, AttributeError),
            open_index(self._path) as index,
        ):
            sql = "SELECT ratios, hidden FROM threads WHERE path != ? AND ends < ? ORDER BY ends DESC LIMIT ?"
            for one, other in index.rows(sql, [file, before, _MOST_ASKED]):
                for model, calibration in json.loads(one).items():
                    ratios.setdefault(model, Calibration(*calibration))
                hidden = {**json.loads(other), **hidden}
        return ratios, hidden

    def keep(self, file: str, mark: Mark, requests: Sequence[ComposedRequest]) -> None:
        """Keep how far *file* was read, and what its *requests* showed."""
        if not self._path:
            return
        ratios, hidden = learned_from(requests)
        ends = max((request.time for request in requests if request.time is not None), default=0.0)
        state = zlib.compress(json.dumps(dict(mark.state), separators=(",", ":")).encode(), 1)
        numbers = {model: [*calibration] for model, calibration in ratios.items()}
        row = (file, mark.offset, mark.check, state, ends, json.dumps(numbers), json.dumps(hidden))
        try:
            with open_index(self._path, make=True) as database, database.writing():
                forget_gone(database, "threads")
                database.run("INSERT OR REPLACE INTO threads VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        except StoreError as error:
            if error.reason == "damaged":
                put_aside(self._path)


def learned_from(
    requests: Sequence[ComposedRequest],
) -> tuple[MemoryCalibrationStore, dict[str, int]]:
    """Return what *requests* showed: each model's ratio, and the tokens that its client doesn't
    record."""
    ratios = MemoryCalibrationStore()
    hidden = dict[str, int]()
    for request in requests:
        if request.known.basis == "calibrated":
            ratio = min(MAX_RATIO, max(MIN_RATIO, request.known.ratio))
            ratios.put(request.model, Calibration(ratio, 0.0, MIN_SAMPLES))
        if request.known.hidden:
            hidden[request.model] = request.known.hidden
    return ratios, hidden
