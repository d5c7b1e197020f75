"""The tour runs to its end without touching the home of whoever starts it, and README quotes how it ends."""

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
    """The home of somebody who uses brim and Claude Code already."""
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
            command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        if "calls, 0 failed" in ran.stdout:  # on a busy machine a hook may have run out of time
            break
    assert ran.returncode == 0, ran.stdout[-3000:]
    return ran.stdout


def test_the_home_of_whoever_starts_it_stays_as_it_was(toured: str, home: Path) -> None:
    assert toured
    found = {str(path.relative_to(home)): path.read_text() for path in home.rglob("*") if path.is_file()}
    assert found == dict.fromkeys([".claude/settings.json", ".brim/config.yaml", "elsewhere/settings.json"], "{}\n")


def test_every_part_of_the_loop_is_played_through_the_installed_hooks(toured: str) -> None:
    played = toured.partition("\n12. ")[2].partition("\n13. ")[0]
    for shown in (
        "The session starts.",
        "Bash: python3 -m unittest -q test_importer\n    the agent is told",
        "Type /compact.",
        "the summariser is told",
        ".context/scratch.md",
        "left these out",
        "refused:\n      shop has reached its cost limit",
        "79 %",
    ):
        assert shown in played


def test_it_ends_with_what_brim_did_and_cost_and_saved_as_readme_says(toured: str) -> None:
    end = toured[toured.index("What brim did") :].strip()
    quoted = re.search(r"```text\n(What brim did.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert quoted is not None
    assert without_times(end) == without_times(quoted[1].strip())


def without_times(text: str) -> str:
    return re.sub(r"\d+ ms of processor time each \(Python alone takes \d+\)", "", text)
