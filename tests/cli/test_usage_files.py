"""``brim usage``: whatever the files are, wherever they lie and whatever becomes of them, the sums
are right."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from tests.cli.conftest import COMMAND, Brim
from tests.cli.usages import ROLLOUT, SLUG, asked, counts, session
from tests.sessions.window.transcripts import answer, result, usage, write


def test_the_second_time_only_what_is_new_is_read(brim: Brim) -> None:
    path = session(brim, answer(), result("x" * 5_000))
    first = asked(brim)
    assert first["read"]["new_bytes"] == path.stat().st_size
    assert (asked(brim)["read"]["new_bytes"], asked(brim)["total"]) == (0, first["total"])
    before = path.stat().st_size
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(answer("msg_2", "req_2")) + "\n" + json.dumps(answer("msg_3"))[:50])
    second = asked(brim)
    assert (second["total"]["requests"], second["read"]["new_bytes"]) == (
        2,
        path.stat().st_size - before,
    )
    assert second["total"] == asked(brim, "--no-index")["total"]
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(answer("msg_3"))[50:])
    assert asked(brim)["total"]["requests"] == 3  # whole, though no line end follows yet


def test_replaced_shortened_and_removed_files_are_seen(brim: Brim) -> None:
    path, other = (
        session(brim, answer(), answer("msg_2")),
        session(brim, answer("msg_5"), name="s-2"),
    )
    assert asked(brim)["total"]["requests"] == 3
    write(path, answer("msg_9"))
    assert asked(brim)["total"]["requests"] == 4  # what was spent stays spent
    write(path, answer("msg_7"), answer("msg_8"), answer("msg_6"))
    other.unlink()
    assert asked(brim)["total"]["requests"] == 7
    assert asked(brim, "--no-index")["total"]["requests"] == 3


def test_paths_are_read_whatever_wrote_them(brim: Brim) -> None:
    stream = [
        {
            "type": "system",
            "subtype": "init",
            "session_id": "s-9",
            "model": "claude-opus-4-5",
            "cwd": "/home/user/x",
        },
        {
            "type": "assistant",
            "message": {
                "id": "msg_9",
                "model": "claude-opus-4-5",
                "content": [],
                "usage": usage(3, 1),
            },
            "parent_tool_use_id": None,
            "session_id": "s-9",
            "request_id": "req_9",
        },
    ]
    write(brim.cwd / "saved" / "stream.jsonl", *stream)
    write(brim.cwd / "saved" / "rollout-1.jsonl", *ROLLOUT)
    write(brim.cwd / "saved" / "notes.jsonl", {"hello": "world"}, "no json")
    write(brim.cwd / "saved" / "transcript.jsonl", answer())
    assert asked(brim, "saved")["total"]["requests"] == 3
    assert (
        asked(brim, "saved/stream.jsonl", "saved/transcript.jsonl")["total"]["input_tokens"] == 13
    )


def test_files_that_lie_anywhere_keep_their_projects(brim: Brim) -> None:
    folder = brim.cwd / "projects" / "logs"
    write(folder / "a.jsonl", answer("a", cwd="/home/user/a"))
    write(folder / "b.jsonl", answer("b", cwd="/home/user/b"))
    found = asked(brim, str(folder), "--by", "project")
    assert [row["project"] for row in found["rows"]] == ["/home/user/a", "/home/user/b"]


def test_where_the_agents_folder_lies_changes_no_project(brim: Brim) -> None:
    folder = brim.cwd / "projects" / "x"
    write(
        folder / "projects" / SLUG / "s.jsonl",
        answer(cwd="/home/user/shop/src"),
        answer("m", cwd="/home/user/shop"),
    )
    own = asked(brim, "--by", "project", env={"CLAUDE_CONFIG_DIR": str(folder)})
    assert own["rows"] == asked(brim, "--by", "project", str(folder), "--no-index")["rows"]
    assert own["rows"][0]["project"] == "/home/user/shop"


def test_garbage_is_counted_and_passed_over(brim: Brim) -> None:
    path = session(
        brim,
        '{"usage": ',
        answer(),
        "\x00\x01",
        '{"type":"assistant","message":{"usage":7}}',
        "[[[[",
    )
    with path.open("ab") as file:
        file.write(b'\xff\xfe{"usage"\n' + b'{"type":"assistant","message":' * 2_000 + b'"usage"\n')
    found = asked(brim)
    assert (found["total"]["requests"], found["read"]["broken_lines"]) == (1, 3)
    assert "3 broken lines left out" in brim("usage").err
    rollout = brim.home / ".codex" / "sessions" / "2026" / "01" / "06" / "rollout-1.jsonl"
    write(rollout, *ROLLOUT[:2], '{"type": "token_usage', ROLLOUT[2])
    with rollout.open("a", encoding="utf-8") as file:
        file.write('{"half')  # is being written
    found = asked(brim)
    assert (found["total"]["requests"], found["read"]["broken_lines"]) == (2, 4)


def test_without_a_home_to_write_in_it_works_all_the_same(brim: Brim) -> None:
    session(brim, answer())
    (brim.home / ".brim").write_text("in the way")
    found = asked(brim)
    assert (found["total"]["requests"], found["read"]["index"]) == (1, "unavailable")


def test_a_damaged_index_is_made_anew(brim: Brim) -> None:
    session(brim, answer())
    asked(brim)
    (brim.home / ".brim" / "index.db").write_bytes(b"no database at all")
    ran = brim("usage", "--json")
    assert (ran.code, ran.json["total"]["requests"]) == (0, 1)
    assert "is rebuilt" in ran.err
    assert asked(brim)["read"]["new_bytes"] == 0


def test_without_the_index_nothing_is_kept(brim: Brim) -> None:
    session(brim, answer())
    assert asked(brim, "--no-index")["read"]["index"] == "off"
    assert not (brim.home / ".brim").exists()


def test_many_at_once_agree(brim: Brim) -> None:
    session(brim, *[answer(f"m{i}", f"r{i}") for i in range(300)])
    running = [
        subprocess.Popen(
            [COMMAND, "usage", "--json"], env=brim.environ, cwd=brim.cwd, stdout=subprocess.PIPE
        )
        for _ in range(4)
    ]
    answers = [json.loads(each.communicate(timeout=300)[0]) for each in running]
    assert [each["total"]["requests"] for each in answers] == [300] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no second process there")
def test_a_large_tree_is_read_by_several_processes_to_the_same_sums(brim: Brim) -> None:
    for i in range(6):
        lines = [
            part
            for j in range(20)
            for part in (answer(f"m{i}-{j}", f"r{i}-{j}"), result("y" * 45_000))
        ]
        session(brim, *lines, name=f"s-{i}")
    found = asked(brim)
    assert found["read"]["bytes"] > 8_000_000
    assert counts(found["total"]) == (120, 1_200, 600, 0, 0)
    assert asked(brim)["total"] == found["total"]


def test_a_file_that_was_named_and_cannot_be_read_is_an_error(brim: Brim) -> None:
    path = session(brim, answer())
    broken = brim.cwd / "picture.jsonl"
    broken.write_bytes(b"\x89PNG\x00\x00\xff" * 100)
    ran = brim("usage", str(path), str(broken))
    assert ran.code == 2
    assert "picture.jsonl: isn't text" in ran.err
    assert "total" in ran.out  # what could be read is there all the same
    assert brim("usage", str(brim.cwd)).code == 0  # in a folder it is only passed over


def test_what_opencodes_plugin_has_noted_is_read_without_its_hooks(brim: Brim) -> None:
    project = brim.home / "shop"
    (project / ".git").mkdir(parents=True)
    noted = brim.home / ".brim" / "opencode" / "ses_1.jsonl"
    noted.parent.mkdir(parents=True)
    tokens = {"input": 900, "output": 40, "reasoning": 0, "cache": {"read": 100, "write": 0}}
    with noted.open("w", encoding="utf-8") as file:
        for number in range(3):
            part = {
                "id": f"prt_{number}",
                "type": "step-finish",
                "reason": "tool-calls",
                "cost": 0.25,
                "tokens": tokens,
            }
            line = {"type": "step_finish", "timestamp": 1_767_600_000_000 + number}
            line |= {"sessionID": "ses_1", "cwd": str(project), "part": part}
            file.write(json.dumps(line) + "\n")
    report = brim("usage", "--by", "project", "--json").json
    assert [(row["project"], row["requests"]) for row in report["rows"]] == [(str(project), 3)]
    assert report["total"]["cost"] == 750_000
    assert brim("usage", "--agent", "opencode", "--json").json["total"]["cost"] == 750_000
    brim("limit", "--all", "100")
    (brim.home / ".brim" / "index.db").unlink()
    assert brim("usage", "--json").json["total"]["cost"] == 750_000


def test_months_stay_right_after_transcripts_and_the_index_are_gone(brim: Brim) -> None:
    session(brim, answer(), answer("msg_2", "req_2", time="2026-02-05T10:00:00.000Z"))
    before = brim("usage", "monthly", "--json").json["rows"]
    assert [row["month"] for row in before] == ["2026-01", "2026-02"]
    for path in (brim.home / ".claude").rglob("*.jsonl"):
        path.unlink()
    assert brim("usage", "monthly", "--json").json["rows"] == before
    for path in (brim.home / ".brim").glob("index.db*"):
        path.unlink()
    assert brim("usage", "monthly", "--json").json["rows"] == before
