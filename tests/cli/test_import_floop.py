"""``brim rules import`` brings over what floop has learned, once, and lists what it could not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.conftest import Brim
from tests.cli.stored import edges_in, recalled

TIME = "2026-01-29T20:22:55-08:00"


def node(id: str, scope: str = "", kind: str = "behavior", **content: Any) -> dict[str, Any]:
    return {
        "id": id,
        "kind": kind,
        "content": {
            "name": f"learned/{id}",
            "kind": "directive",
            "when": {"language": "go"},
            "content": {"canonical": f"The text of {id}.", "expanded": "More.", "tags": ["go"]},
            "provenance": {"source_type": "learned", "created_at": TIME},
            **content,
        },
        "metadata": {
            "confidence": 0.8,
            "priority": 1,
            "scope": scope,
            "stats": {"times_activated": 4},
        },
    }


def edge(source: str, target: str, kind: str, weight: float = 0) -> dict[str, Any]:
    return {"source": source, "target": target, "kind": kind, "weight": weight, "created_at": TIME}


def folder(brim: Brim, *, name: str = ".floop", broken: str = "") -> None:
    nodes = [
        node("l", "local"),
        node("g", "global"),
        node("n"),
        node("f", "local", "forgotten-behavior"),
    ]
    edges = [
        edge("l", "g", "requires"),
        edge("l", "n", "similar-to", 0.5),
        edge("n", "l", "similar-to", 0.7),
    ]
    edges.append(edge("l", "gone", "requires"))
    for file, records in (("nodes", nodes), ("edges", edges)):
        brim.write(
            f"{name}/{file}.jsonl", "".join(json.dumps(each) + "\n" for each in records) + broken
        )


def test_everything_goes_where_its_scope_says(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    folder(brim)
    ran = brim("rules", "import", ".", "--yes")
    assert ran.code == 0
    assert ran.lines[0] == ".floop holds 4 rules, 3 connections"
    assert ran.lines[-1] == "stored: 4 rules added, 2 connections"
    theirs, mine = recalled(brim, "project"), recalled(brim)
    assert (sorted(theirs), sorted(mine)) == (["f", "l", "n"], ["g"])
    assert (mine["g"].usage.injected, mine["g"].provenance.source, mine["g"].tags) == (
        4,
        "floop",
        ("go",),
    )
    assert theirs["f"].status.value == "forgotten"
    assert [(each.source, each.kind.value, each.weight) for each in edges_in(brim, "project")] == [
        ("l", "requires", 1.0),
        ("l", "similar-to", 0.7),
    ]
    assert brim("rules", "audit").code == 0


def test_doing_it_twice_changes_nothing_the_second_time(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    folder(brim)
    brim("rules", "import", ".floop", "--yes")
    before = recalled(brim), recalled(brim, "project"), edges_in(brim, "project")
    ran = brim("rules", "import", ".", "--yes")
    assert (ran.code, ran.lines[-1]) == (0, "there is nothing new to store")
    assert (recalled(brim), recalled(brim, "project"), edges_in(brim, "project")) == before


def test_without_a_project_all_goes_to_the_user_and_that_is_said(brim: Brim) -> None:
    folder(brim)
    ran = brim("rules", "import", ".", "--yes")
    assert ran.code == 0
    assert "not in a project" in ran.err
    assert set(recalled(brim)) == {"l", "g", "n", "f"}


def test_what_belongs_to_every_project_is_read_from_the_home_folder(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    path = brim.home / ".floop" / "nodes.jsonl"
    path.parent.mkdir()
    path.write_text(json.dumps(node("n")))
    assert brim("rules", "import", brim.home, "--yes").code == 0
    assert list(recalled(brim)) == ["n"]


def test_what_could_not_be_brought_over_is_listed(brim: Brim) -> None:
    folder(brim, broken="{oops\n")
    ran = brim("rules", "import", ".", "--dry-run")
    assert ran.code == 0
    assert "edges.jsonl:4: edge l requires gone: there is no behavior gone" in ran.err
    assert "nodes.jsonl:5: " in ran.err
    found = brim("rules", "import", ".", "--dry-run", "--json").json
    assert [each["text"] for each in found["unmapped"] if each["file"] == "nodes.jsonl"] == [
        "{oops"
    ]
    assert (found["stored"], (brim.home / ".brim").exists()) == (False, False)


def test_nothing_is_stored_unasked(brim: Brim) -> None:
    folder(brim)
    ran = brim("rules", "import", ".")
    assert (ran.code, "--yes" in ran.err, (brim.home / ".brim").exists()) == (1, True, False)


@pytest.mark.parametrize("file", ["nodes", "edges"])
def test_any_of_the_files_is_enough(brim: Brim, file: str) -> None:
    folder(brim, name="all")
    brim.write(f"one/{file}.jsonl", (brim.cwd / "all" / f"{file}.jsonl").read_bytes())
    assert brim("rules", "import", "one", "--yes").code == 0


def test_a_line_that_is_no_text_is_listed_and_the_others_read(brim: Brim) -> None:
    brim.write("f/nodes.jsonl", json.dumps(node("a")).encode() + b"\n\xff\xfe\x00\n")
    ran = brim("rules", "import", "f", "--yes")
    assert (ran.code, list(recalled(brim))) == (0, ["a"])
    assert "nodes.jsonl:2" in ran.err


def test_a_folder_without_such_files_is_refused(brim: Brim) -> None:
    (brim.cwd / "empty").mkdir()
    assert "no file with rules is here" in brim("rules", "import", "empty").err
    assert "gone" in brim("rules", "import", "gone").err
    assert brim("rules", "import", "gone").code == 2


def test_connections_that_are_there_both_ways_are_said_to_be_kept_as_one(brim: Brim) -> None:
    path = brim.cwd / ".floop"
    path.mkdir()
    (path / "nodes.jsonl").write_text("\n".join(json.dumps(node(id)) for id in ("a", "b")))
    ways = [
        {"source": s, "target": t, "kind": "similar-to", "weight": 0.5}
        for s, t in (("a", "b"), ("b", "a"))
    ]
    dangling = {"source": "a", "target": "gone", "kind": "similar-to", "weight": 1}
    (path / "edges.jsonl").write_text("\n".join(json.dumps(edge) for edge in (*ways, dangling)))
    ran = brim("rules", "import", ".", "--yes")
    assert (ran.code, len(edges_in(brim))) == (0, 1)
    assert "1 connection in floop's files twice, once each way: kept as one each" in ran.err
    again = brim("rules", "import", ".", "--yes")
    assert (again.code, again.lines[-1]) == (0, "there is nothing new to store")


def test_rules_of_other_projects_in_the_home_folder_stay_there(brim: Brim) -> None:
    brim.write(".git/config", '[remote "origin"]\n\turl = git@example.com:acme/shop.git\n')
    (brim.home / ".floop").mkdir()
    nodes = [
        node("mine", "project:acme/shop"),
        node("theirs", "project:acme/other"),
        node("all", "universal"),
    ]
    (brim.home / ".floop" / "nodes.jsonl").write_text(
        "".join(json.dumps(each) + "\n" for each in nodes)
    )
    ran = brim("rules", "import", str(brim.home / ".floop"), "--yes")
    assert (sorted(recalled(brim, "project")), sorted(recalled(brim))) == (["mine"], ["all"])
    assert "belongs to the project acme/other" in ran.err
