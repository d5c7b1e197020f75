"""``brim rules trust`` lets agents use a project, after showing what that lets in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from brim.behaviors.behavior import Edge
from brim.store.trust import is_trusted
from tests.cli.conftest import COMMAND, Brim
from tests.cli.stored import behavior, file_of, remember

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")


def some(brim: Brim) -> None:
    remember(
        brim,
        behavior("b", text="Do this."),
        behavior("a", "constraint", "Never do \x1b[2Jthat."),
        behavior("gone", status="forgotten"),
        scope="project",
    )


def trusted(brim: Brim) -> bool:
    return is_trusted(str(brim.cwd), str(brim.home / ".brim"))


def test_it_shows_what_it_would_let_in_constraints_first(brim: Brim) -> None:
    some(brim)
    brim.configure("tiers:\n  full: 0.8\n")
    ran = brim("rules", "trust", "--dry-run")
    assert ran.code == 0
    assert ran.lines[0] == f"{brim.cwd}: 2 rules (1 constraint, 1 directive)"
    assert [line.split()[0] for line in ran.lines if line.startswith(("con", "dir"))] == [
        "constraint",
        "directive",
    ]
    assert "Never do <U+001B>[2Jthat." in ran.out
    assert "tiers.full" in ran.out
    assert "\x1b" not in ran.out
    assert not trusted(brim)


def test_nobody_is_asked_who_cannot_answer(brim: Brim) -> None:
    some(brim)
    ran = brim("rules", "trust")
    assert ran.code == 1
    assert "--yes" in ran.err
    assert not trusted(brim)
    found = brim("rules", "trust", "--json")
    assert (found.code, found.json["trusted"], found.json["changed"]) == (1, False, False)
    assert not trusted(brim)


def test_yes_trusts_this_folder_from_anywhere_in_it(brim: Brim) -> None:
    some(brim)
    inside = brim.cwd / "src" / "deep"
    inside.mkdir(parents=True)
    ran = brim("rules", "trust", "--yes", cwd=inside)
    assert (ran.code, ran.err) == (0, "")
    assert trusted(brim)
    again = brim("rules", "trust")
    assert (again.code, again.err) == (0, "")
    assert "already" in again.out


def test_another_folder_can_be_named(brim: Brim, tmp_path: Path) -> None:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    found = brim("rules", "trust", tmp_path / "shop", "--yes", "--json")
    assert found.code == 0
    assert found.json == {
        "project": str(tmp_path / "shop"),
        "trusted": True,
        "changed": True,
        "behaviors": [],
        "settings": {},
        "refused": [],
        "memory": [],
    }


def test_the_json_lists_what_is_let_in(brim: Brim) -> None:
    some(brim)
    found = brim("rules", "trust", "--json", "--yes").json
    assert found["behaviors"][1] == {
        **{
            "id": "b",
            "name": "name-b",
            "kind": "directive",
            "summary": "Do this.",
            "canonical": "Do this.",
        },
        **{"tags": [], "when": {}, "blocks": [], "status": "active"},
    }


def test_trusted_projects_are_listed_and_removed(brim: Brim) -> None:
    some(brim)
    assert "no trusted projects" in brim("rules", "trust", "--list").err
    brim("rules", "trust", "--yes")
    (only,) = brim("rules", "trust", "--list", "--json").json["projects"]
    assert (only["project"], only["valid"]) == (str(brim.cwd), True)
    assert str(brim.cwd) in brim("rules", "trust", "--list").out
    assert brim("rules", "trust", "--remove", "--dry-run").code == 0
    assert trusted(brim)
    ran = brim("rules", "trust", "--remove")
    assert (ran.code, ran.err) == (0, "")
    assert not trusted(brim)
    again = brim("rules", "trust", "--remove", "--json")
    assert (again.code, again.json["changed"]) == (1, False)


def test_a_project_that_went_away_can_be_removed(brim: Brim, tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    brim("rules", "trust", shop, "--yes")
    shutil.rmtree(shop)
    ran = brim("rules", "trust", "--list")
    assert "gone" in ran.out
    assert brim("rules", "trust", "--remove", shop).code == 0
    assert brim("rules", "trust", "--list", "--json").json == {"projects": []}


def test_what_would_weaken_a_constraint_of_ones_own_is_said_not_to_be_followed(brim: Brim) -> None:
    remember(brim, behavior("mine", "constraint"))
    remember(
        brim, behavior("theirs"), edges=[Edge("theirs", "mine", "overrides", 1.0)], scope="project"
    )
    ran = brim("rules", "trust", "--dry-run")
    assert "not followed: " in ran.out
    assert len(brim("rules", "trust", "--dry-run", "--json").json["refused"]) == 1


def test_a_folder_that_is_no_project_is_refused(brim: Brim, tmp_path: Path) -> None:
    for words in (["trust"], ["trust", str(tmp_path / "nowhere")], ["trust", "--list", "x"]):
        ran = brim(*words)
        assert (ran.code, ran.out) == (2, "")
        assert not (brim.home / ".brim").exists()


def test_a_file_that_cannot_be_read_is_not_trusted(brim: Brim) -> None:
    file = file_of(brim, "project")
    file.parent.mkdir()
    file.write_bytes(b"no database at all" * 100)
    ran = brim("rules", "trust", "--yes")
    assert (ran.code, ran.out) == (2, "")
    assert str(file) in ran.err
    assert not trusted(brim)


def test_exported_behaviors_are_said_to_need_an_import(brim: Brim) -> None:
    brim.write(".brim/behaviors.jsonl", "{}\n")
    assert "brim rules import" in brim("rules", "trust", "--dry-run").out


@posix
@pytest.mark.parametrize(("typed", "code"), [(b"y\n", 0), (b"n\n", 1), (b"\n", 1)])
def test_a_person_is_asked(brim: Brim, typed: bytes, code: int) -> None:
    import pty

    some(brim)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, "rules", "trust"],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=brim.environ,
        cwd=brim.cwd,
    )
    os.close(theirs)
    os.write(ours, typed)
    out, _ = process.communicate(timeout=300)
    os.close(ours)
    assert process.returncode == code
    assert b"Never do" in out
    assert trusted(brim) is (code == 0)
