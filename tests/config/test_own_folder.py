"""What can be told of a project by looking at it."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from brim.config.git import is_tracked
from brim.config.own_folder import check_ours, environment, make_file, project_types
from brim.config.places import branch_of, git_folder
from brim.errors import StoreError


def test_the_branch_is_the_one_that_is_checked_out(tmp_path: Path) -> None:
    assert branch_of(str(tmp_path)) == ""
    git(tmp_path, "init")
    assert branch_of(str(tmp_path)) == "main"
    git(tmp_path, "commit", "--allow-empty", "-m", "a")
    git(tmp_path, "checkout", "-b", "feature/größe")
    (tmp_path / "sub").mkdir()
    assert branch_of(str(tmp_path / "sub")) == "feature/größe"


def test_a_worktree_has_a_branch_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "main").mkdir()
    git(tmp_path / "main", "init")
    git(tmp_path / "main", "commit", "--allow-empty", "-m", "a")
    git(tmp_path / "main", "worktree", "add", str(tmp_path / "tree"), "-b", "other")
    assert branch_of(str(tmp_path / "tree")) == "other"


def test_a_detached_head_is_no_branch(tmp_path: Path) -> None:
    git(tmp_path, "init")
    git(tmp_path, "commit", "--allow-empty", "-m", "a")
    git(tmp_path, "checkout", "--detach")
    assert branch_of(str(tmp_path)) == ""


@pytest.mark.parametrize("head", ["", "nonsense", "ref: refs/heads/", "ref: refs/remotes/x"])
def test_a_head_that_names_no_branch_is_none(tmp_path: Path, head: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(head)
    assert branch_of(str(tmp_path)) == ""


def test_types_are_told_by_files(tmp_path: Path) -> None:
    assert project_types(str(tmp_path)) == ()
    for name in (
        "Dockerfile",
        "package.json",
        "pyproject.toml",
        "setup.py",
        "Shop.csproj",
        "readme.md",
    ):
        (tmp_path / name).touch()
    assert project_types(str(tmp_path)) == ("python", "node", "dotnet", "docker")
    assert project_types(str(tmp_path / "nowhere")) == ()


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, None),
        ({"CI": ""}, None),
        ({"CI": "false"}, None),
        ({"CI": "true"}, "ci"),
        ({"CI": "1"}, "ci"),
    ],
)
def test_a_build_server_says_so(environ: dict[str, str], expected: str | None) -> None:
    assert environment(environ) == expected


def git(folder: Path, *arguments: str) -> None:
    identity = (
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.org",
        "-c",
        "init.defaultBranch=main",
    )
    subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, timeout=300
    )


def put(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)


def cloned(folder: Path, *options: str) -> Path:
    folder.mkdir()
    git(folder, "init", *options)
    put(
        folder,
        ".brim/behaviors.jsonl",
        ".brim/brim.db",
        ".brim/brim.db.old",
        "sub/.brim/brim.db",
        "zz/last.txt",
    )
    return folder


@pytest.mark.parametrize("version", ["2", "4"])
@pytest.mark.parametrize("hashes", ["sha1", "sha256"])
def test_a_tracked_file_is_found_in_every_format_of_the_index(
    tmp_path: Path, version: str, hashes: str
) -> None:
    here = cloned(tmp_path / "clone", f"--object-format={hashes}")
    git(here, "update-index", "--index-version", version)
    git(
        here,
        "add",
        ".brim/behaviors.jsonl",
        ".brim/brim.db.old",
        "sub/.brim/brim.db",
        "zz/last.txt",
    )
    assert not is_tracked(str(here / ".brim/brim.db"), ignore_case=False)
    assert is_tracked(str(here / "sub/.brim/brim.db"), ignore_case=False)
    git(here, "add", "-f", ".brim/brim.db")
    assert is_tracked(str(here / ".brim/brim.db"), ignore_case=False)
    git(here, "rm", "--cached", ".brim/brim.db")
    assert not is_tracked(str(here / ".brim/brim.db"), ignore_case=False)


@pytest.mark.parametrize("version", ["2", "4"])
def test_long_names_before_it_hide_nothing(tmp_path: Path, version: str) -> None:
    here = cloned(tmp_path / "clone")
    put(
        here,
        *(
            f"{'-' * 200}{letter}/{'x' * length}"
            for letter in "abc"
            for length in (1, 127, 128, 250)
        ),
    )
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
def test_where_case_does_not_count_another_spelling_is_the_same_file(
    tmp_path: Path, version: str
) -> None:
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


@pytest.mark.parametrize(
    "index", [b"", b"DIRC", b"DIRC\0\0\0\4\0\0\0\5", b"DIRC\0\0\0\2", b"nonsense" * 100]
)
def test_a_broken_index_is_no_error(tmp_path: Path, index: bytes) -> None:
    put(tmp_path, ".brim/brim.db", ".git/index")
    (tmp_path / ".git/index").write_bytes(index)
    assert not is_tracked(str(tmp_path / ".brim/brim.db"))


def test_a_git_file_that_says_nothing_is_no_error(tmp_path: Path) -> None:
    put(tmp_path, ".brim/brim.db", ".git")
    assert git_folder(str(tmp_path)) is None


@pytest.mark.parametrize("part", ["brim.db-wal", "brim.db-journal"])
def test_a_log_that_came_with_a_clone_is_not_taken_into_a_database(
    tmp_path: Path, part: str
) -> None:
    git(tmp_path, "init")
    path = tmp_path / ".brim" / "brim.db"
    make_file(str(path))
    check_ours(str(path))
    put(tmp_path, f".brim/{part}")
    git(tmp_path, "add", "-f", f".brim/{part}")
    with pytest.raises(StoreError, match="git tracks it") as raised:
        check_ours(str(path))
    assert raised.value.reason == "refused"


def test_a_link_that_came_with_a_clone_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o755)
    here = tmp_path / "clone"
    here.mkdir()
    git(here, "init")
    (here / ".brim").symlink_to("../elsewhere")
    path = here / ".brim" / "brim.db"
    make_file(str(path))  # a link of one's own is one's own affair
    check_ours(str(path))
    git(here, "add", ".brim")
    for use in (make_file, check_ours):
        with pytest.raises(StoreError, match="came with the project"):
            use(str(path))
    assert {path.name for path in (tmp_path / "elsewhere").iterdir()} == {".gitignore", "brim.db"}


def hostile_index(what: str) -> bytes:
    """Return the first bytes of an index that takes long to look through."""
    if what == "a name a million times":
        return b"DIRC\0\0\0\2\0\0\0\1" + b"/.brim/brim.db\0" * 1_000_000
    if what == "no names without end":
        return b"DIRC\0\0\0\4\x7f\xff\xff\xff" + bytes(40 << 20)
    return b"DIRC\0\0\0\2"


@pytest.mark.parametrize(
    "what", ["a name a million times", "no names without end", "6 GB", "many parts"]
)
def test_an_index_that_takes_too_long_to_look_through_is_said_to_be_too_large(
    tmp_path: Path, what: str
) -> None:
    git = tmp_path / ".git"
    git.mkdir()
    with open(git / "index", "wb") as file:
        file.write(hostile_index(what))
        if what == "6 GB":
            file.truncate(6 << 30)
    for number in range(2_000 if what == "many parts" else 0):
        (git / f"sharedindex.{number}").write_bytes(b"DIRC\0\0\0\2")
    begun = time.process_time()
    with pytest.raises(
        StoreError, match=r"index: is too large to see whether git tracks \.brim/brim\.db"
    ):
        is_tracked(str(tmp_path / ".brim" / "brim.db"))
    assert time.process_time() - begun < 2
