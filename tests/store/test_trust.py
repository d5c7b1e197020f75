"""Which projects may steer an agent."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from brim.errors import InputError, StoreError
from brim.store import open_store
from brim.store.trust import is_trusted, trust, trusted_projects, untrust


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".brim").mkdir(parents=True)
    return tmp_path / "project"


@pytest.fixture
def user(tmp_path: Path) -> str:
    return str(tmp_path / "home" / ".brim")


def test_nothing_is_trusted_until_somebody_says_so(project: Path, user: str) -> None:
    assert not is_trusted(str(project), user)
    trust(str(project), user, now=5.0)
    assert is_trusted(str(project), user)
    assert trusted_projects(user) == {str(project.resolve()): 5.0}
    assert untrust(str(project), user, now=6.0) is True
    assert not is_trusted(str(project), user)
    assert untrust(str(project), user, now=7.0) is False


def test_trust_is_kept_for_the_user_alone_and_is_told_of(project: Path, user: str) -> None:
    trust(str(project), user, now=5.0)
    assert stat.S_IMODE((Path(user) / "trust.json").stat().st_mode) == 0o600
    assert sorted(os.listdir(user)) == [".gitignore", "brim.db", "trust.json"]
    with open_store(user + "/brim.db") as store:
        assert [(event.kind, event.detail["project"]) for event in store.events()] == [
            ("trusted", str(project.resolve()))
        ]


def test_a_link_to_a_project_is_that_project(project: Path, user: str, tmp_path: Path) -> None:
    trust(str(project), user, now=5.0)
    (tmp_path / "link").symlink_to(project)
    assert is_trusted(str(tmp_path / "link"), user)


def test_another_folder_in_the_same_place_is_not_trusted(project: Path, user: str) -> None:
    trust(str(project), user, now=5.0)
    project.rename(project.with_name("moved"))
    (project / ".brim").mkdir(parents=True)
    assert not is_trusted(str(project), user)
    shutil.rmtree(project)
    assert not is_trusted(str(project), user)


def test_another_clone_with_the_same_number_on_the_disk_is_not_trusted(
    project: Path, user: str
) -> None:
    """Disks give the number of a removed folder to the next one that is made."""
    trust(str(project), user, now=5.0)
    shutil.rmtree(project / ".brim")
    (project / ".brim").mkdir()
    assert not is_trusted(str(project), user)
    trust(str(project), user, now=6.0)
    assert is_trusted(str(project), user)


def test_no_mark_that_comes_with_a_project_is_believed(
    project: Path, user: str, tmp_path: Path
) -> None:
    marks = project / ".brim" / "trusted"
    marks.write_text("planted\n")
    trust(str(project), user, now=5.0)
    planted, ours = sorted(marks.read_text().split(), key=len)
    assert planted == "planted"
    marks.write_text("planted\n")
    assert not is_trusted(str(project), user)
    (tmp_path / "elsewhere").write_text(ours)
    marks.unlink()
    marks.symlink_to(tmp_path / "elsewhere")
    assert not is_trusted(str(project), user)
    marks.unlink()
    os.mkfifo(marks)
    assert not is_trusted(str(project), user)


def test_two_homes_can_trust_one_project(project: Path, user: str) -> None:
    trust(str(project), user, now=5.0)
    trust(str(project), user + "2", now=5.0)
    trust(str(project), user, now=6.0)
    assert is_trusted(str(project), user)
    assert is_trusted(str(project), user + "2")
    assert len((project / ".brim" / "trusted").read_text().split()) == 2


def test_trust_begins_a_project_that_holds_nothing_yet(tmp_path: Path, user: str) -> None:
    (tmp_path / "new").mkdir()
    trust(str(tmp_path / "new"), user, now=5.0)
    assert is_trusted(str(tmp_path / "new"), user)
    assert sorted(os.listdir(tmp_path / "new" / ".brim")) == [".gitignore", "trusted"]


def test_a_folder_below_or_above_a_trusted_one_is_not_trusted(project: Path, user: str) -> None:
    trust(str(project), user, now=5.0)
    (project / "below").mkdir()
    assert not is_trusted(str(project / "below"), user)
    assert not is_trusted(str(project.parent), user)


def test_what_is_no_folder_cannot_be_trusted(tmp_path: Path, user: str) -> None:
    with pytest.raises(InputError, match="not a folder"):
        trust(str(tmp_path / "nowhere"), user, now=1.0)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away"
)
def test_another_users_folder_cannot_be_trusted(project: Path, user: str) -> None:
    trust(str(project), user, now=1.0)
    os.chown(project / ".brim", 12345, 12345)
    assert not is_trusted(str(project), user)
    with pytest.raises(StoreError, match="another user"):
        trust(str(project), user, now=1.0)


@pytest.mark.parametrize(
    "text", ["", "nonsense", "[]", "{}", '{"projects": 3}', '{"projects": {"/": 3}}']
)
def test_a_damaged_list_trusts_nothing_and_is_not_overwritten(
    project: Path, user: str, text: str
) -> None:
    trust(str(project), user, now=1.0)
    file = Path(user) / "trust.json"
    file.write_text(text)
    assert not is_trusted(str(project), user)
    with pytest.raises(StoreError, match="damaged"):
        trust(str(project), user, now=2.0)
    assert file.read_text() == text


def test_a_list_that_others_can_write_is_not_believed(project: Path, user: str) -> None:
    trust(str(project), user, now=1.0)
    (Path(user) / "trust.json").chmod(0o666)
    assert not is_trusted(str(project), user)


TRUST = "import sys; from brim.store.trust import trust; trust(sys.argv[1], sys.argv[2], now=1.0)"


def test_processes_that_trust_at_once_do_not_undo_each_other(tmp_path: Path, user: str) -> None:
    projects = [tmp_path / f"project-{number}" for number in range(6)]
    for each in projects:
        each.mkdir()
    running = [
        subprocess.Popen([sys.executable, "-c", TRUST, str(each), user]) for each in projects
    ]
    assert [process.wait(timeout=300) for process in running] == [0] * 6
    assert len(trusted_projects(user)) == 6
