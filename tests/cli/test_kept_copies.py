"""What a project has learned is kept in the user's folder too, and comes back when the project's
file loses it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from brim.behaviors import Edge
from brim.store import open_scopes, open_store
from tests.cli.conftest import Brim
from tests.cli.stored import behavior, events_in, file_of, recalled, remember

TEXTS = [
    "Run the tests of a module before a commit.",
    "Name branches after the ticket.",
    "Keep SQL in migrations.",
]


def git(brim: Brim, *arguments: str) -> None:
    named = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run(
        ["git", *named, *arguments], cwd=brim.cwd, check=True, capture_output=True, timeout=300
    )


@pytest.fixture
def project(brim: Brim) -> Brim:
    """A project with three rules."""
    git(brim, "init", "-q")
    for text in TEXTS:
        assert brim("learn", text, "--project").code == 0
    return brim


def texts(brim: Brim) -> list[str]:
    return sorted(each.canonical for each in recalled(brim, "project").values())


def copies(brim: Brim) -> list[Path]:
    return sorted((brim.home / ".brim" / "projects").glob("*/backups/*"))


def lost(brim: Brim) -> list[dict[str, object]]:
    return [each for each in brim("doctor", "--json").json["findings"] if each["what"] == "lost"]


def test_a_copy_is_kept_for_its_owner_alone_and_few_of_them(project: Brim) -> None:
    for number in range(4):
        assert (
            project("learn", f"Mind the gap number {number} at the station.", "--project").code == 0
        )
    found = copies(project)
    assert len(found) == 3
    for path in found:
        modes = [each.stat().st_mode & 0o777 for each in (path, *path.parents[:4])]
        assert modes == [0o600, 0o700, 0o700, 0o700, 0o700]
    with open_store(str(max(found, key=lambda path: path.stat().st_mtime_ns))) as store:
        assert len(store.behaviors()) == 7
    assert lost(project) == []


def test_rules_of_the_users_own_are_not_copied(brim: Brim) -> None:
    git(brim, "init", "-q")
    assert brim("learn", TEXTS[0], "--user").code == 0
    assert copies(brim) == []


def test_a_hook_makes_no_copy(project: Brim) -> None:
    for path in copies(project):
        path.unlink()
    with open_scopes(
        str(project.cwd), str(project.home / ".brim"), trusted=True, create=False, timeout=0.15
    ) as found:
        assert found.project is not None
        found.project.used([each.id for each in found.project.behaviors()], now=1.0)
    assert copies(project) == []


def test_what_a_pull_destroyed_is_added_to_what_came(project: Brim, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.db"
    with open_store(str(theirs)) as store:
        store.put(
            behavior("b-theirs", text="Their rule.", scope="project"), event="learned", now=1.0
        )
    path = file_of(project, "project")
    path.write_bytes(theirs.read_bytes())  # what git does when it updates a file
    git(project, "add", "-f", ".brim/brim.db")
    refused = project("rules", "list")
    assert (refused.code, "brim rules restore" in refused.err) == (2, True)
    assert lost(project)[0]["rules"] == 3
    assert project("rules", "restore").code == 2  # git still tracks it
    git(project, "rm", "-q", "--cached", ".brim/brim.db")
    assert "brim rules restore" in project().out
    assert lost(project)[0]["fix"] == "brim rules restore"
    done = project("rules", "restore")
    assert (done.code, "back: 3 rules" in done.out) == (0, True)
    assert texts(project) == sorted([*TEXTS, "Their rule."])
    assert len(events_in(project, "restored", "project")) == 3
    assert (lost(project), "brim rules restore" in project().out) == ([], False)
    assert "has lost no rule" in project("rules", "restore").err


@pytest.mark.parametrize("damage", ["missing", "damaged", "foreign", "emptied"])
def test_a_file_that_cannot_be_used_is_replaced_by_the_copy(project: Brim, damage: str) -> None:
    path = file_of(project, "project")
    if damage == "missing":
        path.unlink()
    elif damage == "damaged":
        path.write_bytes(path.read_bytes()[:6_000])
    else:
        path.write_bytes(b"not a database" if damage == "foreign" else b"")
    if damage in ("damaged", "foreign"):
        assert "brim rules restore" in project("rules", "list").err
    assert lost(project)[0]["rules"] == 3
    assert project("rules", "restore").code == 0
    assert texts(project) == sorted(TEXTS)
    assert lost(project) == []


@pytest.mark.parametrize("gone", [True, False])
def test_the_log_of_the_file_that_was_there_does_no_harm(project: Brim, gone: bool) -> None:
    path = file_of(project, "project")
    log = path.with_name("brim.db-wal")
    several = [
        behavior(f"b-{number}", text="Theirs. " * 300, scope="project") for number in range(40)
    ]
    with open_store(str(path)) as store:
        store.put_many(several, event="learned", now=1.0)
    with open_store(str(path)) as store:  # a hook leaves its log behind
        store.used([each.id for each in store.behaviors()], now=1.0)
        left = log.read_bytes()
    path.unlink()
    if not gone:
        with open_store(str(path)) as store:
            store.put_many(several[:9], event="learned", now=1.0)
    log.write_bytes(left)
    assert project("rules", "restore").code == 0
    assert set(TEXTS) <= set(texts(project))
    assert lost(project) == []
    with open_store(str(path)) as store:
        assert store.check() == []


def test_the_copy_with_more_rules_outlasts_what_is_learned_after_a_loss(project: Brim) -> None:
    file_of(project, "project").unlink()
    for number in range(9):
        assert (
            project("learn", f"Mind the gap number {number} at the station.", "--project").code == 0
        )
    assert len(copies(project)) <= 6
    assert lost(project)[0]["rules"] == 3
    assert project("rules", "restore").code == 0
    assert set(TEXTS) < set(texts(project))
    assert len(texts(project)) == 12


def test_connections_come_back_and_what_is_there_stays(brim: Brim) -> None:
    git(brim, "init", "-q")
    both = [behavior("a"), behavior("b")]
    remember(brim, *both, edges=[Edge("a", "b", "requires", 0.5)], scope="project")
    assert brim("learn", TEXTS[0], "--project").code == 0
    file_of(brim, "project").unlink()
    remember(brim, behavior("a", text="Changed since."), scope="project")
    assert brim("rules", "restore").code == 0
    assert recalled(brim, "project")["a"].canonical == "Changed since."
    with open_store(str(file_of(brim, "project"))) as store:
        assert [edge.key for edge in store.all_edges()] == [Edge("a", "b", "requires").key]
        assert store.check() == []


def test_a_home_that_cannot_be_written_is_no_reason_to_fail(project: Brim) -> None:
    folder = project.home / ".brim" / "projects"
    for path in copies(project):
        path.unlink()
    folder.rename(folder.with_name("moved"))
    folder.write_text("not a folder")
    assert project("learn", "Mind the gap at the station.", "--project").code == 0
    assert len(texts(project)) == 4
