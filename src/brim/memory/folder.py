"""The folder of the memory's files, ``.context/``.

A mark in it says that brim created it, so that brim never writes to or removes another folder. For
agents, the mark must have a hash of the user's secret and the folder's path: a folder from an
archive has another one, or none. It ignores itself for git, and other users can't read it. A
session that starts while another is live gets a folder of its own inside, and a note in each folder
says whose it is.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from brim.errors import InputError, StoreError
from brim.files import read_safely, replace_file, sha256_hex, sync_folder, write_new
from brim.record import PlainData

NAME = ".context"
MARK = ".brim-scratch"
LOCK = ".lock"
OWNER = ".session"
IGNORE = ".gitignore"
IGNORE_ALL = b"*\n"
TEMPORARY = ".tmp-"


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
    FolderSection("Left Out by the Last Summary", "lost", "left-out.md"),
)
"""The sections of the index, in order."""

OUR_FILES = frozenset(
    {"journal.jsonl", "scratch.md", OWNER, *[section.file for section in SECTIONS]},
)
"""The files that brim writes into the folder."""
FILES = (*sorted(OUR_FILES), MARK, IGNORE)
"""The files in the folder. If git tracks one, it came with a clone or a pull."""
_ABOUT = "brim made this folder; 'brim memory clean' removes it.\n"
_LONGEST_NOTE = 4096

LIVE = 12 * 3600.0
"""Seconds of silence after which a session no longer counts as live, even if it wasn't closed."""

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_LONGEST_NAME = 64
_SHORT_NAME = 8
_NOTED_FOR = 60
"""Seconds for which it isn't noted again that a session is live."""


def check_folder(path: str, secret: str = "") -> bool:
    """Whether the folder *path* is there and is brim's; raise if something else is in its place.

    With the user's *secret*, it must have been made with that secret, unless it is empty.
    """
    if not _is_own_folder(path):
        return False
    mark = read_small(os.path.join(path, MARK), _LONGEST_NOTE)
    if mark is not None:
        if not secret or _mark_of(path, secret) in mark.split():
            return True
        if not _holds_memory(path):
            return False
        raise StoreError(
            f"{path}: this memory wasn't made here, so agents don't use it: "
            "'brim rules trust' shows it and asks",
            "foreign",
        )
    if not _holds_memory(path):
        return False
    raise StoreError(
        f"{path}: brim did not make this folder, so it is not used; move it away", "refused"
    )


def _is_own_folder(path: str) -> bool:
    """Whether *path* is a folder of this user; raise if it is something else."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be looked at: {error.strerror or error}", "failed"
        ) from None
    if stat.S_ISLNK(status.st_mode):
        raise StoreError(
            f"{path}: is a link, so it may lead anywhere and is not used; remove it", "refused"
        )
    if not stat.S_ISDIR(status.st_mode):
        raise StoreError(f"{path}: is not a folder; move it away", "refused")
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        raise StoreError(
            f"{path}: belongs to another user, so it is not used; move it away", "refused"
        )
    return True


def _holds_memory(path: str) -> bool:
    """Whether anything is in the folder *path* but what brim puts there first.

    Another process may be making it at this moment.
    """
    names = set(names_in(path)) - {MARK, IGNORE, LOCK}
    return not all(name.startswith(TEMPORARY) for name in names)


def is_foreign(path: str, secret: str) -> bool:
    """Whether the folder *path* has memory that the user with this *secret* didn't make here."""
    try:
        check_folder(path, secret)
    except StoreError as error:
        return error.reason == "foreign"
    return False


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
        _ignore_all(path)
        with suppress(FileExistsError):
            write_new(os.path.join(path, MARK), _ABOUT.encode(), durable=False)
        if secret:
            mark_folder(path, secret)
        sync_folder(os.path.dirname(path))
    except FileNotFoundError:
        # Removed again at the same moment: a process that waits for the lock starts over.
        return
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be made: {error.strerror or error}", "read-only"
        ) from None


def _ignore_all(folder: str) -> None:
    """Let git ignore all that is in *folder*; a file that came in an archive may hide nothing.

    No lock is held: who holds it may remove the new file before it has its name, and has made the
    folder then.
    """
    path = os.path.join(folder, IGNORE)
    if read_small(path, len(IGNORE_ALL)) != IGNORE_ALL:
        beside = os.path.join(folder, f"{TEMPORARY}{os.urandom(8).hex()}")
        replace_file(path, IGNORE_ALL, beside=beside, durable=False)


def save(folder: str, name: str, text: str, *, durable: bool = True) -> bool:
    """Replace the file *name* with *text*, completely or not at all; return whether it changed.

    Without *durable*, this doesn't wait for the disk, and the file may be empty after a power cut.
    """
    data = text.encode("utf-8", "replace")
    path = os.path.join(folder, name)
    if read_small(path, len(data)) == data:
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
    for name in names_in(folder):
        if name.startswith(TEMPORARY):
            with suppress(OSError):
                os.unlink(os.path.join(folder, name))


def remove_ours(folder: str) -> None:
    """Remove what brim put into *folder*, and the folder if nothing else is in it."""
    try:
        for name in os.listdir(folder):
            if name in OUR_FILES or name.startswith(TEMPORARY):
                os.unlink(os.path.join(folder, name))
        if set(os.listdir(folder)) - {MARK, IGNORE, LOCK}:
            return
        # The lock last: a process that waits for it finds that it's gone, and starts over.
        for name in (IGNORE, MARK, LOCK):
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))
        # If another process just made it again, it belongs to that one.
        with suppress(OSError):
            os.rmdir(folder)
    except OSError as error:
        raise StoreError(
            f"{folder}: cannot be removed: {error.strerror or error}", "failed"
        ) from None


def names_in(folder: str) -> list[str]:
    """Return the names of what is in *folder*."""
    try:
        return os.listdir(folder)
    except OSError as error:
        raise StoreError(
            f"{folder}: cannot be looked at: {error.strerror or error}", "failed"
        ) from None


def read_small(path: str, largest: int) -> bytes | None:
    """Return what is in the file *path*; None if it is missing, or larger than *largest* bytes."""
    try:
        return read_safely(path, at_most=largest)
    except OSError:
        return None


# Whose folder it is -------------------------------------------------------------------------------


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
    is_safe = 0 < len(session) <= _LONGEST_NAME and _SAFE.issuperset(session)
    name = session if is_safe else digest
    return [name[:_SHORT_NAME], name[:16], name, digest[:_SHORT_NAME], digest]


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
        owner = json.loads(read_small(os.path.join(folder, OWNER), _LONGEST_NOTE) or b"{}")
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
