"""``brim merge`` and ``brim dedupe``: one behavior of two, both texts kept, after a yes."""

from __future__ import annotations

import json

import pytest

from brim.behaviors import Edge
from brim.behaviors.duplicates import near_pairs
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
    assert "pair 1 of 1, 0." in ran.out
    assert stored(brim, "b-2").superseded_by == "b-1"
    assert stored(brim, "b-3") == OTHER
    again = brim("dedupe", "--yes")
    assert (again.code, again.out) == (0, "")
    assert "no two rules are" in again.err


def test_three_of_a_kind_become_one_and_every_text_is_kept(brim: Brim) -> None:
    seed(brim, ONE, TWO, rule("b-4", "Prefer uv over pip."))
    found = brim("dedupe", "--yes", "--json").json
    assert len(found["pairs"]) == 3
    assert len(found["merged"]) == 2
    live = [each for each in everything(brim) if each.live]
    assert [each.id for each in live] == ["b-1"]
    assert set(live[0].variants) == {TWO.canonical, "Prefer uv over pip."}


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


def test_a_projects_threshold_is_for_its_own_rules(brim: Brim) -> None:
    brim.configure(project="behaviors: {near_duplicate: 1}\n")
    seed(brim, ONE, TWO)
    seed(brim, rule("b-4", ONE.canonical), rule("b-5", TWO.canonical), scope="project")
    kept = [pair["kept"]["id"] for pair in brim("dedupe", "--json").json["pairs"]]
    assert kept == ["b-1"]
    assert len(brim("dedupe", "--threshold", "0.8", "--json").json["pairs"]) == 2
    assert [each["ids"] for each in brim("validate", "--json").json["hints"]] == [["b-1", "b-2"]]


@pytest.mark.parametrize("threshold", ["0", "1.5", "nan", "-1", "much"])
def test_a_threshold_is_a_share(brim: Brim, threshold: str) -> None:
    refused(brim("dedupe", "--threshold", threshold), "--threshold")


def test_the_threshold_decides(brim: Brim) -> None:
    seed(brim, ONE, TWO)
    assert brim("dedupe", "--threshold", "1", "--json").json["pairs"] == []
    seed(brim, rule("b-4", "use UV, never PIP."))
    assert [pair["similarity"] for pair in brim("dedupe", "--threshold", "1", "--json").json["pairs"]] == [1.0]


def test_what_says_the_opposite_is_no_pair_and_fillers_do_not_hide_one() -> None:
    opposite = [rule("a", "Use uv, not pip"), rule("b", "Use pip, not uv")]
    assert near_pairs(opposite, 0.8) == []
    wordings = [rule("a", "Always use the fast linter"), rule("b", "Use the fast linter")]
    assert [(pair.one.id, pair.other.id) for pair in near_pairs(reversed(wordings), 0.8)] == [("a", "b")]
    assert [pair.similarity for pair in near_pairs([rule("a", "!!"), rule("b", "!!"), rule("c", "??")], 0.8)] == [1.0]


def test_a_lower_threshold_finds_what_only_resembles() -> None:
    alike = [rule("a", "Use uv, not pip"), rule("b", "Use pip, not uv"), rule("c", "Commit small steps.")]
    assert [(pair.one.id, pair.other.id) for pair in near_pairs(alike, 0.5)] == [("a", "b")]
