"""Runs ``brim run`` with a program that speaks as the real client does, and knows what that program
was told."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.cli.conftest import Brim, Ran
from tests.run import supervised_claude


def program(path: Path, script: str, *words: str) -> Path:
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" {" ".join(words)} "$@"\n')
    path.chmod(0o755)
    return path


class Run:
    """``brim run -- claude -p PROMPT`` with the fake client, and what that client was told."""

    def __init__(self, brim: Brim, root: Path) -> None:
        self.brim, self.cwd = brim, brim.cwd
        self.program = program(root / "claude", supervised_claude.__file__)
        self.log, folder = root / "log", root / "sessions"
        folder.mkdir()
        self.environ = {"FAKE_LOG": str(self.log), "FAKE_FOLDER": str(folder)}

    def __call__(
        self, prompt: str, *options: str, client: tuple[str, ...] = (), **environ: str
    ) -> Ran:
        words = ("run", *options, "--", str(self.program), "-p", prompt, *client)
        return self.brim(*words, env={**self.environ, **environ})

    @property
    def heard(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    @property
    def starts(self) -> list[list[str]]:
        return [entry["argv"] for entry in self.heard if "argv" in entry]

    @property
    def told(self) -> list[Any]:
        """The content of every turn, in order."""
        lines = [json.loads(entry["line"]) for entry in self.heard if "line" in entry]
        return [line["message"]["content"] for line in lines if line["type"] == "user"]

    @property
    def scratch(self) -> str:
        return (self.cwd / ".context" / "scratch.md").read_text()
