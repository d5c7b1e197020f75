"""Reading finds what reading every line finds, however it is written and wherever a file was left
off."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brim.agents.lines import tokens
from brim.errors import InputError
from brim.models.price_list import PriceList
from brim.sessions.files import AgentFile, FilePosition
from brim.sessions.index import SessionIndex
from brim.sessions.reading import FileReading, read_file
from brim.sessions.requests import ClientTotal, IndexedRequest
from tests.sessions.window.transcripts import answer, compact, cost_state, result, usage, write

CLAUDE = "claude-transcript"
PRICES = PriceList()
FUNCTION_SCOPED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, -1, 1.5, 3.0, 10**13, "7", [], {}, float("nan")]
)
COUNTS = st.integers(0, 9) | ODD
IDS = st.sampled_from(["msg_1", "msg_2", "msg_3", ""])
USAGES = st.fixed_dictionaries(
    {},
    optional={
        "input_tokens": COUNTS,
        "output_tokens": COUNTS,
        "cache_creation_input_tokens": COUNTS,
        "cache_read_input_tokens": COUNTS,
        "cache_creation": st.fixed_dictionaries(
            {}, optional={"ephemeral_5m_input_tokens": COUNTS, "ephemeral_1h_input_tokens": COUNTS}
        )
        | ODD,
        "service_tier": st.sampled_from(["standard", "batch", "priority", "", None, 3]),
        "speed": st.sampled_from(["standard", "fast", "FAST", None]),
        "inference_geo": st.sampled_from(["us", "global", "", None]),
        "prompt_tokens": COUNTS,
        "cached_input_tokens": COUNTS,
    },
)


@st.composite
def lines(draw: st.DrawFn) -> dict[str, Any]:
    """A line that may report usage, or only looks like one."""
    kind = draw(st.sampled_from(["answer", "answer", "answer", "result", "total", "other"]))
    if kind == "result":
        return result(
            draw(
                st.sampled_from(['{"usage": {"input_tokens": 5}}', "\x1b[0m", "\\u0075sage", "ok"])
            )
        )
    if kind == "total":
        return cost_state(
            draw(st.sampled_from([0.5, 2, "x", None])), draw(st.sampled_from(["s-1", ""]))
        )
    if kind == "other":
        nested = {"type": "assistant", "message": {"id": "msg_9", "usage": usage()}}
        return {
            "type": draw(st.sampled_from(["user", "system", 3])),
            "sessionId": "s-1",
            "data": nested,
        }
    used = draw(USAGES | st.just(usage()) | ODD.filter(lambda odd: odd is not None))
    # Where the main thread's line has no usage and a sub-agent's replay of it has, the reader drops
    # both, the index none.
    id = draw(IDS) if tokens(used) else "msg_without"
    line = answer(
        id,
        draw(st.sampled_from(["req_1", "req_2", "", None] if id else ["req_1", "req_2"])),
        used,
        model=draw(st.sampled_from(["<synthetic>", f"model-of-{id}"])),
        time=draw(st.sampled_from(["2026-01-05T10:00:00Z", "2026-01-05T11:00:00Z", "never"])),
        side=draw(st.booleans()),
        isApiErrorMessage=draw(st.sampled_from([False, False, True])),
    )
    if draw(st.integers(0, 9)) == 0:  # the short form: the message is the line itself
        line |= {**line.pop("message"), "type": "assistant"}
    return line


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A line as some program may write it; now and then torn."""
    line = draw(lines())
    text = compact(line) if draw(st.booleans()) else json.dumps(line)
    return text[: draw(st.integers(0, len(text)))] if draw(st.integers(0, 7)) == 0 else text


def requests_in(*readings: FileReading) -> dict[str, IndexedRequest]:
    """Return the requests of *readings* of one file, by key."""
    requests: dict[str, IndexedRequest] = {}
    for reading in readings:
        for key, report in reading.requests.items():
            requests[key] = requests[key].merged(report) if key in requests else report
    return requests


def totals_in(*readings: FileReading) -> dict[str, tuple[object, ...]]:
    """Return the largest total of each session in *readings*."""
    largest: dict[str, ClientTotal] = {}
    for reading in readings:
        for session, total in reading.totals.items():
            if session not in largest or total.rank > largest[session].rank:
                largest[session] = total
    return {session: (total.cost, total.tokens) for session, total in largest.items()}


def naively(path: Path) -> dict[str, tuple[int, int]]:
    """Return prompt and output of each request in *path*: every line is parsed, the largest report
    counts."""
    found: dict[str, tuple[int, int]] = {}
    main: set[str] = set()
    lines = []
    for text in path.read_bytes().split(b"\n"):
        try:
            line = json.loads(text.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        message = line.get("message", line) if isinstance(line, dict) else None
        if (
            not isinstance(message, dict)
            or line.get("type") != "assistant"
            or line.get("isApiErrorMessage")
        ):
            continue
        used = tokens(message.get("usage"))
        if used is not None and message.get("model") != "<synthetic>":
            lines.append((not line["isSidechain"], message["id"], line.get("requestId"), used))
            if not line["isSidechain"]:
                main.add(message["id"])
    for is_main, id, request, used in sorted(
        lines, key=lambda one: (one[0], one[3].output, one[3].prompt)
    ):
        if id and (is_main or id not in main):
            found[f"{id}:{request}" if request else id] = (used.prompt, used.output)
    return found


@settings(deadline=None, suppress_health_check=FUNCTION_SCOPED)
@given(st.lists(texts(), max_size=12), st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_the_index_has_every_request_that_the_lines_report(
    tmp_path: Path, written: list[str], ended: bool, newline: str
) -> None:
    path = tmp_path / "s-1.jsonl"
    path.write_bytes(
        (newline.join(written) + (newline if ended else "")).encode("utf-8", "surrogatepass")
    )
    with SessionIndex() as index:
        index.update([AgentFile(str(path), format=CLAUDE)])
        rows = {row.message: row for row in index.requests() if row.key.startswith("msg_")}
    expected = naively(path)
    assert set(rows) == {key.partition(":")[0] for key in expected}
    for key, (prompt, output) in expected.items():
        row = rows[key.partition(":")[0]]
        if row.key == key:
            assert row.output >= output
            assert sum(row.counts) - row.output >= prompt


@settings(deadline=None, suppress_health_check=FUNCTION_SCOPED)
@given(st.lists(texts(), min_size=1, max_size=10), st.data())
def test_going_on_where_it_was_left_is_the_same_as_reading_it_whole(
    tmp_path: Path, written: list[str], data: st.DataObject
) -> None:
    path = tmp_path / "s-1.jsonl"
    whole = "".join(f"{text}\n" for text in written).encode("utf-8", "surrogatepass")
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
    first = read_file(str(path), format=CLAUDE, prices=PRICES)
    path.write_bytes(whole)
    position = first.position
    second = read_file(str(path), format=CLAUDE, position=position, prices=PRICES)
    assert position is not None
    assert second.is_continued == (position.read_to > 0)
    fresh = read_file(str(path), format=CLAUDE, prices=PRICES)
    assert requests_in(first, second) == requests_in(fresh)
    assert totals_in(first, second) == totals_in(fresh)


def read(path: Path, format: str = "", position: FilePosition | None = None) -> FileReading:
    """Return what the file *path* reports."""
    return read_file(str(path), format=format, position=position, prices=PRICES)


def format_of(reading: FileReading) -> str:
    """Return the format that a file was read as."""
    assert reading.position is not None
    return reading.position.format


def test_the_blocks_of_one_answer_are_one_request_with_its_largest_numbers(tmp_path: Path) -> None:
    lines = [
        answer(text="a"),
        answer(text="b"),
        answer(used=usage(output=90), text="c"),
        answer(text="d"),
    ]
    (request,) = read(write(tmp_path / "a.jsonl", *lines), CLAUDE).requests.values()
    assert (request.key, request.input, request.output) == ("msg_1:req_1", 10, 90)


def test_a_line_with_the_same_numbers_and_another_request_counts(tmp_path: Path) -> None:
    lines = [answer("msg_1", "req_1"), answer("msg_2", "req_2"), answer("msg_3", "req_1")]
    reading = read(write(tmp_path / "a.jsonl", *lines), CLAUDE)
    assert list(reading.requests) == ["msg_1:req_1", "msg_2:req_2", "msg_3:req_1"]


def test_lines_that_name_no_request_count_each(tmp_path: Path) -> None:
    lines = [answer("", None), answer("", None, text="the next")]
    assert len(read(write(tmp_path / "a.jsonl", *lines), CLAUDE).requests) == 2


def test_a_file_that_became_another_ones_is_read_as_what_it_is_now(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", answer())
    first = read(path)
    write(path, {"type": "system", "subtype": "init", "session_id": "s", "cwd": "/x" * 300})
    again = read(path, position=first.position)
    assert format_of(first) == CLAUDE
    assert format_of(again) == "claude-stream"
    assert not again.is_continued


def test_a_replaced_file_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", answer("msg_1", "req_1"))
    first = read(path, CLAUDE)
    write(path, answer("msg_8", "req_8"), answer("msg_9", "req_9"))
    second = read(path, CLAUDE, first.position)
    assert not second.is_continued
    assert list(second.requests) == ["msg_8:req_8", "msg_9:req_9"]


def test_blocks_of_a_large_file_are_cut_anywhere(tmp_path: Path) -> None:
    lines = []
    for number in range(40):
        lines += [answer(f"msg_{number}", f"req_{number}"), result("x" * 90_000)]
    path = write(tmp_path / "a.jsonl", *lines)
    assert path.stat().st_size > 3_000_000
    assert len(read(path).requests) == 40


def test_broken_lines_are_counted_and_passed_over(tmp_path: Path) -> None:
    torn = compact(answer())[:-9]
    path = write(tmp_path / "a.jsonl", torn, answer("msg_2"), '{"usage"', "\x00", "[]")
    reading = read(path, CLAUDE)
    assert list(reading.requests) == ["msg_2:req_1"]
    assert reading.position is not None
    assert reading.position.broken == 2


def test_the_format_is_found_out(tmp_path: Path) -> None:
    stream = {
        "type": "assistant",
        "message": {"id": "msg_1", "model": "claude-opus-4-5", "content": [], "usage": usage()},
        "parent_tool_use_id": None,
        "session_id": "s-1",
        "request_id": "req_1",
    }
    assert format_of(read(write(tmp_path / "a.jsonl", result(), answer()))) == CLAUDE
    opening = {"type": "system", "subtype": "init", "session_id": "s"}
    reading = read(write(tmp_path / "b.jsonl", opening, stream))
    assert format_of(reading) == "claude-stream"
    (request,) = reading.requests.values()
    assert (request.key, request.final) == ("msg_1:req_1", False)


def test_the_format_is_found_out_behind_a_very_long_line(tmp_path: Path) -> None:
    files: dict[str, list[Any]] = {
        "long": [result("x" * 700_000), answer()],
        "unknown": [{"hello": "world"}, {"hello": "x" * 700_000}, answer()],
        "no end": [compact(answer(text="x" * 700_000))],
    }
    for name, lines in files.items():
        path = write(tmp_path / f"{name}.jsonl", *lines)
        if name == "no end":
            path.write_bytes(path.read_bytes().rstrip(b"\n"))
        reading = read(path)
        assert (format_of(reading), len(reading.requests)) == (CLAUDE, 1), name
    assert format_of(read(write(tmp_path / "none.jsonl", {"hello": "x" * 700_000}))) == ""


def test_the_project_is_the_folder_that_its_name_is_made_of(tmp_path: Path) -> None:
    lines = [answer(cwd="/home/user/shop/src"), answer("msg_2", cwd="/home/user/shop")]
    path = write(tmp_path / "a.jsonl", *lines)
    reading = read_file(str(path), slug="-home-user-shop", prices=PRICES)
    assert reading.folder == "/home/user/shop"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders there")
def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    for name in ("pipe.jsonl", "missing.jsonl", "."):
        with pytest.raises(InputError):
            read(tmp_path / name, CLAUDE)
