"""Lines as Claude Code writes them into a transcript, and a terminal to look at a command
through."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path
from typing import Any

from tests.cli.conftest import COMMAND, Brim

RECORDED = Path(__file__).parents[2] / "examples" / "recorded"


def called(number: int, prompt: int, **more: Any) -> str:
    """Return the line of request *number*, whose prompt had *prompt* tokens."""
    usage = {"input_tokens": 6, "cache_read_input_tokens": prompt - 6, "output_tokens": 20}
    message = {
        "id": f"msg_{number}",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "usage": usage,
        "content": [{"type": "text", "text": "Done."}],
    }
    line = {
        "type": "assistant",
        "isSidechain": False,
        "message": message,
        "requestId": f"req_{number}",
        "uuid": f"u{number}",
        "sessionId": "s1",
        "timestamp": f"2026-11-15T10:00:{number % 60:02}.000Z",
        **more,
    }
    return json.dumps(line) + "\n"


def compacted(after: int) -> str:
    """Return the line of a compaction that left *after* tokens."""
    about = {"trigger": "manual", "preTokens": 160_000, "postTokens": after}
    return (
        json.dumps(
            {
                "type": "system",
                "subtype": "compact_boundary",
                "uuid": "c",
                "sessionId": "s1",
                "compactMetadata": about,
            }
        )
        + "\n"
    )


class Watcher:
    """``brim context --watch`` in a process of its own, with its lines as they come."""

    def __init__(self, brim: Brim, *arguments: str, **more: Any) -> None:
        streams = {
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "stdin": subprocess.DEVNULL,
            **more,
        }
        self.process = brim.start("context", "--watch", *arguments, **streams)
        self._rest = b""

    def line(self) -> str:
        """Return the next line of its output; wait for it."""
        assert self.process.stdout is not None
        until = time.monotonic() + 300
        while b"\n" not in self._rest:
            ready = select.select(
                [self.process.stdout], [], [], max(0.0, until - time.monotonic())
            )[0]
            assert ready, f"no line came; so far: {self._rest!r}"
            data = os.read(self.process.stdout.fileno(), 65_536)
            assert data, f"it ended; the rest: {self._rest!r}"
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode()

    def stop(self) -> tuple[int, str, str]:
        """Press Ctrl-C; return the exit code, what was left of its output, and its errors."""
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=300)
        return self.process.returncode, (self._rest + out).decode(), err.decode()


class Terminal:
    """A command that believes it is drawing for a person."""

    def __init__(
        self, brim: Brim, *arguments: str, columns: int = 80, rows: int = 30, **environ: str
    ) -> None:
        self._master, slave = os.openpty()
        self.resize(columns, rows)
        self.process = subprocess.Popen(
            [COMMAND, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=brim.cwd,
            env={**brim.environ, "TERM": "xterm", **environ},
            start_new_session=True,
        )
        os.close(slave)
        self.seen = ""

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the window."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def until(self, text: str) -> str:
        """Read until *text* was drawn; return everything so far."""
        until = time.monotonic() + 300
        while text not in self.seen:
            assert select.select([self._master], [], [], max(0.0, until - time.monotonic()))[0], (
                self.seen
            )
            self._read()
        return self.seen

    def stop(self) -> int:
        """Press Ctrl-C when something was drawn; return the exit code."""
        self.until("\x1b[J")
        os.killpg(self.process.pid, signal.SIGINT)
        return self.end()

    def end(self) -> int:
        """Read what is left, and return the exit code."""
        until = time.monotonic() + 300
        while self.process.poll() is None and time.monotonic() < until:
            if select.select([self._master], [], [], 0.05)[0]:
                self._read()
        while select.select([self._master], [], [], 0.05)[0] and self._read():
            pass
        os.close(self._master)
        return self.process.wait(timeout=1)

    def _read(self) -> bool:
        try:
            data = os.read(self._master, 65_536)
        except OSError:  # the other end is closed
            data = b""
        self.seen += data.decode("utf-8", "replace")
        return bool(data)
