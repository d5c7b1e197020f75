"""What a person has allowed in spite of a rule's block.

A permission is kept in the user's file: nothing in a project's can give one. ``once`` is used up by the next call, and
ends after an hour; ``session`` lasts as long as the session.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.store.database import Database
    from brim.store.store import Store

OWN = "brim"
"""What stands for a rule's id where brim protects itself."""
ONCE, SESSION = "once", "session"
HOUR = 3600.0


def allow(store: Store, rule: str, place: str, *, session: str, now: float) -> None:
    """Allow what *rule* refuses: in *session*, or once if that is empty. *store* is the user's.

    *place* is ``user``, or the key of the project whose rule it is.
    """
    key, value = (_session_key(rule, place, session), now) if session else (_once_key(rule, place), now + HOUR)
    with store.writing() as database:
        database.run("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, repr(value)))


def is_allowed(database: Database, rule: str, place: str, *, session: str, now: float) -> str:
    """Return how a call in *session* is allowed, ``session`` or ``once``; empty if it isn't. *database* is the user's.

    Nothing is used up: see ``use_up``.
    """
    keys = {_once_key(rule, place): ONCE, _session_key(rule, place, session): SESSION}
    found = {keys[key]: value for key, value in database.rows_in("SELECT key, value FROM meta WHERE key IN ({})", keys)}
    is_open = 0 <= float(found.get(ONCE, 0)) - now <= HOUR  # a clock that was set back doesn't make it longer
    return SESSION if session and SESSION in found else ONCE if is_open else ""


def use_up(store: Store, rule: str, place: str) -> bool:
    """Use up a permission for one call; return whether it was still there. Of two calls at once, one gets it."""
    with store.writing() as database:
        return bool(database.run("DELETE FROM meta WHERE key = ?", (_once_key(rule, place),)))


def last_refused(store: Store, rule: str) -> str:
    """Return the session in which *rule* last refused a call; empty if it hasn't yet."""
    events = store.events(behavior=rule, kind="blocked", limit=1)
    return events[-1].session if events else ""


def _once_key(rule: str, place: str) -> str:
    return f"allow {ONCE} {place} {rule}"


def _session_key(rule: str, place: str, session: str) -> str:
    return f"allow {SESSION} {session[:200]} {place} {rule}"
