"""A session's file is read from any byte on, its sub-agents' files after it; what is no session
says so."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from brim.agents import stream as files
from brim.agents.agent import subagent_files, subagent_of
from brim.agents.call import Event
from brim.agents.events import Message, Usage
from brim.agents.stream import Feed, read
from brim.errors import InputError
from tests.agents.claude_lines import (
    STREAM,
    TRANSCRIPT,
    kept_answer,
    kept_user,
    stream_answer,
    tool_block,
)


def written(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def usages(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.agent, event.request) for event in events if isinstance(event, Usage)]


def test_a_file_gives_what_a_feed_of_it_gives(tmp_path: Path) -> None:
    for lines in (STREAM, TRANSCRIPT):
        path = written(tmp_path / "s.jsonl", lines)
        feed = Feed()
        assert list(read(path)) == feed.feed(path.read_bytes())
        assert list(read(str(path))) == list(read(path))


def test_blocks_are_small_and_lines_go_over_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "s.jsonl", TRANSCRIPT)
    expected = list(read(path))
    monkeypatch.setattr(files, "BLOCK", 7)
    assert list(read(path)) == expected


def test_reading_begins_at_any_complete_line(tmp_path: Path) -> None:
    path = written(tmp_path / "s.jsonl", [stream_answer("m1"), stream_answer("m2", request="r2")])
    start = len(json.dumps(stream_answer("m1"))) + 1
    assert usages(list(read(path, start=start))) == [("", "m2:r2")]
    assert list(read(path, start=10**9)) == []


def test_sub_agents_come_after_the_session_with_their_names(tmp_path: Path) -> None:
    session = written(tmp_path / "s.jsonl", [kept_answer("m1", tool_block())])
    below = tmp_path / "s" / "subagents"
    unnamed = kept_answer("m3", request="r3", isSidechain=True)
    written(below / "agent-b2.jsonl", [kept_user("do it", isSidechain=True), unnamed])
    written(
        below / "agent-a1.jsonl", [kept_answer("m2", request="r2", isSidechain=True, agentId="a1")]
    )
    written(below / "agent-a1.meta.json", [{"agentType": "general-purpose"}])
    assert usages(list(read(session))) == [("", "m1:req_1"), ("a1", "m2:r2"), ("b2", "m3:r3")]
    assert usages(list(read(session, subagents=False))) == [("", "m1:req_1")]
    assert [event.human for event in read(session) if isinstance(event, Message)] == [False]


def test_a_sub_agents_replay_of_the_session_is_not_counted_again(tmp_path: Path) -> None:
    session = written(tmp_path / "s.jsonl", [kept_answer("m1", tool_block())])
    replay = kept_answer("m1", tool_block(), isSidechain=True, agentId="a1")
    written(tmp_path / "s" / "subagents" / "agent-a1.jsonl", [replay])
    assert usages(list(read(session))) == [("", "m1:req_1")]


def test_a_sub_agents_file_alone_is_its_own(tmp_path: Path) -> None:
    path = written(tmp_path / "agent-a1.jsonl", [kept_answer("m1", isSidechain=True)])
    assert usages(list(read(path))) == [("a1", "m1:req_1")]


def test_a_sub_agents_file_that_cannot_be_read_does_not_hinder_the_others(tmp_path: Path) -> None:
    session = written(tmp_path / "s.jsonl", [kept_answer("m1")])
    (tmp_path / "s" / "subagents" / "agent-a0.jsonl").mkdir(parents=True)
    written(
        tmp_path / "s" / "subagents" / "agent-a1.jsonl",
        [kept_answer("m2", request="r2", isSidechain=True)],
    )
    assert usages(list(read(session))) == [("", "m1:req_1"), ("a1", "m2:r2")]


def test_names_of_sub_agents_files(tmp_path: Path) -> None:
    assert [subagent_of(name) for name in ("agent-x.jsonl", "x.jsonl", "agent-x.json")] == [
        "x",
        "",
        "",
    ]
    assert subagent_files(str(tmp_path / "none.jsonl")) == []
    assert subagent_files(str(tmp_path / "none.txt")) == []


def test_a_json_file_over_several_lines_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(json.dumps(stream_answer("m1"), indent=2), encoding="utf-8")
    assert usages(list(read(path))) == [("", "m1:req_1")]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_list_is_a_line_for_each_of_its_objects(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "many.json"
    lines = [stream_answer("m1"), 3, None, stream_answer("m2", request="r2")]
    path.write_text(json.dumps(lines, indent=indent), encoding="utf-8")
    assert usages(list(read(path))) == [("", "m1:req_1"), ("", "m2:r2")]


def test_a_broken_first_line_does_not_hinder_the_others(tmp_path: Path) -> None:
    path = written(tmp_path / "s.jsonl", [stream_answer("m1")])
    path.write_bytes(b'{"torn": \n' + path.read_bytes())
    assert usages(list(read(path))) == [("", "m1:req_1")]


def test_a_first_line_over_several_blocks_is_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "s.jsonl", [stream_answer("m1"), stream_answer("m2", request="r2")])
    path.write_bytes(b"\n\n" + path.read_bytes())
    monkeypatch.setattr(files, "BLOCK", 16)
    assert usages(list(read(path))) == [("", "m1:req_1"), ("", "m2:r2")]


def test_an_empty_file_has_no_events(tmp_path: Path) -> None:
    path = written(tmp_path / "s.jsonl", [])
    assert list(read(path)) == []


def test_what_is_no_session_says_so_at_once(tmp_path: Path) -> None:
    packed = tmp_path / "s.jsonl.gz"
    packed.write_bytes(gzip.compress(b"{}"))
    binary = tmp_path / "s.db"
    binary.write_bytes(b"SQLite format 3\0" + bytes(100))
    for path, what in [
        (tmp_path / "gone.jsonl", "no such file"),
        (tmp_path, "is a folder"),
        (packed, "is compressed"),
        (binary, "isn't text"),
        (Path("a\0b"), "cannot be opened"),
    ]:
        with pytest.raises(InputError, match=what) as raised:
            read(path)
        assert str(path) in str(raised.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="standard input"):
        read(tmp_path / "pipe")


def test_an_unknown_format_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="format"):
        read(written(tmp_path / "s.jsonl", STREAM), format="cobol")
