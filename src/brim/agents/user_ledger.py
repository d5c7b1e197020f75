"""Where the money of a user is written down, and what a project may spend: asked before every call of a tool."""

from __future__ import annotations

import os

from brim.agents.spenders import agent_scope, project_scope, session_scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brim.agents.call import HookCall
    from brim.agents.place import Place
    from brim.store.database import Database


def user_database(place: Place) -> Database | None:
    """Return the file that the user's ledger is in; None if there is none yet."""
    from brim.store.project import FILE

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


def limit_rows(call: HookCall, place: Place, columns: str = "1") -> list[Any]:
    """Return what the ledger says of the scopes of *call* that have a limit or were closed: mostly nothing.

    If there is a limit for everybody, what it says of each scope of *call*.
    """
    if place.only_injects or not call.session:
        return []
    database = user_database(place)
    if database is None:
        return []
    names = (project_scope(place), session_scope(call, place), agent_scope(call, place, call.sub_agent))
    where = "" if place.config["spend.limit"] is not None else "AND (amount IS NOT NULL OR state <> 'open')"
    sql = f"SELECT {columns} FROM spend_scopes WHERE scope IN (?, ?, ?) {where} ORDER BY scope"  # noqa: S608
    return database.rows(sql, names)


def may_be_limited(call: HookCall, place: Place) -> bool:
    """Whether *call* may have a limit, in the ledger or for everybody."""
    return place.config["spend.limit"] is not None or bool(limit_rows(call, place))
