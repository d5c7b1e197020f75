"""Runs the real command, as a person or a script would: its own process, its own home, its own folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cli.warm import run_warm

COMMAND = str(Path(sys.executable).with_name("brim"))
NOWHERE = "http://127.0.0.1:9"
"""The discard port of this machine: whoever asks for the network is refused at once, and nobody else hears of it."""


AT_START = ("PYTHON", "LC_", "LANG")
"""What Python reads only when it starts: such commands are started from nothing."""


class Ran(NamedTuple):
    """What a run left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


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
            **dict.fromkeys(("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"), NOWHERE),
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
        given = stdin.encode() if isinstance(stdin, str) else stdin
        words, environ = [COMMAND, *arguments], {**self.environ, **(env or {})}
        if sys.platform == "linux" and not any(name.startswith(AT_START) for name in env or ()):
            return _ran(*run_warm([os.fsdecode(word) for word in words], given, environ, str(cwd or self.cwd)))
        done = subprocess.run(
            words, input=given, capture_output=True, env=environ, cwd=cwd or self.cwd, timeout=60, check=False
        )
        return _ran(done.returncode, done.stdout, done.stderr)

    def shell(self, script: str, *, env: Mapping[str, str] | None = None) -> Ran:
        """Run *script* in bash, where ``$BRIM`` is the command and a pipe fails if any part of it does."""
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", script],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={**self.environ, "BRIM": COMMAND, **(env or {})},
            cwd=self.cwd,
            timeout=60,
            check=False,
        )
        return _ran(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str, env: Mapping[str, str] | None = None, **streams: Any) -> subprocess.Popen[bytes]:
        """Start the command and return at once; *streams* are its ``stdin``, ``stdout`` and ``stderr``."""
        return subprocess.Popen([COMMAND, *arguments], env={**self.environ, **(env or {})}, cwd=self.cwd, **streams)

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


def _ran(code: int, out: bytes, err: bytes) -> Ran:
    ran = Ran(code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))
    assert "Traceback" not in ran.err, ran.err
    return ran


@pytest.fixture
def brim(tmp_path: Path) -> Brim:
    return Brim(tmp_path)
