"""``brim rules review``: what an agent noted counts when a person says so."""

from __future__ import annotations

import sys

import pytest

from brim.behaviors import Provenance
from brim.store.suggestions import Suggestions
from tests.cli.conftest import Brim
from tests.cli.seeding import events, everything, refused, rule, seed, stored
from tests.cli.test_asking import asked

NOTE = rule(
    "b-1", "The build needs make.", name="note", status="pending", provenance=Provenance("agent")
)


def test_notes_that_wait_are_listed(brim: Brim) -> None:
    seed(brim, NOTE, rule("b-2"))
    ran = brim("rules", "review")
    assert (ran.code, ran.err) == (0, "")
    assert ran.lines[-1] == "  The build needs make."
    assert [each["id"] for each in brim("rules", "review", "list", "--json").json["pending"]] == [
        "b-1"
    ]


def test_nothing_to_review_is_no_failure(brim: Brim) -> None:
    ran = brim("rules", "review")
    assert (ran.code, ran.out) == (0, "")
    assert "no note" in ran.err


def test_an_accepted_note_is_active_as_the_kind_that_was_said(brim: Brim) -> None:
    seed(brim, NOTE)
    assert brim("rules", "review", "accept", "note", "--kind", "constraint").code == 0
    assert (stored(brim, "b-1").status, stored(brim, "b-1").kind) == ("active", "constraint")
    assert stored(brim, "b-1").provenance.source == "agent"
    assert events(brim, "b-1")[-1].kind == "accepted"


def test_a_rejected_note_is_put_away_and_can_come_back_as_a_note(brim: Brim) -> None:
    seed(brim, NOTE)
    found = brim("rules", "review", "reject", "b-1", "--reason", "not so", "--json").json
    assert [each["status"] for each in found["rejected"]] == ["forgotten"]
    assert events(brim, "b-1")[-1].detail["reason"] == "not so"
    brim("rules", "restore", "b-1")
    assert stored(brim, "b-1").status == "pending"


def test_what_does_not_wait_is_not_decided_and_nothing_changes(brim: Brim) -> None:
    seed(brim, NOTE, rule("b-2"))
    refused(
        brim("rules", "review", "reject", "b-1", "b-2"), "name-b-2", "active", "nothing was changed"
    )
    assert stored(brim, "b-1").status == "pending"


def test_wrong_usage_says_what_is_missing(brim: Brim) -> None:
    refused(brim("rules", "review", "accept"), "which note?")
    refused(brim("rules", "review", "list", "b-1"), "brim rules why b-1")
    refused(brim("rules", "review", "reject", "b-1", "--kind", "directive"), "review accept")
    refused(brim("rules", "review", "accept", "b-1", "--reason", "x"), "review reject")
    assert brim("rules", "review", "b-1").code == 2


# Corrections


def corrected(brim: Brim, *texts: str) -> Suggestions:
    """Let *texts* be corrections of this project that wait."""
    (brim.cwd / ".git").mkdir(exist_ok=True)
    (brim.home / ".brim").mkdir(exist_ok=True)
    found = Suggestions(str(brim.home / ".brim"))
    for text in texts:
        found.add(text, call="Bash: npm install", agent="claude", project=str(brim.cwd), time=0.0)
    return found


def test_corrections_are_listed_with_what_the_agent_did(brim: Brim) -> None:
    corrected(brim, "no, use pnpm here")
    ran = brim("rules", "review")
    assert (ran.code, "no, use pnpm here" in ran.out, "after Bash: npm install" in ran.out) == (
        0,
        True,
        True,
    )
    assert "--accept N" in ran.err
    assert [each["text"] for each in brim("rules", "review", "--json").json["corrections"]] == [
        "no, use pnpm here"
    ]
    assert "1 correction to review" in brim().out


def test_an_accepted_correction_is_a_rule_of_the_project(brim: Brim) -> None:
    kept = corrected(brim, "no, use pnpm here", "stop adding comments like that")
    assert brim("rules", "review", "--accept", "1", "--dismiss", "2").code == 0
    (made,) = everything(brim, "project")
    assert (made.canonical, made.provenance.wrong) == ("Use pnpm here", "Bash: npm install")
    assert kept.every() == []


def test_it_can_be_accepted_in_other_words_and_for_every_project(brim: Brim) -> None:
    corrected(brim, "no, use pnpm here")
    found = brim(
        "rules", "review", "--accept", "1", "--text", "Use pnpm, not npm", "--user", "--json"
    ).json
    assert [each["canonical"] for each in found["accepted"]] == ["Use pnpm, not npm"]
    assert [each.canonical for each in everything(brim)] == ["Use pnpm, not npm"]


def test_a_number_that_does_not_wait_changes_nothing(brim: Brim) -> None:
    kept = corrected(brim, "no, use pnpm here")
    refused(brim("rules", "review", "--accept", "1", "--dismiss", "7"), "no correction 7")
    refused(brim("rules", "review", "--text", "x"), "--accept N")
    refused(brim("rules", "review", "accept", "b-1", "--dismiss", "1"), "corrections")
    assert len(kept.every()) == 1
    assert everything(brim, "project") == []


def test_corrections_of_other_projects_are_only_counted(brim: Brim) -> None:
    corrected(brim).add("no, use yarn here", project="/elsewhere", time=0.0)
    ran = brim("rules", "review")
    assert (ran.out, "1 correction of other projects" in ran.err) == ("", True)


@pytest.mark.skipif(sys.platform == "win32", reason="no such terminals there")
@pytest.mark.parametrize(
    ("keys", "rules", "left"),
    [
        ("a", ["Use pnpm here"], 0),
        ("d", [], 0),
        ("l", [], 1),
        ("q", [], 1),
        ("y\na", ["Use pnpm here"], 0),
        ("eUse pnpm, not npm\n", ["Use pnpm, not npm"], 0),
    ],
)
def test_one_key_decides(brim: Brim, keys: str, rules: list[str], left: int) -> None:
    kept = corrected(brim, "no, use pnpm here")
    code, shown = asked(brim, keys, "rules", "review")
    assert (code, "[a/e/d/l/q]" in shown) == (0, True)
    assert [each.canonical for each in everything(brim, "project")] == rules
    assert len(kept.every()) == left
