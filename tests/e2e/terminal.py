"""A terminal of its own for one program: what a person would see and type."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

_ESCAPES = re.compile(r"\x1b\[[\d;?<>=]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]|\x1b[=>78]")


class Terminal:
    """Runs *command* in a terminal of *columns*; leaving it ends the program and what is left of its group."""

    def __init__(self, command: Sequence[str], folder: Path, environ: Mapping[str, str], *, columns: int = 120) -> None:
        self._drawn = b""
        self._handle, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        self._process = subprocess.Popen(
            list(command),
            cwd=folder,
            env={**environ, "TERM": "xterm-256color"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)

    @property
    def text(self) -> str:
        """Everything that was drawn so far, without colours and places, in one line.

        A program draws only what has changed: words that replace others may miss letters that both have in one place.
        """
        drawn = self._drawn.decode("utf-8", "replace")
        return " ".join(_ESCAPES.sub(" ", drawn).split())

    def enter(self, text: str) -> None:
        """Type *text*, and then Enter."""
        os.write(self._handle, text.encode())
        time.sleep(0.5)  # what comes at once is a paste, and Enter in it a line's end
        os.write(self._handle, b"\r")

    def wait(self, until: Callable[[], object], patience: float = 60.0) -> None:
        """Read what is drawn until *until* says so."""
        end = time.monotonic() + patience
        while not until():
            assert time.monotonic() < end, f"it did not come; drawn was: {self.text[-4000:]}"
            self._read(0.1)

    def wait_for(self, words: str) -> None:
        """Read what is drawn until *words* are there."""
        self.wait(lambda: words in self.text)

    def _read(self, seconds: float) -> None:
        readable, _, _ = select.select([self._handle], [], [], seconds)
        if readable:
            try:
                self._drawn += os.read(self._handle, 65_536)
            except OSError:  # the program has ended
                time.sleep(seconds)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._handle)
