"""What a watch remembers of models for the next one: windows that were reported, and how their tokens are counted.

It is a courtesy: whatever goes wrong with it, the watch goes on.
"""

from __future__ import annotations

import os

from brim.errors import BrimError
from brim.models.light import lookup
from brim.models.windows import MemoryWindowStore, remember_in, report_window
from brim.store.store import Store, open_store
from brim.tokens.calibrate import Calibration
from brim.tokens.counters import counter_for
from brim.tracking.estimate import Calibrator
from brim.tracking.events import Event, Usage

_PATIENCE = 0.5
"""Seconds to wait for another writer: the gauge must not stand still for it."""


class Memory:
    """The user's store. It is made only when there is something to keep, and asked no more once it has failed."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, "brim.db")
        self._store: Store | None = None
        self._failed = False
        self._known: set[tuple[str, int]] = set()
        self._calibrator: Calibrator | None = None
        self._models: set[str] = set()
        if (store := self._open(make=False)) is not None:
            remember_in(store.windows)

    def window(self, model: str, tokens: int) -> None:
        """Keep that *model* has a window of *tokens*, unless the table or the store says so already."""
        if not model or tokens < 1 or (model, tokens) in self._known:
            return
        self._known.add((model, tokens))
        try:
            if lookup(model).context_window != tokens and (store := self._open(make=True)) is not None:
                report_window(model, tokens, store.windows)
        except BrimError:
            self._failed = True

    def calibrate(self, event: Event) -> None:
        """Learn from *event* how many tokens a model without a public vocabulary makes of a text."""
        if self._failed:
            return
        try:
            if isinstance(event, Usage) and not event.agent and event.model not in self._models:
                self._models.add(event.model)
                counter = counter_for(event.model, calibrations=self)
                self._calibrator = Calibrator(counter, self) if hasattr(counter, "ratio") else None
            if self._calibrator is not None:
                self._calibrator.update(event)
        except BrimError:
            self._failed = True

    def get(self, model: str, /) -> Calibration | None:
        """Return what is known about *model*'s ratio; with ``put``, this is a ``CalibrationStore``."""
        store = self._open(make=False)
        return store.calibrations.get(model) if store is not None else None

    def put(self, model: str, calibration: Calibration, /) -> None:
        """Keep *calibration* for *model*."""
        if (store := self._open(make=True)) is not None:
            store.calibrations.put(model, calibration)

    def close(self) -> None:
        """Close the store."""
        if self._store is not None:
            remember_in(MemoryWindowStore())
            self._store.close()
            self._store = None

    def _open(self, *, make: bool) -> Store | None:
        if self._store is None and not self._failed and (make or os.path.exists(self._path)):
            try:
                self._store = open_store(self._path, timeout=_PATIENCE)
            except BrimError:
                self._failed = True
        return self._store
