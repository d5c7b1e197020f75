"""Where the money of a user is written down, and what a project may spend: asked before every call of a tool."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.place import Place
    from brim.store.database import Database


def user_database(place: Place) -> Database | None:
    """Return the file that the user's ledger is in; None if there is none yet."""
    from brim.store.folder import FILE

    if not os.path.exists(os.path.join(place.home, FILE)):
        return None
    return place.scopes.home.database


def default_limit(place: Place) -> int | None:
    """Return the limit of a project for which nobody has set one, in micro-dollars; None is no limit."""
    limit = place.config["spend.limit"]
    if limit is None:
        return None
    from brim.spend.money import micro_dollars

    return micro_dollars(repr(limit), up=False)
