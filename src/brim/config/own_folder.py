"""A project's folder: its types, and the files that brim keeps there.

A file that came with a clone is someone else's, so brim uses none that git tracks.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from contextlib import suppress

from brim.config.git import is_tracked
from brim.errors import StoreError
from brim.files import data_rows, replace_file

IGNORED = "*\n!.gitignore\n!config.yaml\n!rules.toml\n"
"""The content of ``.brim/.gitignore``: only settings and rules may be committed."""

PARTS = ("", "-wal", "-journal")
"""Endings of the files that SQLite reads: a log from a clone would be merged into the database."""

_REASONS = {errno.EROFS: "read-only", errno.ENOSPC: "full", errno.EACCES: "read-only"}


def make_file(path: str) -> None:
    """Create the empty file *path* (0600) and its folder (0700) if they are missing."""
    folder = os.path.dirname(os.path.abspath(path))
    try:
        make_folder(folder)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, "failed")
        raise StoreError(f"{path}: cannot be made: {error.strerror or error}", reason) from None


def make_folder(folder: str) -> None:
    """Create *folder* for its owner alone, with a ``.gitignore`` if it is a ``.brim``."""
    _check_link(folder)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if os.path.basename(folder) != ".brim":
        return
    if hasattr(os, "getuid") and os.stat(folder).st_uid == os.getuid():
        os.chmod(folder, 0o700)  # git makes a folder that everybody may read
    ignored = os.path.join(folder, ".gitignore")
    if not os.path.lexists(ignored):
        replace_file(ignored, IGNORED.encode(), durable=False)  # half of it would hide less


def check_ours(path: str) -> None:
    """Raise if brim can't trust the file *path*: it's a link, another user's, or tracked by git."""
    _check_link(os.path.dirname(os.path.abspath(path)))
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        raise StoreError(f"{path}: doesn't exist yet", "missing") from None
    except OSError as error:
        problem = f"cannot be opened: {error.strerror or error}"
        raise StoreError(f"{path}: {problem}", "missing") from None
    problem = ""
    if not stat.S_ISREG(status.st_mode):
        problem = "is not a regular file, so it is not used; move it away"
    elif hasattr(os, "getuid") and status.st_uid != os.getuid():
        problem = (
            f"belongs to another user (number {status.st_uid}), so it is not used; "
            "move it away, or make it yours if you know what is in it"
        )
    elif is_tracked(path, endings=PARTS):
        problem = (
            "git tracks it, so it may be someone else's and isn't used; 'git rm --cached' it, then "
            "'brim rules restore' brings back what is lost"
        )
    if problem:
        raise StoreError(f"{path}: {problem}", "refused")


def _check_link(folder: str) -> None:
    if os.path.islink(folder) and is_tracked(folder):
        problem = "is a link that came with the project, so it may lead anywhere and is not used"
        remedy = "'git rm --cached' it, or remove it"
        raise StoreError(f"{folder}: {problem}; {remedy}", "refused")


def project_types(project: str) -> tuple[str, ...]:
    """Return the types of *project* by the files in its folder, in the order of the table."""
    try:
        names = os.listdir(project)
    except OSError:
        return ()
    types: dict[str, None] = {}
    for mark, type in data_rows(__file__, "project_types.tsv"):
        if _has_file(names, mark):
            types[type] = None
    return tuple(types)


def _has_file(names: list[str], mark: str) -> bool:
    """Whether one of *names* is *mark*, or ends as a mark like ``*.csproj``."""
    if mark in names:
        return True
    return mark.startswith("*") and any(name.endswith(mark[1:]) for name in names)


def environment(environ: Mapping[str, str]) -> str | None:
    """Return ``ci`` if a build server has set ``CI``; else None."""
    if environ.get("CI", "").lower() in ("", "0", "false", "no", "off"):
        return None
    return "ci"
