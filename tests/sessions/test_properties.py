"""Whatever agents, people and machines do to files, clocks and the index: sums never fall, each
request counts once, and every sum is that of its requests."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from brim.sessions.files import ReadingBounds
from brim.sessions.index import SessionIndex
from brim.sessions.report.usage import UsageFilter, usage_report
from brim.sessions.up_to_date import SessionsReading
from tests.sessions.tree import (
    NOW,
    append,
    assert_sums_are_right,
    open_index,
    rewrite,
    touch,
    transcripts,
    update,
)
from tests.sessions.window.transcripts import MODEL, answer, cost_state, usage

NAMES = ("p/a.jsonl", "p/b.jsonl", "q/c.jsonl", "p/a/subagents/agent-x.jsonl")
MODELS = (MODEL, "claude-haiku-4-5-20251001", "claude-opus-4-5", "nobody-knows-me")
TIMES = ("2026-01-05T10:00:00.000Z", "2026-01-04T23:50:00.000Z", "2031-05-05T00:00:00.000Z")
PRICES = {MODEL: 15, "claude-haiku-4-5-20251001": 5, "claude-opus-4-5": 25, "nobody-knows-me": 0}
"""Micro-dollars of a token of output."""

ANSWERS = st.builds(
    lambda id, output, model, time: answer(
        f"msg_{id}", f"req_{id}", usage(0, output), model=model, time=time
    ),
    st.integers(0, 5),
    st.integers(1, 1_000),
    st.sampled_from(MODELS),
    st.sampled_from(TIMES),
)
TOTALS = st.builds(lambda cents: cost_state(cents / 100), st.integers(0, 20))
LINES = st.one_of(ANSWERS, ANSWERS, TOTALS, st.sampled_from(["", "no json", '{"usage"']))
MIDNIGHT = 1_767_571_200.0
"""The first moment of 2026-01-05 in UTC."""
FILE_CHANGES = ("append", "append", "append", "replace", "shorten", "remove", "copy", "edit")
INDEX_CHANGES = ("damage", "lock", "read-only", "remove with a copy", "kill", "clock", "bounds")
STEPS = st.tuples(st.sampled_from(FILE_CHANGES + INDEX_CHANGES), st.sampled_from(NAMES), LINES)


class Machine:
    """A tree of files with an index, to which things happen."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "projects"
        self.root.mkdir()
        self.now = NOW
        self.dearest: dict[str, int] = {}
        """The dearest line that was ever there to be read, by request."""

    def open(self, **options: Any) -> SessionIndex:
        """Open the index, by the machine's clock."""
        return open_index(self.folder, clock=lambda: self.now, **options)

    def change(self, kind: str, name: str, line: Any) -> None:
        """Let something of *kind* happen."""
        path = self.root / name
        if kind == "replace" or (kind == "append" and not ends_torn(path)):
            self.see(line)
        if kind == "append":
            append(path, line)
        elif kind == "replace":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            rewrite(path, line)
        elif kind == "clock":
            self.now += 86_400 * (len(name) - 12)
        elif kind in INDEX_CHANGES:
            self.change_index(kind)
        elif path.is_file():
            change_file(path, kind)

    def see(self, line: Any) -> None:
        """Remember the cost of *line* if it's a request."""
        if isinstance(line, str) or "message" not in line:
            return
        message = line["message"]
        cost = message["usage"]["output_tokens"] * PRICES[message["model"]]
        key = f"{message['id']}:{line['requestId']}"
        self.dearest[key] = max(cost, self.dearest.get(key, 0))

    def change_index(self, kind: str) -> None:
        """Let something happen to the index while files are read."""
        if kind == "bounds":
            with self.open() as index:
                index.update(transcripts(self.root), ReadingBounds(size=300))
        elif kind == "lock":
            with self.open() as other, self.open(patience=0.0) as index:
                other.database.execute("BEGIN IMMEDIATE")
                index.update(transcripts(self.root))
        elif kind == "read-only":
            with self.open() as index:
                index.database.execute("PRAGMA query_only = ON")
                index.update(transcripts(self.root))
        elif kind == "kill":
            with self.open() as index:
                index.database.execute("BEGIN IMMEDIATE")
                index.database.execute("DELETE FROM sums")
        else:
            self.lose_index(damaged=kind == "damage")

    def lose_index(self, *, damaged: bool) -> None:
        """Damage or remove the index after it was copied."""
        path = self.folder / "home" / "index.db"
        with self.open() as index:
            shutil.rmtree(self.folder / "home" / "backups", ignore_errors=True)
            index.copy_daily()
        if damaged:
            path.write_bytes(b"damaged" * 1_000)
            return
        for part in ("", "-wal", "-shm"):
            Path(f"{path}{part}").unlink(missing_ok=True)


def ends_torn(path: Path) -> bool:
    """Whether the last line of *path* has no end: what is appended to it can't be read."""
    return path.is_file() and not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0


def change_file(path: Path, kind: str) -> None:
    """Change a file that is there as agents and people do."""
    if kind == "remove":
        path.unlink()
    elif kind == "copy":
        other = path.parent / "z.jsonl"
        other.write_bytes(path.read_bytes())
        touch(other)
    elif kind == "edit":
        path.write_bytes(path.read_bytes().replace(b'"output_tokens":9', b'"output_tokens":1'))
        touch(path)
    else:
        os.truncate(path, path.stat().st_size * 2 // 3)
        touch(path)


def assert_usage_agrees(index: SessionIndex) -> None:
    """Check that brim usage and the limits have the same sums: of all, of each project, today."""
    reading = SessionsReading(index)
    report = usage_report(reading, utc=True, now=NOW)
    assert report.spent == index.spent("*").cost
    for project in {cell.project for cell in index.cells("project")} - {""}:
        wanted = UsageFilter(project=project)
        of_project = usage_report(reading, wanted=wanted, utc=True, now=NOW)
        assert of_project.spent == index.spent(f"p:{project}").cost
    today = usage_report(reading, wanted=UsageFilter(since="2026-01-05"), utc=True, now=NOW)
    assert today.spent == index.spent("*", MIDNIGHT).cost


@settings(max_examples=150, deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=25))
def test_sums_never_fall_and_are_those_of_the_requests(steps: list[tuple[str, str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        machine = Machine(Path(temporary))
        before = 0
        for step in steps:
            machine.change(*step)
            with machine.open() as index:
                update(index, machine.root)
                assert_sums_are_right(index)
                spent = index.spent("*").cost
                assert spent >= before
                assert_usage_agrees(index)
                before = spent
                costs = {row.key: row.cost or 0 for row in index.requests()}
        assert costs == machine.dearest


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(NAMES), ANSWERS), min_size=1, max_size=20), st.data())
def test_the_order_of_reading_changes_no_cost(lines: list[tuple[str, Any]], data: Any) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary) / "projects"
        with open_index(Path(temporary)) as index:
            for name, line in lines:
                append(root / name, line)
                if data.draw(st.booleans()):
                    update(index, root)
            update(index, root)
            fresh = SessionIndex()
            fresh.update(data.draw(st.permutations(transcripts(root))))
            assert index.spent("*") == fresh.spent("*")
            assert {row.key: row.cost for row in index.requests()} == {
                row.key: row.cost for row in fresh.requests()
            }


def test_the_daily_copy_is_a_whole_database(tmp_path: Path) -> None:
    append(tmp_path / "projects" / "a.jsonl", answer())
    with open_index(tmp_path) as index:
        update(index, tmp_path / "projects")
        copy = index.copy_daily()
    with closing(sqlite3.connect(copy)) as database:
        assert database.execute("SELECT count(*) FROM requests").fetchone() == (1,)
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
