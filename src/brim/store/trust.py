"""Which projects may steer an agent, and which calls are allowed despite a rule.

Anyone may have written what is in a cloned project. So hooks and servers use a project's ``.brim/``
only after the user has trusted it. ``trust.json`` in the user's folder, which no project can reach,
has a secret mark for each trusted project, and the project's ``.brim/trusted`` has the same mark.
Another clone may have the same path, but not the mark.

Users trust contents, not just a folder. ``trust.json`` also has a digest of the project's settings,
and the user's database has one of each rule (``Scopes.unagreed``). Whatever changes later without
brim is left out until the user agrees to it.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from brim.errors import InputError, StoreError
from brim.files import locked, open_safely, replace_file, sha256_hex
from brim.store.database import Database
from brim.store.project import FILE, make_folder

if TYPE_CHECKING:
    from brim.store.store import Store

NAME = "trust.json"

MARKS = "trusted"
"""The file in ``.brim`` with one mark a line: a container may have a user's folder of its own."""

LARGEST = 10_000
"""Characters of marks that are read."""

LARGEST_SETTINGS = 1 << 20
"""Bytes of a project's settings that are read."""

UNREADABLE = "?"
"""The digest of settings that can't be read: it never counts as agreed to."""

SECRET = "secret"  # noqa: S105 - a file name
"""The file in the user's folder with the secret that marks memory made on this machine."""


def user_secret(user_folder: str) -> str:
    """Return the user's secret, which is created if it's missing and never leaves the user's
    folder."""
    path = os.path.join(user_folder, SECRET)
    found = _secret_in(path)
    if not found:
        with locked(f"{path}.lock", prepare=lambda: make_folder(user_folder)):
            found = _secret_in(path)
            if not found:
                found = os.urandom(32).hex()
                _write(path, found)
    return found


def _secret_in(path: str) -> str:
    """Return the secret in *path*; empty if it's missing or incomplete, or if other users had
    access to it."""
    try:
        with os.fdopen(open_safely(path), "rb") as file:
            status, text = (
                os.fstat(file.fileno()),
                file.read(LARGEST).decode("ascii", "replace").strip(),
            )
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror or error}") from None
    is_ours = not hasattr(os, "getuid") or (
        status.st_uid == os.getuid() and not status.st_mode & 0o077
    )
    return text if is_ours and len(text) == 64 else ""


def is_trusted(project: str, user_folder: str) -> bool:
    """Whether the user has trusted this very folder, and owns its ``.brim``. If that can't be read:
    no."""
    try:
        path = os.path.realpath(project)
        mark = _read(user_folder).get(path, {}).get("mark")
        return bool(mark) and mark in _marks(path) and _is_ours(path)
    except (OSError, StoreError, ValueError):
        return False


def trusted_projects(user_folder: str) -> dict[str, float]:
    """Return the trusted folders, and when each was trusted, in seconds since 1970."""
    return {path: float(entry.get("at", 0)) for path, entry in sorted(_read(user_folder).items())}


def trust(
    project: str,
    user_folder: str,
    *,
    now: float,
    rules: Mapping[str, str] | None = None,
    settings: str | None = None,
) -> None:
    """Let hooks and servers use the ``.brim`` of *project* as it is now.

    *rules* (digests by id) and *settings* (``settings_digest``) are what the person was shown, if
    anything: later changes aren't agreed to.
    """
    path = os.path.realpath(project)
    if not os.path.isdir(path):
        raise InputError(f"{project}: is not a folder, so it cannot be trusted")
    if not _is_ours(path):
        raise StoreError(
            f"{os.path.join(path, '.brim')}: belongs to another user, so it cannot be trusted",
            "refused",
        )
    _agree_to_rules(path, user_folder, now=now, shown=rules)
    _change(
        user_folder, path, "trusted", now, settings_digest(path) if settings is None else settings
    )


def settings_digest(project: str) -> str:
    """Return a digest of the settings of *project*; empty if it has none, ``UNREADABLE`` if they
    can't be read."""
    path = os.path.join(project, ".brim", "config.yaml")
    if not os.path.isfile(path):  # a pipe might never end
        return UNREADABLE if os.path.lexists(path) else ""
    try:
        with open(path, "rb") as file:
            text = file.read(LARGEST_SETTINGS + 1)
    except OSError:
        return UNREADABLE
    return sha256_hex(text) if len(text) <= LARGEST_SETTINGS else UNREADABLE


def settings_agreed(project: str, user_folder: str) -> str:
    """Return the digest of the settings that the user agreed to; empty if *project* had none."""
    return str(_read(user_folder).get(os.path.realpath(project), {}).get("settings", ""))


def agree_to_settings(project: str, user_folder: str, settings: str) -> None:
    """Note that the user agrees to the *settings* (a digest) of *project*, if it is trusted."""

    path = os.path.realpath(project)
    if not is_trusted(path, user_folder):
        return
    with _open_user_store(user_folder) as store, store.writing():
        projects = _read(user_folder)
        projects[path]["settings"] = settings
        _write_list(user_folder, projects)


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


def untrust(project: str, user_folder: str, *, now: float) -> bool:
    """Stop trusting *project*; return whether it was trusted."""
    path = os.path.realpath(project)
    if path not in _read(user_folder):
        return False
    _change(user_folder, path, "untrusted", now)
    return True


def _is_ours(project: str) -> bool:
    folder = os.path.join(project, ".brim")
    try:
        return not hasattr(os, "getuid") or os.stat(folder).st_uid == os.getuid()
    except FileNotFoundError:
        return True  # there's nothing to use yet


def _marks(project: str) -> list[str]:
    """Return the marks in *project*, without following a link or waiting for a pipe."""
    try:
        handle = open_safely(os.path.join(project, ".brim", MARKS))
    except FileNotFoundError:
        return []
    with os.fdopen(handle, "rb") as file:
        return file.read(LARGEST).decode("ascii", "replace").split()


def _new_mark(project: str, *, instead: object) -> str:
    folder, mark = os.path.join(project, ".brim"), os.urandom(16).hex()
    try:
        make_folder(folder)
        marks = [each for each in _marks(project) if each != instead]
    except OSError as error:
        raise StoreError(
            f"{folder}: cannot be trusted: {error.strerror or error}", "failed"
        ) from None
    _write(os.path.join(folder, MARKS), "".join(f"{each}\n" for each in (mark, *marks)))
    return mark


def _read(user_folder: str) -> dict[str, dict[str, Any]]:
    path = os.path.join(user_folder, NAME)
    try:
        with open(path, encoding="utf-8") as file:
            found = os.fstat(file.fileno())
            if hasattr(os, "getuid") and (
                found.st_uid != os.getuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            ):
                raise StoreError(
                    f"{path}: others can write to it, so it is not believed: 'chmod 600' it",
                    "refused",
                )
            projects = json.loads(file.read())["projects"]
            return {str(key): dict(entry) for key, entry in projects.items()}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise StoreError(
            f"{path}: damaged, so no project is trusted: remove it and trust again", "damaged"
        ) from None


def _change(user_folder: str, project: str, event: str, now: float, settings: str = "") -> None:
    """Change ``trust.json``. The user's database is locked, so that two changes can't undo each
    other."""
    from brim.store.events import RuleEvent

    with _open_user_store(user_folder) as store, store.writing():
        projects = _read(user_folder)
        old = projects.pop(project, {})
        if event == "trusted":
            mark = _new_mark(project, instead=old.get("mark"))
            projects[project] = {"at": now, "mark": mark, "settings": settings}
        _write_list(user_folder, projects)
        store.record(RuleEvent(event, now, detail={"project": project}))


def _open_user_store(user_folder: str) -> Store:
    from brim.store.store import open_store  # reading trust loads no rules

    return open_store(os.path.join(user_folder, FILE))


def _write_list(user_folder: str, projects: dict[str, dict[str, Any]]) -> None:
    text = json.dumps({"projects": projects}, indent=2, sort_keys=True)
    _write(os.path.join(user_folder, NAME), f"{text}\n")


def _write(path: str, text: str) -> None:
    try:
        replace_file(path, text.encode())
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be written: {error.strerror or error}; it is as it was"
        ) from None


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
