"""``models.json``: what a watch remembers of models for the next one.

These are the windows that agents reported, and how the tokens of models without a public vocabulary
are counted. It is a courtesy: a file that is missing or damaged is as if nothing were known, and
one that can't be written changes nothing but that.
"""

from __future__ import annotations

import json
import os
from typing import Any

from brim.agents.call import Event
from brim.agents.events import Usage
from brim.config.own_folder import make_folder
from brim.config.places import mapping_of
from brim.errors import BrimError
from brim.files import locked, read_safely, replace_file
from brim.models.light import lookup
from brim.models.reported import MemoryWindowStore, remember_in, report_window
from brim.sessions.window.estimate import Calibrator
from brim.tokens.calibrate import Calibration
from brim.tokens.counters import counter_for

NAME = "models.json"
WINDOWS = "windows"
CALIBRATIONS = "calibrations"

LARGEST = 1 << 20
"""Bytes of the file that are read."""
PATIENCE = 0.5
"""Seconds to wait for another writer: the gauge must not stand still for it."""


class ModelsFile:
    """The file ``models.json`` in the user's folder."""

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, NAME)

    def read(self, section: str) -> dict[str, Any]:
        """Return what *section* holds by model; nothing if the file is missing or damaged."""
        return mapping_of(self._content().get(section))

    def put(self, section: str, model: str, value: object) -> None:
        """Write *value* for *model* into *section*; raise ``OSError`` if that can't be."""
        folder = os.path.dirname(self.path)
        with locked(f"{self.path}.lock", patience=PATIENCE, prepare=lambda: make_folder(folder)):
            content = self._content()
            values = mapping_of(content.get(section))
            content[section] = {**values, model: value}
            text = json.dumps(content, indent=1, sort_keys=True)
            replace_file(self.path, text.encode(), durable=False)

    def _content(self) -> dict[str, Any]:
        try:
            return mapping_of(json.loads(read_safely(self.path, at_most=LARGEST)))
        except (OSError, ValueError, RecursionError):
            return {}


class RememberedWindows:
    """Reported windows by model: a ``WindowStore``."""

    def __init__(self, file: ModelsFile) -> None:
        self._file = file

    def get(self, name: str, /) -> int | None:
        """Return the window that was last put for *name*."""
        tokens = self._file.read(WINDOWS).get(name)
        if type(tokens) is int and tokens > 0:
            return tokens
        return None

    def put(self, name: str, tokens: int, /) -> None:
        """Store *tokens* as the window of *name*."""
        self._file.put(WINDOWS, name, tokens)


class RememberedCalibrations:
    """Learned ratios by model: a ``CalibrationStore``."""

    def __init__(self, file: ModelsFile) -> None:
        self._file = file

    def get(self, model: str, /) -> Calibration | None:
        """Return what was learned about *model*; None if there is nothing, or it isn't ours."""
        try:
            return Calibration(*self._file.read(CALIBRATIONS)[model])
        except (BrimError, KeyError, TypeError, ValueError):
            return None

    def put(self, model: str, calibration: Calibration, /) -> None:
        """Keep *calibration* for *model*."""
        self._file.put(CALIBRATIONS, model, list(calibration))


class Memory:
    """What is remembered of models in the user's folder. Nothing is written any more once that has
    failed."""

    def __init__(self, folder: str) -> None:
        file = ModelsFile(folder)
        self.windows = RememberedWindows(file)
        self.calibrations = RememberedCalibrations(file)
        self._failed = False
        self._reported: set[tuple[str, int]] = set()
        self._calibrator: Calibrator | None = None
        self._models: set[str] = set()
        remember_in(self.windows)

    def window(self, model: str, tokens: int) -> None:
        """Keep that *model* has a window of *tokens*, unless that is known already."""
        if self._failed or not model or tokens < 1 or (model, tokens) in self._reported:
            return
        self._reported.add((model, tokens))
        try:
            if lookup(model).context_window != tokens:
                report_window(model, tokens, self.windows)
        except (BrimError, OSError):
            self._failed = True

    def calibrate(self, event: Event) -> None:
        """Learn from *event* how many tokens a model without a public vocabulary makes of a
        text."""
        if self._failed:
            return
        try:
            if isinstance(event, Usage) and not event.agent and event.model not in self._models:
                self._models.add(event.model)
                self._calibrator = self._calibrator_for(event.model)
            if self._calibrator is not None:
                self._calibrator.update(event)
        except (BrimError, OSError):
            self._failed = True

    def _calibrator_for(self, model: str) -> Calibrator | None:
        """Return what learns the ratio of *model*; None if its tokens are counted exactly."""
        counter = counter_for(model, calibrations=self.calibrations)
        if not hasattr(counter, "ratio"):
            return None
        return Calibrator(counter, self.calibrations)

    def close(self) -> None:
        """Let this process forget the reported windows."""
        remember_in(MemoryWindowStore())
