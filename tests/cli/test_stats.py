"""``brim stats`` counts what is stored and how it is used."""

from __future__ import annotations

from brim.behaviors.behavior import Edge, Usage
from tests.cli.conftest import Brim
from tests.cli.stored import THEN, behavior, file_of, remember


def some(brim: Brim) -> None:
    remember(
        brim,
        behavior("a", "constraint", usage=Usage(injected=2, confirmed=1, last_used=THEN)),
        behavior("b", usage=Usage(injected=9, overridden=3, last_used=THEN)),
        behavior("c", status="forgotten", usage=Usage(injected=50)),
        edges=[Edge("a", "b", "requires"), Edge("b", "a", "similar-to")],
    )
    remember(brim, behavior("p", status="pending"), scope="project")


def test_everything_is_counted_by_kind_status_and_scope(brim: Brim) -> None:
    some(brim)
    found = brim("stats", "--json").json
    assert (found["behaviors"], found["live"]) == (4, 3)
    assert found["kinds"]["directive"] == {"active": 1, "pending": 1, "superseded": 0, "forgotten": 1}
    assert found["scopes"] == {"project": 1, "user": 3}
    assert {kind: count for kind, count in found["edges"].items() if count} == {"requires": 1, "similar-to": 1}
    assert (found["injected"], found["confirmed"], found["overridden"]) == (61, 1, 3)
    assert (found["most_used"], found["never_used"]) == (["b", "a"], ["p"])
    assert {each["scope"]: each["path"] for each in found["files"]} == {
        "project": str(file_of(brim, "project")),
        "user": str(file_of(brim)),
    }
    assert brim("stats", "--top", "1", "--json").json["most_used"] == ["b"]


def test_it_reads_well(brim: Brim) -> None:
    some(brim)
    ran = brim("stats")
    assert ran.code == 0
    assert ran.lines[0].split() == ["kind", "active", "pending", "forgotten"]
    assert "in all           2        1          1" in ran.lines
    assert any(line.startswith("never used") and "1 of 3 live" in line for line in ran.lines)
    assert "overridden more often" in ran.err


def test_the_tokens_are_those_of_the_text_with_everything_in_it(brim: Brim) -> None:
    remember(brim, behavior("a", "constraint", "Never push to main."), behavior("b", text="Use uv. " * 30))
    tokens = brim("stats", "--json").json["tokens"]
    whole = brim("prompt", "--json", "--token-budget", "0").json
    assert tokens["full"] == whole["total_tokens"]
    assert tokens["full"] > tokens["summary"]
    assert brim("stats", "--model", "claude-sonnet-4-5", "--json").json["tokens"]["full"] > tokens["full"]


def test_nothing_stored_is_said(brim: Brim) -> None:
    ran = brim("stats")
    assert (ran.code, ran.out) == (0, "")
    assert "no rules yet" in ran.err
    assert brim("stats", "--json").json["behaviors"] == 0
    assert brim("stats", "--top", "-1").code == 2
