"""A project's folder: its name, git branch and types, and the files that brim keeps there.

brim reads git's files instead of running git, because a hook has no time for that. A database that
came with a clone is someone else's, so brim doesn't use a file that git tracks.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress

from brim.config.places import git_folder
from brim.errors import StoreError
from brim.files import data_rows, open_safely, replace_file, sha256_hex

FILE = "brim.db"
"""The name of the database in a ``.brim`` folder."""

IGNORED = "*\n!.gitignore\n!config.yaml\n!rules.toml\n"
"""The content of ``.brim/.gitignore``: only settings and rules may be committed."""

PARTS = ("", "-wal", "-journal")
"""Endings of the files that SQLite reads: a log from a clone would be merged into the database."""

NAME_LENGTH = 0xFFF
"""The bits of an index entry's flags with the length of its name."""

LARGEST_INDEX = 64 << 20
"""Bytes of git's index that are read, with the files that it's split into: a hook has a second."""

LARGEST_CONFIG = 1 << 20
"""Characters of a repository's configuration that are read."""

MOST_INDEXES = 64
"""Files that an index may be split into."""

MOST_NAMES = 100_000
"""Places in an index that are checked for one name."""

_HEAD = "ref: refs/heads/"


class _TooMuch(Exception):
    """An index that is too large to search: an archive can contain anything."""


def remote_of(place: str) -> str:
    """Return the normalized address of the remote of the repository at *place*; empty if it has
    none.

    ``git@example.org:acme/shop.git`` and ``https://example.org/acme/shop`` are both
    ``example.org/acme/shop``. Of several remotes it is ``origin``, else the first.
    """
    git = git_folder(place) or place  # a bare repository is its own
    found: dict[str, str] = {}
    name = ""
    try:
        with os.fdopen(
            open_safely(os.path.join(git, "config")), encoding="utf-8", errors="replace"
        ) as file:
            for line in file.read(LARGEST_CONFIG).splitlines():
                key, _, value = line.strip().partition("=")
                if line.strip().startswith("["):
                    name = (
                        line.partition('"')[2].rpartition('"')[0]
                        if line.strip().startswith('[remote "')
                        else ""
                    )
                elif name and key.strip() == "url":
                    found.setdefault(name, value.strip().strip('"'))
    except OSError:
        return ""
    return normalized_remote(found.get("origin") or next(iter(found.values()), ""))


def normalized_remote(url: str) -> str:
    """Return the address of a repository without scheme, user, port and ending; empty for a folder.

    >>> normalized_remote("ssh://git@Example.org:22/acme/shop.git"), normalized_remote("git@example.org:acme/shop")
    ('example.org/acme/shop', 'example.org/acme/shop')
    """
    scheme, found, rest = url.partition("://")
    if not found:
        host, colon, path = url.partition(":")
        if not colon or "/" in host:
            return ""
    else:
        host, _, path = rest.partition("/")
        if scheme == "file":
            return ""
        host = host.rpartition("@")[2].partition(":")[0]
    path = path.strip("/").removesuffix(".git").strip("/")
    host = host.rpartition("@")[2].lower()
    return f"{host}/{path}" if host and path else ""


def project_key(project: str) -> str:
    """Return the key of the folder *project* in the user's database."""
    return sha256_hex(os.fsencode(os.path.realpath(project)))[:32]


def make_file(path: str) -> None:
    """Create the empty file *path* (0600) and its folder (0700) if they are missing."""
    folder = os.path.dirname(os.path.abspath(path))
    try:
        make_folder(folder)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        reasons = {errno.EROFS: "read-only", errno.ENOSPC: "full", errno.EACCES: "read-only"}
        reason = reasons.get(error.errno or 0, "failed")
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
        found = os.lstat(path)
    except FileNotFoundError:
        raise StoreError(f"{path}: doesn't exist yet; 'brim learn' creates it", "missing") from None
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be opened: {error.strerror or error}", "missing"
        ) from None
    if not stat.S_ISREG(found.st_mode):
        raise StoreError(
            f"{path}: is not a regular file, so it is not used; move it away", "refused"
        )
    if hasattr(os, "getuid") and found.st_uid != os.getuid():
        raise StoreError(
            f"{path}: belongs to another user (number {found.st_uid}), so it is not used; "
            "move it away, or make it yours if you know what is in it",
            "refused",
        )
    if is_tracked(path, endings=PARTS):
        raise StoreError(
            f"{path}: git tracks it, so it may be someone else's and isn't used; 'git rm --cached' it, then "
            "'brim rules restore' brings back what is lost",
            "refused",
        )


def _check_link(folder: str) -> None:
    if os.path.islink(folder) and is_tracked(folder):
        raise StoreError(
            f"{folder}: is a link that came with the project, so it may lead anywhere and is not used; "
            "'git rm --cached' it, or remove it",
            "refused",
        )


def is_tracked(
    path: str,
    *,
    endings: tuple[str, ...] = ("",),
    ignore_case: bool = sys.platform in ("darwin", "win32"),
) -> bool:
    """Whether git tracks *path*, or *path* with one of *endings*.

    ``StoreError`` if git's index is too large to find out.
    """
    folder = os.path.realpath(os.path.dirname(path) or ".")
    top, git = _checkout(folder)
    if git is None:
        return False
    # Not relpath() of the whole: a path that ends with a slash, to which endings are added, must
    # keep it.
    above = "" if folder == top else os.path.relpath(folder, top).replace(os.sep, "/") + "/"
    name = above + os.path.basename(path)
    tracked = [f"{name}{ending}".encode("utf-8", "surrogateescape") for ending in endings]
    try:
        return any(_holds(index, each, ignore_case) for index in _indexes(git) for each in tracked)
    except _TooMuch:
        why = f"is too large to see whether git tracks {name}, so that isn't used: run brim outside of this repository"
        raise StoreError(f"{os.path.join(git, 'index')}: {why}", "refused") from None


def _checkout(folder: str) -> tuple[str, str | None]:
    """Return the nearest checkout upwards from *folder*, and its git folder; None if there is
    none."""
    git = git_folder(folder)
    while git is None and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
        git = git_folder(folder)
    return folder, git


def _indexes(git: str) -> list[bytes]:
    """Return the bytes of the index in *git*, and of the files that it's split into."""
    found, room = [], LARGEST_INDEX
    with suppress(OSError):
        names = [
            name for name in os.listdir(git) if name == "index" or name.startswith("sharedindex.")
        ]
        if len(names) > MOST_INDEXES:
            raise _TooMuch
        for name in names:
            with suppress(OSError), os.fdopen(open_safely(os.path.join(git, name)), "rb") as file:
                if os.fstat(file.fileno()).st_size > room:
                    raise _TooMuch
                found.append(file.read(room))
                room -= len(found[-1])
    return found


def _holds(index: bytes, name: bytes, ignore_case: bool) -> bool:
    if index[:4] != b"DIRC":
        return False
    if index[4:8] == b"\0\0\0\4":
        return _walk(index, name, ignore_case)
    if ignore_case:
        index, name = index.lower(), name.lower()
    wanted = min(len(name), NAME_LENGTH)
    at, looked = index.find(name + b"\0"), 0
    while at >= 0:
        # Two or four bytes of flags come before a name; the lowest twelve bits of the first two are
        # its length.
        for back in (2, 4):
            if (
                at >= back
                and int.from_bytes(index[at - back : at - back + 2], "big") & NAME_LENGTH == wanted
            ):
                return True
        at, looked = index.find(name + b"\0", at + 1), looked + 1
        if looked > MOST_NAMES:
            raise _TooMuch
    return False


def _walk(index: bytes, name: bytes, ignore_case: bool) -> bool:
    """Look for *name* in an index of version 4, where each name is stored as a difference from the
    one before."""
    # Names are sorted, and the spelling in small letters comes last.
    wanted = name.lower() if ignore_case else name
    for hash_length in (20, 32):
        try:
            for looked, found in enumerate(_names(index, hash_length)):
                if looked > MOST_NAMES:
                    raise _TooMuch
                if (found.lower() if ignore_case else found) == wanted:
                    return True
                if found > wanted:
                    break
        except (IndexError, ValueError):
            continue  # that was not the length of this repository's hashes
    return False


def _names(index: bytes, hash_length: int) -> Iterator[bytes]:
    at, before = 12, b""
    for _ in range(int.from_bytes(index[8:12], "big")):
        at += 40 + hash_length
        extended = index[at] & 0x40
        at += 4 if extended else 2
        dropped, shift = index[at] & 0x7F, index[at] & 0x80
        at += 1
        while shift:
            dropped, shift = ((dropped + 1) << 7) | (index[at] & 0x7F), index[at] & 0x80
            at += 1
        if dropped > len(before):
            raise ValueError(dropped)
        end = index.index(b"\0", at)
        before = before[: len(before) - dropped] + index[at:end]
        at = end + 1
        yield before


def branch(project: str) -> str | None:
    """Return the branch that is checked out in *project*; None without a branch or git.

    *project* may be any folder of a checkout or worktree.
    """
    git = _checkout(os.path.realpath(project))[1]
    if git is None:
        return None
    try:
        with os.fdopen(
            open_safely(os.path.join(git, "HEAD")), encoding="utf-8", errors="replace"
        ) as file:
            head = file.readline(4096).strip()
    except OSError:
        return None
    return head.removeprefix(_HEAD) or None if head.startswith(_HEAD) else None


def project_types(project: str) -> tuple[str, ...]:
    """Return the types of *project* by the files in its folder, in the order of the table."""
    try:
        names = set(os.listdir(project))
    except OSError:
        return ()
    known = data_rows(__file__, "project_types.tsv")
    held = [
        type
        for mark, type in known
        if mark in names or (mark[0] == "*" and any(name.endswith(mark[1:]) for name in names))
    ]
    return tuple(dict.fromkeys(held))


def environment(environ: Mapping[str, str]) -> str | None:
    """Return ``ci`` if a build server has set ``CI``; else None."""
    return "ci" if environ.get("CI", "").lower() not in ("", "0", "false", "no", "off") else None
