"""What git knows about a folder: its remote, and whether it tracks a file.

brim reads git's files instead of running git, because a hook has no time for that. A file that
came with a clone may be someone else's, so brim asks whether git tracks it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress

from brim.config.places import git_folder
from brim.errors import StoreError
from brim.files import open_safely

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

_IGNORES_CASE = sys.platform in ("darwin", "win32")


class _TooMuch(Exception):
    """An index that is too large to search: an archive can contain anything."""


# Remotes ------------------------------------------------------------------------------------------


def remote_of(place: str) -> str:
    """Return the normalized address of the remote of the repository at *place*; empty if it has
    none.

    ``git@example.org:acme/shop.git`` and ``https://example.org/acme/shop`` are both
    ``example.org/acme/shop``. Of several remotes it is ``origin``, else the first.
    """
    git = git_folder(place) or place  # a bare repository is its own
    try:
        descriptor = open_safely(os.path.join(git, "config"))
        with os.fdopen(descriptor, encoding="utf-8", errors="replace") as file:
            urls = _remote_urls(file.read(LARGEST_CONFIG))
    except OSError:
        return ""
    if "origin" in urls:
        return normalized_remote(urls["origin"])
    for url in urls.values():
        return normalized_remote(url)
    return ""


def _remote_urls(config: str) -> dict[str, str]:
    """Return the first address of each remote in the text of a repository's configuration."""
    urls: dict[str, str] = {}
    remote = ""
    for line in map(str.strip, config.splitlines()):
        if line.startswith("["):
            remote = ""
            if line.startswith('[remote "'):
                remote = line.partition('"')[2].rpartition('"')[0]
            continue
        key, _, value = line.partition("=")
        if remote and key.strip() == "url":
            urls.setdefault(remote, value.strip().strip('"'))
    return urls


def normalized_remote(url: str) -> str:
    """Return the address of a repository without scheme, user, port and ending; empty for a folder.

    >>> normalized_remote("ssh://git@Example.org:22/acme/shop.git")
    'example.org/acme/shop'
    >>> normalized_remote("git@example.org:acme/shop")
    'example.org/acme/shop'
    """
    scheme, separator, address = url.partition("://")
    if separator:
        if scheme == "file":
            return ""
        host, _, path = address.partition("/")
        host = host.rpartition("@")[2].partition(":")[0]
    else:
        host, colon, path = url.partition(":")
        if not colon or "/" in host:
            return ""
        host = host.rpartition("@")[2]
    path = path.strip("/").removesuffix(".git").strip("/")
    if not host or not path:
        return ""
    return f"{host.lower()}/{path}"


# Tracked files ------------------------------------------------------------------------------------


def is_tracked(
    path: str, *, endings: tuple[str, ...] = ("",), ignore_case: bool = _IGNORES_CASE
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
    name = os.path.basename(path)
    if folder != top:
        name = os.path.relpath(folder, top).replace(os.sep, "/") + "/" + name
    try:
        for index in _indexes(git):
            for ending in endings:
                tracked_name = f"{name}{ending}".encode("utf-8", "surrogateescape")
                if _contains(index, tracked_name, ignore_case):
                    return True
    except _TooMuch:
        problem = f"is too large to see whether git tracks {name}, so that isn't used"
        remedy = "run brim outside of this repository"
        raise StoreError(f"{os.path.join(git, 'index')}: {problem}: {remedy}", "refused") from None
    return False


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
    try:
        names = os.listdir(git)
    except OSError:
        return []
    names = [name for name in names if name == "index" or name.startswith("sharedindex.")]
    if len(names) > MOST_INDEXES:
        raise _TooMuch
    indexes: list[bytes] = []
    room = LARGEST_INDEX
    for name in names:
        with suppress(OSError):
            index = _read_index(os.path.join(git, name), room)
            indexes.append(index)
            room -= len(index)
    return indexes


def _read_index(path: str, room: int) -> bytes:
    with os.fdopen(open_safely(path), "rb") as file:
        if os.fstat(file.fileno()).st_size > room:
            raise _TooMuch
        return file.read(room)


def _contains(index: bytes, name: bytes, ignore_case: bool) -> bool:
    """Whether the bytes of an index have an entry *name*."""
    if index[:4] != b"DIRC":
        return False
    if index[4:8] == b"\0\0\0\4":
        return _contains_compressed(index, name, ignore_case)
    if ignore_case:
        index = index.lower()
        name = name.lower()
    places_checked = 0
    place = index.find(name + b"\0")
    while place >= 0:
        if _is_entry(index, place, len(name)):
            return True
        place = index.find(name + b"\0", place + 1)
        places_checked += 1
        if places_checked > MOST_NAMES:
            raise _TooMuch
    return False


def _is_entry(index: bytes, place: int, length: int) -> bool:
    """Whether an entry's name of *length* bytes begins at *place*.

    Two or four bytes of flags come before a name; the lowest twelve bits of the first two are its
    length.
    """
    for size in (2, 4):
        if place < size:
            continue
        flags = int.from_bytes(index[place - size : place - size + 2], "big")
        if flags & NAME_LENGTH == min(length, NAME_LENGTH):
            return True
    return False


def _contains_compressed(index: bytes, name: bytes, ignore_case: bool) -> bool:
    """Look for *name* in an index of version 4, where each name is stored as a difference from the
    one before."""
    for hash_length in (20, 32):
        # An index with hashes of another length can't be walked.
        with suppress(IndexError, ValueError):
            if _is_among(_names(index, hash_length), name, ignore_case):
                return True
    return False


def _is_among(names: Iterator[bytes], name: bytes, ignore_case: bool) -> bool:
    # Names are sorted, and the spelling in small letters comes last.
    last = name
    if ignore_case:
        last = name.lower()
    for number, entry in enumerate(names):
        if number > MOST_NAMES:
            raise _TooMuch
        if entry > last:
            return False
        if entry == last:
            return True
        if ignore_case and entry.lower() == last:
            return True
    return False


def _names(index: bytes, hash_length: int) -> Iterator[bytes]:
    """Yield the names in an index of version 4."""
    place = 12
    name = b""
    for _ in range(int.from_bytes(index[8:12], "big")):
        place += 40 + hash_length
        is_extended = index[place] & 0x40
        place += 2
        if is_extended:
            place += 2
        dropped = index[place] & 0x7F
        goes_on = index[place] & 0x80
        place += 1
        while goes_on:
            dropped = ((dropped + 1) << 7) | (index[place] & 0x7F)
            goes_on = index[place] & 0x80
            place += 1
        if dropped > len(name):
            raise ValueError(dropped)
        end = index.index(b"\0", place)
        name = name[: len(name) - dropped] + index[place:end]
        place = end + 1
        yield name
