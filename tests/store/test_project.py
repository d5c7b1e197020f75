"""What can be told of a project by looking at it."""

from __future__ import annotations

from pathlib import Path

import pytest

from brim.store.project import branch, environment, project_types
from tests.store.test_tracked import git


def test_the_branch_is_the_one_that_is_checked_out(tmp_path: Path) -> None:
    assert branch(str(tmp_path)) is None
    git(tmp_path, "init")
    assert branch(str(tmp_path)) == "main"
    git(tmp_path, "commit", "--allow-empty", "-m", "a")
    git(tmp_path, "checkout", "-b", "feature/größe")
    (tmp_path / "sub").mkdir()
    assert branch(str(tmp_path / "sub")) == "feature/größe"


def test_a_worktree_has_a_branch_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "main").mkdir()
    git(tmp_path / "main", "init")
    git(tmp_path / "main", "commit", "--allow-empty", "-m", "a")
    git(tmp_path / "main", "worktree", "add", str(tmp_path / "tree"), "-b", "other")
    assert branch(str(tmp_path / "tree")) == "other"


def test_a_detached_head_is_no_branch(tmp_path: Path) -> None:
    git(tmp_path, "init")
    git(tmp_path, "commit", "--allow-empty", "-m", "a")
    git(tmp_path, "checkout", "--detach")
    assert branch(str(tmp_path)) is None


@pytest.mark.parametrize("head", ["", "nonsense", "ref: refs/heads/", "ref: refs/remotes/x"])
def test_a_head_that_names_no_branch_is_none(tmp_path: Path, head: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(head)
    assert branch(str(tmp_path)) is None


def test_types_are_told_by_files(tmp_path: Path) -> None:
    assert project_types(str(tmp_path)) == ()
    for name in ("Dockerfile", "package.json", "pyproject.toml", "setup.py", "Shop.csproj", "readme.md"):
        (tmp_path / name).touch()
    assert project_types(str(tmp_path)) == ("python", "node", "dotnet", "docker")
    assert project_types(str(tmp_path / "nowhere")) == ()


@pytest.mark.parametrize(
    ("environ", "expected"),
    [({}, None), ({"CI": ""}, None), ({"CI": "false"}, None), ({"CI": "true"}, "ci"), ({"CI": "1"}, "ci")],
)
def test_a_build_server_says_so(environ: dict[str, str], expected: str | None) -> None:
    assert environment(environ) == expected
