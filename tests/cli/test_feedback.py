"""``brim feedback``: what a person says about a behavior changes how it stands."""

from __future__ import annotations

from tests.cli.conftest import Brim
from tests.cli.seeding import events, refused, rule, seed, stored


def test_confirming_raises_the_confidence_and_counts(brim: Brim) -> None:
    seed(brim, rule("b-1", confidence=0.5))
    ran = brim("feedback", "b-1", "confirmed", "--note", "worked")
    assert (ran.code, ran.err) == (0, "")
    assert "confirmed 1, overridden 0, confidence 0.50 -> " in ran.out
    after = stored(brim, "b-1")
    assert after.confidence > 0.5
    assert (after.usage.confirmed, after.usage.overridden) == (1, 0)
    assert after.usage.last_used is not None
    assert events(brim, "b-1")[-1].kind == "confirmed"
    assert events(brim, "b-1")[-1].detail == {"note": "worked"}


def test_overriding_lowers_it_and_says_when_it_happens_often(brim: Brim) -> None:
    seed(brim, rule("b-1", confidence=0.5))
    assert brim("feedback", "b-1", "overridden").err == ""
    found = brim("feedback", "b-1", "overridden", "--json")
    assert found.json["usage"]["overridden"] == 2
    assert found.json["confidence"] < 0.5
    assert "brim rules edit b-1" in found.err


def test_what_is_not_live_cannot_have_been_of_use(brim: Brim) -> None:
    seed(brim, rule("b-1", status="forgotten"))
    refused(brim("feedback", "b-1", "confirmed"), "forgotten", "brim rules show b-1")


def test_another_verdict_is_wrong_usage(brim: Brim) -> None:
    seed(brim, rule("b-1"))
    assert brim("feedback", "b-1", "great").code == 2
    refused(brim("feedback", "b-9", "confirmed"), "'b-9'")
