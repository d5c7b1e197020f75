"""``brim rules why`` shows what would go in at which tier, and why."""

from __future__ import annotations

import pytest

from brim.behaviors.behavior import Edge
from tests.cli.conftest import Brim
from tests.cli.stored import behavior, file_of, remember

LONG = (
    "It is said here once more, and in more words than it takes to say it, so that it costs something. "
    * 4
)


def some(brim: Brim) -> None:
    remember(
        brim,
        behavior(
            "a",
            text=f"First. {LONG}",
            summary="First.",
            when={"language": "python", "task": "testing"},
        ),
        behavior("b", text=f"Second. {LONG}", summary="Second.", when={"language": "python"}),
        behavior("c", "constraint", f"Never. {LONG}", summary="Never."),
        behavior("d", text=f"Away. {LONG}", summary="Away.", when={"environment": "ci"}),
        edges=[Edge("b", "d", "requires", 1.0)],
    )


HERE = ("--file", "a.py", "--task", "testing")


def test_each_row_says_how_much_which_tier_and_why(brim: Brim) -> None:
    some(brim)
    ran = brim("rules", "why", *HERE)
    assert (ran.code, ran.err) == (0, "")
    rows = [line.split() for line in ran.lines]
    assert rows[0] == ["activation", "tier", "tokens", "kind", "why", "rule"]
    assert [row[-1] for row in rows[1:5]] == ["First.", "Second.", "Away.", "Never."]
    assert rows[1][1] == "full"
    assert "task testing" in ran.lines[1]
    assert "language python" in ran.lines[1]
    assert "requires name-b" in ran.lines[3]
    assert rows[4][:4] == ["0.50", "summary", "→", "full"]
    assert "always; promoted into spare budget" in ran.lines[4]
    assert "of 2,000 tokens, exact for o200k_base" in ran.out


def test_without_a_situation_it_says_what_comes_later_and_when(brim: Brim) -> None:
    remember(
        brim,
        behavior("now", text="Answer in English."),
        behavior("tests", text="Run the tests first."),
        behavior("go", text="Wrap errors.", when={"language": "go"}),
        behavior("old", text="Run the linter.", status="forgotten"),
    )
    ran = brim("rules", "why")
    assert (ran.code, ran.err) == (0, "")
    told, _, later = ran.out.partition("2 more rules wait for the right moment:")
    assert "Answer in English." in told
    assert [line.split("  ")[0] for line in later.strip().splitlines()[1:]] == [
        "Wrap errors.",
        "Run the tests first.",
    ]
    assert "only when they work on Go files" in later
    assert "when the task is testing" in later
    found = brim("rules", "why", "--json").json
    assert [each["id"] for each in found["waiting"]] == ["go", "tests"]
    assert "wait" not in brim("rules", "why", "--prompt", "hello").out
    assert brim("rules", "why", "--prompt", "hello", "--json").json["waiting"] == []


def test_if_every_rule_comes_later_it_says_so(brim: Brim) -> None:
    remember(brim, behavior("tests", text="Run the tests first."))
    ran = brim("rules", "why")
    assert ran.code == 0
    assert "1 more rule waits" in ran.out
    assert "no rule applies here" in ran.err


def test_what_gave_way_shows_both_tiers(brim: Brim) -> None:
    some(brim)
    ran = brim("rules", "why", *HERE, "--token-budget", "140")
    assert ran.code == 0
    assert "full → summary" in ran.out
    assert "cut from full: over budget" in ran.out
    assert "cut or left out to fit 140 tokens" in ran.out
    ascii_only = brim(
        "rules", "why", *HERE, "--token-budget", "140", env={"PYTHONIOENCODING": "ascii"}
    )
    assert "full -> summary" in ascii_only.out


def test_the_json_has_the_fields_of_a_plan(brim: Brim) -> None:
    some(brim)
    found = brim("rules", "why", *HERE, "--token-budget", "140", "--json").json
    assert [item["id"] for item in found["items"]] == ["a", "b", "d", "c"]
    assert sorted(found["full"] + found["summarized"] + found["name_only"] + found["omitted"]) == [
        "a",
        "b",
        "c",
        "d",
    ]
    assert found["total_tokens"] <= found["token_budget"] == 140
    assert found["context"] == {"file": ["a.py"], "task": ["testing"], "language": ["python"]}
    cut = [item for item in found["items"] if item["tier"] != item["mapped"]]
    assert cut
    assert all("over budget" in item["reason"] for item in cut)


def test_constraints_that_are_too_much_give_way_and_end_with_1(brim: Brim) -> None:
    some(brim)
    ran = brim("rules", "why", *HERE, "--token-budget", "3")
    assert (ran.code, ran.err) == (1, "")
    assert "summary → omitted" in ran.lines[4]
    assert "4 of 4 were cut or left out to fit 3 tokens" in ran.out
    found = brim("rules", "why", *HERE, "--token-budget", "3", "--json").json
    assert (found["over_budget"], found["total_tokens"], len(found["omitted"])) == (False, 0, 4)


@pytest.mark.parametrize("budget", ["-5", "2k", "1..", "0..100"])
def test_a_budget_that_is_none_is_wrong_usage(brim: Brim, budget: str) -> None:
    some(brim)
    ran = brim("rules", "why", f"--token-budget={budget}")
    assert (ran.code, ran.out) == (2, "")
    assert "--token-budget" in ran.err


def test_spare_budget_is_filled_unless_it_is_switched_off(brim: Brim) -> None:
    some(brim)
    assert "c" in brim("rules", "why", *HERE, "--json").json["full"]
    env = {"BRIM_INJECTION_FILL": "false"}
    assert "c" in brim("rules", "why", *HERE, "--json", env=env).json["summarized"]


def test_thresholds_come_from_the_settings(brim: Brim) -> None:
    some(brim)
    assert "b" in brim("rules", "why", *HERE, "--json").json["full"]
    brim.configure(user="tiers:\n  full: 0.95\ninjection:\n  fill: false\n")
    assert "b" in brim("rules", "why", *HERE, "--json").json["summarized"]


def test_a_plan_records_nothing(brim: Brim) -> None:
    some(brim)
    before = file_of(brim).read_bytes()
    assert brim("rules", "why", *HERE).code == 0
    assert file_of(brim).read_bytes() == before


def test_only_what_is_live_is_planned(brim: Brim) -> None:
    remember(
        brim,
        behavior("x", status="forgotten"),
        behavior("y", status="superseded", superseded_by="x"),
    )
    ran = brim("rules", "why")
    assert (ran.code, ran.out) == (0, "")
    assert "no rule applies here" in ran.err
