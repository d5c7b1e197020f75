"""A process like one on Windows, as far as Python can pretend, and Windows' own rules for command
lines."""

from __future__ import annotations

import importlib
import os
import pkgutil
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace

from tests.forks import HEAVY

ROOT = Path(__file__).parents[2]

MODULES = "_posixsubprocess fcntl grp posix pty pwd readline resource syslog termios tty"
FUNCTIONS = """
    O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK POSIX_SPAWN_CLOSE POSIX_SPAWN_DUP2 POSIX_SPAWN_OPEN WNOHANG chown fchmod
    fork forkpty getegid geteuid getgid getpgid getpgrp getuid killpg lchown mkfifo nice posix_spawn posix_spawnp pread
    pwrite register_at_fork set_blocking setsid statvfs sysconf tcgetpgrp ttyname uname
"""
SIGNALS = (
    "ITIMER_REAL SIGALRM SIGCHLD SIGHUP SIGKILL SIGPIPE SIGUSR1 alarm getitimer pause setitimer"
)


def pretend(*, everything: bool) -> list[str]:
    """Take away what Windows lacks, before brim is imported; return the names of brim's modules.

    What others wrote is imported first, SDKs only for *everything*: it has its own ways on each
    system. Paths, processes and permissions stay those of this system.
    """
    import brim
    from brim.errors import BrimError

    names = []
    for each in pkgutil.walk_packages(brim.__path__, "brim."):
        if each.name.startswith(HEAVY) and not everything:
            continue
        with suppress(ImportError, BrimError):  # an adapter whose framework isn't here, or a driver
            importlib.import_module(each.name)
            names.append(each.name)
    for name in [name for name in sys.modules if name.split(".")[0] == "brim"]:
        del sys.modules[name]
    sys.modules["msvcrt"] = _msvcrt()
    for name in MODULES.split():
        sys.modules[name] = None  # type: ignore[assignment]
    for name in FUNCTIONS.split():
        delattr(os, name)
    for name in SIGNALS.split():
        delattr(signal, name)
    os.name, sys.platform = "nt", "win32"
    shutil._winapi = SimpleNamespace(NeedCurrentDirectoryForExePath=lambda _: False)  # type: ignore[attr-defined]
    return names


def _msvcrt() -> ModuleType:
    """Return the locks of Windows as this system has them: of the byte at the place of an open
    file."""
    import fcntl

    found = ModuleType("msvcrt")

    def locking(handle: int, _mode: int, size: int) -> None:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, size, 0, os.SEEK_CUR)

    vars(found).update(locking=locking, LK_NBLCK=2)
    return found


def on_windows(
    code: str,
    *arguments: str,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: str = "",
    everything: bool = False,
) -> subprocess.CompletedProcess[str]:
    """Run *code* in such a process; ``modules`` are the names of brim's."""
    text = f"from tests.install.windows import pretend\nmodules = pretend({everything=})\n{code}"
    given = {**(os.environ if environ is None else environ), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", text, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=given | {"USERPROFILE": given["HOME"]},
        cwd=cwd,
    )


def argv_of(line: str) -> list[str]:
    """Return the words of *line* as Windows splits it for a program: the rules of
    ``CommandLineToArgvW``."""
    found: list[str] = []
    word, quoted, slashes = None, False, 0
    for sign in f"{line} ":
        if sign == "\\":
            slashes += 1
            continue
        if slashes or sign == '"':
            literal = sign == '"' and slashes % 2
            word = (
                (word or "")
                + "\\" * (slashes // 2 if sign == '"' else slashes)
                + ('"' if literal else "")
            )
            quoted ^= sign == '"' and not literal
            slashes = 0
        if sign == '"':
            continue
        if sign in " \t" and not quoted:
            found += [] if word is None else [word]
            word = None
        else:
            word = (word or "") + sign
    return found
