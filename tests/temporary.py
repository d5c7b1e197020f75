"""Temporary folders that don't outlive the processes that use them.

The process that makes a folder holds a lock on the file ``lock`` in it. The kernel frees the lock
however the process ends, so a folder with a free lock was left behind by a process that was killed:
``sweep`` removes it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

NOBODY = 65_534
RUN_PREFIX = "brim-tests-"
MEMORY = Path("/dev/shm")
GIGABYTE = 1_000_000_000
SIZE_LIMIT = GIGABYTE
"""The size at which a run of the tests is stopped. It needs about a quarter of this."""
LONGEST_PATH = 60
"""Sockets are made below the folder, and a socket's path has at most 104 bytes."""


def unprivileged() -> dict[str, Any]:
    """Return the options of ``subprocess`` with which root runs a program as nobody: PostgreSQL
    refuses root."""
    if os.geteuid() != 0:
        return {}
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []}


class TemporaryFolder:
    """A folder that this process owns until it removes it or ends."""

    def __init__(self, prefix: str, parent: Path) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        self._owner = os.getpid()
        if os.geteuid() == 0:
            self.path.chmod(0o711)  # nobody, who runs PostgreSQL, has to get through
        self._lock = os.open(self.path / "new-lock", os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        # Renamed once it's locked, so that nobody sees it free.
        os.rename(self.path / "new-lock", self.path / "lock")

    def remove(self) -> None:
        """Remove the folder, and end the servers that run in it."""
        if self._lock < 0 or os.getpid() != self._owner:  # a fork that ends leaves it alone
            return
        remove_tree(self.path)
        os.close(self._lock)
        self._lock = -1


def sweep(parent: Path, prefix: str) -> list[Path]:
    """Remove the folders that killed processes of this user left in *parent*; return them."""
    swept = []
    for folder in sorted(parent.glob(f"{prefix}*")):
        if remove_abandoned(folder):
            swept.append(folder)
    return swept


def remove_abandoned(folder: Path) -> bool:
    """Remove *folder* if it belongs to this user and its owner has ended; return whether it did."""
    try:
        if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
            return False
        lock = os.open(folder / "lock", os.O_RDWR | os.O_NOFOLLOW)
    except OSError:  # it isn't ours, or another process has just removed it
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        remove_tree(folder)
        return True
    finally:
        os.close(lock)


def remove_tree(folder: Path) -> None:
    """Remove *folder*, and end the PostgreSQL servers that run in it."""
    for pid_file in folder.rglob("postmaster.pid"):
        end_server(pid_file)
    # A process that is just ending may still write there.
    deadline = time.monotonic() + 30
    shutil.rmtree(folder, ignore_errors=True)
    while folder.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
        shutil.rmtree(folder, ignore_errors=True)


def end_server(pid_file: Path) -> None:
    """End the PostgreSQL server that wrote *pid_file*, if it still runs."""
    try:
        pid = int(pid_file.read_text(encoding="utf-8").split()[0])
    except (OSError, ValueError, IndexError):
        return
    data_folder = str(pid_file.parent)
    deadline = time.monotonic() + 30
    stop_signal = signal.SIGQUIT
    while data_folder in command_line(pid):
        with suppress(ProcessLookupError):
            os.kill(pid, stop_signal)
        time.sleep(0.05)
        if time.monotonic() > deadline:
            stop_signal = signal.SIGKILL


def command_line(pid: int) -> str:
    """Return the command line of a running process; an empty text if there is none."""
    if Path("/proc/self/cmdline").exists():
        try:
            return (
                Path(f"/proc/{pid}/cmdline")
                .read_bytes()
                .replace(b"\0", b" ")
                .decode(errors="replace")
            )
        except OSError:
            return ""
    listing = subprocess.run(
        ["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return listing.stdout


def first_usable(places: Iterable[Path], size: int = SIZE_LIMIT) -> Path:
    """Return the first of *places* that has *size* bytes free and lets nobody's and our own
    programs run."""
    places = list(places)
    for user in (unprivileged(), {}):
        # A container may have no user but root: then all but PostgreSQL works.
        for place in places:
            if free_bytes(place) >= size and runs_programs(place, user):
                return place
    names = ", ".join(str(place) for place in places)
    raise OSError(
        f"No temporary folder has {size / GIGABYTE:g} GB free, a short path and lets programs run: {names}. "
        "Name one that does: TMPDIR=FOLDER make test"
    )


def free_bytes(place: Path) -> int:
    """Return how many bytes can still be written in *place*."""
    try:
        return shutil.disk_usage(place).free
    except OSError:
        return 0


def runs_programs(place: Path, user: dict[str, Any]) -> bool:
    """Return whether *user* can run a program in a new folder in *place*: not if it is mounted
    ``noexec``."""
    if len(os.fsencode(place)) > LONGEST_PATH:
        return False
    try:
        folder = Path(tempfile.mkdtemp(prefix="brim-probe-", dir=place))
    except OSError:
        return False
    try:
        program = folder / "program"
        program.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
        program.chmod(0o755)
        folder.chmod(0o711)
        return (
            subprocess.run([program], check=False, capture_output=True, cwd="/", **user).returncode
            == 0
        )
    except (OSError, subprocess.SubprocessError):
        return False
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def places_on_disk() -> list[Path]:
    """Return the usual temporary folders, the one that ``TMPDIR`` names first."""
    return [Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")]


def places_for_a_run() -> list[Path]:
    """Return where a run of the tests may keep its files: in memory if there is plenty and
    ``TMPDIR`` isn't set."""
    if "TMPDIR" in os.environ:
        return places_on_disk()
    if free_bytes(MEMORY) < 2 * SIZE_LIMIT or available_memory() < 4 * SIZE_LIMIT:
        return places_on_disk()
    return [MEMORY, *places_on_disk()]


def available_memory() -> int:
    """Return how many bytes of memory programs can still take; 0 where that isn't known."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


class TestRun:
    """The folder of one run of the tests, which is ``TMPDIR`` for all its processes.

    A run that fills the folder with more than *limit* bytes is stopped, and its folder emptied.
    """

    __test__ = False  # not a class of tests

    def __init__(self, limit: int = SIZE_LIMIT, stop: Callable[[], None] | None = None) -> None:
        places = places_for_a_run()
        for place in {MEMORY, *places}:
            sweep(place, RUN_PREFIX)
        self.folder = TemporaryFolder(RUN_PREFIX, first_usable(places))
        self._limit = limit
        self._stop = stop or interrupt
        self._ended = threading.Event()
        self._used_before = used_bytes(self.folder.path)
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def use(self) -> None:
        """Make this the temporary folder of this process and of those that it starts."""
        os.environ["TMPDIR"] = str(self.folder.path)
        tempfile.tempdir = None

    def remove(self) -> None:
        """Remove the folder."""
        self._ended.set()
        self._watcher.join()
        self.folder.remove()

    def _watch(self) -> None:
        stopped = False
        while not self._ended.wait(0.25):
            # Asking the file system is quick; the sizes of all files are added up only if it might
            # be too much.
            if used_bytes(self.folder.path) - self._used_before < self._limit:
                continue
            if tree_size(self.folder.path) < self._limit:
                continue
            if not stopped:
                stopped = True
                message = f"\nThe tests are stopped: they wrote more than {self._limit:,} bytes to {self.folder.path}."
                print(message, file=sys.__stderr__, flush=True)
                self._stop()
            empty(self.folder.path)


def interrupt() -> None:
    """Interrupt this process as Ctrl-C does."""
    os.kill(os.getpid(), signal.SIGINT)


def used_bytes(place: Path) -> int:
    """Return how many bytes are used in the file system of *place*."""
    return shutil.disk_usage(place).used


def tree_size(folder: Path) -> int:
    """Return the size of all files below *folder*."""
    size = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                size += os.lstat(os.path.join(parent, name)).st_blocks * 512
    return size


def empty(folder: Path) -> None:
    """Remove everything in *folder* but its lock."""
    for path in folder.iterdir():
        if path.name == "lock":
            continue
        if path.is_dir() and not path.is_symlink():
            remove_tree(path)
        else:
            path.unlink(missing_ok=True)
