"""A damaged, locked, missing or read-only index never lifts a limit: it's rebuilt or done without."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sessions.tree import (
    NOW,
    append,
    assert_sums_are_right,
    open_index,
    transcripts,
    update,
)
from tests.sessions.window.transcripts import answer, usage, write

DEAR = usage(0, 100_000)
PRICE = 1_500_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path / "projects" / "s-1.jsonl", answer(used=DEAR))
    return tmp_path / "projects"


def index_file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "index.db"


def test_it_is_for_its_owner_alone(tmp_path: Path, root: Path) -> None:
    with open_index(tmp_path) as index:
        update(index, root)
    assert index_file(tmp_path).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("damage", ["header", "pages", "empty tables"])
def test_a_damaged_index_is_put_aside_and_made_again(
    tmp_path: Path, root: Path, damage: str
) -> None:
    with open_index(tmp_path) as index:
        update(index, root)
        index.checkpoint()
    path = index_file(tmp_path)
    data = path.read_bytes()
    if damage == "header":
        path.write_bytes(b"no database at all" * 100)
    elif damage == "pages":
        path.write_bytes(data[:4096] + os.urandom(len(data) - 4096))
    else:
        with sqlite3.connect(path) as database:
            database.execute("DROP TABLE sums")
        database.close()
    with open_index(tmp_path) as index:
        update(index, root)
        assert index.spent("*").cost == PRICE
        assert_sums_are_right(index)
    assert "damaged" in index.problem or damage == "empty tables"


def test_damage_that_shows_later_is_repaired_then(tmp_path: Path, root: Path) -> None:
    with open_index(tmp_path) as index:
        update(index, root)
        index.checkpoint()
        path = index_file(tmp_path)
        data = path.read_bytes()
        root_page = index.database.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'files'"
        ).fetchone()[0]
        index.close()
        start = (root_page - 1) * 4096
        path.write_bytes(data[:start] + b"\xff" * 4096 + data[start + 4096 :])
    with open_index(tmp_path) as index:
        update(index, root)
        assert index.spent("*").cost == PRICE
        assert "damaged" in index.problem


def test_another_programs_file_and_a_newer_index_are_left_alone(tmp_path: Path, root: Path) -> None:
    path = index_file(tmp_path)
    path.parent.mkdir()
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE notes (text)")
    database.close()
    before = path.read_bytes()
    with open_index(tmp_path) as index:
        update(index, root)
        assert index.spent("*").cost == PRICE
        assert "another program" in index.problem
    assert path.read_bytes() == before
    path.unlink()
    with open_index(tmp_path) as index:
        index.database.execute("PRAGMA user_version = 99")
    with open_index(tmp_path) as index:
        assert "newer brim" in index.problem


@pytest.mark.parametrize("place", ["folder", "file in the way", "link"])
def test_where_no_index_can_be_the_session_is_counted_all_the_same(
    tmp_path: Path, root: Path, place: str
) -> None:
    path = index_file(tmp_path)
    if place == "folder":
        path.mkdir(parents=True)
    elif place == "link":
        path.parent.mkdir()
        path.symlink_to(tmp_path / "elsewhere.db")
    else:
        path.parent.write_text("in the way")
    with open_index(tmp_path) as index:
        update(index, root)
        assert index.spent("*").cost == PRICE
        assert index.problem
        assert not index.is_kept


def test_while_another_process_writes_requests_count_in_memory(tmp_path: Path, root: Path) -> None:
    with open_index(tmp_path) as other:
        update(other, root)
        other.database.execute("BEGIN IMMEDIATE")
        append(root / "s-1.jsonl", answer("msg_2", used=DEAR), answer(used=DEAR))
        with open_index(tmp_path, patience=0.01) as index:
            assert not index.update(transcripts(root)).is_written
            assert index.spent("*").cost == 2 * PRICE
            assert index.spent("s:s-1", NOW - 86_400 * 30).cost == 2 * PRICE
            assert index.problem == ""
        other.database.execute("ROLLBACK")
        update(other, root)
        assert other.spent("*").cost == 2 * PRICE


def test_a_read_only_index_decides_and_says_so(tmp_path: Path, root: Path) -> None:
    with open_index(tmp_path) as index:
        update(index, root)
    append(root / "s-1.jsonl", answer("msg_2", used=DEAR))
    with open_index(tmp_path) as index:
        index.database.execute("PRAGMA query_only = ON")
        assert not index.update(transcripts(root)).is_written
        assert index.spent("*").cost == 2 * PRICE
        assert "isn't kept" in index.problem


def test_a_full_disk_decides_and_says_so(tmp_path: Path, root: Path) -> None:
    with open_index(tmp_path) as index:
        update(index, root)
        (pages,) = index.database.execute("PRAGMA page_count").fetchone()
        lines = [answer(f"msg_{number}", used=DEAR) for number in range(2, 3_001)]
        append(root / "s-1.jsonl", *lines)
        index.database.execute(f"PRAGMA max_page_count = {pages}")
        assert not index.update(transcripts(root)).is_written
        assert index.spent("*").cost == 3_000 * PRICE
        assert "full" in index.problem


def test_requests_of_deleted_transcripts_come_back_from_the_daily_copy(
    tmp_path: Path, root: Path
) -> None:
    with open_index(tmp_path) as index:
        update(index, root)
        index.mark_complete()
        assert index.copy_daily()
        assert index.copy_daily() == ""
    (root / "s-1.jsonl").unlink()
    write(root / "s-2.jsonl", answer("msg_2", used=DEAR))
    for name in ("index.db", "index.db-wal", "index.db-shm"):
        (tmp_path / "home" / name).unlink(missing_ok=True)
    with open_index(tmp_path) as index:
        assert not index.is_complete  # files of the time since the copy are to be read
        update(index, root)
        assert index.spent("*").cost == 2 * PRICE
        assert_sums_are_right(index)
    index_file(tmp_path).write_bytes(b"damaged" * 1_000)
    with open_index(tmp_path) as index:
        update(index, root)
        assert index.spent("*").cost == 2 * PRICE


def test_three_copies_are_kept_and_a_damaged_one_is_passed_over(tmp_path: Path, root: Path) -> None:
    for day in range(5):
        with open_index(tmp_path, clock=lambda day=day: NOW + 86_400 * day) as index:
            update(index, root)
            index.copy_daily()
    copies = sorted((tmp_path / "home" / "backups").iterdir())
    assert len(copies) == 3
    copies[-1].write_bytes(b"damaged" * 1_000)
    index_file(tmp_path).unlink()
    (root / "s-1.jsonl").unlink()
    with open_index(tmp_path) as index:
        assert index.spent("*").cost == PRICE


WRITER = """
import sys
from pathlib import Path
from tests.sessions.tree import open_index, update
while True:
    with open_index(Path(sys.argv[1]), patience=5.0) as index:
        update(index, Path(sys.argv[2]))
        print(index.spent("*").cost, flush=True)
        if sys.argv[3:]:
            break
"""


def test_killed_writers_leave_whole_sums(tmp_path: Path) -> None:
    root = tmp_path / "projects"
    for number in range(20):
        lines = [answer(f"msg_{number}_{line}", used=DEAR) for line in range(20)]
        write(root / f"s-{number}.jsonl", *lines)
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), str(root)], stdout=subprocess.PIPE
        )
        assert child.stdout is not None
        if number % 4 == 0:
            child.stdout.readline()
        child.send_signal(signal.SIGKILL)
        child.wait(60)
        child.stdout.close()
    with open_index(tmp_path) as index:
        update(index, root)
        assert index.spent("*").cost == 400 * PRICE
        assert_sums_are_right(index)


def test_twenty_processes_count_each_request_once(tmp_path: Path) -> None:
    root = tmp_path / "projects"
    for number in range(20):
        lines = [answer(f"msg_{number}_{line}", used=DEAR) for line in range(10)]
        write(root / f"s-{number}.jsonl", *lines)
    command = [sys.executable, "-c", WRITER, str(tmp_path), str(root), "once"]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(20)]
    sums = {int(child.communicate(timeout=300)[0]) for child in children}
    assert sums == {200 * PRICE}
    with open_index(tmp_path) as index:
        assert index.spent("*").cost == 200 * PRICE
        assert_sums_are_right(index)
