"""A home and a trusted project with something learned, for tests that call the hook."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from brim.config.trust import trust
from brim.hooks.process import main
from brim.install.launchers import CODE, install_launcher
from brim.rules.accepted import AcceptedRules
from brim.rules.compiled import rebuild_index
from brim.rules.source import sources_for
from tests.cli.conftest import Ran, run
from tests.hooks.hook_samples import claude
from tests.waiting import PATIENCE

RULE = "Use uv and never pip."


PATIENT_CODE = "; ".join(
    [
        "import os",
        "from brim._startup import hook, use_startup",
        'use_startup(os.environ["BRIM_HOME"])',
        "from brim.hooks import process",
        f"process.SECONDS = {PATIENCE}",
        "hook()",
    ]
)


def patient(launcher: str) -> str:
    """Give the hooks that *launcher* starts more time than any machine needs; return its path."""
    path = Path(launcher)
    text = path.read_text(encoding="utf-8")
    assert CODE in text or PATIENT_CODE in text
    path.write_text(text.replace(CODE, PATIENT_CODE), encoding="utf-8")
    return launcher


class World:
    """A user's folder, a project beside it, and how a hook is called there."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home, self.project = folder, folder / "home" / ".brim", folder / "project"
        self.home.mkdir(parents=True, mode=0o700)
        (self.project / ".git").mkdir(parents=True)
        (self.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
        self.rules = self.home / "rules.toml"
        self.index = self.home / "rules.db"
        self.state = self.home / "state.db"
        self.rules.write_text(f'[use-uv]\ntext = "{RULE}"\n', encoding="utf-8")
        (self.project / ".brim").mkdir(mode=0o700)
        self.accept()
        trust(str(self.project), str(self.home))
        self.compile()
        self.transcript = folder / "session.jsonl"
        usage = {
            "input_tokens": 5,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 40_000,
        }
        message = {
            "id": "m",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "usage": usage,
            "content": [],
        }
        self.transcript.write_text(
            json.dumps({"type": "assistant", "isSidechain": False, "message": message}) + "\n",
            encoding="utf-8",
        )
        self.environ = {
            "HOME": str(folder / "home"),
            "PATH": os.environ.get("PATH", ""),
            "CLAUDE_PROJECT_DIR": str(self.project),
        }

    def compile(self) -> None:
        """Compile the rules, as a command does."""
        rebuild_index(str(self.home), sources_for(str(self.home), str(self.project)))

    def accept(self) -> None:
        """Accept the project's rules as they are."""
        path = self.project / ".brim" / "rules.toml"
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        AcceptedRules(str(self.home), str(self.project)).accept(text)

    def message(self, event: str, **own: Any) -> dict[str, Any]:
        """What Claude Code sends from here."""
        here = {"cwd": str(self.project), "transcript_path": str(self.transcript)}
        return {**claude(event), **here, **own}

    def call(self, event: str, data: object, agent: str = "claude", **environ: str) -> str:
        """Call the hook in this process; return what it says."""
        sent = data if isinstance(data, bytes) else json.dumps(data).encode()
        out = io.StringIO()
        assert main([event, agent], io.BytesIO(sent), out, {**self.environ, **environ}) == 0
        return out.getvalue()

    def launch(
        self, event: str, data: object, agent: str = "claude", **environ: str
    ) -> subprocess.CompletedProcess[bytes]:
        """Call the launcher as an agent does."""
        sent = data if isinstance(data, bytes) else json.dumps(data).encode()
        command = [patient(install_launcher(str(self.home))), event, agent]
        return subprocess.run(
            command,
            input=sent,
            capture_output=True,
            check=False,
            env={**self.environ, **environ},
            timeout=300,
        )

    def brim(self, *words: str, stdin: str = "", **environ: str) -> Ran:
        """Run a command in the project, as its user would."""
        return run(words, {**self.environ, **environ}, self.project, stdin)

    def log(self) -> str:
        """What the hooks have logged."""
        path = self.home / "log" / "hook.log"
        return path.read_text(encoding="utf-8") if path.exists() else ""


def python() -> str:
    """The interpreter that runs the tests."""
    return sys.executable
