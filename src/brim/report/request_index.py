"""What was read of sessions' requests, so that next time only what is new is read: a table of the index.

One row per file: up to which byte it was read, and what is known by then, as labels and counts; never text. It also
has what each session showed about its models, which is what is known before the first request of a later one.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from contextlib import suppress

from brim.errors import StoreError
from brim.report.index import forget_gone, open_index, put_aside
from brim.tokens.calibrate import MAX_RATIO, MIN_RATIO, MIN_SAMPLES, Calibration, MemoryCalibrationStore
from brim.tracking.requests import Request
from brim.tracking.requests.reading import Mark

_MOST_ASKED = 50
"""Earlier sessions that are asked for a ratio, the latest first."""


class RequestIndex:
    """The index at *path*; with an empty one nothing is kept. It's only a cache: nothing that happens to it raises."""

    def __init__(self, path: str) -> None:
        self._path = path

    @property
    def is_kept(self) -> bool:
        """Whether anything is kept."""
        return bool(self._path)

    def mark(self, file: str) -> Mark | None:
        """Return how far *file* was read; None if that isn't known."""
        with suppress(StoreError, ValueError, TypeError, zlib.error, RecursionError), open_index(self._path) as index:
            sql = "SELECT read_to, read_check, state FROM threads WHERE path = ?"
            for offset, check, state in index.rows(sql, [file]):
                return Mark(offset, check, json.loads(zlib.decompress(state)))
        return None

    def learned(self, file: str, before: float) -> tuple[MemoryCalibrationStore, dict[str, int]]:
        """Return what sessions other than *file* that ended *before* this time showed about each model.

        That is the ratio of its tokens, and how many of them its client sends without recording them.
        """
        ratios, hidden = MemoryCalibrationStore(), dict[str, int]()
        with suppress(StoreError, ValueError, TypeError, AttributeError), open_index(self._path) as index:
            sql = "SELECT ratios, hidden FROM threads WHERE path != ? AND ends < ? ORDER BY ends DESC LIMIT ?"
            for one, other in index.rows(sql, [file, before, _MOST_ASKED]):
                for model, calibration in json.loads(one).items():
                    ratios.setdefault(model, Calibration(*calibration))
                hidden = {**json.loads(other), **hidden}
        return ratios, hidden

    def keep(self, file: str, mark: Mark, requests: Sequence[Request]) -> None:
        """Keep how far *file* was read, and what its *requests* showed."""
        if not self._path:
            return
        ratios, hidden = learned_from(requests)
        ends = max((each.time for each in requests if each.time is not None), default=0.0)
        state = zlib.compress(json.dumps(dict(mark.state), separators=(",", ":")).encode(), 1)
        row = (file, mark.offset, mark.check, state, ends, json.dumps(ratios), json.dumps(hidden))
        try:
            with open_index(self._path, make=True) as database, database.writing():
                forget_gone(database, "threads")
                database.run("INSERT OR REPLACE INTO threads VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        except StoreError as error:
            if error.reason == "damaged":
                put_aside(self._path)


def learned_from(requests: Sequence[Request]) -> tuple[MemoryCalibrationStore, dict[str, int]]:
    """Return what *requests* showed: each model's ratio, and the tokens that its client doesn't record."""
    ratios, hidden = MemoryCalibrationStore(), dict[str, int]()
    for each in requests:
        if each.known.basis == "calibrated":
            ratio = min(MAX_RATIO, max(MIN_RATIO, each.known.ratio))
            ratios.put(each.model, Calibration(ratio, 0.0, MIN_SAMPLES))
        if each.known.hidden:
            hidden[each.model] = each.known.hidden
    return ratios, hidden
