"""The demo runs to its end without touching your home, and the README quotes how it ends."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home where brim and Claude Code are already in use."""
    home = tmp_path_factory.mktemp("home")
    for name in (".claude/settings.json", ".brim/config.yaml", "elsewhere/settings.json"):
        path = home / name
        path.parent.mkdir()
        path.write_text("{}\n")
    return home


@pytest.fixture(scope="module")
def toured(home: Path) -> str:
    """What the tour prints for them; its exit code was 0."""
    environ = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "BRIM_HOME": str(home / ".brim"),
        "BRIM_DISABLE": "1",
        "CLAUDE_CONFIG_DIR": str(home / "elsewhere"),
        "CLAUDE_PROJECT_DIR": str(home),
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "80",
    }
    command = ["sh", str(ROOT / "examples" / "tour.sh")]
    for _ in range(3):
        ran = subprocess.run(
            command,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if "calls, 0 failed" in ran.stdout:  # on a busy machine a hook may have run out of time
            break
    assert ran.returncode == 0, ran.stdout[-3000:]
    return ran.stdout


def test_the_home_it_is_started_in_stays_as_it_was(toured: str, home: Path) -> None:
    assert toured
    found = {
        str(path.relative_to(home)): path.read_text() for path in home.rglob("*") if path.is_file()
    }
    assert found == dict.fromkeys(
        [".claude/settings.json", ".brim/config.yaml", "elsewhere/settings.json"], "{}\n"
    )


def test_the_story_is_played_through_the_installed_hooks(toured: str) -> None:
    played = toured.partition("A session, played")[2].partition("What you have afterwards")[0]
    for shown in (
        "The session starts.",
        "The session starts.\n    brim tells the agent",
        "The session goes on after its compaction.\n    brim tells the agent",
        "/compact.",
        "brim tells the summarizer",
        ".context/scratch.md",
        "left these out",
        "brim refuses the call:",
        "79%",
    ):
        assert shown in played


def test_it_fits_two_screens(toured: str) -> None:
    assert len(toured.splitlines()) <= 116


def test_it_ends_as_the_readme_says(toured: str) -> None:
    end = toured[toured.index("In that session, brim") :].strip()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    quoted = re.search(r"```text\n(In that session, brim.*?)```", readme, re.DOTALL)
    assert quoted is not None
    assert without_times(end) == without_times(quoted[1].strip())


def without_times(text: str) -> str:
    return re.sub(r"\d+ ms of processor time each \(Python alone takes \d+\)", "", text)
