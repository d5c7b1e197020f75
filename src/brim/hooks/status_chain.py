"""The status line that was there before brim's: clients have room for one command, so brim's runs
the other too.

It gets the same standard input, half a second, and its own process group, which is killed if it
takes longer. It runs as the client would run it: through the shell, and its output is shown only if
it exits with 0.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import time
from collections.abc import Mapping
from io import FileIO

NAME = "statusline.json"
"""The file in the user's folder with the client's own entry for the status line before:
``{"command": "…"}``."""

PATIENCE = 0.5
"""Seconds that the other status line may take."""

INSIDE = "BRIM_STATUSLINE_INSIDE"
"""Set for the other status line: if that calls brim, brim knows that it is already running."""

MOST_BYTES = 65_536
"""What is kept of its output; the rest is read and dropped."""

_STEP = 0.02


def previous_command(home: str) -> str:
    """Return the command in ``statusline.json`` of *home*; empty if there is none, or others could
    have written it."""
    try:
        with open(os.path.join(home, NAME), "rb") as file:
            found = os.fstat(file.fileno())
            if hasattr(os, "getuid") and (
                found.st_uid != os.getuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            ):
                return ""
            command = json.loads(file.read(MOST_BYTES).decode())["command"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""
    return command if isinstance(command, str) and "\0" not in command else ""


class Other:
    """The other status line, running. Start it first and ask for its ``lines`` last."""

    def __init__(
        self,
        command: str,
        given: bytes,
        environ: Mapping[str, str],
        *,
        patience: float | None = None,
    ) -> None:
        self._given = memoryview(given)
        self._said = bytearray()
        self._pid = 0
        self._patience = PATIENCE if patience is None else patience
        self._end = time.monotonic() + self._patience
        self.failure = ""
        """Why there is nothing to show; empty if it ended well, even if it said nothing."""
        their_in, to = os.pipe()
        out, their_out = os.pipe()
        self._to = FileIO(to, "wb")
        self._from = FileIO(out, "rb")
        try:
            self._pid = os.posix_spawn(
                "/bin/sh",
                ["sh", "-c", command],
                {**environ, INSIDE: "1"},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, their_in, 0),
                    (os.POSIX_SPAWN_DUP2, their_out, 1),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
                setpgroup=0,
                setsigdef=[signal.SIGPIPE],  # Python ignores it, and its children would
            )
            os.set_blocking(to, False)
            os.set_blocking(out, False)
        except (OSError, ValueError, AttributeError, NotImplementedError) as error:
            self.failure = f"could not be started: {error}"
        os.close(their_in)
        os.close(their_out)

    def lines(self) -> bytes:
        """Return what it printed, without the last line's end; nothing if it fails or takes too
        long."""
        ended = status = 0
        while self._pid and not ended and time.monotonic() < self._end:
            self._talk()
            ended, status = os.waitpid(self._pid, os.WNOHANG)
        if ended:
            self._hear()  # what it wrote between the last look and its end
        self._to.close()
        self._from.close()
        if status:
            self.failure = f"ended with {os.waitstatus_to_exitcode(status)}"
        elif self._pid and not ended:
            self.failure = f"took longer than {self._patience:g} s"
            os.killpg(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        return b"" if self.failure else bytes(self._said).rstrip()

    def _talk(self) -> None:
        """Give it what it reads and take what it says, for at most a moment."""
        from select import select

        hearing, telling = ([each] if not each.closed else [] for each in (self._from, self._to))
        readable, writable, _ = select(
            hearing, telling, [], _STEP if hearing or telling else _STEP / 10
        )
        if writable:
            try:
                self._given = self._given[self._to.write(self._given) or 0 :]
            except OSError:  # it doesn't read its input
                self._given = self._given[:0]
            if not self._given:
                self._to.close()
        if readable:
            self._hear()

    def _hear(self) -> None:
        while not self._from.closed and time.monotonic() < self._end:
            found = self._from.read(MOST_BYTES)
            if found is None:
                return
            self._said += found[: MOST_BYTES - len(self._said)]
            if not found:
                self._from.close()
