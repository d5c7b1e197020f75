"""``brim merge`` and ``brim dedupe``: one behavior of two, both texts kept, after a yes."""

from __future__ import annotations

import json

import pytest

from brim.behaviors import Edge
from tests.cli.conftest import Brim
from tests.cli.seeding import edges, events, everything, refused, rule, seed, stored

ONE = rule("b-1", "Use uv, never pip.", tags=("python",), priority=1)
TWO = rule("b-2", "Always use uv and never pip", tags=("tools",))
OTHER = rule("b-3", "Commit small steps.")


def test_the_one_with_the_higher_priority_stays_and_both_texts_are_kept(brim: Brim) -> None:
    seed(brim, ONE, TWO)
    ran = brim("merge", "b-2", "b-1", "--yes")
    assert (ran.code, ran.err) == (0, "")
    assert "merged: name-b-2 (b-2) into name-b-1 (b-1)" in ran.out
    kept, gone = stored(brim, "b-1"), stored(brim, "b-2")
    assert TWO.canonical in kept.variants
    assert kept.tags == ("python", "tools")
    assert (gone.status, gone.superseded_by, gone.canonical) == ("superseded", "b-1", TWO.canonical)
    assert [event.kind for event in events(brim, "b-1")] == ["learned", "merged"]
    assert [event.kind for event in events(brim, "b-2")] == ["learned", "superseded"]


def test_into_says_which_one_stays(brim: Brim) -> None:
    seed(brim, ONE, TWO, OTHER)
    refused(brim("merge", "b-1", "b-2", "--into", "b-3", "--yes"), "one of the two")
    found = brim("merge", "b-1", "b-2", "--into", "b-2", "--yes", "--json").json
    assert (found["merged"], found["kept"]["id"], found["superseded"]["id"]) == (True, "b-2", "b-1")
    assert found["changes"]


def test_connections_of_the_one_that_goes_are_taken_over(brim: Brim) -> None:
    seed(brim, ONE, TWO, OTHER, Edge("b-2", "b-3", "requires", 0.5), Edge("b-1", "b-2", "similar-to"))
    ran = brim("merge", "b-1", "b-2", "--yes")
    assert "1 connection taken over" in ran.out
    assert Edge("b-1", "b-3", "requires", 0.5) in edges(brim)
    assert len(edges(brim)) == 3


def test_a_connection_that_would_close_a_circle_is_not_taken_over(brim: Brim) -> None:
    seed(brim, ONE, TWO, OTHER, Edge("b-2", "b-3", "requires"), Edge("b-3", "b-1", "requires"))
    assert brim("merge", "b-1", "b-2", "--yes").code == 0
    assert len(edges(brim)) == 2


def test_nobody_is_asked_without_a_terminal_and_nothing_changes(brim: Brim) -> None:
    seed(brim, ONE, TWO)
    ran = brim("merge", "b-1", "b-2", stdin="y\n")
    assert ran.code == 1
    assert "--yes" in ran.err
    assert ONE.canonical in ran.out
    assert everything(brim) == [ONE, TWO]


@pytest.mark.parametrize("command", ["merge b-1 b-2", "dedupe"])
def test_a_dry_run_only_shows(brim: Brim, command: str) -> None:
    seed(brim, ONE, TWO)
    ran = brim(*command.split(), "--dry-run")
    assert (ran.code, ran.err) == (0, "")
    assert ONE.canonical in ran.out
    assert TWO.canonical in ran.out
    assert everything(brim) == [ONE, TWO]
    assert brim(*command.split(), "--dry-run", "--yes").code == 2


def test_a_rule_for_every_project_is_not_merged_into_one_of_them(brim: Brim) -> None:
    seed(brim, TWO)
    seed(brim, ONE, scope="project")
    refused(brim("merge", "b-1", "b-2", "--into", "b-1", "--yes"), "every project", "--into b-2")
    assert brim("merge", "b-1", "b-2", "--yes").code == 0
    assert stored(brim, "b-1", "project").superseded_by == "b-2"
    assert ONE.canonical in stored(brim, "b-2").variants


@pytest.mark.parametrize(
    ("arguments", "word"),
    [("b-1 b-1", "itself"), ("b-1 b-9", "'b-9'"), ("b-1 b-4", "forgotten"), ("b-5 b-1 --into b-5", "accept it first")],
)
def test_what_cannot_be_merged_is_refused(brim: Brim, arguments: str, word: str) -> None:
    seed(brim, ONE, rule("b-4", status="forgotten"), rule("b-5", status="pending"))
    refused(brim("merge", *arguments.split(), "--yes"), word)


# Dedupe


def test_near_duplicates_are_shown_and_merged(brim: Brim) -> None:
    seed(brim, ONE, TWO, OTHER)
    ran = brim("dedupe", "--yes")
    assert (ran.code, ran.err) == (0, "")
    assert "pair 1 of 1\n" in ran.out
    assert stored(brim, "b-2").superseded_by == "b-1"
    assert stored(brim, "b-3") == OTHER
    again = brim("dedupe", "--yes")
    assert (again.code, again.out) == (0, "")
    assert "no two rules say the same" in again.err


def test_without_a_yes_nothing_is_merged(brim: Brim) -> None:
    seed(brim, ONE, TWO)
    ran = brim("dedupe", "--json")
    assert ran.code == 1
    assert json.loads(ran.out)["merged"] == []
    assert everything(brim) == [ONE, TWO]


def test_the_scopes_are_compared_each_by_itself(brim: Brim) -> None:
    seed(brim, ONE)
    seed(brim, TWO, scope="project")
    assert brim("dedupe", "--json").json["pairs"] == []
