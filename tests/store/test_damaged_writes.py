"""A damaged file isn't written to, and the checks find the damage: tried on many copies."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brim.behaviors import Edge
from brim.behaviors.when import When
from brim.errors import StoreError
from brim.store import open_scopes, open_store
from brim.store.checks import store_problems
from tests.store.making import behavior, raw

PAGE = 4096
TABLES = [
    "behaviors",
    "edges",
    "events",
    "line_costs",
    "meta",
    "reservations",
    "sessions",
    "triggers",
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of some hundred pages with something in every table, and pages that are free."""
    path = tmp_path_factory.mktemp("made") / "brim.db"
    with open_store(str(path)) as store:
        several = [
            behavior(f"b{i}", name=f"rule-{i}", canonical=f"Mind {i}. " * (i % 90 + 1))
            for i in range(200)
        ]
        store.put_many(
            [replace(each, when=When(language="python")) for each in several],
            event="learned",
            now=1.0,
        )
        store.put_edges([Edge(f"b{i}", f"b{i + 1}", "similar-to", 0.5) for i in range(199)])
        with store.writing():
            store.database.run("DELETE FROM line_costs WHERE behavior % 3 = 0")
    return path


def flip(content: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice((1, 8, 64))):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)


def overwrite(content: bytearray, rng: random.Random) -> None:
    at = rng.randrange(len(content) // PAGE) * PAGE
    content[at : at + PAGE] = rng.choice((bytes(PAGE), b"\xff" * PAGE, rng.randbytes(PAGE)))


def swap(content: bytearray, rng: random.Random) -> None:
    one, other = (rng.randrange(1, len(content) // PAGE) * PAGE for _ in range(2))
    content[one : one + PAGE], content[other : other + PAGE] = (
        content[other : other + PAGE],
        content[one : one + PAGE],
    )


def shorten(content: bytearray, rng: random.Random) -> None:
    del content[rng.randrange(200, len(content)) :]


DAMAGES = [flip, overwrite, swap, shorten]


def rows(path: Path) -> dict[str, Any]:
    """Return what can be read of each table, as any program would read it."""
    found: dict[str, Any] = {}
    with closing(raw(path)) as connection:
        connection.text_factory = bytes
        for table in TABLES:
            try:
                found[table] = sorted(
                    map(repr, connection.execute(f"SELECT * FROM {table} NOT INDEXED"))
                )
            except (sqlite3.Error, UnicodeDecodeError):
                found[table] = None
    return found


def sound(path: Path) -> bool:
    with closing(raw(path)) as connection:
        try:
            return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        except (sqlite3.Error, UnicodeDecodeError):
            return False


def learn(path: Path) -> None:
    with open_store(str(path)) as store:
        store.put(behavior("new", name="new-rule"), event="learned", now=9.0)


@pytest.mark.parametrize("write", [learn])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_write_is_refused_or_everything_is_as_it_was_with_the_new(
    made: Path,
    tmp_path: Path,
    damage: Callable[[bytearray, random.Random], None],
    write: Callable[[Path], None],
) -> None:
    accepted = 0
    for seed in range(40):
        rng, path = random.Random(seed), Path(shutil.copy(made, tmp_path / f"{seed}.db"))
        content = bytearray(path.read_bytes())
        damage(content, rng)
        path.write_bytes(content)
        try:
            write(path)
        except StoreError:
            continue
        accepted += 1
        damaged = tmp_path / "damaged.db"
        damaged.write_bytes(content)
        assert sound(damaged), seed
        assert sound(path), seed
        before, after = rows(damaged), rows(path)
        for table in (
            "behaviors",
            "edges",
            "events",
            "line_costs",
            "reservations",
        ):
            assert before[table] is not None, (seed, table)
            assert set(before[table]) <= set(after[table]), (seed, table)
    assert damage is not shorten or accepted == 0


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_sqlite_can_find_is_found(
    made: Path, tmp_path: Path, damage: Callable[[bytearray, random.Random], None]
) -> None:
    for seed in range(100, 140):
        path = Path(shutil.copy(made, tmp_path / f"{seed}.db"))
        content = bytearray(path.read_bytes())
        damage(content, random.Random(seed))
        path.write_bytes(content)
        try:
            with open_store(str(path), create=False) as store:
                problems = store_problems(store)
        except StoreError:
            continue
        assert problems or sound(path), seed


def test_a_row_without_its_rule_is_found(made: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(made, tmp_path / "brim.db"))
    with closing(raw(path)) as connection:
        connection.execute("INSERT INTO triggers VALUES ('word', 999999, 100)")
    with open_store(str(path)) as store:
        assert store_problems(store) == ["triggers: a row belongs to none of behaviors"]
        store.put(behavior("new"), event="learned", now=9.0)  # that harms nothing


def lie(path: Path) -> None:
    """Add an edge to *path* that an index doesn't have."""
    where = "FROM sqlite_schema WHERE name = 'edges_by_target'"
    with closing(raw(path)) as connection:
        row = connection.execute(f"SELECT * {where}").fetchone()
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(f"DELETE {where}")
    with closing(raw(path)) as connection:
        connection.execute("INSERT INTO edges VALUES ('b1', 'b9', 'requires', 0.5, NULL, NULL)")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", row)


def test_an_index_that_lacks_a_row_is_found_and_not_written_to(made: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(made, tmp_path / "brim.db"))
    lie(path)
    with open_store(str(path)) as store:
        assert "edges_by_target" in store_problems(store)[0]
        for _ in range(2):
            with pytest.raises(StoreError, match="nothing was written") as caught:
                store.put(behavior("new"), event="learned", now=9.0)
            assert caught.value.reason == "damaged"


def test_both_files_are_checked_before_either_is_locked(made: Path, tmp_path: Path) -> None:
    path = tmp_path / "project" / ".brim" / "brim.db"
    path.parent.mkdir(parents=True)
    lie(Path(shutil.copy(made, path)))
    with (
        open_scopes(str(tmp_path / "project"), str(tmp_path / "user"), trusted=True) as scopes,
        pytest.raises(StoreError, match="edges_by_target"),
        scopes.writing("user"),
    ):
        pass


def test_a_hook_does_not_wait_for_the_check(made: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(made, tmp_path / "brim.db"))
    with open_store(str(path), create=False, timeout=0.15) as store:
        asked: list[str] = []
        store.database._connection.set_trace_callback(asked.append)
        store.put(behavior("new"), event="learned", now=9.0)
        assert not [sql for sql in asked if "_check" in sql]
