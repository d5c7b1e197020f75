"""What is known of models beyond the table: ratios that were learned, windows that were reported."""

from __future__ import annotations

from brim.tokens.calibrate import Calibration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from brim.store.database import Database


class StoredCalibrations:
    """Learned ratios by model, in a file: a ``brim.tokens.CalibrationStore``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, model: str, /) -> Calibration | None:
        """Return what is known about *model*, or None; what is not a calibration counts as unknown."""
        row = self._database.row("SELECT ratio, spread, samples FROM calibrations WHERE model = ?", (model,))
        try:
            return Calibration(*row) if row else None
        except (TypeError, ValueError):
            return None

    def put(self, model: str, calibration: Calibration, /) -> None:
        """Keep *calibration* for *model*, in place of what was there."""
        with self._database.writing():
            self._database.run(
                "INSERT OR REPLACE INTO calibrations (model, ratio, spread, samples) VALUES (?, ?, ?, ?)",
                (model, calibration.ratio, calibration.spread, calibration.samples),
            )


class StoredWindows:
    """Reported windows by model, in a file: a ``brim.models.WindowStore``. *clock* says when one was reported."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database, self._clock = database, clock

    def get(self, name: str, /) -> int | None:
        """Return the window that was last put for *name*."""
        row = self._database.row("SELECT tokens FROM windows WHERE model = ?", (name,))
        return row[0] if row else None

    def put(self, name: str, tokens: int, /) -> None:
        """Keep *tokens* as the window of *name*, in place of an earlier one."""
        with self._database.writing():
            self._database.run(
                "INSERT OR REPLACE INTO windows (model, tokens, at) VALUES (?, ?, ?)", (name, tokens, self._clock())
            )
