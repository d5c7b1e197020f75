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

PATIENCE = 0.5
"""Seconds that the other status line may take."""

INSIDE = "BRIM_STATUSLINE_INSIDE"
"""Set for the other status line: if that calls brim, brim knows that it is already running."""

MOST_BYTES = 65_536
"""What is kept of its output; the rest is read and dropped."""

_STEP = 0.02


def chain_path(home: str, word: str = "") -> str:
    """Return the file in the user's folder with the status line before: ``{"command": "…"}``.

    *word* is what the client's settings call brim's status line with, if they do.
    """
    return os.path.join(home, f"statusline-{word}.json" if word else "statusline.json")


def previous_command(home: str, word: str = "") -> str:
    """Return the command in the file of *home*; empty if there is none, or others could have
    written it."""
    try:
        with open(chain_path(home, word), "rb") as file:
            if _is_foreign(os.fstat(file.fileno())):
                return ""
            command = json.loads(file.read(MOST_BYTES).decode())["command"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""
    if not isinstance(command, str) or "\0" in command:
        return ""
    return command


def _is_foreign(status: os.stat_result) -> bool:
    """Whether others own the file of *status*, or could have written it."""
    if not hasattr(os, "getuid"):
        return False
    return status.st_uid != os.getuid() or bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


class Other:
    """The other status line, running. Start it first and ask for its ``lines`` last."""

    def __init__(
        self,
        command: str,
        sent: bytes,
        environ: Mapping[str, str],
        *,
        patience: float | None = None,
    ) -> None:
        self._input = memoryview(sent)
        self._output = bytearray()
        self._pid = 0
        self._patience = PATIENCE if patience is None else patience
        self._end = time.monotonic() + self._patience
        self.failure = ""
        """Why there is nothing to show; empty if it ended well, even if it said nothing."""
        child_input, to = os.pipe()
        out, child_output = os.pipe()
        self._to = FileIO(to, "wb")
        self._from = FileIO(out, "rb")
        try:
            self._pid = os.posix_spawn(
                "/bin/sh",
                ["sh", "-c", command],
                {**environ, INSIDE: "1"},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, child_input, 0),
                    (os.POSIX_SPAWN_DUP2, child_output, 1),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
                setpgroup=0,
                setsigdef=[signal.SIGPIPE],  # Python ignores it, and its children would
            )
            os.set_blocking(to, False)
            os.set_blocking(out, False)
        except (OSError, ValueError, AttributeError, NotImplementedError) as error:
            self.failure = f"could not be started: {error}"
        os.close(child_input)
        os.close(child_output)

    def lines(self) -> bytes:
        """Return what it printed, without the last line's end; nothing if it fails or takes too
        long."""
        ended = 0
        status = 0
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
        if self.failure:
            return b""
        return bytes(self._output).rstrip()

    def _talk(self) -> None:
        """Give the other status line what it reads, and take what it prints, for one step."""
        from select import select

        readers = [self._from] if not self._from.closed else []
        writers = [self._to] if not self._to.closed else []
        patience = _STEP
        if not readers and not writers:
            patience = _STEP / 10  # it has closed both: it's about to end
        readable, writable, _ = select(readers, writers, [], patience)
        if writable:
            self._tell()
        if readable:
            self._hear()

    def _tell(self) -> None:
        try:
            written = self._to.write(self._input) or 0
            self._input = self._input[written:]
        except OSError:  # it doesn't read its input
            self._input = self._input[:0]
        if not self._input:
            self._to.close()

    def _hear(self) -> None:
        while not self._from.closed and time.monotonic() < self._end:
            output = self._from.read(MOST_BYTES)
            if output is None:
                return
            self._output += output[: MOST_BYTES - len(self._output)]
            if not output:
                self._from.close()
