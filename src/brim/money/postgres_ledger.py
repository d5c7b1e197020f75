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

from brim.database import TIMEOUT
from brim.errors import InputError, LimitReached, StoreError
from brim.money.allowances import Allowance
from brim.money.amounts import TOKENS
from brim.money.budget import WARN
from brim.money.ledger import Reservation
from brim.money.orders import Order, refusal
from brim.money.postgres_database import PostgresDatabase, open_postgres
from brim.money.rows import LIMIT_COLUMNS, SCOPE_COLUMNS, Scope, allowance_of, scope_of
from brim.money.scopes import EVERYWHERE, lineage, paths
from brim.money.stored_ledger import StoredLedger
from brim.usd import Money

LARGEST_BATCH = 500
"""Orders that are done together."""
TRY_AGAIN = ("lost", "conflict")
"""Reasons to do an order again: the request's id lets it count once."""
FIRST_PAUSE = 0.01
LONGEST_PAUSE = 0.5
"""Seconds between two tries."""

Result = Reservation | Exception


class OrderQueue:
    """The orders that wait, and the one thread that does them."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.waiting: deque[tuple[Order, Future[Reservation]]] = deque()
        self.worker = ThreadPoolExecutor(1, "brim-spending")
        self.thread = 0
        self.is_scheduled = False
        """Whether the thread is about to look at the queue."""
        self.in_progress = 0
        """How many orders are being done."""


class PostgresLedger(StoredLedger):
    """A ``Ledger`` in a PostgreSQL server.

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
        self._clock = clock
        self._timeout = timeout
        self._queue: OrderQueue | None = OrderQueue()

    @property
    def database(self) -> PostgresDatabase:
        """The connection."""
        return self._database

    def close(self) -> None:
        """Do the waiting orders, and close the connection. Closing twice does nothing."""
        queue = self._queue
        self._queue = None
        if queue is not None and queue.process == os.getpid():
            queue.worker.shutdown()
        self._database.close()

    @property
    def waiting(self) -> int:
        """How many requests of this process are waiting or being done."""
        if self._queue is None:
            return 0
        return len(self._queue.waiting) + self._queue.in_progress

    def now(self) -> float:
        """Return the time by the ledger's clock, in seconds since 1970."""
        if self._clock is None:
            return self._database.now()
        return self._clock()

    # The queue

    def _spend(self, order: Order) -> Reservation:
        queue = self._queue
        if queue is None:
            raise StoreError(f"{self._database.path}: this ledger was closed: open it again")
        if queue.process != os.getpid():
            queue = OrderQueue()
            self._queue = queue
        if queue.thread == get_ident():  # a subscriber spends: it would wait for itself
            result = self._do([order])[0]
            if isinstance(result, Exception):
                raise result
            return result
        future: Future[Reservation] = Future()
        queue.waiting.append((order, future))
        if not queue.is_scheduled:
            queue.is_scheduled = True
            queue.worker.submit(self._serve, queue)
        return future.result()

    def _serve(self, queue: OrderQueue) -> None:
        """Do all waiting orders."""
        queue.thread = get_ident()
        queue.is_scheduled = False  # an order that comes from now on starts another round
        while queue.waiting:
            queue.in_progress = min(LARGEST_BATCH, len(queue.waiting))
            batch = [queue.waiting.popleft() for _ in range(queue.in_progress)]
            results = self._do([order for order, _ in batch])
            for (_, future), result in zip(batch, results, strict=True):
                if isinstance(result, Exception):
                    future.set_exception(result)
                else:
                    future.set_result(result)
            queue.in_progress = 0

    def _do(self, orders: list[Order]) -> list[Result]:
        """Return the result of each order. If the server is down, they wait until the timeout."""
        results: dict[int, Result] = {}
        give_up_at = time.monotonic() + self._timeout
        pause = FIRST_PAUSE
        while True:
            waiting = [number for number in range(len(orders)) if number not in results]
            try:
                self._do_together(orders, waiting, results)
            except StoreError as error:
                if error.reason in TRY_AGAIN and time.monotonic() < give_up_at:
                    # Not all of them come back at once.
                    time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311
                    pause = min(2 * pause, LONGEST_PAUSE)
                    continue
                _fail(waiting, error, results)
            except Exception as error:  # a subscriber's: what was done stays
                _fail(waiting, error, results)
            return [results[number] for number in range(len(orders))]

    def _do_together(
        self, orders: list[Order], waiting: list[int], results: dict[int, Result]
    ) -> None:
        """Do the orders with the numbers *waiting*, and put their results into *results*."""
        scopes_of: dict[int, list[str]] = {}
        for number in waiting:
            scopes = _scopes(orders[number])
            if scopes:
                scopes_of[number] = scopes
        if scopes_of:
            results |= self._do_in_one_call(orders, scopes_of)
        unsolved = [number for number in waiting if number not in results]
        if not unsolved:
            return
        outcomes: dict[int, Result] = {}
        with self._books() as books:
            for number in unsolved:
                try:
                    outcomes[number] = orders[number].do(books)
                except InputError as error:  # it is raised before anything is changed
                    outcomes[number] = error
        results |= outcomes

    def _do_in_one_call(
        self, orders: list[Order], scopes_of: dict[int, list[str]]
    ) -> dict[int, Result]:
        """Return the results of the orders in *scopes_of*, except for those that need more than
        sums."""
        all_scopes: set[str] = set()
        for scopes in scopes_of.values():
            all_scopes.update(scopes)
        names = [EVERYWHERE, *sorted(all_scopes)]
        places = {name: place for place, name in enumerate(names, 1)}
        requests = [
            _request(number, orders[number], scopes, places) for number, scopes in scopes_of.items()
        ]
        moment = None
        if self._clock is not None:
            moment = self._clock()
        answers = self._database.call(
            "spend_together", json.dumps(requests), names, round(self._warn * 1_000_000), moment
        )
        results: dict[int, Result] = {}
        for number, answer in zip(scopes_of, answers or (), strict=False):
            if answer is not None:
                results[number] = self._result(orders[number], answer)
        return results

    def _result(self, order: Order, answer: Any) -> Result:
        """Return the reservation in *answer*, or the error if it was refused."""
        state, *fields = answer
        if state == "refused":
            return self._refused(order, *fields)
        charged, charged_tokens, made_at, lease_end, amount, tokens, purpose, overrun = fields
        return Reservation(
            order.request_id,
            order.scope,
            Money(amount),
            Money(charged),
            state,
            float(lease_end),
            purpose,
            overrun,
            tokens,
            charged_tokens,
            float(made_at),
        )

    def _refused(self, order: Order, table: str, row: dict[str, Any]) -> LimitReached:
        path = self._database.path
        about: Scope | Allowance
        if table == "scope":
            about = scope_of([row[name] for name in SCOPE_COLUMNS.split(", ")], path)
        else:
            about = allowance_of([row[name] for name in LIMIT_COLUMNS.split(", ")], path)
        wanted: int = order.amount
        if about.unit == TOKENS:
            wanted = order.tokens or 0
        refused = refusal(about, wanted, order.purpose, False)
        return refused or LimitReached(f"{about.name}: nothing fits")


def _fail(waiting: list[int], error: Exception, results: dict[int, Result]) -> None:
    """Give *error* to the orders that have no result yet."""
    for number in waiting:
        results.setdefault(number, error)


def _request(
    number: int, order: Order, scopes: list[str], places: dict[str, int]
) -> dict[str, object]:
    """Return *order* as ``spend_together`` reads it: *scopes* by their *places*."""
    return {
        "at": number,
        "kind": order.kind,
        "id": order.request_id,
        "scope": order.scope,
        "roots": [places[scope] for scope in scopes if "/" not in scope],
        "path": [1, *[places[scope] for scope in scopes]],
        "own": places[paths(order.scope)[0]],
        "amount": order.amount,
        "tokens": order.tokens,
        "lease": order.lease,
        "model": order.made_with[0],
        "branch": order.made_with[1],
        "most": order.at_most,
        "asks": order.asks,
    }


def _scopes(order: Order) -> list[str]:
    """Return the scopes that *order* counts against; none if it needs more than sums, or its scope
    isn't known."""
    if order.kind == "record" or order.purpose or not "".join(order.made_with).isprintable():
        return []
    try:
        return lineage(order.scope)
    except InputError:
        return []
