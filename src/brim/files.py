"""Files that brim owns: safe opening, atomic replacement, locks and data tables. One of each.

Everything here works on a fresh machine, on a read-only disk (by raising ``OSError``) and next to a
process that is killed at any moment.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache

from brim.errors import InputError, StoreError

WINDOWS = os.name == "nt"

SAFE_FLAGS = 0
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC"):
    # Each exists only on some systems.
    SAFE_FLAGS |= getattr(os, _flag, 0)
"""Never follow a link, never wait for a pipe."""

RENAME_PATIENCE = 0.5
"""Seconds to wait on Windows until no other process has a file open that is replaced."""
LOCKED_BYTE = 1 << 30
"""The byte that is locked on Windows: one beyond the end, because others can't read a locked byte
there."""


def open_safely(path: str, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """Open the regular file *path* and return its descriptor.

    A link, pipe or folder raises ``OSError``.
    """
    handle = os.open(path, flags | SAFE_FLAGS, mode)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise OSError(f"not a regular file: {path}")


def read_safely(path: str, *, at_most: int) -> bytes:
    """Return the content of the regular file *path*. ``OSError`` if it isn't one or is larger than
    *at_most* bytes."""
    with os.fdopen(open_safely(path), "rb") as file:
        data = file.read(at_most + 1)
    if len(data) > at_most:
        raise OSError(f"larger than {at_most:,} bytes: {path}")
    return data


def replace_file(
    path: str,
    data: bytes,
    *,
    beside: str = "",
    durable: bool = True,
    prepare: Callable[[str], object] | None = None,
) -> None:
    """Replace the file *path* with *data*: readers see the old content or the new, never a mixture.

    The new file is written as *beside* (default: a random name in the same folder) with mode 0600
    and then renamed; *prepare* gets its path before that, for example to copy permissions. A
    *durable* file reaches the disk before it gets its name. An ``OSError`` leaves nothing behind.
    """
    # A random name: what a killed process left behind, in a container with the same process id,
    # must not block us.
    beside = beside or f"{path}.{os.urandom(8).hex()}.tmp"
    try:
        write_new(beside, data, durable=durable, prepare=prepare)
        try:
            _rename(beside, path)
        except BaseException:
            with suppress(FileNotFoundError):  # it has its name: a signal came right after that
                os.unlink(beside)
            raise
    except OSError as error:
        error.filename = path  # a person knows this name
        error.filename2 = None
        raise


def _rename(old: str, new: str) -> None:
    """Give the file *old* the name *new*.

    Windows refuses that while another process reads *new*, so wait for it.
    """
    ends = time.monotonic()
    if WINDOWS:
        ends += RENAME_PATIENCE
    while True:
        try:
            os.replace(old, new)
            return
        except PermissionError:
            if time.monotonic() >= ends:
                raise
            time.sleep(0.01)


def write_new(
    path: str, data: bytes, *, durable: bool = True, prepare: Callable[[str], object] | None = None
) -> None:
    """Write *data* to *path*, which must not exist yet, all or nothing.

    *prepare* is as in ``replace_file``.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | SAFE_FLAGS, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(handle)
        if prepare is not None:
            prepare(path)
    except BaseException:
        os.unlink(path)
        raise


def sync_folder(folder: str) -> None:
    """Write the names in *folder* to the disk, on systems where a folder can be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def locked(
    path: str, *, patience: float = 10.0, prepare: Callable[[], object] | None = None
) -> Iterator[None]:
    """Hold an exclusive lock on the file *path*, waiting at most *patience* seconds.

    *prepare* makes its folder; without it, a missing folder is a ``StoreError`` at once.

    The system releases the lock when its process ends, however it ends. If the folder is removed
    while this waits, it starts over in the new one.
    """
    ends = time.monotonic() + patience
    while True:
        if prepare is not None:
            prepare()
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | SAFE_FLAGS, 0o600)
        except FileNotFoundError:
            if prepare is None:
                raise StoreError(f"{path}: its folder is missing", "missing") from None
            if time.monotonic() >= ends:  # the folder was removed after prepare()
                raise StoreError(
                    f"{path}: can't be created: its folder keeps being removed", "busy"
                ) from None
            continue
        except OSError as error:
            raise StoreError(
                f"{path}: can't be opened: {error.strerror or error}", "read-only"
            ) from None
        try:
            pause = 0.001
            while not try_lock(handle):
                if time.monotonic() >= ends:
                    why = "another process has held it for too long; try again when it has ended"
                    raise StoreError(f"{path}: {why}", "busy")
                time.sleep(pause)
                pause = min(0.01, pause * 2)
            if _is_still(handle, path):
                yield
                return
        finally:
            os.close(handle)


def try_lock(handle: int) -> bool:
    """Take the lock on an open file if it's free; return whether that worked.

    Closing the file releases it.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(handle, LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_still(handle: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except OSError:
        return False


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of *data* in hexadecimal digits.

    ``hashlib`` would load OpenSSL, which takes a hook milliseconds. Python has the same function in
    C without it.

    >>> sha256_hex(b"")[:16]
    'e3b0c44298fc1c14'
    """
    try:
        if sys.version_info >= (3, 12):
            from _sha2 import sha256  # type: ignore[import-not-found]
        else:
            from _sha256 import sha256  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha256
    digits: str = sha256(data).hexdigest()
    return digits


# Files of the user --------------------------------------------------------------------------------


def save(path: str, text: str) -> None:
    """Replace the user's file *path*, or the file that it links to, with *text*.

    Permissions and owner stay; a new file is for its owner alone. A device is refused: renaming
    over ``/dev/null`` would take it from everyone.
    """
    real = os.path.realpath(path)
    check_regular(path)
    beside = os.path.join(os.path.dirname(real), f".brim-{os.urandom(8).hex()}.tmp")
    try:
        replace_file(real, _encoded(text), beside=beside, prepare=lambda new: _make_like(new, real))
        sync_folder(os.path.dirname(real))
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written: {error.strerror or error}; it is as it was"
        ) from None


def remove_unfinished(folder: str, prefix: str = ".brim-", *, age: float = 0.0) -> None:
    """Remove what a killed ``save`` left in *folder*. No other process may save there meanwhile.

    In a folder of brim's own, any *prefix* will do; an *age* in seconds spares what is being
    written just now.
    """
    for path in unfinished(folder, prefix, age=age):
        with suppress(OSError):
            os.unlink(path)


def unfinished(folder: str, prefix: str = "", *, age: float) -> list[str]:
    """Return what killed processes left in *folder* at least *age* seconds ago."""
    paths = []
    with suppress(OSError):
        for name in sorted(os.listdir(folder)):
            if not name.startswith(prefix) or not name.endswith(".tmp"):
                continue
            path = os.path.join(folder, name)
            if os.lstat(path).st_mtime <= time.time() - age:
                paths.append(path)
    return paths


def check_regular(path: str) -> None:
    """Raise unless *path* is a file, a link to one, or nothing yet.

    Call it before reading: a pipe may never end.
    """
    if os.path.isdir(path):
        raise InputError(f"{path}: is a folder: name a file in it")
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"{path}: is a device or a pipe, so it is not written over: name a file")


def backup_name(path: str) -> str:
    """Return a name for a backup next to the file *path* that isn't taken: ``path.bak``, with a
    number if need be."""
    name = first = f"{os.path.realpath(path)}.bak"
    number = 0
    while os.path.lexists(name):
        number += 1
        name = f"{first}.{number}"
    return name


def keep(path: str, text: str, name: str = "") -> str:
    """Write *text*, the content of the file *path*, to the backup *name*.

    Return that (default: ``backup_name``).
    """
    name = name or backup_name(path)
    try:
        write_new(name, _encoded(text), prepare=lambda new: _make_like(new, os.path.realpath(path)))
    except OSError as error:
        reason = error.strerror or error
        raise InputError(
            f"{name}: no backup can be written: {reason}; {path} is as it was"
        ) from None
    return name


def _encoded(text: str) -> bytes:
    """Return *text* in UTF-8.

    Half of a surrogate pair has no bytes there, so it is written as JSON writes it.
    """
    return text.encode("utf-8", "backslashreplace")


def _make_like(path: str, like: str) -> None:
    try:
        old = os.stat(like)
    except FileNotFoundError:
        return
    if hasattr(os, "chown"):
        with suppress(OSError):  # only root may give a file away
            os.chown(path, old.st_uid, old.st_gid)
    os.chmod(path, old.st_mode & 0o7777)


# Data tables --------------------------------------------------------------------------------------


def data_path(module_file: str, name: str) -> str:
    """Return the path of ``data/<name>`` next to a module; pass the module's ``__file__``."""
    # importlib.resources costs more than the reading; a wheel is always unpacked, so there is a
    # folder.
    return os.path.join(os.path.dirname(module_file), "data", name)


@cache
def data_file(module_file: str, name: str) -> bytes:
    """Return the content of ``data/<name>`` next to a module; pass the module's ``__file__``."""
    with open(data_path(module_file, name), "rb") as file:
        return file.read()


@cache
def data_lines(module_file: str, name: str) -> tuple[str, ...]:
    """Return the lines of ``data/<name>`` that are neither empty nor comments (``#``)."""
    text = data_file(module_file, name).decode()
    return tuple(
        [line for line in text.replace("\r\n", "\n").split("\n") if line.strip() and line[0] != "#"]
    )


@cache
def data_rows(module_file: str, name: str) -> tuple[list[str], ...]:
    """Return the rows of the tab-separated table ``data/<name>``."""
    return tuple([line.split("\t") for line in data_lines(module_file, name)])


@cache
def data_map(module_file: str, name: str) -> dict[str, str]:
    """Return the second column of the table ``data/<name>`` by its first."""
    return {row[0]: row[1] for row in data_rows(module_file, name)}
