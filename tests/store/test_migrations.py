"""A file of an older version is brought up to date, and loses nothing by it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

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
