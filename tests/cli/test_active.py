"""``brim active`` lists what matters here, the most important first."""

from __future__ import annotations

import re

from brim.behaviors.behavior import Edge
from tests.cli.conftest import Brim
from tests.cli.stored import behavior, remember


def some(brim: Brim) -> None:
    remember(
        brim,
        behavior("a", when={"language": "python", "task": "testing"}, tags=("pytest",)),
        behavior("b", "constraint"),
        behavior("c", when={"task": "deploying"}),
        behavior("far", when={"environment": "ci"}),
        behavior("go", when={"language": "go"}),
        edges=[Edge("b", "far", "similar-to", 0.1), Edge("b", "a", "requires", 1.0)],
    )


def test_each_line_says_how_much_in_what_detail_and_why(brim: Brim) -> None:
    some(brim)
    ran = brim("active", "--file", "src/app.py", "--prompt", "run pytest")
    assert ran.code == 0
    rows = [re.split(r"\s{2,}", line.strip()) for line in ran.lines[:-1]]
    assert rows[0] == ["activation", "tier", "kind", "why", "rule"]
    why = "language python, task testing, words pytest, #testing"
    assert rows[1][1:] == ["full", "directive", why, "The whole text of a."]
    assert (rows[2][1:3], rows[2][-1]) == (["full", "constraint"], "The whole text of b.")
    assert rows[2][3].endswith("requires name-a")
    assert len(rows) == 3
    assert ran.lines[-1] == "the situation: file src/app.py, language python, task testing"


def test_all_lists_also_what_is_not_told(brim: Brim) -> None:
    some(brim)
    few = brim("active", "--json").json["active"]
    assert [each["id"] for each in few] == ["b", "a"]
    every = brim("active", "--all", "--json").json["active"]
    assert [each["id"] for each in every] == ["b", "a", "far"]
    assert every[-1]["tier"] == "omitted"
    assert every[-1]["value"] < 0.1
    assert "--all" in brim("active").err


def test_the_json_has_the_fields_of_an_activation(brim: Brim) -> None:
    some(brim)
    found = brim("active", "--file", "app.go", "--set", "team=core", "--json").json
    assert found["context"] == {"file": ["app.go"], "language": ["go"], "team": ["core"]}
    first = found["active"][0]
    assert first == {
        "id": "go",
        "name": "name-go",
        "kind": "directive",
        "scope": "user",
        "tier": "full",
        "reasons": ["language go"],
        "value": first["value"],
    }
    assert 0.7 <= first["value"] <= 1


def test_branch_and_kind_of_project_are_found_by_looking(brim: Brim) -> None:
    brim.write(".git/HEAD", "ref: refs/heads/release\n")
    brim.write("go.mod", "module x\n")
    remember(brim, behavior("x", when={"branch": "release"}), behavior("y", when={"environment": "ci"}))
    found = brim("active", "--json", env={"CI": "true"}).json
    assert [each["id"] for each in found["active"]] == ["x", "y"]
    assert (found["context"]["branch"], found["context"]["project_type"]) == (["release"], ["go"])


def test_nothing_is_said_to_be_nothing(brim: Brim) -> None:
    ran = brim("active")
    assert (ran.code, ran.out) == (0, "")
    assert "brim learn" in ran.err
    remember(brim, behavior("x", when={"language": "go"}))
    ran = brim("active", "--file", "a.py")
    assert (ran.code, ran.out) == (0, "")
    assert "language python" in ran.err


def test_a_project_that_is_not_trusted_is_shown_and_said_to_be(brim: Brim) -> None:
    remember(brim, behavior("x"), scope="project")
    ran = brim("active")
    assert "The whole text of x." in ran.out
    assert "brim trust" in ran.err
