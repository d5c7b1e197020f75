"""What the status line says about money beyond the session's own cost: how a limit stands that it comes near to.

The ledger is only looked into, straight in its table: the hooks settle what was spent, and open far more for it.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.agents.place import Place
    from brim.agents.status_reading import Status

_SCOPES = "SELECT scope, amount, is_default, state, spent FROM spend_scopes WHERE scope IN (?, ?)"
_STATES = {"stopped": "spending stopped", "closed": "spending closed", "wrapping_up": "wrapping up"}
_ALL = float("inf")


def limit_notice(status: Status, place: Place) -> str:
    """Return how the fullest limit on this session stands, from the share on at which to warn; else nothing."""
    path = os.path.join(place.home, "brim.db")
    if not status.session or not os.path.exists(path):
        return ""
    from brim.agents.call import HookCall
    from brim.agents.place import BUSY
    from brim.agents.spenders import project_scope, session_scope
    from brim.store.database import open_database

    project = project_scope(place)
    session = session_scope(HookCall(agent="claude", event="other", session=status.session), place)
    database = open_database(path, migrate=False, timeout=BUSY)
    try:
        rows = database.rows(_SCOPES, (project, session))
    finally:
        database.close()
    default, warn = place.config["spend.limit"], place.config["spend.warn"]
    near = []
    for scope, own, is_default, state, spent in rows:
        follows = scope == project and is_default and default is not None and state == "open"
        amount = round(default * 1_000_000) if follows else own
        share = _share(amount, state, spent)
        if share >= warn:
            near.append((share, _said(share, amount, state, spent)))
    return max(near)[1] if near else ""


def _share(amount: int | None, state: str, spent: int) -> float:
    """Return the share of the limit that is spent; where somebody has to answer, or has said stop, that is all."""
    if state != "open":
        return _ALL
    if amount is None:
        return 0.0
    return spent / amount if amount else _ALL


def _said(share: float, amount: int | None, state: str, spent: int) -> str:
    stands = "" if amount is None else f"${spent / 1e6:,.2f} of ${amount / 1e6:,.2f}"
    said = _STATES.get(state, "spending limit reached" if share >= 1 else "")
    return f"{said}: {stands}" if said and stands else said or f"spending {stands}"
