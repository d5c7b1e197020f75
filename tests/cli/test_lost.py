"""``brim memory lost``: which session is meant, what is shown, and the text to paste."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Brim
from tests.sessions.report.compacted import ClaudeSession

ONE = "4f1c2a90-b0c0-4396-a084-8ec7e7627d5b"
TWO = "4f1d0000-b0c0-4396-a084-8ec7e7627d5b"


def session(
    brim: Brim,
    id: str = ONE,
    *,
    folder: str = "",
    lost: str = "src/lexer.py",
    compacts: bool = True,
) -> Path:
    """Write a session of the project in *folder*, by default the one that commands run in."""
    folder = folder or str(brim.cwd)
    slug = "".join(letter if letter.isalnum() else "-" for letter in folder)
    path = Path(brim.home) / ".claude" / "projects" / slug / f"{id}.jsonl"
    written = ClaudeSession(path, id, folder)
    written.you("Make it fast. Never touch the migrations folder.")
    written.read("src/parser.py")
    written.read(lost)
    written.run("make test", "3 passed")
    if compacts:
        written.compact("The parser must be fast: src/parser.py.")
        written.read(lost)
    return path


def test_the_newest_session_of_this_project_that_was_compacted_is_shown(brim: Brim) -> None:
    session(brim, folder="/elsewhere", id=TWO)
    session(brim)
    session(brim, "5" + ONE[1:], compacts=False)
    ran = brim("memory", "lost")
    assert ran.code == 0
    assert ran.lines[0].endswith(f"claude {ONE[:8]}: 3 of 4 facts dropped")
    assert "kept: 0 of 1 instruction, 1 of 2 files, 0 of 1 command" in ran.out
    assert [line.split()[:2] for line in ran.lines[3:4]] == [["file", "src/lexer.py"]]
    assert "Never touch the migrations folder." in ran.out.partition("never came back")[2]
    assert "make test" in ran.out.partition("never came back")[2]
    assert ran.lines[-1].startswith("Tokens are estimated from bytes")


def test_without_one_here_it_is_the_newest_of_all(brim: Brim) -> None:
    session(brim, folder="/elsewhere")
    ran = brim("memory", "lost")
    assert ran.code == 0
    assert "no session of this project was compacted" in ran.err
    assert brim("memory", "lost", "4f1c").err == ""


def test_a_session_can_be_named_by_its_file_or_by_how_its_id_begins(brim: Brim) -> None:
    path = session(brim)
    session(brim, TWO, folder="/elsewhere", lost="src/other.py")
    found = [brim("memory", "lost", name, "--json").json for name in (str(path), "4f1c", ONE)]
    assert found[0] == found[1] == found[2]
    (compaction,) = found[0]["compactions"]
    assert compaction["session"] == ONE
    assert {"time", "session", "agent", "trigger", "counts", "lost"} <= set(compaction)
    assert compaction["agent"] == "claude"
    assert compaction["counts"]["file"] == [2, 1]
    others = brim("memory", "lost", "4f1d", "--json").json["compactions"][0]["lost"]
    assert "src/other.py" in [item["text"] for item in others]
    ran = brim("memory", "lost", "4f1")
    assert (ran.code, ran.out) == (2, "")
    assert "2 sessions begin with it" in ran.err


def test_a_text_to_paste_has_what_never_came_back_and_its_persons_words_first(brim: Brim) -> None:
    session(brim)
    ran = brim("memory", "lost", "--again")
    assert ran.lines[1:] == [
        '- I said: "Never touch the migrations folder."',
        "- command: `make test`",
    ]
    assert brim("memory", "lost", "--again", "--json").json == {"text": ran.out.rstrip("\n")}


def test_nothing_to_paste_is_an_answer_of_no(brim: Brim) -> None:
    path = session(brim, compacts=False)
    ClaudeSession(path, ONE).compact(
        "make test; src/parser.py, src/lexer.py; make it fast, never touch migrations folder"
    )
    ran = brim("memory", "lost", "--again")
    assert (ran.code, ran.out) == (1, "")
    assert "nothing to give back" in ran.err


def test_a_session_without_a_compaction_is_an_answer_of_no(brim: Brim) -> None:
    path = session(brim, compacts=False)
    assert brim("memory", "lost", str(path)).code == 1
    assert brim("memory", "lost", str(path), "--json").json["compactions"] == []


def test_a_summary_that_cannot_be_read_is_said(brim: Brim) -> None:
    path = session(brim, compacts=False)
    ClaudeSession(path, ONE).compact(None)
    ran = brim("memory", "lost")
    assert ran.code == 0
    assert "can't be read" in ran.out


def test_only_the_newest_are_shown_if_there_are_many(brim: Brim) -> None:
    path = session(brim)
    again = ClaudeSession(path, ONE, str(brim.cwd))
    again.count = 100
    again.compact("Nothing else.")
    assert len(brim("memory", "lost", "--json").json["compactions"]) == 2
    (last,) = brim("memory", "lost", "--limit", "1", "--json").json["compactions"]
    assert last["counts"]["file"] == [2, 2]


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        (b"", 1, "no compaction is known"),
        (b"\x00\x01\x02", 2, "isn't text"),
        (
            b'{"type": "user", "sessionId": "s", "isSidechain": false}\n{"half',
            1,
            "no compaction is known",
        ),
        (b"not json\n[1, 2]\n", 1, "could not be read"),
    ],
)
def test_bad_files_are_clear(
    brim: Brim, tmp_path: Path, content: bytes, code: int, said: str
) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_bytes(content)
    ran = brim("memory", "lost", str(path))
    assert ran.code == code
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_missing_files_and_folders_are_clear(brim: Brim, tmp_path: Path) -> None:
    assert "no such file" in brim("memory", "lost", str(tmp_path / "none.jsonl")).err
    assert "is a folder" in brim("memory", "lost", str(tmp_path)).err
    unknown = brim("memory", "lost", "beef")
    assert (unknown.code, "'brim report' lists" in unknown.err) == (1, True)
    assert brim("memory", "lost", "a", "b").code == 2
