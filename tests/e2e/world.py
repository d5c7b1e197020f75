"""A machine of its own for one test: a home, a project, brim, programs without a network, and a
terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from tests.e2e.api import ModelApi

BRIM = str(Path(sys.executable).with_name("brim"))
PATIENCE = 240.0
"""Seconds that a program may take: a busy machine with cold disks is not a failure."""


class Ran(NamedTuple):
    """What a program left behind."""

    code: int
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        """The JSON objects of standard output, one a line."""
        found = []
        for line in self.out.splitlines():
            with suppress(ValueError):
                found.append(json.loads(line))
        return [event for event in found if isinstance(event, dict)]

    def of(self, type: str, **fields: object) -> list[dict[str, Any]]:
        """Return the events of a *type* whose *fields* are these."""
        wanted = {"type": type, **fields}
        return [event for event in self.events if wanted.items() <= event.items()]

    @property
    def told(self) -> str:
        """Everything, for the message of a test that failed."""
        return f"exit {self.code}\n{self.out[-6000:]}\n{self.err[-3000:]}"


class World:
    """A home and a project in *root*; nothing of the real ones is seen, and no key is real."""

    def __init__(self, root: Path, api: ModelApi) -> None:
        self.api = api
        self.home = root / "home"
        self.project = root / "project"
        for folder in (self.home, self.project):
            folder.mkdir()
        self.environ = {
            "PATH": f"{Path(BRIM).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
            "TMPDIR": str(root),
            **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), api.url),
            **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
        }
        self.git("init", "--quiet", "--initial-branch=main")
        self.write("README.md", "# A project\n")

    def write(self, name: str, content: str) -> Path:
        """Write a file into the project."""
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return path

    def git(self, *arguments: str) -> None:
        """Run git in the project."""
        subprocess.run(
            ["git", *arguments], cwd=self.project, env=self.environ, check=True, timeout=300
        )

    def run(
        self,
        command: Sequence[str],
        *,
        environ: Mapping[str, str] | None = None,
        stdin: str = "",
        patience: float = PATIENCE,
    ) -> Ran:
        """Run *command* in the project and wait for it; whatever it leaves running in its group is
        ended."""
        process = subprocess.Popen(
            list(command),
            cwd=self.project,
            env={**self.environ, **(environ or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        timer = threading.Timer(patience, _end, [process.pid])
        timer.start()
        try:
            out, err = process.communicate(stdin.encode())
        finally:
            timer.cancel()
            _end(process.pid)
        return Ran(
            process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")
        )

    def brim(
        self, *arguments: str, stdin: str = "", environ: Mapping[str, str] | None = None
    ) -> Ran:
        """Run brim in the project; it must not fail."""
        ran = self.run([BRIM, *arguments], stdin=stdin, environ=environ)
        assert ran.code == 0, ran.told
        return ran

    @property
    def hook_log(self) -> str:
        """What the hooks could not do: empty if all is well."""
        path = self.home / ".brim" / "log" / "hook.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def learn(self, text: str, *more: str) -> None:
        """Learn a rule that holds in every project."""
        self.brim("learn", "--user", text, *more)

    def write_rules(self, texts: Iterable[str], *, when: Sequence[str] = ()) -> None:
        """Write the user's file of rules by hand, and let brim read it."""
        paragraphs = []
        for number, text in enumerate(texts):
            paragraph = f"[rule-{number}]\ntext = {json.dumps(text)}\n"
            if when:
                paragraph += f"when = {json.dumps(list(when))}\n"
            paragraphs.append(paragraph)
        folder = self.home / ".brim"
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / "rules.toml").write_text("\n".join(paragraphs), encoding="utf-8")
        self.brim("rules")

    def crowd(self) -> None:
        """Write more rules than fit at a start, so that those with a *when* wait for it."""
        texts = [f"Fortran columns of block {n}: {'indent, ' * 20}align." for n in range(100)]
        self.write_rules(texts, when=["*.f90"])


def _end(group: int) -> None:
    """End what is left of a process group that this test started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


_ESCAPES = re.compile(
    r"\x1b\[[\d;?<>=]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]|\x1b[=>78]"
)


class Terminal:
    """Runs *command* in a terminal of *columns*; leaving it ends the program and what is left of
    its group."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        environ: Mapping[str, str],
        *,
        columns: int = 120,
    ) -> None:
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

        A program draws only what has changed: words that replace others may miss letters that both
        have in one place.
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._handle)
