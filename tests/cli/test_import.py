"""``brim rules import`` shows the difference, asks, and stores it at once; nothing that is here is
lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from brim.behaviors.behavior import Edge, RuleUsage
from tests.cli.conftest import COMMAND, Brim
from tests.cli.stored import (
    THEN,
    behavior,
    edges_in,
    events_in,
    file_of,
    recalled,
    remember,
    write_rules,
)

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")


def line(id: str, text: str = "", **fields: Any) -> str:
    given = {
        "id": id,
        "name": f"name-{id}",
        "kind": "directive",
        "canonical": text or f"The whole text of {id}.",
    }
    return json.dumps({**given, **fields}) + "\n"


def test_what_is_exported_comes_back_the_same_elsewhere(brim: Brim) -> None:
    remember(
        brim,
        behavior(
            "a",
            "constraint",
            "Never\n\tpush.",
            tags=("git",),
            when={"language": "python"},
            priority=2,
        ),
        behavior("b", variants=("Other.",), extra='{"k":1}'),
        edges=[Edge("a", "b", "requires", 0.5, created_at=THEN)],
    )
    write_rules(brim, brim.cwd / "f.jsonl")
    (brim.cwd / ".git").mkdir()
    ran = brim("rules", "import", "f.jsonl", "--yes")
    assert (ran.code, ran.lines[0]) == (0, "f.jsonl: 2 added; connections: 1 added")
    assert ran.lines[-1] == "stored: 2 rules added, 1 connection"
    mine, theirs = recalled(brim), recalled(brim, "project")
    assert {
        id: replace(each, scope="user", provenance=mine[id].provenance)
        for id, each in theirs.items()
    } == mine
    assert edges_in(brim, "project") == edges_in(brim)
    assert [event.detail["file"] for event in events_in(brim, "imported", "project")] == [
        "f.jsonl"
    ] * 2


def test_importing_again_changes_nothing(brim: Brim) -> None:
    text = (
        line("a")
        + line("b", tags=["x"])
        + json.dumps({"source": "a", "kind": "requires", "target": "b"})
    )
    assert brim("rules", "import", "-", "--yes", stdin=text).code == 0
    before = recalled(brim), edges_in(brim), len(events_in(brim, "imported"))
    ran = brim("rules", "import", "-", stdin=text)
    assert (ran.code, ran.out) == (
        0,
        "standard input: 2 the same; connections: 1 the same\nthere is nothing to store\n",
    )
    assert (recalled(brim), edges_in(brim), len(events_in(brim, "imported"))) == before


def test_a_change_shows_each_field_and_loses_no_text(brim: Brim) -> None:
    used = RuleUsage(injected=5, confirmed=1, last_used=THEN)
    remember(
        brim,
        behavior(
            "a", text="Old text.", tags=("x",), usage=used, confidence=0.9, variants=("Older.",)
        ),
    )
    text = line("a", "New text.", tags=["x", "y"], confidence=0.5)
    ran = brim("rules", "import", "-", "--yes", stdin=text)
    assert ran.code == 0
    assert "  New text.\n" in ran.out
    assert "before, it said:\n    Old text.\n" in ran.out
    assert "tags: x → x, y" in ran.out
    found = recalled(brim)["a"]
    assert (found.canonical, found.tags, set(found.variants)) == (
        "New text.",
        ("x", "y"),
        {"Older.", "Old text."},
    )
    assert (found.usage, found.confidence, found.created_at) == (used, 0.9, THEN)
    assert events_in(brim, "imported")[0].detail["before"]["tags"] == ["x"]
    assert brim("rules", "import", "-", stdin=text).lines[0] == "standard input: 1 the same"


def test_what_is_not_in_the_file_stays(brim: Brim) -> None:
    remember(brim, behavior("a"), behavior("b"), edges=[Edge("a", "b", "requires")])
    brim("rules", "import", "-", "--yes", stdin=line("c"))
    assert sorted(recalled(brim)) == ["a", "b", "c"]
    assert len(edges_in(brim)) == 1


def test_what_was_forgotten_here_stays_forgotten_and_is_told(brim: Brim) -> None:
    remember(brim, behavior("a", status="forgotten"), behavior("b"))
    ran = brim(
        "rules",
        "import",
        "-",
        "--yes",
        stdin=line("a", tags=["new"]) + line("b", status="forgotten"),
    )
    assert "stays so: brim rules restore a" in ran.err
    found = recalled(brim)
    assert (found["a"].status.value, found["a"].tags, found["b"].status.value) == (
        "forgotten",
        ("new",),
        "forgotten",
    )


def test_a_constraint_of_ones_own_is_not_changed_by_a_project(brim: Brim) -> None:
    remember(brim, behavior("a", "constraint", "Never push."))
    (brim.cwd / ".git").mkdir()
    ran = brim("rules", "import", "-", "--yes", stdin=line("a", "Always push."))
    assert ran.code == 0
    assert "constraint of your own" in ran.err
    assert recalled(brim)["a"].canonical == "Never push."
    assert brim("rules", "why", "a", "--json").json["rule"]["canonical"] == "Never push."


def test_lines_that_cannot_be_read_are_listed_and_the_others_used(brim: Brim) -> None:
    text = (
        "{\n"
        + line("a")
        + "<<<<<<< HEAD\n"
        + line("b", kind="wrong")
        + line("c", "")
        + line("a", "Later.")
        + "[1]\n"
    )
    text += (
        line("d").replace("The whole", "  ").replace("text of d.", "")
        + '{"source":"a","target":"gone","kind":"requires"}'
    )
    ran = brim("rules", "import", "-", "--yes", stdin=text)
    assert ran.code == 1
    for number, why in (
        (1, "not JSON"),
        (2, "line 6"),
        (3, "conflict"),
        (4, "unknown kind"),
        (7, "object"),
        (8, "empty"),
    ):
        assert any(
            f"standard input:{number}: " in told and why in told for told in ran.err.splitlines()
        ), number
    assert "a requires gone" in ran.err
    found = recalled(brim)
    assert (sorted(found), found["a"].canonical, edges_in(brim)) == (["a", "c"], "Later.", [])


def test_nothing_is_stored_unless_somebody_says_so(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    brim.write("f.jsonl", line("a"))
    for flag, code in (("--dry-run", 0), ("--json", 1)):
        assert brim("rules", "import", "f.jsonl", flag).code == code
    ran = brim("rules", "import", "f.jsonl")
    assert (ran.code, "--yes" in ran.err) == (1, True)
    assert not (brim.cwd / ".brim").exists()
    assert not (brim.home / ".brim").exists()


@posix
@pytest.mark.parametrize(("typed", "code"), [(b"y\n", 0), (b"n\n", 1), (b"\n", 1)])
def test_a_person_is_asked(brim: Brim, typed: bytes, code: int) -> None:
    import pty

    brim.write("f.jsonl", line("a"))
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, "rules", "import", "f.jsonl"],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=brim.environ,
        cwd=brim.cwd,
    )
    os.close(theirs)
    os.write(ours, typed)
    out, _ = process.communicate(timeout=300)
    os.close(ours)
    assert (process.returncode, b"name-a" in out) == (code, True)
    assert file_of(brim).exists() is (code == 0)


@posix
def test_what_changed_while_the_question_stood_is_not_overwritten(brim: Brim) -> None:
    import pty

    remember(brim, behavior("a"))
    brim.write("f.jsonl", line("a", "New."))
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, "rules", "import", "f.jsonl"],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=brim.environ,
        cwd=brim.cwd,
    )
    os.close(theirs)
    said = b""
    while b"[y/N]" not in said:
        said += os.read(ours, 4096)
    remember(brim, behavior("a", text="Changed meanwhile."))
    os.write(ours, b"y\n")
    process.communicate(timeout=300)
    os.close(ours)
    assert process.returncode == 2
    assert recalled(brim)["a"].canonical == "Changed meanwhile."


def test_two_processes_may_import_the_same_at_once(brim: Brim) -> None:
    brim.write("f.jsonl", "".join(line(f"b{number}") for number in range(20)))
    both = [
        brim.start(
            "rules",
            "import",
            "f.jsonl",
            "--yes",
            fork=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    errors = [process.communicate(timeout=300)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], errors
    assert len(recalled(brim)) == 20


def test_the_json_says_what_is_different(brim: Brim) -> None:
    remember(brim, behavior("a", text="Old."))
    ran = brim(
        "rules", "import", "-", "--json", "--yes", stdin=line("a", "New.") + line("b") + "{\n"
    )
    found = ran.json
    assert (ran.code, found["stored"], found["scope"]) == (1, True, "user")
    assert [each["id"] for each in found["added"]] == ["b"]
    assert found["changed"][0]["fields"]["canonical"] == {"old": "Old.", "new": "New."}
    assert [(each["line"], each["text"]) for each in found["problems"]] == [(3, "{")]


def test_an_edge_that_is_there_the_other_way_round_is_the_same(brim: Brim) -> None:
    remember(brim, behavior("a"), behavior("b"), edges=[Edge("a", "b", "similar-to", 0.5)])
    mirrored = json.dumps({"source": "b", "kind": "similar-to", "target": "a", "weight": 0.9})
    assert brim("rules", "import", "-", "--yes", stdin=mirrored).code == 0
    assert [(edge.source, edge.target, edge.weight) for edge in edges_in(brim)] == [("a", "b", 0.9)]


def test_secrets_and_control_characters_do_no_harm(brim: Brim) -> None:
    secret = "ghp_" + "a1B2" * 9
    text = line("a", f"Use \x1b[31m {secret} \x00 \ud800 here.", tags=["x"])
    ran = brim("rules", "import", "-", "--yes", stdin=text)
    assert (ran.code, "\x1b" in ran.out, secret in ran.out) == (0, False, False)
    assert secret not in recalled(brim)["a"].canonical
    assert brim("rules", "import", "-", stdin=text).lines[0] == "standard input: 1 the same"


def test_a_text_may_have_a_megabyte_but_not_more(brim: Brim) -> None:
    ran = brim(
        "rules",
        "import",
        "-",
        "--yes",
        stdin=line("a", "word " * 199_999) + line("b", "x" * 1_000_001),
    )
    assert (ran.code, sorted(recalled(brim))) == (1, ["a"])
    assert "1,000,001 characters" in ran.err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "holds no rules"),
        (b'{"format":"brim-behaviors","version":99}\n', "upgrade brim"),
        (b"\x89PNG\x00", "binary"),
        (b"\xff\xfe", "UTF-8"),
    ],
    ids=["empty", "newer", "binary", "no utf-8"],
)
def test_a_file_that_holds_no_behaviors_is_said_to(brim: Brim, content: bytes, words: str) -> None:
    brim.write("f.jsonl", content)
    ran = brim("rules", "import", "f.jsonl", "--yes")
    assert ran.code == (0 if not content else 2)
    assert words in ran.out + ran.err


def test_without_a_file_the_projects_own_is_read(brim: Brim) -> None:
    assert "no file with rules is here" in brim("rules", "import").err
    brim.write(".brim/behaviors.jsonl", line("a"))
    ran = brim("rules", "import", "--yes")
    assert (ran.code, ran.lines[0]) == (0, ".brim/behaviors.jsonl: 1 added")
    assert "isn't trusted" in ran.err
    assert sorted(recalled(brim, "project")) == ["a"]


def test_a_store_that_cannot_be_used_is_left_as_it_is(brim: Brim) -> None:
    path = file_of(brim)
    path.parent.mkdir()
    path.write_bytes(b"no database at all, but long enough to be one" * 20)
    before = path.read_bytes()
    ran = brim("rules", "import", "-", "--yes", stdin=line("a"))
    assert (ran.code, "damaged" in ran.err, path.read_bytes()) == (2, True, before)


def test_rules_that_came_with_a_clone_or_a_pull_are_said_to_wait(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    brim.write(".brim/behaviors.jsonl", line("a") + line("b"))
    said = "2 rules in .brim/behaviors.jsonl are new or changed"
    assert brim("rules").err.splitlines() == [f"brim: {said}: brim rules import"]
    assert {"text": said, "fix": "brim rules import"} in brim("--json").json["attention"]
    assert f"{said}: brim rules import" in brim("doctor").out
    assert (
        f"{said}: agents don't hear that before 'brim rules import'"
        in brim("rules", "trust", "--yes").out
    )
    brim("rules", "import", "--yes")
    for words in (("rules",), (), ("doctor",), ("rules", "trust")):
        assert "behaviors.jsonl" not in brim(*words).out + brim(*words).err
    brim.write(".brim/behaviors.jsonl", line("a", "Another text.") + line("b"))
    assert "1 rule in .brim/behaviors.jsonl is new or changed" in brim("rules").err


@posix
def test_what_was_changed_or_removed_here_since_is_not_said_to_wait(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    path = brim.write(".brim/behaviors.jsonl", line("a") + line("b"))
    os.utime(path, (THEN, THEN))
    brim("rules", "import", "--yes")
    brim.environ["EDITOR"] = "sed -i.old s/whole/other/"
    brim("rules", "edit", "name-a")
    brim("rules", "remove", "name-b")
    ran = brim("rules")
    assert ("The other text of a." in ran.out, ran.err) == (True, "")


def test_a_shared_file_that_cannot_be_read_stops_nothing(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    brim.write(".brim/behaviors.jsonl", "<<<<<<< HEAD\n")
    assert "has lines that can't be read: brim rules import" in brim("rules").err
    brim.write(".brim/behaviors.jsonl", b"\xff\xfe")
    ran = brim("rules")
    assert (ran.code, "can't be read: brim rules import" in ran.err) == (0, True)
