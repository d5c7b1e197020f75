"""Whatever stands in a transcript, reading it for the report doesn't fail, and what was found
survives the index."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from brim.sessions.report.findings import Findings, read_findings
from brim.sessions.session_files import SessionFile, Stamp, named_files
from tests.sessions.window.transcripts import answer, cost_state, result, usage, write

RECORDED = Path(__file__).parent.parent / "composition" / "data"
FILE = SessionFile("/s.jsonl", Stamp(1, 1, 1), 1, format="claude-transcript")


def found(path: Path) -> Findings:
    (file,) = named_files([str(path)])
    return Findings.from_json(read_findings(file).json)


def test_what_was_found_survives_the_index() -> None:
    for path in sorted(RECORDED.glob("*.jsonl")):
        read = found(path)
        assert Findings.from_json(json.dumps(read.to_row())) == read


def test_recorded_requests_say_which_memory_files_they_carried() -> None:
    read = found(RECORDED / "claude_opus.jsonl")
    carried = {each.what: each.requests for each in read.waste if each.kind == "memory"}
    assert carried == {
        "/home/user/shop/CLAUDE.md": 10,
        "/home/user/.claude/CLAUDE.md": 10,
        "/home/user/shop/docs/style.md": 10,
    }


def shape(hash: str, *tools: str) -> dict[str, Any]:
    schemas = [{"name": name, "description": "word " * 200, "input_schema": {}} for name in tools]
    system = [{"type": "text", "text": "You are an agent."}]
    return {
        "type": "api-request-shape",
        "sessionId": "s-1",
        "shapeHash": hash,
        "shape": {"system": system, "tools": schemas},
    }


def record(id: str, shape: str, base: str = "", keep: int = 0) -> dict[str, Any]:
    about = {
        "type": "api-request",
        "sessionId": "s-1",
        "id": id,
        "shapeHash": shape,
        "params": {"model": "m"},
    }
    return {**about, "base": base, "keep": keep, "tail": [id * 8]}


def step(number: int, read: int, written: int, tool: str = "") -> list[dict[str, Any]]:
    line = answer(
        f"msg_{number}",
        f"req_{number}",
        usage(written=written, read=read),
        time=f"2026-01-05T10:00:0{number}Z",
    )
    if tool:
        line["message"]["content"].append(
            {"type": "tool_use", "id": f"t{number}", "name": tool, "input": {}}
        )
    return [line]


def test_a_record_names_the_part_that_broke_the_cache_and_the_tools_never_called(
    tmp_path: Path,
) -> None:
    lines = [
        shape("a", "Read", "mcp__shop__find", "mcp__shop__add"),
        record("r1", "a"),
        *step(1, 0, 9_000, "mcp__shop__find"),
        shape("b", "Read", "mcp__shop__find", "mcp__shop__add", "mcp__shop__new"),
        record("r2", "b", "r1", 1),
        *step(2, 0, 9_500),
    ]
    read = found(write(tmp_path / "s-1.jsonl", *lines))
    assert [(each.cause, each.part) for each in read.breaks] == [("part", "tools: mcp: shop: new")]
    assert {each.what: each.requests for each in read.waste if each.kind == "tool"} == {
        "mcp: shop: add": 2,
        "mcp: shop: new": 1,
    }
    assert read.called == ["mcp: shop: find"]


def test_a_total_ends_a_process_and_what_follows_is_resumed(tmp_path: Path) -> None:
    resumed = write(tmp_path / "s-1.jsonl", *step(1, 0, 9_000), cost_state(1), *step(2, 0, 9_500))
    assert [each.cause for each in found(resumed).breaks] == ["resume"]


def test_a_record_without_a_base_is_resumed_too(tmp_path: Path) -> None:
    lines = [
        shape("a", "Read"),
        record("r1", "a"),
        *step(1, 0, 9_000),
        shape("b", "Read", "New"),
        record("r2", "b"),
    ]
    (only,) = found(write(tmp_path / "s-1.jsonl", *lines, *step(2, 0, 9_500))).breaks
    assert (only.cause, only.part) == ("resume", "tools: New")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
LINES = (
    *(
        shape("a", "Read"),
        record("r1", "a"),
        *step(1, 0, 9_000, "Read"),
        result("x" * 40_000),
        cost_state(1),
    ),
    {
        "type": "system",
        "subtype": "compact_boundary",
        "sessionId": "s-1",
        "compactMetadata": {"preTokens": 9},
    },
    {
        "type": "attachment",
        "sessionId": "s-1",
        "attachment": {"type": "instructions", "files": [{"path": "a"}]},
    },
    {
        "type": "api-request-blob",
        "sessionId": "s-1",
        "hash": "h",
        "message": {"role": "user", "content": "x"},
    },
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return every place in *value* that something else could stand in."""
    keys = (
        value.keys()
        if isinstance(value, dict)
        else range(len(value))
        if isinstance(value, list)
        else ()
    )
    return [(value, key) for key in keys] + [place for key in keys for place in places(value[key])]


@settings(deadline=None)
@given(st.lists(VALUES, min_size=1, max_size=6), st.integers())
def test_anything_may_stand_anywhere(tmp_path_factory: Any, values: list[Any], seed: int) -> None:
    rng = random.Random(seed)
    lines = json.loads(json.dumps(LINES))
    for value in values:
        holder, key = rng.choice(places(lines))
        holder[key] = value
    path = tmp_path_factory.mktemp("s") / "s-1.jsonl"
    found(write(path, *lines, *lines))


def test_a_half_line_an_empty_file_and_another_format_are_read(tmp_path: Path) -> None:
    assert found(write(tmp_path / "empty.jsonl")).breaks == []
    half = write(tmp_path / "half.jsonl", *step(1, 0, 9_000), *step(2, 0, 9_500))
    half.write_bytes(half.read_bytes()[:-40])
    assert found(half).breaks == []
    codex = found(RECORDED / "codex_rollout.jsonl")
    assert [each.cause for each in codex.breaks] == ["compaction"]
