"""A ledger of many machines in PostgreSQL: ``python bench/ledger.py [--quick] [--json FILE]``.

Thirty-two clients reserve and settle under one hot scope, on a server of the benchmark's own that
waits for its disk. In turns they make one bare ``UPDATE``, do it as one would at first (``SELECT ... FOR UPDATE``, and a
statement for each row), with one call of brim's SQL function for each request, and with what waits
in one process combined. Sums are compared to the last micro-dollar. Then 10,000 machines ask once
each under a limit that not all of them fit in, and a queue with the measured times says how long
10,000 machines wait that go on asking. At last 64 processes are killed at random, and so is the
server. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import heapq
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.money.server import Server
from tests.money.storm import File, Remote, storm

from brim.errors import LimitReached
from brim.money import lineage, open_ledger
from brim.usd import Money
from measure import say
from report import Target, arguments, finish, markdown, measured, table

CLIENTS = 32
BARE, NAIVE, ONE_CALL, COMBINED = "bare UPDATE", "naive FOR UPDATE", "one call", "combined"
AMOUNT, COST = 100, 90
PLENTY = 10**15
MACHINES = 10_000
LEAST_TIMES = 8
MOST_TIMES_BARE = 3
"""How many times as long as one ``UPDATE`` a reservation with its settlement may take, at the 99th
percentile."""


class Naive:
    """A ledger as one would write it at first: a lock and a statement for each row."""

    def __init__(self, url: str) -> None:
        self._link = psycopg.connect(url)

    def pair(self, scope: str, id: str) -> None:
        """Reserve and settle."""
        names = lineage(scope)
        with self._link.transaction():
            for name in names:
                row = self._link.execute(
                    "SELECT most, spent + reserved FROM naive_scopes WHERE scope = %s FOR UPDATE",
                    (name,),
                ).fetchone()
                assert row is not None
                assert row[1] + AMOUNT <= row[0]
            for name in names:
                self._link.execute(
                    "UPDATE naive_scopes SET reserved = reserved + %s WHERE scope = %s",
                    (AMOUNT, name),
                )
            self._link.execute(
                "INSERT INTO naive_reservations VALUES (%s, %s, %s, 'open')", (id, scope, AMOUNT)
            )
        with self._link.transaction():
            for name in names:
                self._link.execute(
                    "SELECT 1 FROM naive_scopes WHERE scope = %s FOR UPDATE", (name,)
                )
            for name in names:
                self._link.execute(
                    "UPDATE naive_scopes SET reserved = reserved - %s, spent = spent + %s WHERE scope = %s",
                    (AMOUNT, COST, name),
                )
            self._link.execute(
                "UPDATE naive_reservations SET state = 'settled' WHERE id = %s", (id,)
            )

    def close(self) -> None:
        """Close the connection."""
        self._link.close()


def scope_of(client: int) -> str:
    """Return the scope of a client: all share the outermost, eight a team."""
    return f"org/team-{client % 4}/agent-{client}"


def clients(pair: Callable[[int, str], None], seconds: float) -> tuple[float, list[float]]:
    """Let every client call *pair* for *seconds*; return pairs per second, and how long each pair
    took."""
    taken: list[list[float]] = [[] for _ in range(CLIENTS)]
    failed: list[BaseException] = []
    stop = threading.Event()

    def go_on(client: int) -> None:
        try:
            while not stop.is_set():
                start = time.perf_counter()
                pair(client, f"{client}-{len(taken[client])}-{random.random()}")
                taken[client].append(time.perf_counter() - start)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=go_on, args=(client,)) for client in range(CLIENTS)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    stop.set()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    flat = sorted(each for one in taken for each in one)
    return len(flat) / (time.perf_counter() - start), flat


def naive(server: Server, seconds: float) -> tuple[float, list[float], int]:
    """Measure the naive ledger; return also by how many micro-dollars its sum is off."""
    with psycopg.connect(server.url, autocommit=True) as link:
        link.execute("DROP TABLE IF EXISTS naive_scopes, naive_reservations")
        link.execute(
            "CREATE TABLE naive_scopes (scope text PRIMARY KEY, most bigint, spent bigint, reserved bigint)"
        )
        link.execute(
            "CREATE TABLE naive_reservations (id text PRIMARY KEY, scope text, amount bigint, state text)"
        )
        for name in sorted(
            {name for client in range(CLIENTS) for name in lineage(scope_of(client))}
        ):
            link.execute("INSERT INTO naive_scopes VALUES (%s, %s, 0, 0)", (name, PLENTY))
    ledgers = [Naive(server.url) for _ in range(CLIENTS)]
    rate, taken = clients(lambda client, id: ledgers[client].pair(scope_of(client), id), seconds)
    for each in ledgers:
        each.close()
    with psycopg.connect(server.url) as link:
        row = link.execute("SELECT spent FROM naive_scopes WHERE scope = 'org'").fetchone()
    return rate, taken, (row[0] if row else 0) - COST * len(taken)


def bare(server: Server, seconds: float) -> tuple[float, list[float], int]:
    """Measure one ``UPDATE … RETURNING`` of one row by each client: the least that money costs."""
    with psycopg.connect(server.url, autocommit=True) as link:
        link.execute("DROP TABLE IF EXISTS bare")
        link.execute("CREATE TABLE bare (scope text PRIMARY KEY, spent bigint)")
        link.execute("INSERT INTO bare VALUES ('org', 0)")
    links = [psycopg.connect(server.url, autocommit=True) for _ in range(CLIENTS)]
    statement = "UPDATE bare SET spent = spent + 1 WHERE scope = 'org' RETURNING spent"

    def update(client: int, _: str) -> None:
        links[client].execute(statement).fetchone()

    rate, taken = clients(update, seconds)
    for each in links:
        each.close()
    return rate, taken, 0


def ours(
    server: Server, number: int, seconds: float, *, combined: bool
) -> tuple[float, list[float], int]:
    """Measure brim's ledger: one object for all clients, which combines, or one for each."""
    address = f"{server.url}&schema=bench_{number}_{'combined' if combined else 'one'}"
    ledgers = [open_ledger(address, timeout=60) for _ in range(1 if combined else CLIENTS)]
    ledgers[0].limit("org", Money(PLENTY))

    def pair(client: int, id: str) -> None:
        ledger = ledgers[client % len(ledgers)]
        ledger.settle(ledger.reserve(scope_of(client), Money(AMOUNT), request_id=id), Money(COST))

    rate, taken = clients(pair, seconds)
    status = ledgers[0].status("org")
    for each in ledgers:
        each.close()
    return rate, taken, status.spent + status.reserved - COST * len(taken)


def throughput(server: Server, rounds: int, seconds: float) -> dict[str, Any]:
    """Return pairs per second and latencies of the three, measured in turns."""
    ways: dict[str, Callable[[int], tuple[float, list[float], int]]] = {
        BARE: lambda _: bare(server, seconds),
        NAIVE: lambda _: naive(server, seconds),
        ONE_CALL: lambda number: ours(server, number, seconds, combined=False),
        COMBINED: lambda number: ours(server, number, seconds, combined=True),
    }
    rates: dict[str, list[float]] = {name: [] for name in ways}
    taken: dict[str, list[float]] = {name: [] for name in ways}
    off = 0
    for number in range(rounds):
        for name, way in ways.items():
            say(f"throughput: round {number + 1} of {rounds}, {name}")
            rate, times, difference = way(number)
            rates[name].append(rate)
            taken[name] += times
            off += abs(difference)
    pairs = zip(rates[COMBINED], rates[ONE_CALL], strict=True)
    return {
        "pairs_per_second": {name: statistics.median(each) for name, each in rates.items()},
        "p50_ms": {name: 1000 * statistics.median(each) for name, each in taken.items()},
        "p99_ms": {
            name: 1000 * sorted(each)[int(0.99 * (len(each) - 1))] for name, each in taken.items()
        },
        "combined_over_one_call": statistics.median(many / one for many, one in pairs),
        "micro_dollars_off": off,
    }


def crowd(server: Server, machines: int) -> dict[str, Any]:
    """Let *machines* ask once each, from 64 threads, under a limit that seven in ten of them fit
    in."""
    say(f"crowd: {machines:,} machines ask once")
    admitted: list[str] = []
    numbers = iter(range(machines))
    lock = threading.Lock()
    with open_ledger(f"{server.url}&schema=crowd", timeout=60) as ledger:
        limit = ledger.limit("org", Money(machines * AMOUNT * 7 // 10))

        def ask() -> None:
            while True:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return
                try:
                    made = ledger.reserve(
                        f"org/region-{number % 20}/machine-{number}", Money(AMOUNT), lease=3_600
                    )
                except LimitReached:
                    continue
                admitted.append(made.request_id)

        threads = [threading.Thread(target=ask) for _ in range(64)]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - start
        status = ledger.status("org")
    fits = ((limit.limit or 0) - limit.set_aside) // AMOUNT
    return {
        "machines": machines,
        "admitted": len(admitted),
        "fit": fits,
        "reserved_off": status.reserved - AMOUNT * len(admitted),
        "seconds": seconds,
    }


def waits(
    alone: float, more: float, *, machines: int, every: float, gateways: int, rng: random.Random
) -> list[float]:
    """Return how long orders wait, in a queue before one hot scope.

    A commit takes *alone* seconds, and *more* for each order in it. Each of the *machines* makes a
    request *every* so many seconds on average, which is two orders. Without *gateways* an order is
    a commit; with them, each order goes to one of so many processes, which sends everything that
    waits there when its last commit is done.
    """
    rate, until = 2 * machines / every, 30.0
    arrivals: list[float] = []
    now = 0.0
    while now < until:
        now += rng.expovariate(rate)
        arrivals.append(now)
    found: list[float] = []
    free = 0.0
    if not gateways:
        for each in arrivals:
            free = max(free, each) + alone + more
            found.append(free - each)
        return found
    queues: list[list[float]] = [[] for _ in range(gateways)]
    for each in arrivals:
        queues[rng.randrange(gateways)].append(each)
    ready = [(queue[0], number) for number, queue in enumerate(queues) if queue]
    heapq.heapify(ready)
    heads = [0] * gateways
    while ready:
        asked, number = heapq.heappop(ready)
        begin, queue, first = max(free, asked), queues[number], heads[number]
        last = first
        while last < len(queue) and queue[last] <= asked:  # what waited when it was sent
            last += 1
        free = begin + alone + more * (last - first)
        found += [free - each for each in queue[first:last]]
        heads[number] = last
        if last < len(queue):
            heapq.heappush(ready, (max(free, queue[last]), number))
    return found


def simulate(rates: dict[str, float], batch: float) -> list[dict[str, Any]]:
    """Return how long orders of 10,000 machines wait, by how often each of them makes a request."""
    say("simulation: 10,000 machines on one scope")
    one, together = 1 / (2 * rates[ONE_CALL]), 1 / (2 * rates[COMBINED])
    more = max(
        1e-6, (together - one / batch) / (1 - 1 / batch)
    )  # one = alone + more; together = alone / batch + more
    rows = []
    for every in (300, 120, 60, 30, 10):
        row: dict[str, Any] = {"every_s": every}
        for gateways in (0, 4, 16):
            rng = random.Random(7)
            found = sorted(
                waits(
                    max(0.0, one - more),
                    more,
                    machines=MACHINES,
                    every=every,
                    gateways=gateways,
                    rng=rng,
                )
            )
            late = found[int(0.99 * (len(found) - 1))]
            row[f"p99_ms_{gateways}"] = None if late > 5 else 1000 * late
        rows.append(row)
    return rows


def storms(quick: bool) -> dict[str, Any]:
    """Return what was wrong after processes, connections and the server were killed."""
    result: dict[str, Any] = {}
    for name, kind in (("SQLite", File), ("PostgreSQL", Remote)):
        say(f"storm: {name}")
        with tempfile.TemporaryDirectory() as folder:
            ledger = kind(Path(folder))
            try:
                workers, kills, most = (12, 12, 900) if quick else (64, 128, 100)
                found = storm(ledger, Path(folder), workers=workers, kills=kills, most=most)
            finally:
                ledger.remove()
        result[name] = {
            "wrong": [str(each) for each in found.wrong],
            "kills": found.kills,
            "said": found.said,
        }
    return result


def main() -> int:
    """Measure, print, and return the exit status."""
    options = arguments(__doc__, quick="fewer and shorter rounds: a minute").parse_args()
    server = Server("max_connections=200")
    try:
        speed = throughput(server, 2 if options.quick else 5, 2.0 if options.quick else 5.0)
        asked = crowd(server, 2_000 if options.quick else MACHINES)
    finally:
        server.remove()
    rates = speed["pairs_per_second"]
    results = {
        **speed,
        "crowd": asked,
        "simulation": simulate(rates, CLIENTS / 2),
        "storms": storms(options.quick),
    }
    print_results(results)
    times = speed["combined_over_one_call"]
    wrong = [each for found in results["storms"].values() for each in found["wrong"]]
    off = [speed["micro_dollars_off"], asked["reserved_off"], asked["fit"] - asked["admitted"]]
    targets = [
        Target("combined, times one call", times, at_least=LEAST_TIMES),
        Target(
            "p99 of a pair, times a bare UPDATE",
            speed["p99_ms"][COMBINED] / speed["p99_ms"][BARE],
            at_most=MOST_TIMES_BARE,
        ),
        Target("sums that are off, micro-dollars and machines", sum(map(abs, off)), at_most=0),
        Target("wrong after the storms", len(wrong), at_most=0),
    ]
    return finish(options, results, targets, published(results, options))


def published(results: dict[str, Any], options: argparse.Namespace) -> dict[str, str]:
    """Return the tables of the documentation."""
    head = measured(options, "PostgreSQL and its clients on the same cores", clock=True)
    shown = {
        BARE: "bare: one `UPDATE … RETURNING`, no reservation",
        NAIVE: "naive: `SELECT … FOR UPDATE`, a statement per row",
        ONE_CALL: "one call per request",
        COMBINED: "combined in one process",
    }
    rows = []
    for name, rate in results["pairs_per_second"].items():
        late = [f"{results[share][name]:,.0f} ms" for share in ("p50_ms", "p99_ms")]
        rows.append([shown[name], f"{rate:,.0f}", *late])
    columns = [
        f"{CLIENTS} clients under one scope, reserve and settle",
        "pairs per second",
        "p50",
        "p99",
    ]
    return {"ledger": head + markdown(columns, rows)}


def print_results(results: dict[str, Any]) -> None:
    """Print the tables."""
    rows = [
        [name, f"{rate:,.0f}", f"{results['p50_ms'][name]:,.1f}", f"{results['p99_ms'][name]:,.1f}"]
        for name, rate in results["pairs_per_second"].items()
    ]
    head = ["", "pairs/s", "p50 ms", "p99 ms"]
    table(f"{CLIENTS} clients under one scope, reserve and settle", head, rows, [])
    rows = [
        [
            f"{each['every_s']} s",
            *(
                "over" if (late := each[f"p99_ms_{n}"]) is None else f"{late:,.0f} ms"
                for n in (0, 4, 16)
            ),
        ]
        for each in results["simulation"]
    ]
    head = ["a request every", "each commits alone", "through 4 processes", "through 16"]
    table("10,000 machines on one scope, simulated: p99 of an order", head, rows, [])
    asked = results["crowd"]
    rows = [
        [
            f"{asked['machines']:,}",
            f"{asked['fit']:,}",
            f"{asked['admitted']:,}",
            f"{asked['seconds']:.1f}",
        ]
    ]
    table(
        "Machines that ask once, and a limit", ["machines", "fit", "admitted", "seconds"], rows, []
    )
    rows = [
        [name, str(each["kills"]), f"{sum(each['said'].values()):,}", str(len(each["wrong"]))]
        for name, each in results["storms"].items()
    ]
    table(
        "Processes, connections and the server killed", ["", "kills", "answers", "wrong"], rows, []
    )


if __name__ == "__main__":
    sys.exit(main())
