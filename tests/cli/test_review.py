"""``brim review``: what an agent noted counts when a person says so."""

from __future__ import annotations

from brim.behaviors import Provenance
from tests.cli.conftest import Brim
from tests.cli.seeding import events, refused, rule, seed, stored

NOTE = rule("b-1", "The build needs make.", name="note", status="pending", provenance=Provenance("agent"))


def test_notes_that_wait_are_listed(brim: Brim) -> None:
    seed(brim, NOTE, rule("b-2"))
    ran = brim("review")
    assert (ran.code, ran.err) == (0, "")
    assert ran.lines[-1] == "  The build needs make."
    assert [each["id"] for each in brim("review", "list", "--json").json["pending"]] == ["b-1"]


def test_nothing_to_review_is_no_failure(brim: Brim) -> None:
    ran = brim("review")
    assert (ran.code, ran.out) == (0, "")
    assert "no note" in ran.err


def test_an_accepted_note_is_active_as_the_kind_that_was_said(brim: Brim) -> None:
    seed(brim, NOTE)
    assert brim("review", "accept", "note", "--kind", "constraint").code == 0
    assert (stored(brim, "b-1").status, stored(brim, "b-1").kind) == ("active", "constraint")
    assert stored(brim, "b-1").provenance.source == "agent"
    assert events(brim, "b-1")[-1].kind == "accepted"


def test_a_rejected_note_is_put_away_and_can_come_back_as_a_note(brim: Brim) -> None:
    seed(brim, NOTE)
    found = brim("review", "reject", "b-1", "--reason", "not so", "--json").json
    assert [each["status"] for each in found["rejected"]] == ["forgotten"]
    assert events(brim, "b-1")[-1].detail["reason"] == "not so"
    brim("unforget", "b-1")
    assert stored(brim, "b-1").status == "pending"


def test_what_does_not_wait_is_not_decided_and_nothing_changes(brim: Brim) -> None:
    seed(brim, NOTE, rule("b-2"))
    refused(brim("review", "reject", "b-1", "b-2"), "name-b-2", "active", "nothing was changed")
    assert stored(brim, "b-1").status == "pending"


def test_wrong_usage_says_what_is_missing(brim: Brim) -> None:
    refused(brim("review", "accept"), "which note?")
    refused(brim("review", "list", "b-1"), "brim rules show b-1")
    refused(brim("review", "reject", "b-1", "--kind", "directive"), "review accept")
    refused(brim("review", "accept", "b-1", "--reason", "x"), "review reject")
    assert brim("review", "b-1").code == 2
