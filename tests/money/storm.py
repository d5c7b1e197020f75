"""Many processes on one ledger, while clients, connections and the server are killed: is the money
still right?

``storm`` starts processes that reserve, settle, release and go away, some with clocks an hour ahead
or behind, kills them at random, and adds up afterwards from what each of them was told.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psycopg

from brim import database
from brim.money import lineage, open_ledger, sqlite_ledger
from brim.usd import Money
from tests.money.server import Server

LIMITS = {
    "shop": 9_000,
    "shop/a": 4_000,
    "shop/b": 6_000,
    "shop/a/1": 2_000,
    "shop/a/2": 3_000,
    "shop/b/1": 2_500,
}
SCOPES = ("shop/a/1", "shop/a/2", "shop/b/1", "shop/b/2", "shop/a", "shop")
HOUR = 3_600

WORKER = """
import os, random, sys, time
from brim.errors import LimitReached, StoreError
from brim import database
from brim.money import open_ledger, sqlite_ledger
from brim.usd import Money

sqlite_ledger.has_tables = database.version_of  # the file has a trigger of the test's own
address, log, seed, ahead, most, *scopes = sys.argv[1:]
rng, log = random.Random(int(seed)), os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
clock = (lambda: time.time() + int(ahead)) if int(ahead) else None
while True:
    try:
        ledger = open_ledger(address, timeout=600, clock=clock)
        break
    except StoreError as error:
        assert error.reason == "lost", error
        time.sleep(0.1)
with ledger:
    while True:
        time.sleep(rng.uniform(0, 0.01))  # SQLite gives no turns: who does not wait takes them all
        try:
            amount = Money(rng.randint(1, int(most)))
            made = ledger.reserve(rng.choice(scopes), amount, lease=rng.choice([0.05, 0.3, 30]))
        except LimitReached as refused:
            assert refused.room is None or refused.room < refused.amount, refused
            os.write(log, b"N\\n")
            continue
        os.write(log, f"R {made.request_id} {int(made.amount)}\\n".encode())
        what = rng.random()
        if what < 0.2:
            time.sleep(0.1)
        if what < 0.5:
            cost = rng.randint(0, int(made.amount) // 4)
            ledger.settle(made, Money(cost))
            os.write(log, f"S {made.request_id} {cost}\\n".encode())
        elif what < 0.9:
            ledger.release(made)
            os.write(log, f"F {made.request_id} 0\\n".encode())
"""

TAKEN = "SELECT scope, amount FROM spend_entries UNION ALL SELECT scope, amount FROM reservations WHERE state = 'open'"


class File:
    """A ledger in an SQLite file, whose trigger notes every moment at which a sum is over its
    limit."""

    def __init__(self, folder: Path) -> None:
        self.address = str(folder / "money.db")

    def prepare(self) -> None:
        """Add the trigger."""
        with sqlite3.connect(self.address) as connection:
            connection.executescript(
                "CREATE TABLE seen_over (scope, spent, reserved);"
                "CREATE TRIGGER over AFTER INSERT ON spend_scopes WHEN new.spent + new.reserved > new.amount "
                "BEGIN INSERT INTO seen_over VALUES (new.scope, new.spent, new.reserved); END"
            )
        connection.close()

    def rows(self, sql: str) -> list[Any]:
        """Return the rows of *sql*, not through brim."""
        connection = sqlite3.connect(f"file:{self.address}?mode=ro", uri=True, timeout=300)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def strike(self, rng: random.Random) -> None:
        """Nothing but clients can die."""

    def remove(self) -> None:
        """Leave it to its folder."""


class Remote:
    """A ledger in a PostgreSQL server of its own, which waits for the disk."""

    def __init__(self, folder: Path) -> None:
        self.server = Server("shared_buffers=32MB", "max_connections=200")
        self.address = self.server.url
        self.strikes = 0

    def prepare(self) -> None:
        """Add the trigger."""
        with psycopg.connect(self.server.url) as connection:
            connection.execute(
                "CREATE TABLE seen_over (scope text, spent bigint, reserved bigint);"
                "CREATE FUNCTION note_over() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                "INSERT INTO public.seen_over VALUES (NEW.scope, NEW.spent, NEW.reserved); RETURN NEW; END $$;"
                "CREATE TRIGGER over AFTER INSERT OR UPDATE ON brim.spend_scopes FOR EACH ROW "
                "WHEN (NEW.spent + NEW.reserved > NEW.amount) EXECUTE FUNCTION note_over()"
            )

    def rows(self, sql: str) -> list[Any]:
        """Return the rows of *sql*, not through brim."""
        with psycopg.connect(self.server.url, options="-csearch_path=brim,public") as connection:
            return connection.execute(sql.encode()).fetchall()

    def strike(self, rng: random.Random) -> None:
        """Kill the server and start it again, or cut a third of the connections."""
        self.strikes += 1
        if self.strikes % 4 == 2:
            self.server.kill()
            time.sleep(rng.uniform(0, 0.3))
            self.server.start()
            return
        with (
            suppress(psycopg.OperationalError),
            psycopg.connect(self.server.url, autocommit=True) as connection,
        ):
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'brim' AND random() < 0.3"
            )

    def remove(self) -> None:
        """Stop the server."""
        self.server.remove()


@dataclass
class Found:
    """What was wrong, and how much was done."""

    over: list[Any] = field(default_factory=list)
    """Moments at which more was spent and reserved than a limit allows."""
    lost: list[str] = field(default_factory=list)
    """Requests of which a process was told something that isn't so."""
    leaked: list[str] = field(default_factory=list)
    """Sums that don't agree with what is in them, and reservations that never end."""
    failed: list[str] = field(default_factory=list)
    """What processes died of that weren't killed."""
    looks: int = 0
    kills: int = 0
    said: dict[str, int] = field(default_factory=dict)
    """How often something was reserved, settled, freed, or not admitted."""

    @property
    def wrong(self) -> list[Any]:
        """Everything that is."""
        return [*self.over, *self.lost, *self.leaked, *self.failed]


def storm(
    ledger: File | Remote, folder: Path, *, workers: int, kills: int, most: int = 900
) -> Found:
    """Let *workers* processes use *ledger*, kill one *kills* times, and return what was found.

    A request takes *most* at most. It ends when everything that can happen has happened twenty
    times.
    """
    with patch.object(sqlite_ledger, "has_tables", database.version_of):
        with open_ledger(ledger.address) as opened:
            for scope, limit in LIMITS.items():
                opened.limit(scope, Money(limit))
        ledger.prepare()
        found, over = _blow(ledger, folder, workers, kills, most)
        found.over = [*over, *ledger.rows("SELECT * FROM seen_over")]
        _add_up(ledger, folder, found)
    return found


def _blow(
    ledger: File | Remote, folder: Path, workers: int, kills: int, most: int
) -> tuple[Found, list[Any]]:
    found, done, rng = Found(), threading.Event(), random.Random(5)
    over: list[Any] = []

    def watch() -> None:
        while not done.is_set():
            with suppress(psycopg.OperationalError):
                over.extend(
                    (scope, much) for scope, much in _taken(ledger).items() if much > LIMITS[scope]
                )
                found.looks += 1
            time.sleep(0.02)

    def start(number: int) -> subprocess.Popen[bytes]:
        ahead = (0, 0, HOUR, -HOUR)[number % 4]
        words = [
            ledger.address,
            str(folder / f"log{number}"),
            str(number),
            str(ahead),
            str(most),
            *SCOPES,
        ]
        return subprocess.Popen([sys.executable, "-c", WORKER, *words], stderr=subprocess.PIPE)

    watcher = threading.Thread(target=watch)
    watcher.start()
    running = [start(number) for number in range(workers)]
    try:
        time.sleep(0.5)
        for number in range(workers, workers + kills):
            time.sleep(rng.uniform(0.02, 0.15))
            victim = running.pop(rng.randrange(len(running)))
            died = victim.poll() is not None
            victim.send_signal(signal.SIGKILL)
            said = victim.communicate()[1].decode()[-500:]
            found.failed += [said] if died else []
            found.kills += 1
            running.append(start(number))
            if number % 3 == 0:
                ledger.strike(rng)
        patience = time.monotonic() + 600
        while not all(found.said.get(what, 0) >= 20 for what in "RSFN"):  # however slow the disk is
            found.said = _said(folder)
            if time.monotonic() > patience or any(worker.poll() is not None for worker in running):
                break
            time.sleep(0.05)
    finally:
        for worker in running:
            died = worker.poll() is not None
            worker.kill()
            said = worker.communicate()[1].decode()[-500:]
            found.failed += [said] if died else []
        done.set()
        watcher.join()
    return found, over


def _add_up(ledger: File | Remote, folder: Path, found: Found) -> None:
    """Compare what processes were told with what the ledger says two hours later."""
    lines = [
        line.split() for log in folder.glob("log*") for line in log.read_text().split("\n") if line
    ]
    settled = {line[1]: int(line[2]) for line in lines if line[0] == "S"}
    released = {line[1] for line in lines if line[0] == "F"}
    reserved = {line[1]: int(line[2]) for line in lines if line[0] == "R"}
    with open_ledger(ledger.address, clock=lambda: time.time() + 2 * HOUR) as opened:
        statuses = {status.scope: status for status in opened.statuses()}
        known = {id: opened.reservation(id) for id in reserved}
    for id, made in known.items():
        is_right = made is not None and made.amount == reserved[id] and made.charged <= made.amount
        if made is not None and id in settled:
            is_right = is_right and (made.state, made.charged) == ("settled", settled[id])
        if made is not None and id in released:
            is_right = is_right and made.charged == 0
        found.lost += [] if is_right else [f"{id}: {made}"]
    taken = _taken(ledger)
    for scope, status in statuses.items():
        if status.reserved or (
            scope in LIMITS and (status.spent != taken[scope] or status.spent > LIMITS[scope])
        ):
            found.leaked.append(f"{status}, and {taken.get(scope)} is taken")
    found.leaked += [
        str(row) for row in ledger.rows("SELECT request_id FROM reservations WHERE state = 'open'")
    ]


def _taken(ledger: File | Remote) -> dict[str, int]:
    """Return what is spent by the entries and reserved by the reservations, under each scope, at
    one moment."""
    sums = dict.fromkeys(LIMITS, 0)
    for scope, amount in ledger.rows(TAKEN):
        for name in lineage(scope):
            if name in sums:
                sums[name] += amount
    return sums


def _said(folder: Path) -> dict[str, int]:
    said: dict[str, int] = {}
    for log in folder.glob("log*"):
        for line in log.read_text().split("\n"):
            if line:
                said[line[0]] = said.get(line[0], 0) + 1
    return said


MANY = os.environ.get("BRIM_STORM", "") not in ("", "0")
"""Whether the tests use 64 processes; otherwise a few."""
