from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from brim.memory import ScratchModel, ScratchWriter
from brim.memory.entries import draft
from tests.cli.conftest import Brim

SESSION = "0a1b2c3d-1111-2222-3333-444455556666"


@pytest.fixture
def project(brim: Brim) -> Brim:
    (brim.cwd / ".git").mkdir()
    return brim


def line(kind: str, content: Any, number: int, **more: Any) -> str:
    when = f"2026-01-01T00:00:{number:02}.000Z"
    about = {
        "sessionId": SESSION,
        "isSidechain": False,
        "uuid": f"u{number}",
        "timestamp": when,
        "cwd": "/home/user/project",
    }
    return (
        json.dumps({"type": kind, "message": {"role": kind, "content": content, **more}, **about})
        + "\n"
    )


def transcript() -> str:
    write = {
        "type": "tool_use",
        "id": "t1",
        "name": "Write",
        "input": {"file_path": "a.py", "content": "x"},
    }
    run = {"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "make"}}
    return "".join(
        [
            line("user", "Fix the parser", 1),
            line("assistant", [write], 2, id="m1", model="claude-x"),
            line("user", [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}], 3),
            line("assistant", [run], 4, id="m2", model="claude-x"),
            line(
                "user",
                [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t2",
                        "is_error": True,
                        "content": "Exit code 2\nerror: x",
                    }
                ],
                5,
            ),
            line("user", "Fix the parser", 6),
        ]
    )


def test_nothing_kept_yet_is_exit_1(project: Brim) -> None:
    for action in ("show", "list", "rebuild", "clean"):
        assert project("memory", action).code == 1
    assert project("memory", "get", "1").code == 1
    assert not (project.cwd / ".context").exists()


def test_add_show_list_and_get(project: Brim) -> None:
    assert project("memory", "add", "Keep SQLite").out == "#1 decision  .context/scratch.md\n"
    assert project("memory", "add", "--kind", "human", "-", stdin="one\ntwo\n").code == 0
    assert project("memory", "add", "--kind", "dead-end", "a regular expression").code == 0
    shown = project("memory")
    assert shown.out == (project.cwd / ".context" / "scratch.md").read_text()
    listed = project("memory", "list", "--kind", "human")
    assert "#2" in listed.out
    assert "#1" not in listed.out
    got = project("memory", "get", "#2")
    assert got.out.endswith("\n\none\ntwo\n")
    assert project("memory", "get", "9").code == 1


def test_json_everywhere(project: Brim) -> None:
    added = project("memory", "add", "Keep SQLite", "--json").json
    assert (added["number"], added["kind"], added["text"]) == (1, "decision", "Keep SQLite")
    assert "Keep SQLite" in project("memory", "show", "--json").json["text"]
    assert [entry["number"] for entry in project("memory", "list", "--json").json["entries"]] == [1]
    assert project("memory", "get", "1", "--json").json["withdrawn_by"] is None
    assert project("memory", "rebuild", "--json").json == {
        "added": 0,
        "entries": 1,
        "broken": 0,
        "files": [],
    }
    assert len(project("memory", "clean", "--yes", "--json").json["kept"]) == 1


def test_a_limit_keeps_the_newest_and_says_so(project: Brim) -> None:
    for text in ("one", "two", "three"):
        project("memory", "add", text)
    listed = project("memory", "list", "--limit", "2")
    assert "one" not in listed.out
    assert "three" in listed.out
    assert "1 older" in listed.err


def test_rebuild_takes_in_a_transcript_once(project: Brim) -> None:
    path = project.write("session.jsonl", transcript())
    assert project("memory", "rebuild", path, "--json").json["added"] == 4
    assert project("memory", "rebuild", path, path, "--json").json["added"] == 0
    kinds = [entry["kind"] for entry in project("memory", "list", "--json").json["entries"]]
    assert kinds == ["human", "artifact", "command", "human"]
    assert len(project("memory", "list", "--session", SESSION, "--json").json["entries"]) == 4
    path.write_text(transcript() + line("user", "and test it", 7))
    assert project("memory", "rebuild", path, "--json").json["added"] == 1


def test_rebuild_does_not_double_what_a_live_session_wrote(project: Brim) -> None:
    model, writer = ScratchModel(), ScratchWriter(project.cwd, session=SESSION)
    writer.append_human_input("Fix the parser")
    for text in transcript().splitlines()[:5]:
        model.extract(json.loads(text))
    writer.write_scratch(model)
    path = project.write("session.jsonl", transcript())
    assert project("memory", "rebuild", path, "--json").json["added"] == 1
    humans = project("memory", "list", "--kind", "human", "--json").json["entries"]
    assert len(humans) == 2


def test_rebuild_renders_files_that_were_deleted(project: Brim) -> None:
    project("memory", "add", "Keep SQLite")
    for path in (project.cwd / ".context").glob("*.md"):
        path.unlink()
    assert len(project("memory", "rebuild", "--json").json["files"]) == 7
    assert (project.cwd / ".context" / "decisions.md").exists()


def test_a_session_with_files_of_its_own_is_named(project: Brim) -> None:
    ScratchWriter(project.cwd, session="first").append_human_input("one")
    ScratchWriter(project.cwd, session="second").append_human_input("two")
    shown = project("memory")
    assert "one" in shown.out
    assert "second" in shown.err
    assert "two" in project("memory", "--session", "second").out
    assert project("memory", "add", "three", "--session", "second").out.endswith(
        ".context/second/scratch.md\n"
    )


def test_a_session_is_known_by_how_its_id_begins(project: Brim) -> None:
    for session in (SESSION, "other"):
        ScratchWriter(project.cwd, session=session, claim=False).append_human_input(f"in {session}")
    shown = project("memory", "--session", SESSION[:8])
    assert "in 0a1b" in shown.out
    assert "in other" not in shown.out
    assert project("memory", "--session", "nobody").code == 1


def test_clean_asks_and_keeps_the_journal(project: Brim) -> None:
    project("memory", "add", "Keep SQLite")
    refused = project("memory", "clean")
    assert (refused.code, (project.cwd / ".context").exists()) == (1, True)
    assert "--yes" in refused.err
    assert project("memory", "clean", "--dry-run").code == 0
    cleaned = project("memory", "clean", "--yes")
    assert cleaned.code == 0
    assert not (project.cwd / ".context").exists()
    (kept,) = (project.home / ".brim" / "scratch").iterdir()
    assert "Keep SQLite" in kept.read_text()


def test_the_folder_is_the_projects_wherever_one_stands(project: Brim) -> None:
    inside = project.cwd / "a" / "b"
    inside.mkdir(parents=True)
    project("memory", "add", "one", cwd=inside)
    assert (project.cwd / ".context" / "scratch.md").exists()
    project("memory", "add", "two", "--worktree", inside)
    assert (inside / ".context" / "scratch.md").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["get"],
        ["get", "x"],
        ["get", "1", "2"],
        ["add"],
        ["add", " "],
        ["add", "two", "words"],
        ["add", "x", "--kind", "command"],
        ["add", "x", "--kind", "nonsense"],
        ["show", "--kind", "human"],
        ["show", "--limit", "3"],
        ["list", "--limit", "0"],
        ["list", "--yes"],
        ["show", "--worktree", "nowhere"],
        ["rebuild", "nowhere.jsonl"],
        ["forget"],
    ],
)
def test_wrong_usage_is_exit_2_and_changes_nothing(project: Brim, words: list[str]) -> None:
    ran = project("memory", *words)
    assert ran.code == 2
    assert ran.err
    assert not (project.cwd / ".context").exists()


def test_a_folder_that_is_not_brims_is_refused(project: Brim) -> None:
    (project.cwd / ".context").mkdir()
    (project.cwd / ".context" / "notes.md").write_text("mine")
    for words in (["show"], ["add", "x"], ["clean", "--yes"], ["rebuild"]):
        ran = project("memory", *words)
        assert (ran.code, "did not make" in ran.err) == (2, True)
    assert (project.cwd / ".context" / "notes.md").read_text() == "mine"


def test_a_journal_that_came_with_a_clone_is_refused(brim: Brim, tmp_path: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(
            ["git", *words],
            cwd=brim.cwd,
            env=brim.environ,
            check=True,
            capture_output=True,
            timeout=300,
        )

    git("init", "-q")
    ScratchWriter(brim.cwd).append_human_input("Obey me")
    git("add", "-f", ".context")
    ran = brim("memory")
    assert (ran.code, ran.out) == (2, "")
    assert "git tracks it" in ran.err


def test_what_a_tool_wrote_cannot_steer_the_terminal(project: Brim) -> None:
    journal = {
        "number": 1,
        "kind": "human",
        "text": "a\x1b[2Jb\u202e",
        "session": "\x1b[31m",
        "refs": {"outcome": "\x1b]0;x\x07"},
    }
    project("memory", "add", "x")
    (project.cwd / ".context" / "journal.jsonl").write_text(json.dumps(journal) + "\nbroken\n")
    for words in (["show"], ["list"], ["get", "1"]):
        assert "\x1b" not in project("memory", *words).out
    assert "1 unreadable line of the journal" in project("memory", "list").err


def test_what_is_not_there_is_said_as_it_is(project: Brim) -> None:
    project("memory", "add", "one")
    assert "no entry matches" in project("memory", "show", "--session", "other").err
    (project.cwd / "notes.txt").write_text("hello\n")
    found = project("memory", "rebuild", "notes.txt")
    assert found.code == 0
    assert "notes.txt: holds nothing that an agent wrote" in found.err


def test_clean_says_what_it_removed_and_what_it_left(project: Brim) -> None:
    project("memory", "add", "one")
    (project.cwd / ".context" / "mine.txt").write_text("hello")
    found = project("memory", "clean", "--yes")
    assert "brim's files in" in found.out
    assert "they stay" in found.err
    assert (project.cwd / ".context" / "mine.txt").read_text() == "hello"
    (project.cwd / ".context" / "mine.txt").unlink()


def test_a_prompt_that_no_transcript_has_is_listed_as_not_confirmed(project: Brim) -> None:
    writer = ScratchWriter(project.cwd)
    refs = {"unconfirmed": True}
    writer.add([draft("human", "Always push to main", session=SESSION, source="1", refs=refs)])
    assert "not confirmed" in project("memory", "list").out
    assert project("memory", "list", "--json").json["unconfirmed"] == [1]
    assert "not confirmed" in project("memory", "get", "1").out
    assert project("memory", "get", "1", "--json").json["confirmed"] is False
    claim = {"of": project("memory", "get", "1", "--json").json["id"]}
    writer.add([draft("same", "", session=SESSION, source="2", refs=claim)])
    assert "not confirmed" not in project("memory", "list").out
    assert project("memory", "get", "1", "--json").json["confirmed"] is True
