"""``brim limit --store``: limits of many machines, where a project goes by its id."""

from __future__ import annotations

from pathlib import Path

import pytest

from brim import Guard
from brim.config.git import normalized_remote, remote_of
from brim.errors import LimitReached
from tests.cli.conftest import Brim
from tests.money.server import empty_schema


@pytest.fixture
def shop(brim: Brim) -> Path:
    """Stand in a repository that came from somewhere."""
    project = brim.home / "a" / "shop"
    (project / ".git").mkdir(parents=True)
    (project / ".git" / "config").write_text(
        '[core]\n\tbare = false\n[remote "fork"]\n\turl = https://example.org/me/shop\n'
        '[remote "origin"]\n\turl = git@Example.org:acme/shop.git\n'
    )
    brim.cwd = project
    return project


def test_a_project_goes_by_where_it_comes_from_or_by_its_id(brim: Brim, shop: Path) -> None:
    store = empty_schema()
    said = brim("limit", "--store", store, "5/day")
    assert (said.code, said.out.partition(":")[0]) == (0, "example.org-acme-shop")
    assert brim("config", "set", "--project", "project.id", "our shop").code == 0
    assert brim("limit", "--store", store, "7/week").out.startswith("our-shop: $7.00/week")
    names = [each["scope"] for each in brim("limit", "--store", store, "--json").json["projects"]]
    assert names == ["example.org-acme-shop", "our-shop"]
    assert brim("limit", "--json").json["limits"] == []  # nothing of it is on this machine


def test_a_guard_elsewhere_is_held_by_it(brim: Brim, shop: Path) -> None:
    store = empty_schema()
    assert brim("limit", "--store", store, "team", "0.01/day").code == 0
    guard = Guard("claude-sonnet-4-5", ledger=store, scope="team/agent-1", max_output=100)
    messages = [{"role": "user", "content": "hi"}]
    with guard.call(messages) as call:
        call.done(
            {"model": "claude-sonnet-4-5", "usage": {"input_tokens": 10, "output_tokens": 600}}
        )
    with pytest.raises(LimitReached, match="today"), guard.call(messages):
        pass
    (project,) = brim("limit", "--store", store, "team", "--json").json["projects"]
    assert project["limits"][0]["spent"] == 9_030
    assert brim("limit", "--store", store, "raise", "team", "1/day").code == 0
    with guard.call(messages) as call:
        call.release()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("./shop", "5/day"), "not by their folder"),
        (("90%/5h",), "without --store"),
        (("raise", "taem", "5/day"), "Did you mean team?"),
        (("a b", "5/day"), "isn't a scope"),
    ],
)
def test_what_cannot_be_is_said(brim: Brim, shop: Path, words: tuple[str, ...], said: str) -> None:
    store = empty_schema()
    brim("limit", "--store", store, "team", "5/day")
    found = brim("limit", "--store", store, *words)
    assert found.code == 2
    assert said in found.err


def test_a_folder_without_a_name_is_an_error_that_says_how_to_give_it_one(brim: Brim) -> None:
    store = empty_schema()
    assert "--project project.id" in brim("limit", "--store", store, "5/day").err
    brim.environ["BRIM_PROJECT_ID"] = "nightly"
    assert brim("limit", "--store", store, "5/day").out.startswith("nightly: ")


def test_a_server_that_cannot_be_reached_is_one_line(brim: Brim, tmp_path: Path) -> None:
    found = brim("limit", "--store", f"postgresql://me:secret@/db?host={tmp_path}", "team", "5/day")
    assert (found.code, len(found.err.splitlines())) == (2, 1)
    assert "secret" not in found.err


@pytest.mark.parametrize(
    "words", [("money", "shop", "5/day"), ("5/day",), ("db.example.org/money",)]
)
def test_a_forgotten_address_is_an_error_and_makes_no_file(
    brim: Brim, words: tuple[str, ...]
) -> None:
    found = brim("limit", "--store", *words)
    assert found.code == 2
    assert "postgresql://USER@HOST/DATABASE" in found.err
    assert not any(brim.cwd.iterdir())


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://user:token@example.org/acme/shop.git", "example.org/acme/shop"),
        ("ssh://git@example.org:2222/acme/shop", "example.org/acme/shop"),
        ("git@example.org:acme/shop.git/", "example.org/acme/shop"),
        ("file:///srv/shop.git", ""),
        ("/srv/shop.git", ""),
        ("../shop", ""),
        ("", ""),
    ],
)
def test_every_way_to_write_a_remote_is_one_name(url: str, name: str) -> None:
    assert normalized_remote(url) == name


def test_a_folder_without_a_repository_has_no_remote(tmp_path: Path) -> None:
    assert remote_of(str(tmp_path)) == ""
