"""Which calls are allowed despite a rule. Trust itself is in ``brim.config.trust``.

``trust`` here also agrees to the rules of a project's database.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from brim.config import trust as trusting
from brim.config.trust import is_trusted, settings_digest, trusted_projects, user_secret
from brim.store.database import FILE, Database

if TYPE_CHECKING:
    from brim.store.store import Store

__all__ = ["is_trusted", "settings_digest", "trusted_projects", "user_secret"]


def trust(
    project: str,
    user_folder: str,
    *,
    now: float,
    rules: Mapping[str, str] | None = None,
    settings: str | None = None,
) -> None:
    """Let agents use the project as it is now, with the rules of its database."""
    path = os.path.realpath(project)
    trusting.trust(path, user_folder, settings=settings)
    _agree_to_rules(path, user_folder, now=now, shown=rules)


def untrust(project: str, user_folder: str, *, now: float) -> bool:  # noqa: ARG001
    """Take back all that was accepted of *project*; return whether anything was."""
    return trusting.untrust(project, user_folder)


def _agree_to_rules(
    project: str, user_folder: str, *, now: float, shown: Mapping[str, str] | None
) -> None:
    """Agree to the rules of *project*. Summaries are rewritten, so that agents are told what the
    person was shown."""

    if not os.path.lexists(os.path.join(project, ".brim", FILE)):
        return
    from brim.store.scopes import open_scopes

    with open_scopes(project, user_folder, trusted=True) as scopes, scopes.writing("user"):
        new = scopes.unagreed()
        agreed = [id for id, digest in new.items() if shown is None or shown.get(id) == digest]
        store = scopes.project
        for behavior in (
            store.get_many(agreed).values() if store is not None and not store.readonly else ()
        ):
            scopes.put(
                replace(behavior, summary="", scope="project"), event="trusted", now=now, shown=True
            )


# Calls that a rule refuses ------------------------------------------------------------------------


OWN = "brim"
"""Stands for a rule's id where brim protects itself."""
ONCE, SESSION = "once", "session"
HOUR = 3600.0


def allow(store: Store, rule: str, place: str, *, session: str, now: float) -> None:
    """Allow what *rule* refuses: in *session*, or once within the hour if that is empty.

    *store* is the user's: nothing in a project's file can give a permission. *place* is ``user``,
    or the key of the project whose rule it is.
    """
    until = repr(now if session else now + HOUR)
    with store.writing() as database:
        database.note({_permission(rule, place, session): until})


def is_allowed(database: Database, rule: str, place: str, *, session: str, now: float) -> str:
    """Return how a call in *session* is allowed, ``session`` or ``once``; empty if it isn't.
    *database* is the user's.

    Nothing is used up: see ``use_up``.
    """
    once, lasting = _permission(rule, place, ""), _permission(rule, place, session)
    found = database.notes((once, lasting))
    if session and lasting in found:
        return SESSION
    return (
        ONCE if 0 <= float(found.get(once, 0)) - now <= HOUR else ""
    )  # a clock that is set back gains no time


def use_up(store: Store, rule: str, place: str) -> bool:
    """Use up a permission for one call; return whether it was still there. Of two calls at once,
    one gets it."""
    with store.writing() as database:
        return bool(database.run("DELETE FROM meta WHERE key = ?", (_permission(rule, place, ""),)))


def _permission(rule: str, place: str, session: str) -> str:
    """Return the key of a permission in the user's file: for *session*, or once if that is
    empty."""
    return (
        f"allow {SESSION} {session[:200]} {place} {rule}"
        if session
        else f"allow {ONCE} {place} {rule}"
    )
