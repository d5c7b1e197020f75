"""Which files are read, and which come first."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from brim.config import config_paths, project_folder, user_folder
from brim.config.places import without_bad_home
from brim.errors import ConfigError
from tests.config.places import Places


def test_the_users_folder_is_in_the_home_unless_it_is_set(places: Places) -> None:
    assert user_folder(places.environ) == str(places.home / ".brim")
    assert user_folder({**places.environ, "BRIM_HOME": "/elsewhere"}) == "/elsewhere"
    assert user_folder({**places.environ, "BRIM_HOME": ""}) == str(places.home / ".brim")


def test_the_project_is_the_nearest_folder_with_settings(places: Places) -> None:
    (places.project / ".brim").mkdir()
    (places.home / "src" / ".brim").mkdir()
    assert project_folder(places.environ, str(places.inside)) == str(places.project)


def test_without_settings_the_project_is_gits(places: Places) -> None:
    (places.project / ".git").mkdir()
    assert project_folder(places.environ, str(places.inside)) == str(places.project)


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch])
def test_settings_above_do_not_capture_a_repository_below(
    places: Places, make: Callable[[Path], object]
) -> None:
    (places.project / ".brim").mkdir()
    make(places.inside / ".git")
    assert project_folder(places.environ, str(places.inside)) == str(places.inside)
    deeper = places.inside / "deeper"
    deeper.mkdir()
    assert project_folder(places.environ, str(deeper)) == str(places.inside)
    (deeper / ".brim").mkdir()
    assert project_folder(places.environ, str(deeper)) == str(deeper)


def test_a_folder_of_another_user_is_not_looked_at(places: Places) -> None:
    (places.project / ".brim").mkdir()
    places.project.chmod(0o755)
    try:
        os.chown(places.project, 12_345, -1)
    except PermissionError:
        pytest.skip("only root can give a folder away")
    assert project_folder(places.environ, str(places.inside)) is None
    os.chown(places.inside, 12_345, -1)  # a folder that was mounted into a container
    assert project_folder(places.environ, str(places.inside)) == str(places.project)


def test_a_worktree_whose_git_is_a_file_is_a_project(places: Places) -> None:
    (places.project / ".git").write_text("gitdir: elsewhere\n")
    assert project_folder(places.environ, str(places.inside)) == str(places.project)


@pytest.mark.parametrize("mark", [".brim", ".git"])
def test_the_home_is_never_a_project(places: Places, mark: str) -> None:
    (places.home / mark).mkdir()
    assert project_folder(places.environ, str(places.inside)) is None
    assert project_folder(places.environ, str(places.home)) is None
    assert project_folder({"HOME": f"{places.home}/"}, str(places.inside)) is None


def test_a_home_behind_a_symbolic_link_is_never_a_project(places: Places, tmp_path: Path) -> None:
    """The working folder is always the real one; ``HOME`` is as it was written."""
    (tmp_path / "link").symlink_to(places.home)
    (places.home / ".brim").mkdir()
    assert project_folder({"HOME": str(tmp_path / "link")}, str(places.inside)) is None


def test_the_weaker_file_is_read_first(places: Places) -> None:
    project, user = places.write(places.project, ""), places.write(places.home, "")
    assert list(config_paths(places.environ, str(places.inside)).values()) == [user, project]


def test_a_file_is_not_read_twice_because_of_a_link(places: Places) -> None:
    places.write(places.home, "mode: exact\n")
    (places.project / ".brim").symlink_to(places.home / ".brim")
    assert list(config_paths(places.environ, str(places.inside))) == ["user"]


@pytest.mark.parametrize("where", ["brim", ".", "/own", "/.brim", "/.brim/own"])
def test_a_home_in_a_project_is_refused(
    places: Places, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (places.project / ".git").mkdir()
    monkeypatch.chdir(places.home)
    named = f"{places.project}{where}" if "/" in where else where
    with pytest.raises(ConfigError, match=r"^config: BRIM_HOME: "):
        user_folder({**places.environ, "BRIM_HOME": named})
    assert without_bad_home({**places.environ, "BRIM_HOME": named}) == places.environ


def test_a_home_below_a_home_folder_that_git_tracks_is_fine(places: Places) -> None:
    (places.home / ".git").mkdir()
    named = str(places.home / "elsewhere" / "brim")
    assert user_folder({**places.environ, "BRIM_HOME": named}) == named


def test_the_paths_are_known_before_there_are_files(places: Places) -> None:
    (places.project / ".git").mkdir()
    assert config_paths(places.environ, str(places.inside)) == {
        "user": f"{places.home}/.brim/config.yaml",
        "project": f"{places.project}/.brim/config.yaml",
    }
    assert list(config_paths(places.environ, None)) == ["user"]


def test_an_agent_that_names_its_project_is_believed_but_not_about_the_home(places: Places) -> None:
    (places.project / ".git").mkdir()
    other = places.home / "src" / "other"
    other.mkdir()
    for named, found in (
        (other, other),
        (places.home, places.project),
        (places.home / "gone", places.project),
        ("src", places.project),
    ):
        environ = {**places.environ, "CLAUDE_PROJECT_DIR": str(named)}
        assert project_folder(environ, str(places.inside)) == str(found)


@pytest.mark.parametrize("name", ["secret", "index.db"])
def test_a_folder_with_a_users_own_files_is_no_project_below_another_home(
    tmp_path: Path, name: str
) -> None:
    home = tmp_path / "home"
    working = home / "tmp" / "work"
    working.mkdir(parents=True)
    (home / ".brim").mkdir()
    environ = {"HOME": str(home / "tmp" / "other")}
    assert project_folder(environ, str(working)) == str(home)
    (home / ".brim" / name).write_text("")
    assert project_folder(environ, str(working)) is None
