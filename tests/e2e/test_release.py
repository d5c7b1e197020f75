"""``scripts/release --dry-run``: says what keeps a commit from being released, and builds what
would be published."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with what is released, and an environment in which nothing has to be
    installed."""
    for name in ("src", "scripts", "plugins", "requirements", ".claude-plugin", ".agents"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in (
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "NOTICE.md",
        "CHANGELOG.md",
        ".gitignore",
    ):
        shutil.copy(ROOT / name, tmp_path)
    installed = tmp_path / ".venv" / "bin"
    installed.mkdir(parents=True)
    (installed / "python").symlink_to(sys.executable)
    shutil.copy(Path(sys.prefix) / "pyvenv.cfg", tmp_path / ".venv")
    (tmp_path / ".venv" / "lib").symlink_to(Path(sys.prefix) / "lib")
    shutil.copy(tmp_path / "requirements/runtime.txt", tmp_path / ".venv/.installed-runtime")
    shutil.copy(tmp_path / "pyproject.toml", tmp_path / ".venv/.installed-project")
    git(tmp_path, "init", "--quiet")
    return tmp_path


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=brim", "-c", "user.email=brim@localhost")
    done = subprocess.run(
        ["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


def release(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(folder / "src")}
    command = [str(folder / "scripts/release"), *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env=environ, check=False
    )


def set_version(folder: Path, version: str) -> None:
    path = folder / "src/brim/__init__.py"
    path.write_text(re.sub(r'__version__ = ".*"', f'__version__ = "{version}"', path.read_text()))
    subprocess.run(
        [sys.executable, str(folder / "scripts/build_plugins.py")],
        env={**os.environ, "PYTHONPATH": str(folder / "src")},
        check=True,
        capture_output=True,
    )


def test_a_commit_that_is_not_ready_says_everything_that_is_missing(checkout: Path) -> None:
    set_version(checkout, "9.0.0.dev1")
    (checkout / "plugins/brim/.mcp.json").write_text("{}")
    ran = release(checkout, "--dry-run")
    assert ran.returncode == 1
    for words in (
        "uncommitted",
        "development version",
        "CHANGELOG.md",
        "the plugins are of another version",
    ):
        assert words in ran.stderr, ran.stderr
    assert release(checkout, "--now").returncode == 2


def test_a_commit_that_is_ready_is_built_and_not_tagged(checkout: Path) -> None:
    set_version(checkout, "9.0.0")
    changes = checkout / "CHANGELOG.md"
    changes.write_text(f"# Changelog\n\n## 9.0.0 (2030-01-31)\n\n{changes.read_text()}")
    git(checkout, "add", "--all")
    git(checkout, "commit", "--quiet", "--message", "Release")
    ran = release(checkout, "--dry-run")
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stderr
    made = {path.name for path in (checkout / "dist").iterdir()}
    assert made == {
        "brim-9.0.0-py3-none-any.whl",
        "brim-9.0.0.tar.gz",
        "gemini-extension-9.0.0.tar.gz",
    }
    assert git(checkout, "tag") == ""
