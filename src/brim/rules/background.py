"""Compiles rules in a process of its own, when more have changed than a hook has time for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress

from brim._startup import PACKAGE
from brim.errors import StoreError
from brim.files import locked
from brim.rules.compiled import NAME, rebuild_index
from brim.rules.native import NativeFile
from brim.rules.source import RuleSource

_CODE = "import sys; sys.path.append({!r}); from brim.rules.background import main; main()"
_BUSY = 0.01
"""Seconds. Who finds the lock taken knows that somebody compiles already."""


def compile_in_background(sources: list[RuleSource]) -> None:
    """Start a process that brings the index up to date with *sources*, unless there is one."""
    home = sources[0].home
    with suppress(StoreError, OSError):
        with locked(_lock(home), patience=_BUSY):
            pass
        _start([sys.executable, "-I", "-S", "-c", _CODE.format(PACKAGE), _written(sources)])


def main() -> None:
    """Compile what the arguments name: what ``compile_in_background`` starts."""
    sources = _read(sys.argv[1])
    home = sources[0].home
    with suppress(StoreError, OSError), locked(_lock(home), patience=_BUSY):
        rebuild_index(home, sources)


def _lock(home: str) -> str:
    return os.path.join(home, f"{NAME}.background.lock")


def _start(command: list[str]) -> None:
    """Start *command*, and don't wait for it."""
    if not hasattr(os, "posix_spawn"):
        null = subprocess.DEVNULL
        subprocess.Popen(command, stdin=null, stdout=null, stderr=null)  # noqa: S603
        return
    null_file = os.open(os.devnull, os.O_RDWR)
    try:
        quiet = [(os.POSIX_SPAWN_DUP2, null_file, number) for number in (0, 1, 2)]
        os.posix_spawn(command[0], command, dict(os.environ), file_actions=quiet, setpgroup=0)
    finally:
        os.close(null_file)


def _written(sources: Iterable[RuleSource]) -> str:
    rows = []
    for source in sources:
        native = None
        if source.native is not None:
            native = [source.native.kind, source.native.folder]
        rows.append([source.kind, source.path, source.home, source.project, native])
    return json.dumps(rows)


def _read(written: str) -> list[RuleSource]:
    sources = []
    for kind, path, home, project, native in json.loads(written):
        file = None
        if native is not None:
            file = NativeFile(path, *native)
        sources.append(RuleSource(kind, path, home, project, file))
    return sources
