"""Many processes on one ledger, some of them killed: nothing is overspent, nothing leaks, no settled amount is lost."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from brim.spend import lineage
from brim.store import database, open_ledger
from tests.store.making import raw

WORKERS, KILLS = 12, 24
LIMITS = {"shop": 9_000, "shop/a": 4_000, "shop/b": 6_000, "shop/a/1": 2_000, "shop/a/2": 3_000, "shop/b/1": 2_500}
SCOPES = ("shop/a/1", "shop/a/2", "shop/b/1", "shop/b/2", "shop/a", "shop")

WORKER = """
import os, random, sys, time
from brim.errors import LimitReached
from brim.store import database, open_ledger

database.checked_version = database.version_of  # the file has a trigger of the test's own
path, log, seed, *scopes = sys.argv[1:]
rng, log = random.Random(int(seed)), os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
with open_ledger(path, timeout=60) as ledger:
    while True:
        time.sleep(rng.uniform(0, 0.01))  # SQLite gives no turns: who does not wait takes them all
        try:
            made = ledger.reserve(rng.choice(scopes), rng.randint(1, 900), lease=rng.choice([0.05, 0.3, 30]))
        except LimitReached as refused:
            assert refused.room is None or refused.room < refused.amount, refused
            os.write(log, b"N\\n")
            continue
        os.write(log, f"R {made.request_id} {made.amount}\\n".encode())
        what = rng.random()
        if what < 0.2:
            time.sleep(0.1)
        if what < 0.5:
            cost = rng.randint(0, made.amount // 4)
            ledger.settle(made, cost)
            os.write(log, f"S {made.request_id} {cost}\\n".encode())
        elif what < 0.9:
            ledger.release(made)
            os.write(log, f"F {made.request_id} 0\\n".encode())
"""


def taken(connection: sqlite3.Connection) -> dict[str, int]:
    """Return what is spent by the entries and reserved by the reservations, under each scope, at one moment."""
    sums = dict.fromkeys(LIMITS, 0)
    rows = connection.execute(
        "SELECT scope, amount FROM spend_entries UNION ALL SELECT scope, amount FROM reservations WHERE state = 'open'"
    )
    for scope, amount in rows:
        for name in lineage(scope):
            if name in sums:
                sums[name] += amount
    return sums


def said(folder: Path) -> list[str]:
    """Return the first letter of every line that the workers wrote: reserved, settled, freed, or not admitted."""
    return [line[0] for log in folder.glob("log*") for line in log.read_text().split("\n") if line]


def start(path: Path, number: int) -> subprocess.Popen[bytes]:
    arguments = [str(path), str(path.with_name(f"log{number}")), str(number), *SCOPES]
    return subprocess.Popen([sys.executable, "-c", WORKER, *arguments], stderr=subprocess.PIPE)


def test_nothing_is_overspent_or_leaked_or_lost_when_processes_are_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "money.db"
    monkeypatch.setattr(database, "checked_version", database.version_of)
    with open_ledger(str(path)) as ledger:
        for scope, limit in LIMITS.items():
            ledger.limit(scope, limit)
    connection = raw(path)  # the file itself notes every moment at which a sum is over its limit
    connection.execute("CREATE TABLE seen_over (scope, spent, reserved)")
    connection.execute(
        "CREATE TRIGGER over AFTER INSERT ON spend_scopes WHEN new.spent + new.reserved > new.amount "
        "BEGIN INSERT INTO seen_over VALUES (new.scope, new.spent, new.reserved); END"
    )
    over: list[tuple[str, int]] = []
    looks = 0
    done = threading.Event()

    def watch() -> None:
        nonlocal looks
        watching = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=60)
        while not done.is_set():
            over.extend((scope, sum_) for scope, sum_ in taken(watching).items() if sum_ > LIMITS[scope])
            looks += 1
            time.sleep(0.02)
        watching.close()

    watcher = threading.Thread(target=watch)
    watcher.start()
    rng, number = random.Random(5), WORKERS
    running = [start(path, each) for each in range(WORKERS)]
    try:
        time.sleep(0.5)
        for _ in range(KILLS):
            time.sleep(rng.uniform(0.02, 0.15))
            victim = running.pop(rng.randrange(len(running)))
            assert victim.poll() is None, victim.communicate()[1]
            victim.send_signal(signal.SIGKILL)
            victim.communicate()
            running.append(start(path, number))
            number += 1
        patience = time.monotonic() + 60
        while not all(said(tmp_path).count(what) >= 20 for what in "RSFN"):  # however slow the disk is
            assert time.monotonic() < patience
            time.sleep(0.05)
    finally:
        for worker in running:
            worker.kill()
            worker.communicate()
        done.set()
        watcher.join()

    lines = [line.split() for log in tmp_path.glob("log*") for line in log.read_text().split("\n") if line]
    reserved = {line[1]: int(line[2]) for line in lines if line[0] == "R"}
    settled = {line[1]: int(line[2]) for line in lines if line[0] == "S"}
    released = {line[1] for line in lines if line[0] == "F"}
    assert looks > 5

    assert over == []
    assert connection.execute("SELECT * FROM seen_over").fetchall() == []
    with open_ledger(str(path), clock=lambda: time.time() + 60) as ledger:
        assert [status.reserved for status in ledger.statuses()] == [0] * len(ledger.statuses())
        assert ledger.database.row("SELECT count(*) FROM reservations WHERE state = 'open'") == (0,)
        for id, amount in settled.items():
            found = ledger.reservation(id)
            assert found is not None
            assert (found.state, found.charged) == ("settled", amount)
        for id, amount in reserved.items():
            found = ledger.reservation(id)
            assert found is not None
            assert found.amount == amount
            assert (found.charged == 0) if id in released else (found.charged <= amount)
        spent = {status.scope: status.spent for status in ledger.statuses()}
        assert {scope: spent[scope] for scope in LIMITS} == taken(connection)
        assert all(spent[scope] <= limit for scope, limit in LIMITS.items())
        assert ledger.database.row("PRAGMA integrity_check") == ("ok",)
    connection.close()
