"""Which of the real programs are here? ``python -m tests.e2e.programs`` says in one line which are not.

They are looked for where ``make e2e`` puts them, then where a variable says, then on the PATH. Nobody has to have them:
what is not here is left out.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / ".e2e"

INSTALLED = {
    "claude": FOLDER / "python" / "claude_agent_sdk" / "_bundled" / "claude",
    "codex": FOLDER / "node_modules" / ".bin" / "codex",
    "gemini": FOLDER / "node_modules" / ".bin" / "gemini",
}
"""Where ``make e2e`` puts each program."""

NAMES = {"claude": "Claude Code", "codex": "Codex", "gemini": "Gemini CLI"}


def program(name: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """Return the program *name*: the pinned one, else the one that ``BRIM_E2E_NAME`` names, else that of the PATH."""
    if INSTALLED[name].exists():
        return str(INSTALLED[name])
    return environ.get(f"BRIM_E2E_{name.upper()}") or shutil.which(name, path=environ.get("PATH"))


def left_out(environ: Mapping[str, str] = os.environ) -> str:
    """Say in one line which programs the end-to-end tests have to do without; nothing if all are here."""
    missing = [NAMES[name] for name in INSTALLED if program(name, environ) is None]
    if not missing:
        return ""
    return f"Left out: the end-to-end tests with {', '.join(missing)}. `make e2e` installs and runs them."


if __name__ == "__main__" and left_out():
    print(left_out())
