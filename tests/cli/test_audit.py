"""``brim rules audit`` finds what is wrong with what is stored, and mends only what can be mended
without a loss."""

from __future__ import annotations

import os
from contextlib import closing

import pytest

from brim.behaviors.behavior import Edge, RuleUsage
from tests.cli.conftest import Brim
from tests.cli.stored import behavior, edges_in, file_of, recalled, remember
from tests.store.making import raw


def rules(brim: Brim, what: str = "problems") -> list[str]:
    return [each["rule"] for each in brim("rules", "audit", "--json").json[what]]


def test_nothing_stored_is_no_problem(brim: Brim) -> None:
    ran = brim("rules", "audit")
    assert (ran.code, ran.out) == (0, "")
    assert "brim learn" in ran.err
    assert not (brim.home / ".brim").exists()


def test_all_is_well(brim: Brim) -> None:
    remember(
        brim, behavior("a"), behavior("b"), edges=[Edge("a", "b", "requires")], scope="project"
    )
    ran = brim("rules", "audit")
    assert (ran.code, ran.lines[-2:]) == (0, ["2 rules, 1 connection", "all is well"])
    found = brim("rules", "audit", "--json").json
    assert [(each["scope"], each["sound"]) for each in found["files"]] == [("project", True)]


def test_useless_connections_are_found_and_removed_after_asking(brim: Brim) -> None:
    useful = [Edge("a", "b", "requires"), Edge("a", "b", "similar-to", 0.5, last_activated=1.0)]
    remember(
        brim,
        behavior("a"),
        behavior("b"),
        edges=[
            *useful,
            Edge("a", "gone", "requires"),
            Edge("b", "a", "similar-to", 0.8, last_activated=2.0),
        ],
    )
    with closing(raw(file_of(brim))) as connection:
        connection.execute("INSERT INTO edges VALUES ('a', 'a', 'requires', 1, NULL, NULL)")
    assert sorted(rules(brim)) == ["dangling", "mirrored", "self"]
    unasked = brim("rules", "audit", "--fix")
    assert (unasked.code, "--yes" in unasked.err, len(edges_in(brim))) == (1, True, 5)
    ran = brim("rules", "audit", "--fix", "--yes")
    assert (ran.code, ran.lines[-1]) == (0, "all is well")
    assert "to remove: a requires gone (1)" in ran.out
    assert edges_in(brim) == [useful[0], Edge("a", "b", "similar-to", 0.8, last_activated=2.0)]
    assert rules(brim) == []


def test_an_edge_to_the_other_file_leads_somewhere(brim: Brim) -> None:
    remember(brim, behavior("a"), edges=[Edge("a", "mine", "requires")], scope="project")
    remember(brim, behavior("mine"))
    assert brim("rules", "audit").code == 0


def test_what_a_person_has_to_decide_is_left_as_it_is(brim: Brim) -> None:
    remember(
        brim,
        behavior("a"),
        behavior("b"),
        behavior("c", status="superseded", superseded_by="gone"),
        edges=[Edge("a", "b", "requires"), Edge("b", "a", "requires")],
    )
    before = recalled(brim), edges_in(brim)
    ran = brim("rules", "audit", "--fix", "--yes")
    assert (ran.code, ran.lines[-1]) == (1, "2 problems")
    assert "in a circle" in ran.out
    assert (recalled(brim), edges_in(brim)) == before


def test_lines_that_are_not_counted_are_counted_without_asking(brim: Brim) -> None:
    remember(brim, behavior("a"), behavior("b"))
    with closing(raw(file_of(brim))) as connection:
        connection.execute("UPDATE line_costs SET renderer = 0")
    assert rules(brim) == ["stale-costs"]
    ran = brim("rules", "audit", "--fix")
    assert (ran.code, ran.lines[-1]) == (0, "all is well")
    assert "2 rules counted" in ran.out
    assert rules(brim) == []


def test_hints_are_no_problems(brim: Brim) -> None:
    remember(
        brim,
        behavior("a", text="Use uv instead of pip."),
        behavior(
            "b", text="Always use uv instead of pip.", usage=RuleUsage(confirmed=1, overridden=2)
        ),
        behavior("c", "constraint", "Never push."),
    )
    remember(brim, behavior("p"), edges=[Edge("p", "c", "overrides")], scope="project")
    ran = brim("rules", "audit")
    assert (ran.code, ran.lines[-1]) == (0, "all is well")
    assert sorted(rules(brim, "hints")) == ["near-duplicate", "not-followed", "overridden"]
    assert "brim ui" in ran.out


def test_a_database_that_came_with_a_view_is_refused_at_once(brim: Brim) -> None:
    remember(brim, behavior("a"), scope="project")
    with closing(raw(file_of(brim, "project"))) as connection:
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS source FROM n"
        connection.executescript(f"DROP TABLE edges; CREATE VIEW edges AS {endless}")
    for command in (["rules"], ["rules", "why"], ["rules", "audit"], ["learn", "x", "--project"]):
        ran = brim(*command)
        assert (ran.code > 0, "views or triggers" in ran.out + ran.err) == (True, True), command
    assert "this project's rules can't be read" in brim().out


def test_a_damaged_file_is_a_problem_and_the_other_is_still_checked(brim: Brim) -> None:
    remember(brim, behavior("p"), edges=[Edge("p", "gone", "requires")], scope="project")
    path = file_of(brim)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"garbage" * 500)
    ran = brim("rules", "audit")
    assert ran.code == 1
    assert "cannot be used as it is" in ran.out
    assert "brim rules restore" in ran.out
    assert rules(brim) == ["file", "dangling"]
    assert path.read_bytes() == b"garbage" * 500


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ("UPDATE behaviors SET kind = 'wrong' WHERE id = 'a'", "unknown kind"),
        ("UPDATE behaviors SET tags = '{' WHERE id = 'a'", "'a'"),
        ("UPDATE edges SET weight = 7", "the edge from 'a'"),
    ],
    ids=["kind", "json", "weight"],
)
def test_rows_that_cannot_be_read_are_named(brim: Brim, change: str, word: str) -> None:
    remember(brim, behavior("a"), behavior("b"), edges=[Edge("a", "b", "requires")])
    with closing(raw(file_of(brim))) as connection:
        connection.execute(change)
    ran = brim("rules", "audit")
    assert (ran.code, word in ran.out) == (1, True)


def test_a_file_of_another_version_is_a_problem(brim: Brim) -> None:
    remember(brim, behavior("a"))
    with closing(raw(file_of(brim))) as connection:
        connection.execute("PRAGMA user_version = 99")
    ran = brim("rules", "audit")
    assert (ran.code, "another version of brim" in ran.out) == (1, True)


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() == 0, reason="root may write everywhere"
)
def test_a_read_only_file_is_checked_but_not_mended(brim: Brim) -> None:
    remember(brim, behavior("a"), edges=[Edge("a", "gone", "requires")])
    file_of(brim).chmod(0o400)
    assert brim("rules", "audit").code == 1
    assert brim("rules", "audit", "--fix", "--yes").code in (1, 2)


def test_yes_without_fix_is_wrong_usage(brim: Brim) -> None:
    assert brim("rules", "audit", "--yes").code == 2


def test_people_read_short_paths_and_scripts_whole_ones(brim: Brim) -> None:
    (brim.home / ".brim").mkdir(mode=0o700)
    (brim.home / ".brim/brim.db").write_bytes(b"no database" * 999)
    ran = brim("rules", "audit")
    assert (ran.code, "~/.brim/brim.db" in ran.out, str(brim.home) in ran.out) == (1, True, False)
    assert str(brim.home) in brim("rules", "audit", "--json").json["problems"][0]["text"]


@pytest.mark.parametrize("subject", ["mocks", "tabs", "print", "globals", "classes"])
def test_of_two_rules_that_came_at_once_the_constraint_holds(brim: Brim, subject: str) -> None:
    brim.write("rules.md", f"- Never use {subject}\n- Always use {subject}")
    brim("rules", "import", "rules.md", "--user", "--yes")
    fixed = f"agents hear never-use-{subject} "
    assert fixed in brim("rules", "audit", "--fix", "--yes").out
    assert f"agents don't hear use-{subject} " in brim("rules", "audit").out
