"""Opens a ledger by its address: a SQLite file, or a PostgreSQL server."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from weakref import WeakValueDictionary

from brim.database import POSTGRES, TIMEOUT
from brim.money.budget import WARN
from brim.money.sqlite_ledger import SqliteLedger, ledger_path
from brim.money.stored_ledger import StoredLedger

_SHARED: WeakValueDictionary[str, StoredLedger] = WeakValueDictionary()


def shared_ledger(address: str) -> StoredLedger:
    """Return the ledger at *address* that this process has open already, or open it.

    One object lets its threads wait in turn, or asks a server for all of them at once. Several
    objects of one process only get in each other's way: SQLite sleeps while another one writes.
    """
    key = address
    is_there = True
    if not address.startswith(POSTGRES):
        key = os.path.abspath(ledger_path(address))
        is_there = os.path.exists(key)
    ledger = _SHARED.get(key)
    if ledger is None or ledger.is_closed or not is_there:
        ledger = open_ledger(address)
        _SHARED[key] = ledger
    return ledger


def open_ledger(
    address: str,
    *,
    create: bool = True,
    timeout: float = TIMEOUT,
    warn: float = WARN,
    clock: Callable[[], float] | None = None,
) -> StoredLedger:
    """Open the ledger at *address*.

    The address is ``sqlite:///PATH``, a path, or, for many machines,
    ``postgresql://USER:PASSWORD@HOST/DATABASE``. A missing ledger is created, unless *create* is
    False. *warn* is the share of a limit from which to warn. *timeout* is how many seconds to wait
    for another writer, or for a server that is down. *clock* gives the time for leases; by default
    that's this machine's, or the server's with PostgreSQL.
    """
    if address.startswith(POSTGRES):
        # psycopg is optional, and nobody else needs to load it.
        from brim.money.postgres_ledger import PostgresLedger

        return PostgresLedger(address, create=create, warn=warn, clock=clock, timeout=timeout)
    path = ledger_path(address)
    return SqliteLedger(path, create=create, warn=warn, clock=clock or time.time, timeout=timeout)
