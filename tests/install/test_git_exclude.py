"""What is about this machine is not shown by git: ``brim init --project`` and
``.git/info/exclude``."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from brim.agents import every_agent
from brim.install.git_exclude import COMMENT
from tests.cli.conftest import Brim

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")

FILES = [agent.places.project_hooks for agent in every_agent()]


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    command = ["git", *who, "-C", str(folder), *arguments]
    return subprocess.run(
        command, env=environ, capture_output=True, text=True, check=True, timeout=300
    ).stdout


def shown(folder: Path) -> list[str]:
    """What ``git add -A`` would add, without what brim keeps for the project itself."""
    lines = git(folder, "status", "--porcelain", "-uall").splitlines()
    return [name for line in lines if not (name := line[3:]).startswith(".brim/")]


@pytest.fixture
def exclude(brim: Brim) -> Path:
    git(brim.cwd, "init", "-q")
    return brim.cwd / ".git/info/exclude"


def test_git_shows_none_of_the_files_and_the_exclude_file_is_given_back(
    brim: Brim, exclude: Path
) -> None:
    before = exclude.read_bytes()
    ran = brim("init", "--project", "--agent", "all")
    assert ran.out.count(f"hidden from git in {exclude}\n") == 1
    assert "do not commit" not in ran.err
    assert shown(brim.cwd) == []
    assert exclude.read_text().count(COMMENT) == 1
    assert not (brim.cwd / ".gitignore").exists()
    written = exclude.read_bytes()
    again = brim("init", "--project", "--agent", "all", "--json").json
    assert [each["hidden_from_git"] for each in again["agents"]] == [False] * len(FILES)
    assert exclude.read_bytes() == written
    brim("uninstall", "--agent", "codex")
    assert "/.codex/hooks.json\n" not in exclude.read_text()
    assert "/.gemini/settings.json\n" in exclude.read_text()
    brim("uninstall")
    assert exclude.read_bytes() == before


def test_lines_of_others_stay_where_they_are(brim: Brim, exclude: Path) -> None:
    exclude.write_bytes(b"*.log\n/.codex/hooks.json\nname\x0cwith a page\n")
    before = exclude.read_bytes()
    brim("init", "--project", "--agent", "all")
    exclude.write_bytes(exclude.read_bytes() + b"/mine\n")
    assert exclude.read_text().count("/.codex/hooks.json") == 1, "it was there"
    brim("uninstall")
    assert exclude.read_bytes().replace(COMMENT.encode() + b"\n", b"") == before + b"/mine\n"


def test_what_is_ignored_already_is_not_named_again(brim: Brim, exclude: Path) -> None:
    before = exclude.read_bytes()
    brim.write(".gitignore", "\n".join(FILES) + "\n")
    assert "hidden" not in brim("init", "--project", "--agent", "all").out
    assert exclude.read_bytes() == before


def test_a_backup_is_hidden_too(brim: Brim, exclude: Path) -> None:
    brim.write(FILES[0], '{"model": "opus"}\n')
    brim("init", "--project", "--agent", "claude")
    assert (brim.cwd / f"{FILES[0]}.bak").exists()
    assert shown(brim.cwd) == []
    brim("uninstall")
    assert shown(brim.cwd) == [FILES[0]], "as it was"
    assert COMMENT not in exclude.read_text()


def test_worktrees_share_one_line(brim: Brim, exclude: Path, tmp_path: Path) -> None:
    git(brim.cwd, "commit", "-q", "--allow-empty", "-m", "begin")
    other = tmp_path / "other tree"
    git(brim.cwd, "worktree", "add", "-q", "-b", "other", str(other))
    brim("init", "--project", "--agent", "claude")
    ran = brim("init", "--project", "--agent", "claude", cwd=other)
    assert ran.code == 0, ran.err
    assert shown(other) == shown(brim.cwd) == []
    assert exclude.read_text().count("/.claude/settings.local.json") == 1
    brim("uninstall")
    assert COMMENT not in exclude.read_text()


def test_a_project_inside_a_repository_is_hidden_by_its_whole_path(
    brim: Brim, exclude: Path
) -> None:
    inside = brim.cwd / "apps [new]" / "shop"
    (inside / ".brim").mkdir(parents=True)
    ran = brim("init", "--project", "--agent", "claude", "--yes", cwd=inside)
    assert ran.code == 0, ran.err
    assert not [name for name in shown(brim.cwd) if "settings.local" in name]
    assert "/apps \\[new]/shop/.claude/settings.local.json\n" in exclude.read_text()


def test_without_an_exclude_file_one_is_made_and_removed(brim: Brim, exclude: Path) -> None:
    shutil.rmtree(exclude.parent)
    brim("init", "--project", "--agent", "claude")
    assert shown(brim.cwd) == []
    brim("uninstall")
    assert not exclude.exists()


def test_where_it_cannot_be_hidden_that_is_said(brim: Brim, exclude: Path) -> None:
    exclude.write_bytes(b"\xff\n")
    ran = brim("init", "--project", "--agent", "codex")
    assert f"{brim.cwd / FILES[1]}: git shows it, and it cannot be hidden" in ran.err
    assert exclude.read_bytes() == b"\xff\n"


def test_git_runs_no_program_that_the_repository_or_the_environment_names(
    brim: Brim, exclude: Path
) -> None:
    ran = brim.home / "ran"
    program = brim.cwd / "program"
    program.write_text(f"#!/bin/sh\ntouch '{ran}'\n")
    program.chmod(0o700)
    (brim.cwd / "file").touch()
    git(brim.cwd, "add", "file")
    git(brim.cwd, "config", "core.fsmonitor", str(program))
    given = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": str(program),
    }
    ran.unlink(missing_ok=True)
    assert (
        brim("init", "--project", "--agent", "all", env={**given, "GIT_DIR": str(brim.home)}).code
        == 0
    )
    assert not ran.exists()
    assert COMMENT in exclude.read_text()


@pytest.mark.parametrize("what", ["info/exclude", "info"])
def test_an_exclude_file_that_leads_elsewhere_is_left_alone(
    brim: Brim, exclude: Path, what: str
) -> None:
    target = brim.home / "elsewhere"
    target.mkdir()
    (target / "exclude").write_text("mine\n")
    link = brim.cwd / ".git" / what
    if what == "info":
        shutil.rmtree(link)
        link.symlink_to(target)
    else:
        link.unlink()
        link.symlink_to(target / "exclude")
    brim("init", "--project", "--agent", "claude")
    assert (target / "exclude").read_text() == "mine\n"
