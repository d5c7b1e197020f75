"""Which session a memory folder belongs to, and the folders of sessions that run at once."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress

from brim.files import sha256_hex
from brim.memory.folder import MARK, OWNER, is_foreign, names_in, read_small, save

LIVE = 12 * 3600.0
"""Seconds of silence after which a session no longer counts as live, even if it wasn't closed."""

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_LONGEST = 64
_FIRST = 8
_LARGEST = 4096
_NOTED_FOR = 60
"""Seconds for which it isn't noted again that a session is live."""


def place_of(root: str, session: str, *, now: float, claim: bool) -> str:
    """Return the folder of *session* in *root*.

    It is its own, or the root if no other live session uses that. With *claim*, it may get a new
    folder. Without a session, it's the root.
    """
    if not session:
        return root
    folders = [os.path.join(root, name) for name in own_names(session)]
    if _has_session_folders(root):
        for folder in folders:
            if owner_of(folder).get("session") == session:
                return folder
    owner = owner_of(root)
    if not claim or owner.get("session") in (None, "", session) or not is_live(owner, now=now):
        return root
    for folder in folders:
        if not owner_of(folder):
            return folder
    return folders[-1]


def _has_session_folders(root: str) -> bool:
    """Whether *root* may have folders of single sessions: the names of brim's files have a dot."""
    with suppress(OSError):
        return any("." not in name for name in os.listdir(root))
    return False


def own_names(session: str) -> list[str]:
    """Return possible names for a session's folder: its first 8 characters, or more of them."""
    digest = sha256_hex(session.encode("utf-8", "surrogatepass"))
    is_safe = 0 < len(session) <= _LONGEST and _SAFE.issuperset(session)
    name = session if is_safe else digest
    return [name[:_FIRST], name[:16], name, digest[:_FIRST], digest]


def own(folder: str, session: str, *, now: float, closed: bool = False) -> None:
    """Note that *folder* belongs to *session*, which was seen *now*."""
    if not session:
        return
    owner = owner_of(folder)
    last_seen = owner.get("seen")
    is_recent = isinstance(last_seen, int | float) and 0 <= now - last_seen < _NOTED_FOR
    is_noted = owner.get("session") == session and bool(owner.get("closed")) == closed
    if is_recent and is_noted:
        return
    note = {"session": session, "seen": now, "closed": closed}
    save(folder, OWNER, json.dumps(note) + "\n", durable=False)


def owner_of(folder: str) -> dict[str, object]:
    """Return the notes on the session of *folder*: its id, when it was last seen, if it's over."""
    try:
        owner = json.loads(read_small(os.path.join(folder, OWNER), _LARGEST) or b"{}")
    except (ValueError, RecursionError):
        return {}
    return owner if isinstance(owner, dict) else {}


def is_live(owner: Mapping[str, object], *, now: float) -> bool:
    """Whether the session in the notes of ``owner_of`` is still running."""
    last_seen = owner.get("seen")
    if not isinstance(last_seen, int | float) or owner.get("closed"):
        return False
    return now - last_seen < LIVE


def session_folders(root: str) -> dict[str, str]:
    """Return the folders of single sessions in *root*, by session."""
    folders: dict[str, str] = {}
    for name in sorted(names_in(root)):
        folder = os.path.join(root, name)
        if os.path.isfile(os.path.join(folder, MARK)) and not os.path.islink(folder):
            folders[str(owner_of(folder).get("session", name))] = folder
    return folders


def foreign_folders(root: str, secret: str) -> list[str]:
    """Return which of *root* and its session folders weren't made here."""
    if not os.path.isdir(root):
        return []
    folders = [root, *session_folders(root).values()]
    return [folder for folder in folders if is_foreign(folder, secret)]
