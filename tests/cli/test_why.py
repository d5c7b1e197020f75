"""``brim rules why`` gives the account of one behavior, and what becomes of it."""

from __future__ import annotations

import pytest

from brim.behaviors.behavior import Edge
from tests.cli.conftest import Brim
from tests.cli.stored import behavior, remember

LONG = (
    "It is said here once more, and in more words than it takes to say it, so that it costs something. "
    * 4
)


def some(brim: Brim) -> None:
    remember(
        brim,
        behavior("b-uv", text=LONG, summary="Use uv.", when={"language": "python"}),
        behavior("b-ci", when={"environment": "ci"}),
        behavior("b-rule", "constraint"),
        behavior("b-old", status="superseded", superseded_by="b-uv"),
        behavior("b-gone", status="forgotten"),
        behavior("b-note", status="pending", when={"language": "python"}),
        edges=[Edge("b-uv", "b-ci", "requires", 1.0)],
    )


def test_the_account_ends_with_the_tier(brim: Brim) -> None:
    some(brim)
    ran = brim("rules", "why", "name-b-uv", "--file", "a.py")
    assert (ran.code, ran.err) == (0, "")
    assert "name-b-uv (b-uv): in: confirmed by language" in ran.lines
    assert ran.lines[-2].split(maxsplit=1) == ["tier", "full: activation 0.94 is at least 0.7"]
    assert ran.lines[-1].split(maxsplit=1) == ["planned", "full within 2,000 tokens"]


def test_what_the_budget_cuts_is_said(brim: Brim) -> None:
    some(brim)
    ran = brim("rules", "why", "b-uv", "--file", "a.py", "--token-budget", "40")
    assert "within 40 tokens" in ran.lines[-1]
    assert "over budget" in ran.lines[-1]
    found = brim("rules", "why", "b-uv", "--file", "a.py", "--token-budget", "40", "--json").json
    assert found["tier"] == "full"
    assert (found["planned"]["tier"], found["planned"]["token_budget"]) == ("summary", 40)


@pytest.mark.parametrize(
    ("id", "reason"),
    [
        ("b-old", "superseded by name-b-uv (b-uv)"),
        ("b-gone", "forgotten"),
        ("b-uv", "contradicts language"),
        ("b-ci", "nothing here says that it applies"),
    ],
)
def test_what_is_out_says_why(brim: Brim, id: str, reason: str) -> None:
    some(brim)
    ran = brim("rules", "why", id, "--language", "go")
    assert ran.code == 0
    assert reason in ran.out
    found = brim("rules", "why", id, "--language", "go", "--json").json
    assert (found["id"], found["value"], found["tier"], found["planned"]) == (
        id,
        0.0,
        "omitted",
        None,
    )
    assert reason in found["outcome"]
    assert found["context"] == {"language": ["go"]}


def test_under_the_threshold_is_said(brim: Brim) -> None:
    some(brim)
    found = brim(
        "rules", "why", "b-uv", "--file", "a.py", "--json", env={"BRIM_TIERS_FULL": "0.95"}
    ).json
    assert (found["tier"], found["reason"]) == ("summary", "activation 0.94 is at least 0.3")
    env = {"BRIM_TIERS_FULL": "0.99", "BRIM_TIERS_SUMMARY": "0.98", "BRIM_TIERS_NAME_ONLY": "0.97"}
    found = brim("rules", "why", "b-uv", "--file", "a.py", "--json", env=env).json
    assert (found["tier"], found["reason"]) == ("omitted", "activation 0.94 is under 0.97")
    found = brim("rules", "why", "b-rule", "--json", env=env).json
    assert (found["tier"], found["reason"]) == (
        "summary",
        "activation 0.50; a constraint is never below summary",
    )


def test_an_unconfirmed_note_is_at_most_a_summary(brim: Brim) -> None:
    some(brim)
    found = brim("rules", "why", "b-note", "--file", "a.py", "--json").json
    assert (found["tier"], found["status"]) == ("summary", "pending")
    assert "not confirmed yet" in found["reason"]


@pytest.mark.parametrize("id", ["nobody", "b-", "", "\x1b[2J"])
def test_an_id_that_means_none_or_several_is_refused(brim: Brim, id: str) -> None:
    some(brim)
    ran = brim("rules", "why", id)
    assert (ran.code, ran.out) == (2, "")
    assert "\x1b" not in ran.err
    assert any(
        words in ran.err for words in ("brim rules", "brim rules list", "may mean", "did you mean")
    )
