"""Many processes on one ledger, some of them killed: nothing is overspent, nothing leaks, no
settled amount is lost.

``BRIM_STORM=1`` lets 64 processes do it; ``make bench`` does that too.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from brim.money import open_ledger
from brim.usd import Money
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


OPENED_AND_CLOSED = """
import sys
from brim.money import open_ledger
with open_ledger(sys.argv[1]) as ledger:
    print(int(ledger.status("shop").reserved))
"""


def test_a_process_that_closes_the_ledger_leaves_the_log_of_one_with_threads(
    tmp_path: Path,
) -> None:
    """A process loses all its locks on a file when it closes any handle to it: then another one
    takes itself for the last, and removes the log."""
    path = str(tmp_path / "money.db")

    def seen_by_another_process() -> str:
        command = [sys.executable, "-c", OPENED_AND_CLOSED, path]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    with open_ledger(path) as ledger:
        ledger.reserve("shop", Money(1))
        thread = threading.Thread(target=ledger.reserve, args=("shop", Money(2)))
        thread.start()
        thread.join()
        assert seen_by_another_process() == "3"
        ledger.reserve("shop", Money(4))
        assert seen_by_another_process() == "7"
    assert seen_by_another_process() == "7"
