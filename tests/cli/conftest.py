"""Runs the real command, as a person or a script would: its own process, its own home, its own
folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

import pytest

from tests.forks import server

COMMAND = str(Path(sys.executable).with_name("brim"))
NOWHERE = "http://127.0.0.1:9"
"""The discard port of this machine: whoever asks for the network is refused at once, and nobody
else hears of it."""


class Ran(NamedTuple):
    """What a run left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def last(self) -> Any:
        """The last of several objects, one on each line."""
        return json.loads(self.lines[-1])

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def run(
    arguments: Sequence[str | bytes | Path],
    environ: Mapping[str, str],
    cwd: Path,
    stdin: str | bytes = b"",
    *,
    fork: bool = True,
) -> Ran:
    """Run the command in a process of its own: a fork, unless what Python does when it starts
    matters."""
    words = [COMMAND, *map(os.fsdecode, arguments)]
    with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as err:
        given.write(stdin.encode() if isinstance(stdin, str) else stdin)
        given.seek(0)
        if fork:
            streams = [file.fileno() for file in (given, out, err)]
            code = server().run(words, streams, environ, str(cwd), timeout=300)
        else:
            code = subprocess.call(
                words, stdin=given, stdout=out, stderr=err, env=environ, cwd=cwd, timeout=300
            )
        ran = Ran(code, _text(out), _text(err))
    assert "Traceback" not in ran.err, ran.err
    return ran


class Brim:
    """The command in a home and a working folder of its own. No run may end in a traceback."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.cwd = root / "work"
        self.home.mkdir()
        self.cwd.mkdir()
        self.environ = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            **dict.fromkeys(
                ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"), NOWHERE
            ),
            **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), NOWHERE),
            "NO_PROXY": "127.0.0.1",
        }

    def __call__(
        self,
        *arguments: str | bytes | Path,
        stdin: str | bytes = b"",
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Ran:
        environ = {**self.environ, **(env or {})}
        starting = any(
            name.startswith(("PYTHON", "LC_")) for name in env or ()
        )  # what Python reads when it starts
        return run(arguments, environ, cwd or self.cwd, stdin, fork=not starting)

    def shell(self, script: str, *, env: Mapping[str, str] | None = None) -> Ran:
        """Run *script* in bash, where ``$BRIM`` is the command and a pipe fails if any part of it
        does."""
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", script],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={**self.environ, "BRIM": COMMAND, **(env or {})},
            cwd=self.cwd,
            timeout=300,
            check=False,
        )
        ran = Ran(
            done.returncode,
            done.stdout.decode("utf-8", "replace"),
            done.stderr.decode("utf-8", "replace"),
        )
        assert "Traceback" not in ran.err, ran.err
        return ran

    def start(
        self,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        fork: bool = False,
        **streams: Any,
    ) -> subprocess.Popen[bytes]:
        """Start the command and return at once; *streams* are its ``stdin``, ``stdout`` and
        ``stderr``.

        A *fork* starts sooner, and gets no signals.
        """
        command = [server().command if fork else COMMAND, *arguments]
        return subprocess.Popen(
            command, env={**self.environ, **(env or {})}, cwd=self.cwd, **streams
        )

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file into the working folder."""
        path = self.cwd / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def configure(self, project: str | None = None, *, user: str | None = None) -> None:
        """Write the project's and the user's configuration."""
        for folder, content in ((self.cwd, project), (self.home, user)):
            if content is not None:
                (folder / ".brim").mkdir(exist_ok=True)
                (folder / ".brim" / "config.yaml").write_text(content, encoding="utf-8")


@pytest.fixture
def brim(tmp_path: Path) -> Brim:
    return Brim(tmp_path)
