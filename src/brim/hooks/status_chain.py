"""The status line that was there before brim's: clients have room for one command, so brim's runs the other too.

It gets the same standard input, half a second, and its own process group, which is killed if it takes longer. It runs
as the client would run it: through the shell, and its output is shown only if it exits with 0.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "statusline.json"
"""The file in the user's folder with the client's own entry for the status line before: ``{"command": "…"}``."""

PATIENCE = 0.5
"""Seconds that the other status line may take."""

INSIDE = "BRIM_STATUSLINE_INSIDE"
"""Set for the other status line: if that calls brim, brim knows that it is already running."""

MOST_BYTES = 65_536
"""What is kept of its output; the rest is read and dropped."""

_STEP = 0.02


def previous_command(home: str) -> str:
    """Return the command in ``statusline.json`` of *home*; empty if there is none, or others could have written it."""
    try:
        with open(os.path.join(home, NAME), "rb") as file:
            found = os.fstat(file.fileno())
            if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
                return ""
            command = json.loads(file.read(MOST_BYTES).decode())["command"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""
    return command if isinstance(command, str) and "\0" not in command else ""


class Other:
    """The other status line, running. Start it first, ask for its ``lines`` last: meanwhile there is time."""

    def __init__(
        self, command: str, given: bytes, environ: Mapping[str, str], *, patience: float | None = None
    ) -> None:
        self._given = memoryview(given)
        self._patience = PATIENCE if patience is None else patience
        self._end = time.monotonic() + self._patience
        self._said = bytearray()
        self._pid = 0
        self.failure = ""
        """Why there is nothing to show; empty if it ended well, even if it said nothing."""
        try:
            self._start(command, {**environ, INSIDE: "1"})
        except (OSError, ValueError, AttributeError, NotImplementedError) as error:
            self.failure = f"could not be started: {error}"

    def _start(self, command: str, environ: Mapping[str, str]) -> None:
        their_in, self._to = os.pipe()
        self._from, their_out = os.pipe()
        nothing = os.open(os.devnull, os.O_WRONLY)
        try:
            self._pid = os.posix_spawn(
                "/bin/sh",
                ["sh", "-c", command],
                environ,
                file_actions=[(os.POSIX_SPAWN_DUP2, fd, at) for at, fd in enumerate((their_in, their_out, nothing))],
                setpgroup=0,
                setsigdef=[signal.SIGPIPE],  # Python ignores it, and its children would
            )
        except BaseException:
            os.close(self._to)
            os.close(self._from)
            raise
        finally:
            for fd in (their_in, their_out, nothing):
                os.close(fd)
        os.set_blocking(self._to, False)
        os.set_blocking(self._from, False)

    def lines(self) -> bytes:
        """Return what it printed, without the last line's end; nothing if it fails or takes too long."""
        if not self._pid:
            return b""
        status = None
        try:
            while status is None and time.monotonic() < self._end:
                self._talk()
                ended, result = os.waitpid(self._pid, os.WNOHANG)
                status = result if ended else None
            if status is not None:
                self._hear()  # what it wrote between the last look and its end
        except OSError as error:
            self.failure = str(error)
        finally:
            self._stop(running=status is None)
        if status is None:
            self.failure = self.failure or f"took longer than {self._patience:g} s"
        elif status:
            self.failure = f"ended with {os.waitstatus_to_exitcode(status)}"
        return b"" if self.failure else bytes(self._said).rstrip()

    def _talk(self) -> None:
        """Give it what it reads and take what it says, for at most a moment."""
        from select import select

        left = max(0.0, min(_STEP, self._end - time.monotonic()))
        hearing = [self._from] if self._from >= 0 else []
        telling = [self._to] if self._to >= 0 else []
        if not hearing and not telling:
            time.sleep(min(left, 0.002))
            return
        readable, writable, _ = select(hearing, telling, [], left)
        if writable:
            try:
                self._given = self._given[os.write(self._to, self._given) :]
            except BlockingIOError:
                pass
            except OSError:  # it doesn't read its input
                self._given = self._given[:0]
            if not self._given:
                os.close(self._to)
                self._to = -1
        if readable:
            self._hear()

    def _hear(self) -> None:
        while self._from >= 0 and time.monotonic() < self._end:
            try:
                found = os.read(self._from, MOST_BYTES)
            except BlockingIOError:
                return
            self._said += found[: MOST_BYTES - len(self._said)]
            if not found:
                os.close(self._from)
                self._from = -1

    def _stop(self, *, running: bool) -> None:
        for fd in (self._to, self._from):
            if fd >= 0:
                os.close(fd)
        self._to = self._from = -1
        if running:
            try:
                os.killpg(self._pid, signal.SIGKILL)
                os.waitpid(self._pid, 0)
            except OSError:  # it has ended
                return
