"""Where is it kept?

In one SQLite file per project and one per user.

- Files: ``project`` decides which files brim may use, ``database`` opens one, ``backup`` copies it.
- Rules: ``rows`` converts between rules and rows, ``store`` reads and writes one file (rules, events, sessions), and
  ``scopes`` combines the project's file with the user's. ``events`` has what happened to rules.
- Plans: ``planner`` chooses rules for an agent, ``hook_planner`` for a hook; ``loaded`` knows which rules an agent
  reads on its own.
- People: ``rulebook`` changes rules, ``imports`` imports and merges them, ``suggestions`` holds corrections for review,
  ``statistics`` and ``checks`` report on rules and files.
- Trust: ``trust`` says which projects may steer an agent and which calls are allowed despite a rule; ``consent`` is
  what a person is asked before they trust a project.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.store.events import RuleEvent as RuleEvent
    from brim.store.scopes import Scopes as Scopes
    from brim.store.scopes import open_scopes as open_scopes
    from brim.store.store import Store as Store
    from brim.store.store import open_store as open_store
else:
    __getattr__, __dir__ = exports(
        __name__,
        events="RuleEvent",
        scopes="Scopes open_scopes",
        store="Store open_store",
    )
