"""``brim rules list`` finds what has been learned."""

from __future__ import annotations

import pytest

from brim.behaviors import RuleUsage
from tests.cli.conftest import Brim
from tests.cli.seeding import DAY, THEN, refused, rule, seed

UV = rule("b-1", name="use-uv", tags=("python",), kind="directive", created_at=THEN)
MAIN = rule(
    "b-2",
    "Never push to main.",
    name="no-push",
    kind="constraint",
    created_at=THEN + DAY,
    confidence=0.9,
)
NOTE = rule(
    "b-3",
    "The build needs make.",
    name="a-note",
    status="pending",
    usage=RuleUsage(injected=4),
    created_at=None,
)
GONE = rule("b-4", "Use tabs.", name="tabs", status="forgotten")


NUMBERS = ["told", "held", "obeyed", "overridden"]


def ids(brim: Brim, *options: str) -> list[str]:
    return [each["id"] for each in brim("rules", "list", *options, "--json").json["behaviors"]]


def test_what_is_live_is_listed_by_name(brim: Brim) -> None:
    seed(brim, UV, MAIN, NOTE, GONE)
    ran = brim("rules", "list")
    assert (ran.code, ran.err) == (0, "")
    head, *rows = ran.lines
    assert head.split() == ["kind", "status", *NUMBERS, "learned", "text"]
    assert ids(brim) == ["b-3", "b-2", "b-1"]
    assert rows[0].split()[:3] == ["directive", "pending", "4"]
    assert brim("rules").out == brim("rules", "list").out == ran.out


def test_columns_in_which_all_are_the_same_are_left_out(brim: Brim) -> None:
    seed(brim, UV)
    seed(brim, MAIN, scope="project")
    assert brim("rules", "list").lines[0].split() == ["kind", "scope", *NUMBERS, "learned", "text"]
    assert brim("rules", "list", "--scope", "user").lines[0].split() == [
        "kind",
        *NUMBERS,
        "learned",
        "text",
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("UV", ["b-1"]),
        ("python", ["b-1"]),
        ("push main", ["b-2"]),
        ("push pip", []),
        ("*note", ["b-3"]),
        ("not*", []),
        ("--kind constraint", ["b-2"]),
        ("--tag PYTHON", ["b-1"]),
        ("--tag python --tag other", []),
        ("--status forgotten", ["b-4"]),
        ("--status pending", ["b-3"]),
        ("--status superseded", []),
        ("--status all --sort used", ["b-3", "b-2", "b-4", "b-1"]),
        ("--sort new", ["b-2", "b-1", "b-3"]),
        ("--sort confidence", ["b-2", "b-3", "b-1"]),
        ("--scope project", []),
    ],
)
def test_patterns_and_options_narrow_the_list(
    brim: Brim, options: str, expected: list[str]
) -> None:
    seed(brim, UV, MAIN, NOTE, GONE)
    assert ids(brim, *options.split()) == expected
    assert brim("rules", "list", *options.split()).code == (0 if expected else 1)


def test_nothing_that_matches_is_said(brim: Brim) -> None:
    seed(brim, UV)
    refused(brim("rules", "list", "zebra"), "nothing matches", "1 rule", code=1)


def test_nothing_learned_yet_is_no_failure(brim: Brim) -> None:
    ran = brim("rules", "list")
    assert (ran.code, ran.out) == (0, "")
    assert "brim learn" in ran.err
    assert not (brim.home / ".brim").exists()
    assert brim("rules", "list", "--json").json == {"behaviors": []}


def test_a_pipe_gets_a_summary_on_one_line(brim: Brim) -> None:
    seed(brim, rule("b-1", "first\nsecond \x1b[31m" + "wide 规则 " * 60))
    row = brim("rules", "list").lines[1]
    assert "first" in row
    assert "\x1b" not in row
    assert len(brim("rules", "list").lines) == 2


def test_a_line_is_printed_where_only_ascii_is(brim: Brim) -> None:
    seed(brim, rule("b-1", "é" * 400))
    assert brim("rules", "list", env={"PYTHONIOENCODING": "ascii"}).code == 0


def test_unknown_choices_are_wrong_usage(brim: Brim) -> None:
    assert brim("rules", "list", "--kind", "law").code == 2
    assert brim("rules", "list", "--status", "dead").code == 2
