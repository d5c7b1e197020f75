"""Which projects may steer agents?

Anyone may have written what is in a cloned project. So hooks and servers use a project's ``.brim/``
only after its user has accepted it. ``accepted/`` in the user's folder, which no project can reach,
has a folder for each accepted repository, so all its worktrees and branches share it.

Users accept contents, not just a folder: the accepted rules are there (``brim.rules.accepted``),
and a digest of the settings. Whatever changes later is left out until the user accepts it too.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

from brim.config.places import place_of
from brim.errors import InputError, StoreError
from brim.files import locked, open_safely, read_safely, replace_file, sha256_hex

FOLDER = "accepted"
OWN = "user"
"""The folder of the user's own rules: they need nobody's consent."""
DIGESTS = "digests"
"""The file with a digest of every accepted rule; it's there once a project is accepted."""
PROJECT = "project"
"""The file that says which project a folder is about."""
SETTINGS = "settings"
"""The file with the digest of the accepted settings."""
CHECKS = "checks"
"""The file with a person's decisions about the checks of native files."""
LOCK = ".lock"

LARGEST = 10_000
LARGEST_SETTINGS = 1 << 20
"""Bytes of a project's settings that are read."""

UNREADABLE = "?"
"""The digest of settings that can't be read: it never counts as accepted."""

SECRET = "secret"  # noqa: S105 - a file name
"""The file in the user's folder with the secret that marks memory made on this machine."""
_SECRET_LENGTH = 64


def accepted_folder(home: str, project: str | None) -> str:
    """Return the folder for what the user accepted of *project*; of None, for the user's own."""
    identity = OWN
    if project is not None:
        place = place_of(os.path.realpath(project))
        identity = sha256_hex(os.fsencode(place))[:24]
    return os.path.join(home, FOLDER, identity)


def is_trusted(project: str, home: str) -> bool:
    """Whether the user has accepted *project* and owns its ``.brim``; no if that can't be read."""
    try:
        accepted = os.path.join(accepted_folder(home, project), DIGESTS)
        return os.path.exists(accepted) and _is_ours(project)
    except (OSError, ValueError):
        return False


def trusted_projects(home: str) -> dict[str, float]:
    """Return the accepted projects, and when each was accepted last, in seconds since 1970."""
    projects: dict[str, float] = {}
    with suppress(OSError):
        for name in sorted(os.listdir(os.path.join(home, FOLDER))):
            folder = os.path.join(home, FOLDER, name)
            with suppress(OSError):
                path = read_safely(os.path.join(folder, PROJECT), at_most=LARGEST)
                at = os.stat(os.path.join(folder, DIGESTS)).st_mtime
                projects[os.fsdecode(path).rstrip("\n")] = at
    return projects


def trust(project: str, home: str, *, settings: str | None = None) -> None:
    """Let agents use the ``.brim`` of *project*: its settings as they are now, and what the user
    accepts of its rules.

    *settings* (``settings_digest``) are those that the person was shown.
    """
    path = os.path.realpath(project)
    if not os.path.isdir(path):
        raise InputError(f"{project}: is not a folder, so it cannot be trusted")
    if not _is_ours(path):
        raise StoreError(
            f"{os.path.join(path, '.brim')}: belongs to another user, so it cannot be trusted",
            "refused",
        )
    if settings is None:
        settings = settings_digest(path)
    folder = accepted_folder(home, path)
    with locked(os.path.join(folder, LOCK), prepare=lambda: make_accepted(folder, path)):
        digests = os.path.join(folder, DIGESTS)
        if not os.path.exists(digests):
            write(digests, "")
        write(os.path.join(folder, SETTINGS), settings)


def make_accepted(folder: str, project: str | None) -> None:
    """Make the *folder* for what is accepted of *project*."""
    try:
        accepted = os.path.dirname(folder)
        for path in (os.path.dirname(accepted), accepted, folder):
            os.makedirs(path, mode=0o700, exist_ok=True)  # the mode is that of the last folder
    except OSError as error:
        raise StoreError(
            f"{folder}: cannot be made: {error.strerror or error}", "read-only"
        ) from None
    if project is None:
        return
    note = os.path.join(folder, PROJECT)
    if not os.path.exists(note):
        write(note, f"{project}\n")


def untrust(project: str, home: str) -> bool:
    """Take back all that was accepted of *project*; return whether anything was."""
    folder = accepted_folder(home, project)
    was_trusted = os.path.exists(os.path.join(folder, DIGESTS))
    shutil.rmtree(folder, ignore_errors=True)
    return was_trusted


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
    if len(text) > LARGEST_SETTINGS:
        return UNREADABLE
    return sha256_hex(text)


def settings_agreed(project: str, home: str) -> str:
    """Return the digest of the settings that the user accepted; empty if *project* had none."""
    path = os.path.join(accepted_folder(home, project), SETTINGS)
    with suppress(OSError):
        return read_safely(path, at_most=LARGEST).decode("ascii", "replace").strip()
    return ""


def agree_to_settings(project: str, home: str, settings: str) -> None:
    """Note that the user accepts the *settings* (a digest) of *project*, if it's accepted."""
    if is_trusted(project, home):
        write(os.path.join(accepted_folder(home, project), SETTINGS), settings)


def _is_ours(project: str) -> bool:
    if not hasattr(os, "getuid"):
        return True
    try:
        return os.stat(os.path.join(project, ".brim")).st_uid == os.getuid()
    except FileNotFoundError:
        return True  # there's nothing to use yet


# The secret ---------------------------------------------------------------------------------------


def user_secret(home: str) -> str:
    """Return the user's secret, which is created if it's missing and never leaves the user's
    folder."""
    path = os.path.join(home, SECRET)
    secret = _secret_in(path)
    if secret:
        return secret
    with locked(f"{path}.lock", prepare=lambda: _make_home(home)):
        secret = _secret_in(path)
        if not secret:
            secret = os.urandom(_SECRET_LENGTH // 2).hex()
            write(path, secret)
    return secret


def _make_home(home: str) -> None:
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{home}: cannot be made: {error.strerror or error}", "read-only"
        ) from None


def _secret_in(path: str) -> str:
    """Return the secret in *path*; empty if it's missing or incomplete, or if other users had
    access to it."""
    try:
        with os.fdopen(open_safely(path), "rb") as file:
            status = os.fstat(file.fileno())
            secret = file.read(LARGEST).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(secret) != _SECRET_LENGTH or _is_open_to_others(status):
        return ""
    return secret


def _is_open_to_others(status: os.stat_result) -> bool:
    """Whether a file is another user's, or other users may read or write it."""
    if not hasattr(os, "getuid"):
        return False
    return status.st_uid != os.getuid() or bool(status.st_mode & 0o077)


def write(path: str, text: str) -> None:
    """Put *text* into the file *path*; ``StoreError`` if that fails."""
    try:
        replace_file(path, os.fsencode(text))
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be written: {error.strerror or error}; it is as it was"
        ) from None
