"""With the index the answer is what a fresh reading gives, whatever became of the files in
between."""

from __future__ import annotations

import itertools
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.agents.events import Usage
from brim.agents.stream import read
from brim.report.findings import FindingsReader
from brim.report.usage import Gathered, UsageReading, UsageSource, read_all
from brim.tracking.sessions import FileUsage, Request, named_files
from tests.tracking.transcripts import answer, compact, cost_state, result, usage, write

NAMES = ("a.jsonl", "b.jsonl", "b/subagents/agent-1.jsonl")
LINES = st.one_of(
    st.builds(
        lambda id, output, side: compact(
            answer(f"msg_{id}", f"req_{id}", usage(output=output), side=side)
        ),
        st.integers(0, 5),
        st.integers(1, 4),
        st.booleans(),
    ),
    st.builds(lambda dollars: compact(cost_state(dollars)), st.integers(0, 9)),
    st.sampled_from([compact(result()), '{"usage"', "", "no json"]),
)
KINDS = (
    "append",
    "append",
    "append",
    "replace",
    "remove",
    "tear",
    "shorten",
    "edit",
    "rename",
    "copy",
    "link",
)
CHANGES = st.tuples(st.sampled_from(NAMES), st.sampled_from(KINDS), LINES)
TICKS = itertools.count(1_767_600_000)
"""Times of change: each differs, as if somebody had waited for the clock."""


def change(path: Path, kind: str, line: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    apply(path, kind, line)
    if path.exists():
        os.utime(path, (0, next(TICKS)))


def apply(path: Path, kind: str, line: str) -> None:
    other = path.parent / ("z.jsonl" if path.parent.name != "subagents" else "agent-9.jsonl")
    if kind == "remove":
        path.unlink(missing_ok=True)
    elif kind == "replace":
        path.unlink(missing_ok=True)
        path.write_text(line + "\n", encoding="utf-8")
    elif kind in ("shorten", "edit", "rename", "copy", "link") and not path.is_file():
        return
    elif kind == "shorten":
        os.truncate(path, path.stat().st_size * 2 // 3)
    elif kind == "edit":  # as long as before
        path.write_bytes(path.read_bytes().replace(b'"output_tokens":1', b'"output_tokens":9'))
    elif kind == "rename":
        path.replace(other)
    elif kind == "copy":  # as a resumed session begins
        other.unlink(missing_ok=True)
        other.write_bytes(path.read_bytes())
    elif kind == "link":
        other.unlink(missing_ok=True)
        other.symlink_to(path)
    else:
        with path.open("a", encoding="utf-8") as file:
            file.write(line + "\n" if kind == "append" else line[: len(line) // 2])


def outcome(reading: UsageReading) -> tuple[Any, ...]:
    requests = sorted(
        (
            each.key,
            each.output,
            each.prompt,
            each.cost or 0,
            each.session,
            source.agent,
            source.project,
        )
        for each, source in reading.gathered.requests()
    )
    totals = sorted(
        (each.session, each.cost, each.until or 0) for each in reading.gathered.totals.values()
    )
    return requests, totals, reading.files, reading.bytes, reading.broken_lines


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(CHANGES, min_size=1, max_size=4), min_size=1, max_size=5))
def test_the_index_changes_nothing_but_the_time(rounds: list[list[tuple[str, str, str]]]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        tree = Path(temporary) / "tree"
        tree.mkdir()
        index = os.path.join(temporary, "index", "usage.db")
        for changes in rounds:
            for name, kind, line in changes:
                change(tree / name, kind, line)
            files = named_files([str(tree)])
            fresh = outcome(read_all(files, index=None, prices="p"))
            assert outcome(read_all(files, index=index, prices="p")) == fresh
            again = read_all(named_files([str(tree)]), index=index, prices="p")
            assert (outcome(again), again.new_bytes) == (fresh, 0)
            observed = outcome(read_all(files, index=index, prices="p", observe=FindingsReader))
            # Whoever looks for findings reads every line, and so may see more broken ones.
            assert observed[:-1] == fresh[:-1]
            assert observed[-1] >= fresh[-1]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(NAMES), LINES), max_size=15))
def test_a_tree_adds_up_to_what_the_readers_report(written: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        for name, line in written:
            change(Path(temporary) / name, "append", line)
        files = named_files([temporary])
        everything = Gathered()
        for file in files:
            found = FileUsage()
            for event in read(file.path, subagents=False):
                if isinstance(event, Usage):
                    made = Request.of(event, file.path)
                    found.add(made._replace(main=made.main and "subagents" not in file.path))
            everything.add(found, UsageSource("claude", ""))
        reading = read_all(files, index=None, prices="p")
        assert sums(reading.gathered) == sums(everything)


def sums(gathered: Gathered) -> list[tuple[Any, ...]]:
    return sorted(
        (each.key, each.output, each.prompt, each.model) for each, _ in gathered.requests()
    )


def test_new_prices_count_for_what_was_read_before(tmp_path: Path) -> None:
    files = named_files([str(write(tmp_path / "a.jsonl", answer()))])
    index = str(tmp_path / "index" / "usage.db")
    read_all(files, index=index, prices="old")
    again = read_all(files, index=index, prices="new")
    assert (again.new_bytes, [each.cost for each, _ in again.gathered.requests()]) == (0, [105])


def test_a_file_that_vanishes_meanwhile_is_no_problem(tmp_path: Path) -> None:
    paths = [write(tmp_path / name, answer(name)) for name in ("a.jsonl", "b.jsonl")]
    files = named_files(map(str, paths))
    paths[0].unlink()
    reading = read_all(files, index=None, prices="p")
    assert (len(reading.gathered.requests()), reading.failed) == (1, [])


def test_what_was_read_before_an_interruption_is_kept(tmp_path: Path) -> None:
    paths = [write(tmp_path / name, answer(name)) for name in ("a.jsonl", "b.jsonl")]
    files, index = named_files(map(str, paths)), str(tmp_path / "index" / "usage.db")

    def interrupt(*_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_all(files, index=index, prices="p", on_read=interrupt)
    assert read_all(files, index=index, prices="p").new_bytes == files[1].stamp.size


def test_a_total_is_compared_with_the_requests_before_it(tmp_path: Path) -> None:
    total = cost_state(1.0, inputTokens=10, outputTokens=5, cacheReadInputTokens=700)
    later = answer("msg_2", "req_2", usage(read=900), time="2026-01-05T10:05:00Z")
    files = named_files([str(write(tmp_path / "a.jsonl", answer(), total, later))])
    (rest,) = read_all(files, index=None, prices="p").gathered.unattributed()
    assert (rest.tokens, rest.cost) == ([0, 0, 700, 0, 0], 1_000_000 - 105)
