"""A database that came with a project holds what the migrations made, or it isn't used; and no
query runs forever."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from brim.errors import StoreError
from brim.store import open_store
from brim.store.backup import create, restore, rule_ids
from brim.store.database import APPLICATION, JOURNAL, RECORDED, SCHEMA, TABLES, connect, statements
from tests.hooks.hook_world import RULE, World
from tests.store.making import behavior, raw

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def written(path: Path, sql: str) -> None:
    """Change the schema of *path* as only a program that means harm does."""
    with closing(raw(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.executescript(sql)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / ".brim" / "brim.db"
    with open_store(str(path)) as store:
        store.put(behavior(), event="learned", now=1.0)
    return path


VIEW = f"DROP TABLE edges; CREATE VIEW edges AS {ENDLESS.replace('count(*)', 'i')};"
FOREIGN = {
    "a trigger that rewrites": "CREATE TRIGGER t AFTER UPDATE ON behaviors BEGIN UPDATE behaviors SET name='x'; END",
    "a trigger that swallows": "CREATE TRIGGER t BEFORE INSERT ON behaviors BEGIN SELECT RAISE(IGNORE); END",
    "a view": "CREATE VIEW v AS SELECT 1",
    "a view in place of a table": VIEW,
    "another table": "CREATE TABLE more (a)",
    "a table less": "DROP TABLE windows",
    "an index less": "DROP INDEX edges_by_target",
    "a trigger less": "DROP TRIGGER events_are_not_removed",
    "an index of an expression": "CREATE INDEX i ON behaviors (abs(priority))",
    "a generated column": "ALTER TABLE meta ADD COLUMN g AS (hex(zeroblob(9000000)))",
    "a column more": "ALTER TABLE behaviors ADD COLUMN more TEXT DEFAULT 'x'",
    "a column of another name": "ALTER TABLE windows RENAME COLUMN tokens TO toks",
    "a virtual table": "CREATE VIRTUAL TABLE v USING fts5(a)",
    "a trigger of ours that does more": "UPDATE sqlite_schema SET sql = replace(sql, 'BEGIN', "
    "'BEGIN DELETE FROM behaviors;') WHERE name = 'events_are_not_changed'",
    "a constraint less": "UPDATE sqlite_schema SET sql = replace(sql, 'detail TEXT NOT NULL', 'detail TEXT')",
    "another collation": "UPDATE sqlite_schema SET sql = replace(sql, 'id TEXT', 'id TEXT COLLATE NOCASE')",
    "a view that is called statistics": "INSERT INTO sqlite_schema VALUES "
    "('view', 'sqlite_stat1', 'sqlite_stat1', 0, 'CREATE VIEW sqlite_stat1 AS SELECT 1')",
    "a table that is called statistics": "CREATE TABLE t (a); UPDATE sqlite_schema SET name = 'sqlite_stat1', "
    "tbl_name = 'sqlite_stat1', sql = 'CREATE TABLE sqlite_stat1(a, b AS (random()))' WHERE name = 't'",
}


@pytest.mark.parametrize("sql", FOREIGN.values(), ids=FOREIGN)
def test_a_schema_that_brim_did_not_make_is_refused(path: Path, sql: str) -> None:
    written(path, sql)
    before = path.read_bytes()
    for opens in (open_store,):
        for may_create in (True, False):
            with pytest.raises(StoreError) as caught:
                opens(str(path), create=may_create)
            assert caught.value.reason == "damaged"
            assert "brim rules restore" in str(caught.value)
    for use in (
        rule_ids,
        lambda given: create(given, f"{path}.copy"),
        lambda given: restore(given, f"{path}.new"),
    ):
        with pytest.raises(StoreError):
            use(str(path))
    assert path.read_bytes() == before
    assert not [
        name for name in os.listdir(path.parent) if name.endswith((".copy", ".new", ".tmp"))
    ]


def test_a_file_that_was_refused_is_replaced_by_a_backup(path: Path, tmp_path: Path) -> None:
    backup = create(str(path), str(tmp_path / "backup.db"))
    written(path, VIEW)
    foreign = path.read_bytes()
    assert Path(restore(backup, str(path)) or "").read_bytes() == foreign
    with open_store(str(path)) as store:
        assert [each.id for each in store.behaviors()] == ["b1"]


@pytest.mark.parametrize("version", [0, -1, -(2**31)])
def test_a_file_that_claims_to_be_older_than_any_is_not_used(tmp_path: Path, version: int) -> None:
    older = tmp_path / "older.db"
    with closing(raw(older)) as connection:
        connection.execute(f"CREATE VIEW v AS {ENDLESS}")
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {version}")
    before = older.read_bytes()
    for may_create in (True, False):
        with pytest.raises(StoreError, match="brim rules restore"):
            open_store(str(older), create=may_create)
    assert older.read_bytes() == before


# Journals -----------------------------------------------------------------------------------------


def hot_journal(path: Path, named: str = "") -> None:
    """Put a rollback journal of the first page next to *path*, as of a transaction that also wrote
    to *named*."""
    with closing(raw(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    size = int.from_bytes(path.read_bytes()[16:18], "big")
    page = path.read_bytes()[:size]
    check = (7 + sum(page[size - 200 : 0 : -200])) & 0xFFFFFFFF
    numbers = [1, 7, path.stat().st_size // size, 512, size]
    journal = (JOURNAL + b"".join(each.to_bytes(4, "big") for each in numbers)).ljust(512, b"\0")
    journal += (1).to_bytes(4, "big") + page + check.to_bytes(4, "big")
    if named:
        name = named.encode()
        ends = [len(name), sum(name)]
        journal += ((1 << 30) // size + 1).to_bytes(4, "big") + name
        journal += b"".join(each.to_bytes(4, "big") for each in ends) + JOURNAL
    Path(f"{path}-journal").write_bytes(journal)


def test_a_journal_removes_no_other_file(path: Path, tmp_path: Path) -> None:
    backup = create(str(path), str(tmp_path / "backup.db"))
    mine = tmp_path / "mine.txt"
    mine.write_text("precious", encoding="utf-8")
    hot_journal(path, str(mine))
    for use in (open_store, rule_ids, lambda given: create(given, f"{path}.copy")):
        with pytest.raises(StoreError, match="-journal"):
            use(str(path))
    restore(backup, str(path))
    assert mine.read_text(encoding="utf-8") == "precious"
    with open_store(str(path)) as store:
        assert [each.id for each in store.behaviors()] == ["b1"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes")
def test_a_journal_that_is_a_pipe_is_not_waited_for(path: Path) -> None:
    os.mkfifo(f"{path}-journal")
    code = "import sys; from brim.store import open_store; open_store(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "isn't a file that can be read" in done.stderr


def test_a_journal_of_one_file_is_rolled_back(path: Path) -> None:
    hot_journal(path)
    with open_store(str(path)) as store:
        assert [each.id for each in store.behaviors()] == ["b1"]
    assert not os.path.exists(f"{path}-journal")


def test_a_journal_is_not_read_into_a_backup_that_is_put_back(path: Path, tmp_path: Path) -> None:
    backup = create(str(path), str(tmp_path / "backup.db"))
    written(path, "DELETE FROM behaviors")
    written(path, VIEW)
    hot_journal(path)
    kept = restore(backup, str(path))
    assert os.path.exists(f"{kept}-journal")
    assert not os.path.exists(f"{path}-journal")
    with open_store(str(path)) as store:
        assert [each.id for each in store.behaviors()] == ["b1"]
        assert store.check() == []


def recorded_schema() -> str:
    """What should be recorded of the tables: ``python -m tests.store.test_schema`` writes it."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in statements(TABLES):
            connection.execute(statement)
        rows = [json.dumps(row) for row in connection.execute(SCHEMA)]
    return "[\n" + ",\n".join(rows) + "\n]\n"


def test_the_recorded_schema_is_that_of_the_tables() -> None:
    assert Path(RECORDED).read_text(encoding="utf-8") == recorded_schema()


def test_statistics_of_sqlite_and_a_rewritten_file_are_fine(path: Path) -> None:
    with closing(raw(path)) as connection:
        connection.execute("ANALYZE")
        connection.execute("VACUUM")
    with open_store(str(path), create=False) as store:
        assert store.get("b1") == behavior()


def test_a_hook_goes_on_without_such_a_project(tmp_path: Path) -> None:
    world = World(tmp_path)
    database = world.project / ".brim" / "brim.db"
    with open_store(str(database)) as store:
        store.put(
            behavior("b-2", kind="constraint", canonical="Mind the gap."), event="learned", now=0
        )
    written(database, VIEW)
    done = world.launch("SessionStart", world.message("SessionStart"))
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"Mind the gap" not in done.stdout
    assert "triggers" in world.log() or RULE.encode() in done.stdout


# Queries ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("timeout", [0.15, 0.0])
def test_a_query_of_an_impatient_process_ends_soon(path: Path, timeout: float) -> None:
    with open_store(str(path), create=False, timeout=timeout) as store:
        with pytest.raises(StoreError, match="seconds"):
            store.database.rows(ENDLESS)
        assert store.get("b1") == behavior()  # the next one has its own time


def test_a_write_that_takes_too_long_leaves_nothing(path: Path) -> None:
    with open_store(str(path), create=False, timeout=0.15) as store:
        with suppress(StoreError), store.writing():
            store.put(behavior("b2"), event="learned", now=2.0)
            store.database.run(
                f"INSERT INTO meta SELECT i, i FROM ({ENDLESS.replace('count(*)', 'i')})"
            )
        assert [each.id for each in store.behaviors()] == ["b1"]
        assert store.check() == []


INTERRUPTED = f"""
import sys
from brim.store import open_store
store = open_store(sys.argv[1])
print("ready", flush=True)
store.database.rows({ENDLESS!r})
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_person_can_interrupt_a_query(path: Path) -> None:
    running = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "ready\n"
    time.sleep(0.3)
    running.send_signal(signal.SIGINT)
    error = running.communicate(timeout=300)[1]
    assert "KeyboardInterrupt" in error


def test_a_text_that_brim_never_writes_is_not_read_into_memory(path: Path) -> None:
    with closing(raw(path)) as connection:
        connection.execute("UPDATE behaviors SET canonical = CAST(zeroblob(100000000) AS TEXT)")
    with open_store(str(path), create=False) as store:
        with pytest.raises(StoreError, match="larger than brim") as caught:
            store.behaviors()
        assert caught.value.reason == "damaged"


@pytest.mark.parametrize("pages", [0, 1, 2, 9, 70_000, 0xFFFFFFFF])
def test_a_page_count_that_is_not_true_is_harmless(path: Path, tmp_path: Path, pages: int) -> None:
    liar = Path(shutil.copy(path, tmp_path / "liar.db"))
    content = bytearray(liar.read_bytes())
    content[28:32] = pages.to_bytes(4, "big")
    liar.write_bytes(content)
    with suppress(StoreError), open_store(str(liar)) as store:
        store.put(behavior("b2"), event="learned", now=2.0)
        assert [each.id for each in store.behaviors()] == ["b1", "b2"]
        assert store.check() == []


def test_a_connection_does_not_believe_what_it_reads(path: Path) -> None:
    with connect(str(path)) as database:
        assert database.row("PRAGMA trusted_schema") == (0,)
        assert database.row("PRAGMA cell_size_check") == (1,)


if __name__ == "__main__":
    Path(RECORDED).write_text(recorded_schema(), encoding="utf-8")
