"""Which of the real programs are here? ``python -m tests.e2e.programs`` says in one line which are
not.

They are those that ``make e2e`` installed, at the versions that it would install today, or those
that a variable names. One that is merely on the PATH is not used: it may be of any version, and
changes by itself. Nobody has to have them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / ".e2e"
WANTED = ROOT / "requirements" / "e2e"

INSTALLED = {
    "claude": FOLDER / "python" / "claude_agent_sdk" / "_bundled" / "claude",
    "codex": FOLDER / "node_modules" / ".bin" / "codex",
    "gemini": FOLDER / "node_modules" / ".bin" / "gemini",
    "opencode": FOLDER
    / "node_modules"
    / "opencode-linux-x64"
    / "bin"
    / "opencode",  # on other systems it's left out
    "copilot": FOLDER / "node_modules" / ".bin" / "copilot",
    "qwen": FOLDER / "node_modules" / ".bin" / "qwen",
}
"""Where ``make e2e`` puts each program."""

NAMES = {
    "claude": "Claude Code",
    "codex": "Codex",
    "gemini": "Gemini CLI",
    "opencode": "opencode",
    "copilot": "GitHub Copilot CLI",
    "qwen": "Qwen Code",
}


def is_installed(folder: Path = FOLDER, wanted: Path = WANTED) -> bool:
    """Whether *folder* holds all that *wanted* names: the last thing that ``make e2e`` writes there
    is a copy of it."""
    stamp = folder / ".installed"
    return stamp.is_file() and stamp.read_bytes() == b"".join(
        path.read_bytes() for path in sorted(wanted.iterdir())
    )


def program(name: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """Return the program *name*: the one that ``BRIM_E2E_NAME`` names, else the one that ``make
    e2e`` installed."""
    if named := environ.get(f"BRIM_E2E_{name.upper()}"):
        return named
    return str(INSTALLED[name]) if is_installed() and INSTALLED[name].exists() else None


def left_out(environ: Mapping[str, str] = os.environ) -> str:
    """Say in one line which programs the end-to-end tests have to do without; nothing if all are
    here."""
    missing = [NAMES[name] for name in INSTALLED if program(name, environ) is None]
    if not missing:
        return ""
    return f"Left out: the end-to-end tests with {', '.join(missing)}. `make e2e` installs and runs them."


if __name__ == "__main__" and left_out():
    print(left_out())
