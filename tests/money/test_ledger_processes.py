"""Many processes on one ledger, some of them killed: nothing is overspent, nothing leaks, no
settled amount is lost.

``BRIM_STORM=1`` lets 64 processes do it; ``make bench`` does that too.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.money.server import running
from tests.money.storm import MANY, File, Remote, storm


@pytest.mark.parametrize(("kind", "workers", "kills"), [(File, 10, 16), (Remote, 4, 6)])
def test_nothing_is_overspent_or_leaked_or_lost_when_processes_are_killed(
    tmp_path: Path, kind: type[File] | type[Remote], workers: int, kills: int
) -> None:
    if kind is Remote:
        running()  # if PostgreSQL doesn't start, one test says so
    ledger = kind(tmp_path)
    try:
        workers, kills, most = (64, 128, 100) if MANY else (workers, kills, 900)
        found = storm(ledger, tmp_path, workers=workers, kills=kills, most=most)
    finally:
        ledger.remove()
    assert found.wrong == []
    assert found.looks > 3
    assert all(found.said[what] >= 20 for what in "RSFN")
