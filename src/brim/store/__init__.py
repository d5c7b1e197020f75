"""Where is it kept?

In one SQLite file per project and one per user. Bottom up: ``tracked`` and ``folder`` say which files brim may
believe, ``database`` is one file opened, ``opening`` tells files of other programs and versions apart and runs the
``migrations``. ``rows``, ``triggers``, ``costs`` and ``events`` are how things lie in it, ``writing`` and ``source``
how behaviors get in and how activation gets at them, ``remembered`` and ``sessions`` what else is kept. ``store`` is
all of that for one file. ``precedence`` says what counts of two, ``standings`` remembers it while nothing changes, and
``scopes`` is both files as one; ``model_costs`` and ``planning`` are what injection reads from them, ``together`` what
it writes back. ``ledger`` is money in the same file, through ``books``, found by ``ledger_address``. ``trust`` says
which projects may steer, ``backup`` keeps copies, ``project`` reads what a project is.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.store.events import Event
    from brim.store.ledger import SqliteLedger, open_ledger
    from brim.store.scopes import Scopes, open_scopes
    from brim.store.store import Store, open_store

__all__ = ["Event", "Scopes", "SqliteLedger", "Store", "open_ledger", "open_scopes", "open_store"]

__getattr__, __dir__ = exports(
    __name__,
    {
        "Event": "events",
        "Scopes": "scopes",
        "SqliteLedger": "ledger",
        "Store": "store",
        "open_ledger": "ledger",
        "open_scopes": "scopes",
        "open_store": "store",
    },
)
