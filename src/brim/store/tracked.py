"""Whether git tracks a file, read from git's index: a hook has no time to start git.

A database that came with a clone is somebody else's. The index is searched for the file's name; only its fourth
format, which shortens names, has to be walked entry by entry.
"""

from __future__ import annotations

import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

NAME_LENGTH = 0xFFF
"""The bits of an entry's flags that hold the length of its name."""


def is_tracked(
    path: str, *, endings: tuple[str, ...] = ("",), ignore_case: bool = sys.platform in ("darwin", "win32")
) -> bool:
    """Whether the git repository that *path* lies in, if any, tracks it, or it with one of *endings*."""
    folder = os.path.realpath(os.path.dirname(path) or ".")
    steps = [os.path.basename(path)]
    while True:
        git = git_folder(folder)
        if git is not None:
            names = [f"{'/'.join(steps)}{ending}".encode("utf-8", "surrogateescape") for ending in endings]
            return any(_holds(index, name, ignore_case) for index in _indexes(git) for name in names)
        parent = os.path.dirname(folder)
        if parent == folder:
            return False
        steps.insert(0, os.path.basename(folder))
        folder = parent


def git_folder(folder: str) -> str | None:
    """Return the folder in which git keeps the state of the checkout *folder*; None if it is not one.

    In a worktree or a submodule ``.git`` is a file that says where it is.
    """
    mark = os.path.join(folder, ".git")
    try:
        mode = os.stat(mark).st_mode
        if stat.S_ISDIR(mode):
            return mark
        if not stat.S_ISREG(mode):
            return None  # a pipe would be waited for
        with open(mark, encoding="utf-8", errors="surrogateescape") as file:
            first = file.readline(4096)
    except (OSError, ValueError):
        return None
    return os.path.join(folder, first[8:].strip()) if first.startswith("gitdir: ") else None


def _indexes(git: str) -> list[bytes]:
    """Return the bytes of the index in *git* and of those that it is split into."""
    found = []
    try:
        names = [name for name in os.listdir(git) if name == "index" or name.startswith("sharedindex.")]
    except OSError:
        return []
    for name in names:
        try:
            with open(os.path.join(git, name), "rb") as file:
                found.append(file.read())
        except OSError:
            continue
    return found


def _holds(index: bytes, name: bytes, ignore_case: bool) -> bool:
    if index[:4] != b"DIRC":
        return False
    if index[4:8] == b"\0\0\0\4":
        return _walk(index, name, ignore_case)
    if ignore_case:
        index, name = index.lower(), name.lower()
    wanted = min(len(name), NAME_LENGTH)
    at = index.find(name + b"\0")
    while at >= 0:
        # Two bytes of flags stand before a name, or four; in the lowest twelve bits of the first two is its length.
        for back in (2, 4):
            if at >= back and int.from_bytes(index[at - back : at - back + 2], "big") & NAME_LENGTH == wanted:
                return True
        at = index.find(name + b"\0", at + 1)
    return False


def _walk(index: bytes, name: bytes, ignore_case: bool) -> bool:
    """Look for *name* in an index of version 4, where each name is told by how it differs from the one before."""
    # Names are in order, and no other spelling comes after the one in small letters.
    wanted = name.lower() if ignore_case else name
    for hash_length in (20, 32):
        try:
            for found in _names(index, hash_length):
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
