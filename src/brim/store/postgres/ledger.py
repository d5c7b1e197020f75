"""``PostgresLedger``: the ledger of many machines.

In a busy scope, PostgreSQL makes one commit per flush of its disk, whatever the isolation level. So
requests of several threads to reserve, settle and release wait in a queue and are done together:
one call of the SQL function ``spend_together``, in the order of arrival, with one commit. Cases
that need more than sums (a person has to be asked, a lease has ended, a period begins) use the same
code as SQLite, under a lock.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import get_ident
from typing import Any

from brim.errors import InputError, LimitReached, StoreError
from brim.spend.ledger import Reservation, lineage
from brim.spend.limits import WARN
from brim.spend.money import TOKENS
from brim.spend.periods import EVERYWHERE
from brim.store.books import LIMIT_COLUMNS, SCOPE_COLUMNS, allowance_of, scope_of
from brim.store.database import TIMEOUT
from brim.store.ledger import Order, StoredLedger, refusal
from brim.store.postgres.database import PostgresDatabase, open_postgres

MOST = 500
"""Orders that are done together."""

AGAIN = ("lost", "conflict")
"""Reasons to do an order again: the request's id lets it count once."""

Done = Reservation | Exception


class Line:
    """The queue of orders, and the one thread that does them."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.waiting: deque[tuple[Order, Future[Reservation]]] = deque()
        self.worker = ThreadPoolExecutor(1, "brim-spending")
        self.thread = 0
        self.due = False
        """Whether the thread is about to look at the queue."""
        self.taken = 0
        """How many orders are being done."""


class PostgresLedger(StoredLedger):
    """A ``brim.spend.Ledger`` in a PostgreSQL server.

    One object serves many threads over one connection, and goes on after a fork and after the
    server was down. Without a *clock*, times are the server's.
    """

    workers = 32
    """Calls of ``asyncio`` tasks that wait at the same time, so that they are done together."""

    def __init__(
        self,
        address: str,
        *,
        create: bool = True,
        warn: float = WARN,
        clock: Callable[[], float] | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        super().__init__(warn)
        self._database = open_postgres(address, create=create, timeout=timeout)
        self._clock, self._timeout = clock, timeout
        self._line: Line | None = Line()

    @property
    def database(self) -> PostgresDatabase:
        """The connection."""
        return self._database

    def close(self) -> None:
        """Do the waiting orders, and close the connection. Closing twice does nothing."""
        line, self._line = self._line, None
        if line is not None and line.process == os.getpid():
            line.worker.shutdown()
        self._database.close()

    @property
    def waiting(self) -> int:
        """How many requests of this process are waiting or being done."""
        return len(self._line.waiting) + self._line.taken if self._line is not None else 0

    def _now(self) -> float:
        return self._database.now() if self._clock is None else self._clock()

    # The line -------------------------------------------------------------------------------------

    def _spend(self, order: Order) -> Reservation:
        line = self._line
        if line is None:
            raise StoreError(f"{self._database.path}: this ledger was closed: open it again")
        if line.process != os.getpid():
            line = self._line = Line()
        if line.thread == get_ident():  # a subscriber spends: it would wait for itself
            own = self._do([order])[0]
            if isinstance(own, Exception):
                raise own
            return own
        done: Future[Reservation] = Future()
        line.waiting.append((order, done))
        if not line.due:
            line.due = True
            line.worker.submit(self._serve, line)
        return done.result()

    def _serve(self, line: Line) -> None:
        """Do all waiting orders."""
        line.thread, line.due = (
            get_ident(),
            False,
        )  # an order that comes from now on starts another round
        while line.waiting:
            line.taken = min(MOST, len(line.waiting))
            taken = [line.waiting.popleft() for _ in range(line.taken)]
            done = self._do([order for order, _ in taken])
            for (_, future), each in zip(taken, done, strict=True):
                if isinstance(each, Exception):
                    future.set_exception(each)
                else:
                    future.set_result(each)
            line.taken = 0

    def _do(self, orders: list[Order]) -> list[Done]:
        """Return the result of each of *orders*. If the server is down, they wait until the
        timeout."""
        done: dict[int, Done] = {}
        until, pause = time.monotonic() + self._timeout, 0.01
        while True:
            left = [number for number in range(len(orders)) if number not in done]
            try:
                self._together(orders, left, done)
            except StoreError as error:
                if error.reason in AGAIN and time.monotonic() < until:
                    time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - so that not all come back at once
                    pause = min(2 * pause, 0.5)
                    continue
                done |= {number: error for number in left if number not in done}
            except Exception as error:  # a subscriber's: what was done stays
                done |= {number: error for number in left if number not in done}
            return [done[number] for number in range(len(orders))]

    def _together(self, orders: list[Order], left: list[int], done: dict[int, Done]) -> None:
        """Do the orders with the numbers *left*, and put their results into *done*."""
        paths = {number: path for number in left if (path := _path(orders[number]))}
        done |= self._in_one_call(orders, paths) if paths else {}
        hard = [number for number in left if number not in done]
        if not hard:
            return
        found: dict[int, Done] = {}
        with self._books() as books:
            for number in hard:
                try:
                    found[number] = orders[number].do(books)
                except InputError as error:  # it is raised before anything is changed
                    found[number] = error
        done |= found

    def _in_one_call(self, orders: list[Order], paths: dict[int, list[str]]) -> dict[int, Done]:
        """Return the results of the orders in *paths*, except for those that need more than
        sums."""
        names = [EVERYWHERE, *sorted({name for path in paths.values() for name in path})]
        places = {name: place for place, name in enumerate(names, 1)}
        requests = [
            {
                "at": number,
                "kind": orders[number].kind,
                "id": orders[number].request_id,
                "path": [1, *(places[name] for name in path)],
                "amount": orders[number].amount,
                "tokens": orders[number].tokens,
                "lease": orders[number].lease,
                "model": orders[number].made_with[0],
                "branch": orders[number].made_with[1],
            }
            for number, path in paths.items()
        ]
        moment = None if self._clock is None else self._clock()
        answers = self._database.call(
            "spend_together", json.dumps(requests), names, round(self._warn * 1_000_000), moment
        )
        found = zip(paths, answers or (), strict=False)
        return {
            number: self._read(orders[number], answer)
            for number, answer in found
            if answer is not None
        }

    def _read(self, order: Order, answer: Any) -> Done:
        """Return the reservation in *answer*, or the error if it was refused."""
        state, *fields = answer
        if state == "refused":
            table, row = fields
            columns = (SCOPE_COLUMNS if table == "scope" else LIMIT_COLUMNS).split(", ")
            read = scope_of if table == "scope" else allowance_of
            about = read([row[name] for name in columns], self._database.path)
            wanted = (order.tokens or 0) if about.unit == TOKENS else order.amount
            return refusal(about, wanted, order.purpose, False) or LimitReached(
                f"{about.name}: nothing fits"
            )
        charged, used, made_at, lease_end, amount, tokens, purpose, overrun = fields
        paid = (
            amount,
            charged,
            state,
            float(lease_end),
            purpose,
            overrun,
            tokens,
            used,
            float(made_at),
        )
        return Reservation(order.request_id, order.scope, *paid)


def _path(order: Order) -> list[str]:
    """Return the scopes that *order* counts against; none if it needs more than sums, or its scope
    isn't known."""
    if order.kind == "record" or order.purpose or not "".join(order.made_with).isprintable():
        return []
    try:
        return lineage(order.scope)
    except InputError:
        return []
