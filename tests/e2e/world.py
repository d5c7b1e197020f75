"""A machine of its own for one test: a home, a project, brim, and programs that know no other network than the API."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from brim.behaviors import Behavior
from brim.store import open_store
from tests.e2e.api.server import ModelApi

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
        subprocess.run(["git", *arguments], cwd=self.project, env=self.environ, check=True, timeout=60)

    def run(
        self,
        command: Sequence[str],
        *,
        environ: Mapping[str, str] | None = None,
        stdin: str = "",
        patience: float = PATIENCE,
    ) -> Ran:
        """Run *command* in the project and wait for it; whatever it leaves running in its group is ended."""
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
        return Ran(process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))

    def brim(self, *arguments: str, stdin: str = "", environ: Mapping[str, str] | None = None) -> Ran:
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
        self.brim("learn", "--user", "--right", text, *more)

    def learn_all(self, texts: Iterable[str], **fields: Any) -> None:
        """Learn many rules at once, as they stand."""
        (self.home / ".brim").mkdir(mode=0o700, exist_ok=True)
        with open_store(str(self.home / ".brim" / "brim.db")) as store:
            for number, text in enumerate(texts):
                given = {"kind": "directive", "scope": "user", **fields}
                rule = Behavior(id=f"b-{number:010x}", name=f"rule-{number}", canonical=text, **given)
                store.put(rule, event="learned", now=1_700_000_000.0)


def _end(group: int) -> None:
    """End what is left of a process group that this test started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
