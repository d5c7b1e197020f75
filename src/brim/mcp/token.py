"""The token that a client over HTTP must bring: a file that only this user can read."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from brim.errors import StoreError

NAME = "mcp-token"
LENGTH = 32
"""Bytes of chance in a token."""
SHORTEST = 32
"""Characters that a token must have to be one."""


def token_file(home: str) -> str:
    """Return where the token is kept in the user's folder *home*."""
    return os.path.join(home, NAME)


def read_token(home: str) -> str:
    """Return the token, made now if there is none. One that others can read or have written is refused."""
    from brim.files import write_new

    path = token_file(home)
    try:
        os.makedirs(home, 0o700, exist_ok=True)
        with suppress(FileExistsError):
            write_new(path, f"{os.urandom(LENGTH).hex()}\n".encode())
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, encoding="ascii", errors="replace") as file:
            _check(path, os.fstat(file.fileno()))
            token = file.read(1_000).strip()
    except OSError as error:
        raise StoreError(f"{path}: cannot be used: {error.strerror or error}") from None
    if len(token) < SHORTEST or not token.isalnum():
        raise StoreError(f"{path}: holds no token: remove it, and a new one is made", "damaged")
    return token


def _check(path: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise StoreError(f"{path}: is no file, so it is not used", "refused")
    if not hasattr(os, "getuid"):
        return
    if found.st_uid != os.getuid() or found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise StoreError(
            f"{path}: others can get at it, so it is no secret: remove it, and a new one is made", "refused"
        )
