"""What reports found is kept in a cache: whatever happens to it, nothing is lost and nobody is kept from
working."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from brim.sessions.report.index import VERSION, FileFindings, load_findings, save_findings
from brim.sessions.session_files import Stamp

WRITER = """
import sys
from brim.sessions.report.index import FileFindings, save_findings
from brim.sessions.session_files import Stamp
print("ready", flush=True)
number = 0
while True:
    number += 1
    text = str(number) * 2_000
    rows = {f"/{i}.jsonl": FileFindings(Stamp(i, number, number), text) for i in range(20)}
    save_findings(sys.argv[1], rows)
"""


def save(index: Path, *paths: Path, size: int = 10, text: str = "[]") -> bool:
    rows = {str(path): FileFindings(Stamp(1, size, 3), text) for path in paths}
    return save_findings(str(index), rows)


def known(path: Path, *wanted: Path, told: list[str] | None = None) -> dict[str, int]:
    heard: list[str] = [] if told is None else told
    found = load_findings(str(path), map(str, wanted), heard.append)
    return {name: one.stamp.size for name, one in found.items()}


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / ".brim" / "usage.db"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_text("{}\n")
    return path


def test_what_was_saved_is_found_again(index: Path, session: Path) -> None:
    assert known(index, session) == {}
    assert save(index, session, text="ü")
    found = load_findings(str(index), [str(session), "/other"], print)[str(session)]
    assert found == FileFindings(Stamp(1, 10, 3), "ü")
    assert save(index, session, size=11)
    assert known(index, session) == {str(session): 11}


def test_it_is_for_its_owner_alone(index: Path, session: Path) -> None:
    save(index, session)
    assert (index.stat().st_mode & 0o777, index.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_files_that_are_gone_leave_it(index: Path, session: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone.jsonl"
    gone.touch()
    save(index, session, gone)
    gone.unlink()
    save(index, session)
    assert known(index, session, gone) == {str(session): 10}


def test_another_version_is_emptied(index: Path, session: Path) -> None:
    save(index, session)
    with closing(sqlite3.connect(index)) as database, database:
        database.execute(f"PRAGMA user_version = {VERSION + 1}")
        database.execute("CREATE TABLE later (x)")
    told: list[str] = []
    assert (known(index, session, told=told), told) == ({}, [])
    assert save(index, session, size=12)
    assert known(index, session) == {str(session): 12}


@pytest.mark.parametrize("damage", ["head", "middle", "columns", "text", "digit"])
def test_a_damaged_index_is_made_anew_with_a_note(index: Path, session: Path, damage: str) -> None:
    save(index, session, text="x" * 10_000)
    if damage == "text":
        with closing(sqlite3.connect(index)) as database, database:
            database.execute("UPDATE files SET findings = '{'")
    elif damage == "digit":
        with closing(sqlite3.connect(index)) as database, database:
            database.execute("UPDATE files SET size = size + 1")
    elif damage == "columns":
        with closing(sqlite3.connect(index)) as database, database:
            database.execute("ALTER TABLE files DROP COLUMN findings")
    else:
        data = bytearray(index.read_bytes())
        at = 0 if damage == "head" else 4_096
        data[at : at + 2_000] = b"\xff" * 2_000
        index.write_bytes(data)
    told: list[str] = []
    assert known(index, session, told=told) == {}
    assert len(told) == 1
    assert "is rebuilt" in told[0]
    assert save(index, session, size=13)
    assert known(index, session) == {str(session): 13}


def test_a_database_of_another_program_is_not_touched(index: Path, session: Path) -> None:
    index.parent.mkdir()
    with closing(sqlite3.connect(index)) as database, database:
        database.execute("CREATE TABLE precious (x)")
    before = index.read_bytes()
    told: list[str] = []
    assert known(index, session, told=told) == {}
    assert "another program" in told[0]
    assert not save(index, session)
    assert index.read_bytes() == before


def test_a_folder_in_its_place_is_no_reason_to_fail(index: Path, session: Path) -> None:
    index.mkdir(parents=True)
    assert known(index, session, told=[]) == {}
    assert not save(index, session)


def test_where_nothing_can_be_written_nothing_is(tmp_path: Path, session: Path) -> None:
    (tmp_path / "file").touch()
    assert not save(tmp_path / "file" / "usage.db", session)


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal there")
def test_a_writer_that_is_killed_leaves_whole_rows(index: Path) -> None:
    paths = [f"/{i}.jsonl" for i in range(20)]
    for i in range(6):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(index)], stdout=subprocess.PIPE
        )
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(0.005 * i)
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        told: list[str] = []
        for one in load_findings(str(index), paths, told.append).values():
            assert one.json == str(one.stamp.size) * 2_000
        assert told == []


def test_two_that_write_at_once_both_go_on(index: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER.replace("while True", "while number < 15"), str(index)]
        )
        for _ in range(2)
    ]
    assert [writer.wait(timeout=300) for writer in writers] == [0, 0]
    assert save_findings(str(index), {})
