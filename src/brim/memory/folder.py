"""The folder of the scratch files, ``.context/``.

A mark in it says that brim created it, so that brim never writes to or removes another folder. For
agents, the mark must have a hash of the user's secret and the folder's path: a folder from an
archive has another one, or none. It ignores itself for git, and other users can't read it. A
session that starts while another is live gets a folder of its own inside.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from brim.config.retention import JOURNALS
from brim.errors import InputError, StoreError
from brim.files import read_safely, replace_file, sha256_hex, sync_folder, write_new
from brim.record import PlainData

NAME = ".context"
MARK = ".brim-scratch"
LOCK = ".lock"
OWNER = ".session"
IGNORE = ".gitignore"
TEMPORARY = ".tmp-"
LIVE = 12 * 3600.0
"""Seconds of silence after which a session no longer counts as live, even if it wasn't closed."""


@dataclass(frozen=True)
class FolderSection(PlainData):
    """A part of the index, and the file with its complete entries."""

    title: str
    kind: str
    file: str


SECTIONS = (
    FolderSection("Human Input", "human", "human-input.md"),
    FolderSection("Decisions", "decision", "decisions.md"),
    FolderSection("State Changes", "state", "state-changes.md"),
    FolderSection("Dead Ends", "dead-end", "dead-ends.md"),
    FolderSection("Artifacts", "artifact", "artifacts.md"),
    FolderSection("Commands", "command", "commands.md"),
)
"""The sections of the index, in order."""

_OURS = frozenset({"journal.jsonl", "scratch.md", OWNER, *(section.file for section in SECTIONS)})
FILES = (*sorted(_OURS), MARK, IGNORE)
"""The files in the folder. If git tracks one, it came with a clone or a pull."""
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_LONGEST = 64
_FIRST = 8
_ABOUT = "brim made this folder; 'brim memory clean' removes it.\n"


def check_folder(path: str, secret: str = "") -> bool:
    """Whether the folder *path* is there and is brim's; raise if something else is in its place.

    With the user's *secret*, it must have been made with that secret, unless nothing is kept in it.
    """
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be looked at: {error.strerror or error}", "failed"
        ) from None
    if stat.S_ISLNK(found.st_mode):
        raise StoreError(
            f"{path}: is a link, so it may lead anywhere and is not used; remove it", "refused"
        )
    if not stat.S_ISDIR(found.st_mode):
        raise StoreError(f"{path}: is not a folder; move it away", "refused")
    if hasattr(os, "getuid") and found.st_uid != os.getuid():
        raise StoreError(
            f"{path}: belongs to another user, so it is not used; move it away", "refused"
        )
    mark = _read(os.path.join(path, MARK), 4096)
    if mark is not None and (not secret or _mark_of(path, secret) in mark.split()):
        return True
    # Another process may be making it at this moment: then there is nothing in it yet but what brim
    # puts there first.
    if any(
        name not in (MARK, IGNORE, LOCK) and not name.startswith(TEMPORARY) for name in _names(path)
    ):
        if mark is None:
            raise StoreError(
                f"{path}: brim did not make this folder, so it is not used; move it away", "refused"
            )
        why = "this memory wasn't made here, so agents don't use it: 'brim rules trust' shows it and asks"
        raise StoreError(f"{path}: {why}", "foreign")
    return False


def is_foreign(path: str, secret: str) -> bool:
    """Whether the folder *path* has memory that the user with this *secret* didn't make here."""
    try:
        check_folder(path, secret)
    except StoreError as error:
        return error.reason == "foreign"
    return False


def foreign_folders(root: str, secret: str) -> list[str]:
    """Return which of *root* and its session folders weren't made here."""
    folders = (root, *session_folders(root).values()) if os.path.isdir(root) else ()
    return [folder for folder in folders if is_foreign(folder, secret)]


def mark_folder(path: str, secret: str) -> None:
    """Mark the folder *path* as made here, by the user with this *secret*."""
    save(path, MARK, f"{_ABOUT}{_mark_of(path, secret).decode()}\n", durable=False)


def _mark_of(path: str, secret: str) -> bytes:
    place = sha256_hex(os.fsencode(os.path.realpath(path)))
    return sha256_hex(f"{secret} {place}".encode()).encode()


def make_folder(path: str, secret: str = "") -> None:
    """Create and mark the folder *path* if it's missing, with the user's *secret* if given."""
    if check_folder(path, secret):
        return
    if not os.path.isdir(os.path.dirname(path)):
        raise InputError(f"{os.path.dirname(path)}: no such folder")
    try:
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
        save(path, IGNORE, "*\n", durable=False)  # one that came in an archive may hide nothing
        with suppress(FileExistsError):
            write_new(os.path.join(path, MARK), _ABOUT.encode(), durable=False)
        if secret:
            mark_folder(path, secret)
        sync_folder(os.path.dirname(path))
    except (
        FileNotFoundError
    ):  # removed again at the same moment: a process that waits for the lock starts over
        return
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be made: {error.strerror or error}", "read-only"
        ) from None


def save(folder: str, name: str, text: str, *, durable: bool = True) -> bool:
    """Replace the file *name* with *text*, completely or not at all; return whether it changed.

    Without *durable*, this doesn't wait for the disk, and the file may be empty after a power cut.
    """
    data, path = text.encode("utf-8", "replace"), os.path.join(folder, name)
    if _read(path, len(data)) == data:
        return False
    beside = os.path.join(folder, f"{TEMPORARY}{os.urandom(8).hex()}")
    try:
        replace_file(path, data, beside=beside, durable=durable)
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be written: {error.strerror or error}; it is as it was", "failed"
        ) from None
    return True


def remove_leftovers(folder: str) -> None:
    """Remove what killed writers left behind. Call it under the lock."""
    for name in _names(folder):
        if name.startswith(TEMPORARY):
            with suppress(OSError):
                os.unlink(os.path.join(folder, name))


def place_of(root: str, session: str, *, now: float, claim: bool) -> str:
    """Return the folder of *session* in *root*: its own, or the root if no other live session uses
    that.

    With *claim*, it may get a new folder. Without a session, it's the root.
    """
    if not session:
        return root
    folders = [os.path.join(root, name) for name in own_names(session)]
    there: list[str] = []
    with suppress(OSError):
        there = [
            name for name in os.listdir(root) if "." not in name
        ]  # the names of brim's files have a dot
    for folder in folders if there else ():
        if owner_of(folder).get("session") == session:
            return folder
    owner = owner_of(root)
    if not claim or owner.get("session") in (None, "", session) or not is_live(owner, now=now):
        return root
    return next((folder for folder in folders if not owner_of(folder)), folders[-1])


def own_names(session: str) -> list[str]:
    """Return possible names for a session's folder: its first 8 characters, or more if those are
    taken."""
    hashed = sha256_hex(session.encode("utf-8", "surrogatepass"))
    name = session if 0 < len(session) <= _LONGEST and _SAFE.issuperset(session) else hashed
    return [name[:_FIRST], name[:16], name, hashed[:_FIRST], hashed]


def own(folder: str, session: str, *, now: float, closed: bool = False) -> None:
    """Note that *folder* belongs to *session*, which was seen *now*."""
    known = owner_of(folder) if session else {}
    seen = known.get("seen")
    fresh = isinstance(seen, int | float) and 0 <= now - seen < 60
    if session and not (
        fresh and known.get("session") == session and bool(known.get("closed")) == closed
    ):
        said = {"session": session, "seen": now, "closed": closed}
        save(folder, OWNER, json.dumps(said) + "\n", durable=False)


def session_folders(root: str) -> dict[str, str]:
    """Return the folders of single sessions in *root*, by session."""
    folders = [(name, os.path.join(root, name)) for name in sorted(_names(root))]
    marked = [
        each
        for each in folders
        if os.path.isfile(os.path.join(each[1], MARK)) and not os.path.islink(each[1])
    ]
    return {str(owner_of(folder).get("session", name)): folder for name, folder in marked}


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError as error:
        raise StoreError(
            f"{folder}: cannot be looked at: {error.strerror or error}", "failed"
        ) from None


def owner_of(folder: str) -> dict[str, object]:
    """Return the notes on the session of *folder*: its id, when it was last seen, whether it's
    over."""
    try:
        found = json.loads(_read(os.path.join(folder, OWNER), 4096) or b"{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def is_live(owner: Mapping[str, object], *, now: float) -> bool:
    """Whether the session in the notes of ``owner_of`` is still running."""
    seen = owner.get("seen")
    return isinstance(seen, int | float) and now - seen < LIVE and not owner.get("closed")


def _read(path: str, most: int) -> bytes | None:
    try:
        return read_safely(path, at_most=most)
    except OSError:
        return None


def keep_journals(folders: Iterable[str], into: str, label: str, *, now: float) -> list[str]:
    """Copy the journals of *folders* to *into*, durably, and return the new paths."""
    kept: list[str] = []
    safe = re.sub(r"[^A-Za-z0-9_.-]+", "-", label)[:60].strip("-.") or "scratch"
    try:
        for folder in (os.path.dirname(into), into):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        for folder in folders:
            source = os.path.join(folder, "journal.jsonl")
            if os.path.isfile(source) and not os.path.islink(source):
                path = os.path.join(into, f"{max(0, int(now))}-{safe}-{os.urandom(4).hex()}.jsonl")
                with open(source, "rb") as file:
                    write_new(path, file.read())
                kept.append(path)
        sync_folder(into)
    except OSError as error:
        why = f"the journal cannot be kept there: {error.strerror or error}; nothing was removed"
        raise StoreError(f"{into}: {why}", "failed") from None
    return kept


def old_journals(into: str, *, now: float) -> list[str]:
    """Return the journals in *into* that have been kept long enough."""
    names = sorted(os.listdir(into)) if os.path.isdir(into) else []
    found = [(name, re.fullmatch(r"(\d{1,12})-.*\.jsonl", name)) for name in names]
    return [
        os.path.join(into, name) for name, kept in found if kept and now - int(kept[1]) > JOURNALS
    ]


def remove_ours(folder: str) -> None:
    """Remove what brim put into *folder*, and the folder if nothing else is in it."""
    try:
        for name in os.listdir(folder):
            if name in _OURS or name.startswith(TEMPORARY):
                os.unlink(os.path.join(folder, name))
        if not set(os.listdir(folder)) - {MARK, IGNORE, LOCK}:
            # The lock last: a process that waits for it finds that it's gone, and starts over.
            for name in (IGNORE, MARK, LOCK):
                with suppress(FileNotFoundError):
                    os.unlink(os.path.join(folder, name))
            with suppress(
                OSError
            ):  # another process just made it again: then it belongs to that one
                os.rmdir(folder)
    except OSError as error:
        raise StoreError(
            f"{folder}: cannot be removed: {error.strerror or error}", "failed"
        ) from None
