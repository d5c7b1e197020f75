"""The agent's process: lines come in, turns go out. It's a process group of its own, so Ctrl-C reaches only brim."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from brim.errors import InputError

LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of a line; a longer one is given as ``TOO_LONG``, and so counted and skipped."""

WAITING = 256
"""Lines that may wait to be read: an agent that writes faster than brim reads has to wait too."""

GRACE = 5.0
"""Seconds that an agent has to end on its own before it is ended."""

TOO_LONG = b"\x00"
"""Stands for a line that was too long. It isn't JSON."""


class Child:
    """A process whose lines a thread hands to *heard*; None is the end of them.

    ``heard`` must be quick. Call ``read`` when a line was dealt with, so that the next may come.
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
            why = f"{getattr(error, 'strerror', None) or error}; try it without brim run"
            if isinstance(error, FileNotFoundError):
                why = "no such program; install it, or write its full path after --"
            elif isinstance(error, PermissionError):
                why = "it can't be run; check the path, or make it executable with chmod +x"
            raise InputError(f"{words[0][:200]}: cannot be started: {why}") from None
        self._heard = heard
        self._room = threading.Semaphore(WAITING)
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, line: bytes) -> bool:
        """Hand *line* to the process; False if it doesn't listen any more."""
        pipe = self._process.stdin
        try:
            if pipe is not None:
                pipe.write(line)
                pipe.flush()
        except (OSError, ValueError):
            return False
        return pipe is not None

    def close_input(self) -> None:
        """Say that no more turns will come: the agent ends when it has done everything."""
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def read(self) -> None:
        """Say that one line was dealt with."""
        self._room.release()

    def interrupt(self) -> None:
        """Send the signal that Ctrl-C sends."""
        self._signal(signal.SIGINT)

    def end(self, grace: float = GRACE) -> int:
        """Wait *grace* seconds for the process to end; then ask it to, and then kill it. Return its exit code."""
        self.close_input()
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                return self._process.wait(grace)
            except subprocess.TimeoutExpired:
                self._signal(number)
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
        out = self._process.stdout
        is_rest = False
        with suppress(OSError):
            while out is not None and (line := out.readline(LONGEST_LINE)):
                if line.strip() and not is_rest:
                    self._room.acquire()
                    self._heard(self, line.removesuffix(b"\n") if len(line) < LONGEST_LINE else TOO_LONG)
                is_rest = not line.endswith(b"\n")
        if out is not None:
            out.close()
        self._heard(self, None)
