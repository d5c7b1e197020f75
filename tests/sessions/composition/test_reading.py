"""Reading requests: incrementally, from files that are torn, foreign or huge, and never keeping
text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from brim.config.values import load
from brim.errors import InputError
from brim.run.watch import read_session
from brim.sessions.composition.composed_request import requests_of
from brim.sessions.composition.context import SessionComposition
from brim.sessions.composition.reading import Mark, by_bytes, read_requests, read_thread
from tests.sessions.composition.test_parts import DATA, answer_line

CLIENTS = ["claude_opus", "claude_haiku", "codex_rollout", "gemini_record"]


def told(path: Path) -> list[Any]:
    return [
        (each.id, each.billed, [part.to_dict() for part in each.parts])
        for each in read_requests(path)
    ]


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("name", ["claude_opus", "claude_haiku"])
def test_a_file_that_grows_is_read_on_from_where_it_ended(
    tmp_path: Path, name: str, recorded: bool
) -> None:
    lines = (DATA / f"{name}.jsonl").read_bytes().splitlines(keepends=True)
    lines = [line for line in lines if recorded or b'"type": "api-request' not in line]
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"".join(lines))
    expected = told(path)
    assert len(expected) == 10
    for cut in range(5, len(lines), 7):
        path.write_bytes(b"".join(lines[:cut]))
        _, mark = read_thread(path)
        mark = Mark(
            mark.offset, mark.check, json.loads(json.dumps(mark.state))
        )  # as a store would keep it
        path.write_bytes(b"".join(lines))
        read: list[int] = []
        thread, _ = read_thread(path, mark=mark, on_read=read.append)
        found = [
            (each.id, each.billed, [part.to_dict() for part in each.parts])
            for each in requests_of(thread)
        ]
        assert found == expected, cut
        assert sum(read) == len(b"".join(lines)) - mark.offset
        assert mark.offset > 0.9 * len(b"".join(lines[: max(0, cut - 8)]))


def test_a_mark_of_another_file_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes((DATA / "claude_haiku.jsonl").read_bytes())
    _, mark = read_thread(path)
    path.write_bytes((DATA / "claude_opus.jsonl").read_bytes() * 2)
    thread, _ = read_thread(path, mark=mark)
    assert [each.id for each in requests_of(thread)] == [each.id for each in read_requests(path)]


def test_a_mark_holds_no_text() -> None:
    _, mark = read_thread(DATA / "claude_opus.jsonl")
    state = json.dumps(mark.state)
    for word in (
        "PLANTED-PROMPT",
        "PLANTED-BRIM-RULE",
        "PLANTED-FILE",
        "THOUGHT-1",
        "PLANTED-MCP-RESULT",
    ):
        assert word in (DATA / "claude_opus.jsonl").read_text(encoding="utf-8")
        assert word not in state


@pytest.mark.parametrize("name", CLIENTS)
def test_a_torn_file_gives_what_it_has(tmp_path: Path, name: str) -> None:
    data, path = (DATA / f"{name}.jsonl").read_bytes(), tmp_path / "session.jsonl"
    whole = [each.billed for each in read_requests(DATA / f"{name}.jsonl")]
    for share in range(1, 12):
        path.write_bytes(data[: len(data) * share // 12])
        assert [each.billed for each in read_requests(path)] == whole[: len(read_requests(path))]


def test_foreign_lines_give_no_requests(tmp_path: Path) -> None:
    path = tmp_path / "foreign.jsonl"
    path.write_text('{"hello": 1}\n[1, 2]\nnot json\n\n{"type": "assistant"}\n')
    assert read_requests(path) == []
    path.write_text("")
    assert read_requests(path) == []


def test_what_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "binary.jsonl"
    path.write_bytes(b"\0\1\2" * 1000)
    with pytest.raises(InputError, match="JSON lines"):
        read_requests(path)
    with pytest.raises(InputError, match="no such file"):
        read_requests(tmp_path / "missing.jsonl")


@pytest.mark.parametrize(
    "line",
    [
        {"type": "api-request", "sessionId": "s", "tail": [1, None, {}], "keep": "x", "base": []},
        {
            "type": "api-request",
            "sessionId": "s",
            "id": "r",
            "base": "gone",
            "keep": 10**12,
            "tail": ["a" * 64],
        },
        {
            "type": "api-request-shape",
            "sessionId": "s",
            "shapeHash": "h",
            "shape": {"tools": [1, "x"], "system": 3},
        },
        {
            "type": "api-request-blob",
            "sessionId": "s",
            "hash": "h",
            "message": {"role": "user", "content": [[1], 2]},
        },
        {"type": "user", "sessionId": "s", "message": "text"},
        {
            "type": "user",
            "sessionId": "s",
            "message": {"role": "user", "content": [{"type": "tool_result"}]},
        },
        {
            "type": "attachment",
            "sessionId": "s",
            "attachment": {"type": "instructions", "files": 3},
            "rendered": "x",
        },
        {"type": "attachment", "sessionId": "s", "attachment": None},
        {"type": "system", "subtype": "compact_boundary", "sessionId": "s", "compactMetadata": []},
    ],
)
def test_strange_lines_raise_nothing(tmp_path: Path, line: dict[str, Any]) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(
        "".join(
            json.dumps(each) + "\n" for each in (line, answer_line("m1"), line, answer_line("m2"))
        )
    )
    requests = read_requests(path)
    assert [request.billed for request in requests] == [100, 100]
    for request in requests:
        assert sum(part.tokens or 0 for part in request.parts) == 100


def test_a_request_that_builds_on_one_that_is_gone_says_so(tmp_path: Path) -> None:
    record = {
        "type": "api-request",
        "sessionId": "s",
        "id": "r",
        "base": "gone",
        "keep": 7,
        "tail": [],
    }
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in (record, answer_line("m1"))))
    (request,) = read_requests(path)
    assert [part.name for part in request.parts] == ["not recorded", "not resolved"]


def test_requests_can_be_compared_without_counting(tmp_path: Path) -> None:
    quick = read_requests(DATA / "claude_opus.jsonl", count=by_bytes)
    exact = read_requests(DATA / "claude_opus.jsonl")
    assert [[item.key for item in each.items] for each in quick] == [
        [item.key for item in each.items] for each in exact
    ]


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("is_torn", [False, True])
def test_one_reading_gives_the_window_and_what_fills_it(
    tmp_path: Path, name: str, is_torn: bool
) -> None:
    path = tmp_path / "session.jsonl"
    data = (DATA / f"{name}.jsonl").read_bytes()
    if is_torn:
        data = data.rstrip(b"\n")
    path.write_bytes(data)
    environ = {"HOME": str(tmp_path)}
    config = load(environ, None)
    index = str(tmp_path / "index.db")
    window = read_session(str(path), config, environ)
    for _ in range(2):  # the second time the index knows most of it
        composition = SessionComposition(str(path), index=index)
        read: list[int] = []
        assert window == read_session(
            str(path), config, environ, on_read=read.append, observer=composition
        )
        assert sum(read) == len(data)
        parts = [
            (request.id, request.billed, [part.to_dict() for part in request.parts])
            for request in composition.requests()
        ]
        assert parts == told(path)
