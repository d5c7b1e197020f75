"""The agent's process: its lines come in, turns go out. It is a group of its own, so that Ctrl-C reaches brim alone."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from contextlib import suppress

from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

BLOCK = 1 << 16
LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of a line; a longer one is given as an empty object, and so counted and skipped."""

WAITING = 256
"""Lines that may wait to be read: an agent that writes faster than brim reads has to wait too."""

GRACE = 5.0
"""Seconds that an agent has to end by itself, before it is ended."""

TOO_LONG = b"\x00"
"""What stands for a line that was too long: no JSON."""


def _why(error: OSError | ValueError) -> str:
    """Return why a program cannot be started, and what to do."""
    if isinstance(error, FileNotFoundError):
        return "there is no such program; install it, or write the whole path to it after --"
    if isinstance(error, PermissionError):
        return "it is no program that may be run; look at the path, or make it executable with chmod +x"
    return f"{getattr(error, 'strerror', None) or error}; try it without brim run"


class Child:
    """A process whose lines are handed to *heard* by a thread; the end of them is None.

    ``heard`` must be quick. ``read`` says that a line was dealt with, so that the next may come.
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        environ: Mapping[str, str],
        cwd: str,
        heard: Callable[[Child, bytes | None], object],
        listens: bool,
    ) -> None:
        try:
            self._process = subprocess.Popen(  # noqa: S603 - what a person asked to run, without a shell
                list(words),
                stdin=subprocess.PIPE if listens else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                env=dict(environ),
                cwd=cwd,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise InputError(f"{words[0][:200]}: cannot be started: {_why(error)}") from None
        self._heard = heard
        self._room = threading.Semaphore(WAITING)
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, line: bytes) -> bool:
        """Hand *line* to the process; False if it does not listen any more."""
        pipe = self._process.stdin
        if pipe is None or pipe.closed:
            return False
        try:
            pipe.write(line)
            pipe.flush()
        except (OSError, ValueError):
            return False
        return True

    def close_input(self) -> None:
        """Say that no more turns will come: the agent ends when it has done what it was told."""
        pipe = self._process.stdin
        if pipe is not None:
            with suppress(OSError):
                pipe.close()

    def read(self) -> None:
        """Say that one line was dealt with."""
        self._room.release()

    def interrupt(self) -> None:
        """Send the signal that Ctrl-C sends."""
        self._signal(signal.SIGINT)

    def end(self, grace: float = GRACE) -> int:
        """Wait *grace* seconds for the process to end; then ask it to, and then make it. Return its exit code."""
        self.close_input()
        for sends in (None, signal.SIGTERM, signal.SIGKILL):
            if sends is not None:
                self._signal(sends)
            try:
                return self._process.wait(None if sends == signal.SIGKILL else grace)
            except subprocess.TimeoutExpired:
                grace = GRACE
        return self._process.wait()

    @property
    def is_over(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def _signal(self, number: int) -> None:
        if not self.is_over:
            with suppress(OSError):  # it may end just now
                os.killpg(self._process.pid, number)

    def _listen(self) -> None:
        if self._process.stdout is None:
            return
        out = self._process.stdout.fileno()
        held: list[bytes] = []
        size = 0
        while block := self._block(out):
            *lines, rest = block.split(b"\n")
            for line in lines:
                self._tell(b"".join([*held, line]) if size + len(line) <= LONGEST_LINE else TOO_LONG)
                held, size = [], 0
            size += len(rest)
            held = [*held, rest] if rest and size <= LONGEST_LINE else held if size <= LONGEST_LINE else []
        if size:
            self._tell(b"".join(held) if size <= LONGEST_LINE else TOO_LONG)
        self._process.stdout.close()
        self._heard(self, None)

    @staticmethod
    def _block(out: int) -> bytes:
        try:
            return os.read(out, BLOCK)
        except OSError:
            return b""

    def _tell(self, line: bytes) -> None:
        if line.strip():
            self._room.acquire()
            self._heard(self, line)
