"""Where is it kept?

In one SQLite file per project and one per user. ``project`` says which files brim may use, ``database`` opens one and
brings it up to date, ``rows`` has how things are kept in it, ``events`` and ``sessions`` what else is. ``store`` is all
of that for one file, ``scopes`` both files as one with the rules of what counts. ``planner`` makes the plans for an
agent, ``hook_planner`` those for a hook, ``rulebook`` changes rules for a person, ``imports`` plans imports and merges,
``loaded`` knows which rules an agent reads on its own, ``permissions`` what a person allows in spite of a block,
``suggestions`` which corrections wait for review. ``statistics`` and ``checks`` say how rules and files are doing.
``ledger`` is money in the same file, kept in ``books``, and ``limits`` sets limits for a person. ``postgres`` keeps
both for many machines. ``trust`` says which projects may steer, ``consent`` what a person is asked before, ``backup``
keeps copies.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = bool(0)
if TYPE_CHECKING:
    from brim.store.events import Event as Event
    from brim.store.ledger import SqliteLedger as SqliteLedger
    from brim.store.ledger import open_ledger as open_ledger
    from brim.store.scopes import Scopes as Scopes
    from brim.store.scopes import open_scopes as open_scopes
    from brim.store.store import Store as Store
    from brim.store.store import open_store as open_store

_NAMES = {"ledger": "SqliteLedger open_ledger", "scopes": "Scopes open_scopes", "store": "Store open_store"}
__getattr__, __dir__ = exports(__name__, events="Event", **_NAMES)
