"""Whether git tracks a file, compared with what git itself has made."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from brim.store.tracked import git_folder, is_tracked


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, timeout=60)


def put(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)


def cloned(folder: Path, *options: str) -> Path:
    folder.mkdir()
    git(folder, "init", *options)
    put(folder, ".brim/behaviors.jsonl", ".brim/brim.db", ".brim/brim.db.old", "sub/.brim/brim.db", "zz/last.txt")
    return folder


@pytest.mark.parametrize("version", ["2", "4"])
@pytest.mark.parametrize("hashes", ["sha1", "sha256"])
def test_a_tracked_file_is_found_in_every_format_of_the_index(tmp_path: Path, version: str, hashes: str) -> None:
    here = cloned(tmp_path / "clone", f"--object-format={hashes}")
    git(here, "update-index", "--index-version", version)
    git(here, "add", ".brim/behaviors.jsonl", ".brim/brim.db.old", "sub/.brim/brim.db", "zz/last.txt")
    assert not is_tracked(str(here / ".brim/brim.db"), ignore_case=False)
    assert is_tracked(str(here / "sub/.brim/brim.db"), ignore_case=False)
    git(here, "add", "-f", ".brim/brim.db")
    assert is_tracked(str(here / ".brim/brim.db"), ignore_case=False)
    git(here, "rm", "--cached", ".brim/brim.db")
    assert not is_tracked(str(here / ".brim/brim.db"), ignore_case=False)


@pytest.mark.parametrize("version", ["2", "4"])
def test_long_names_before_it_hide_nothing(tmp_path: Path, version: str) -> None:
    here = cloned(tmp_path / "clone")
    put(here, *(f"{'-' * 200}{letter}/{'x' * length}" for letter in "abc" for length in (1, 127, 128, 250)))
    git(here, "add", "-A", "-f")
    git(here, "update-index", "--index-version", version)
    assert is_tracked(str(here / ".brim/brim.db"), ignore_case=False)
    assert not is_tracked(str(here / ".brim/brim"), ignore_case=False)


def test_a_file_that_is_only_meant_to_be_added_counts_as_tracked(tmp_path: Path) -> None:
    here = cloned(tmp_path / "clone")
    git(here, "add", "--intent-to-add", ".brim/brim.db")
    assert is_tracked(str(here / ".brim/brim.db"))


def test_a_split_index_is_searched_whole(tmp_path: Path) -> None:
    here = cloned(tmp_path / "clone")
    git(here, "add", ".brim/brim.db")
    git(here, "update-index", "--split-index")
    assert is_tracked(str(here / ".brim/brim.db"))


def test_in_a_worktree_the_index_is_elsewhere(tmp_path: Path) -> None:
    here = cloned(tmp_path / "clone")
    git(here, "add", ".brim/brim.db")
    git(here, "commit", "-m", "a")
    git(here, "worktree", "add", str(tmp_path / "tree"), "-b", "other")
    assert git_folder(str(tmp_path / "tree")) == str(here / ".git" / "worktrees" / "tree")
    assert is_tracked(str(tmp_path / "tree" / ".brim" / "brim.db"))


@pytest.mark.parametrize("version", ["2", "4"])
def test_where_case_does_not_count_another_spelling_is_the_same_file(tmp_path: Path, version: str) -> None:
    here = tmp_path / "clone"
    here.mkdir()
    git(here, "init")
    put(here, ".BRIM/Brim.db")
    git(here, "add", ".")
    git(here, "update-index", "--index-version", version)
    assert is_tracked(str(here / ".brim/brim.db"), ignore_case=True)
    assert not is_tracked(str(here / ".brim/brim.db"), ignore_case=False)


def test_without_git_nothing_is_tracked(tmp_path: Path) -> None:
    put(tmp_path, ".brim/brim.db")
    assert not is_tracked(str(tmp_path / ".brim/brim.db"))


@pytest.mark.parametrize("index", [b"", b"DIRC", b"DIRC\0\0\0\4\0\0\0\5", b"DIRC\0\0\0\2", b"nonsense" * 100])
def test_a_broken_index_is_no_error(tmp_path: Path, index: bytes) -> None:
    put(tmp_path, ".brim/brim.db", ".git/index")
    (tmp_path / ".git/index").write_bytes(index)
    assert not is_tracked(str(tmp_path / ".brim/brim.db"))


def test_a_git_file_that_says_nothing_is_no_error(tmp_path: Path) -> None:
    put(tmp_path, ".brim/brim.db", ".git")
    assert git_folder(str(tmp_path)) is None
