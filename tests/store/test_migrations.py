"""A file of an older version is brought up to date, and loses nothing by it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from brim.config.retention import NEWEST_COPIES
from brim.errors import StoreError
from brim.store import open_ledger, open_store
from brim.store.database import APPLICATION, MIGRATIONS, VERSION, open_database, statements, version_of
from tests.store.making import behavior, raw

VERSION_1 = Path(__file__).parent / "data" / "version1.sql"
"""Rows as version 1 wrote them, for the tables that 0001.sql makes."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".brim" / "brim.db"


def made(path: Path) -> None:
    with open_store(str(path)) as store:
        store.put(behavior(), event="learned", now=1.0)


def make_version_1(path: Path) -> None:
    path.parent.mkdir()
    connection = raw(path)
    for statement in statements(os.path.join(MIGRATIONS, "0001.sql")) + statements(str(VERSION_1)):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute("PRAGMA user_version = 1")
    connection.close()


def test_a_version_1_file_is_read_by_this_version(path: Path) -> None:
    make_version_1(path)
    with open_store(str(path)) as store:
        assert version_of(store.database) == VERSION
        (one, two) = store.behaviors()
        assert (one.name, one.usage.injected, one.when.conditions) == ("use-uv", 3, (("language", ("python",)),))
        assert two.superseded_by == one.id
        assert [node.id for node in store.seeds({"language": ("python",)}, frozenset())] == [one.id]
        assert [edge.weight for edge in store.all_edges()] == [0.5]
        assert [event.kind for event in store.events()] == ["learned", "merged"]
        calibration = store.calibrations.get("claude-x")
        assert calibration is not None
        assert calibration.ratio == 1.25
        assert store.windows.get("claude-x") == 200_000
        with store.session("s1") as session:
            assert session.spent == 120
        assert store.check() == []


def test_a_version_1_file_becomes_a_ledger_and_keeps_what_it_holds(path: Path) -> None:
    make_version_1(path)
    with pytest.raises(StoreError) as caught:
        open_ledger(str(path), migrate=False)
    assert caught.value.reason == "older"
    with open_ledger(str(path)) as ledger:
        ledger.settle(ledger.reserve("shop", 100), 90)
    with open_store(str(path), migrate=False) as store:
        assert len(store.behaviors()) == 2
        assert len(store.events()) == 2
        assert store.check() == []


NEXT = VERSION + 1


def migrations(folder: Path, next: str) -> str:
    shutil.copytree(MIGRATIONS, folder)
    (folder / f"{NEXT:04}.sql").write_text(next)
    return str(folder)


def test_an_older_file_is_brought_up_to_date_and_keeps_what_it_holds(path: Path, tmp_path: Path) -> None:
    made(path)
    newer = migrations(
        tmp_path / "newer", "-- a note\nALTER TABLE sessions ADD COLUMN more TEXT;\nCREATE TABLE more (a);\n"
    )
    with pytest.raises(StoreError) as caught:
        open_database(str(path), migrate=False, migrations=newer, version=NEXT)
    assert caught.value.reason == "older"
    database = open_database(str(path), migrations=newer, version=NEXT)
    assert version_of(database) == NEXT
    assert database.rows("SELECT * FROM more") == []
    assert database.row("SELECT name FROM behaviors") == ("use-uv",)
    database.close()


def test_a_migration_that_fails_leaves_the_file_as_it_was(path: Path, tmp_path: Path) -> None:
    made(path)
    bad = migrations(tmp_path / "bad", "CREATE TABLE more (a);\nDROP TABLE behaviors;\nCREATE TABLE events (a);\n")
    with pytest.raises(StoreError, match="events already exists"):
        open_database(str(path), migrations=bad, version=NEXT)
    with open_store(str(path)) as store:
        assert store.get("b1") == behavior()
        assert store.database.rows("SELECT name FROM sqlite_master WHERE name = 'more'") == []


def copies(path: Path) -> list[Path]:
    return sorted((path.parent / "backups").glob("brim-v*.db"))


def test_a_copy_is_kept_before_a_migration_as_the_version_before_wrote_it(path: Path) -> None:
    make_version_1(path)
    with closing(raw(path)) as connection:
        before = list(connection.iterdump())
    with open_store(str(path)) as store:
        (copy,) = copies(path)
        assert store.database.kept == str(copy)
    assert copy.name.startswith("brim-v1-")
    assert copy.stat().st_mode & 0o777 == 0o600
    with closing(raw(copy)) as connection:
        assert list(connection.iterdump()) == before
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    with open_store(str(path)) as store:
        assert store.database.kept == ""
    assert copies(path) == [copy]


def test_no_copy_is_kept_of_a_new_file(path: Path) -> None:
    made(path)
    assert copies(path) == []


def test_without_room_for_the_copy_nothing_is_migrated(path: Path) -> None:
    make_version_1(path)
    (path.parent / "backups").write_text("in the way")
    with pytest.raises(StoreError, match="backups"):
        open_store(str(path))
    with closing(raw(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    (path.parent / "backups").unlink()
    open_store(str(path)).close()


def test_the_newest_copies_stay(path: Path, tmp_path: Path) -> None:
    made(path)
    for number in range(NEWEST_COPIES + 2):
        folder = migrations(tmp_path / f"m{number}", "SELECT 1;\n")
        open_database(str(path), migrations=folder, version=NEXT).close()
        with closing(raw(path)) as connection:
            connection.execute(f"PRAGMA user_version = {VERSION}")
    assert len(copies(path)) == NEWEST_COPIES


def test_of_many_processes_that_migrate_one_keeps_the_copy(path: Path) -> None:
    make_version_1(path)
    code = "import sys; from brim.store import open_store; open_store(sys.argv[1]).close()"
    running = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(4)]
    assert [process.wait(300) for process in running] == [0] * 4
    assert len(copies(path)) == 1
