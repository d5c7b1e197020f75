"""The ledger in SQLite: the contract, and what is particular to a file."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from brim.errors import InputError, StoreError
from brim.money import open_ledger
from brim.money.sqlite_ledger import ledger_path
from brim.rules.state import RulesState
from brim.usd import Money
from tests.money.ledger_contract import Clock, LedgerContract, Open


class TestSqlite(LedgerContract):
    @pytest.fixture
    def opened(self, tmp_path: Path, clock: Clock) -> Open:
        return lambda: open_ledger(f"sqlite:///{tmp_path}/money.db", clock=clock)

    def new(self, folder: Any, clock: Clock) -> Any:
        return open_ledger(str(folder / "money.db"), clock=clock)


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("sqlite:///a/b.db", "a/b.db"),
        ("sqlite:////a/b.db", "/a/b.db"),
        ("b.db", "b.db"),
        ("/a:b.db", "/a:b.db"),
    ],
)
def test_an_address_is_written_as_elsewhere(address: str, path: str) -> None:
    assert ledger_path(address) == path


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://host/db",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "",
        "sqlite://host/x",
        "sqlite:///a?b=c",
    ],
)
def test_another_address_is_an_error_that_says_what_there_is(address: str) -> None:
    with pytest.raises(InputError, match="sqlite:///"):
        ledger_path(address)


def raw(path: Path | str) -> sqlite3.Connection:
    """Open a file as any other program would."""
    return sqlite3.connect(str(path), isolation_level=None)


def test_a_file_with_rules_is_no_ledger(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    state = RulesState(str(tmp_path), now=0.0)
    state.allow("use-uv", "user")
    state.close()
    before = path.read_bytes()
    with pytest.raises(StoreError):
        open_ledger(str(path))
    assert path.read_bytes() == before


FOREIGN = {
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON spend_entries BEGIN DELETE FROM spend_limits; END",
    "a view": "CREATE VIEW v AS SELECT 1",
    "a table": "CREATE TABLE t (a)",
    "a table less": "DROP TABLE spend_answers",
    "another constraint": "PRAGMA writable_schema = ON; UPDATE sqlite_schema"
    " SET sql = replace(sql, ' CHECK (spent >= 0)', '')",
}


@pytest.mark.parametrize("sql", FOREIGN.values(), ids=FOREIGN)
def test_tables_that_brim_did_not_make_are_refused(tmp_path: Path, sql: str) -> None:
    path = tmp_path / "money.db"
    open_ledger(str(path)).close()
    connection = raw(path)
    connection.executescript(sql)
    connection.commit()
    connection.close()
    for create in (True, False):
        with pytest.raises(StoreError) as caught:
            open_ledger(str(path), create=create)
        assert caught.value.reason == "damaged"


@pytest.mark.parametrize("version", [1, 99])
def test_a_ledger_of_another_version_is_refused(tmp_path: Path, version: int) -> None:
    path = tmp_path / "money.db"
    open_ledger(str(path)).close()
    connection = raw(path)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    with pytest.raises(StoreError, match=f"version {version} of the file; this one reads"):
        open_ledger(str(path))


def test_commits_wait_for_the_disk(tmp_path: Path) -> None:
    with open_ledger(str(tmp_path / "money.db")) as ledger:
        assert ledger.database.row("PRAGMA synchronous") == (2,)
        assert ledger.database.row("PRAGMA journal_mode") == ("wal",)


def test_entries_are_neither_changed_nor_removed(tmp_path: Path) -> None:
    path = tmp_path / "money.db"
    with open_ledger(str(path)) as ledger:
        ledger.record("shop", "a", Money(5))
    connection = raw(path)
    for statement in ("UPDATE spend_entries SET amount = 1", "DELETE FROM spend_entries"):
        with pytest.raises(Exception, match="an entry cannot be"):
            connection.execute(statement)
    connection.close()


def test_the_entries_add_up_to_what_is_spent(tmp_path: Path) -> None:
    path, clock = tmp_path / "money.db", Clock()
    with open_ledger(str(path), clock=clock) as ledger:
        reserved = ledger.reserve("a/b", Money(100), request_id="r", lease=1)
        clock.now += 2
        ledger.settle(reserved, Money(40))
        ledger.settle(reserved, Money(45))
        ledger.release(ledger.reserve("a/b", Money(7)))
        ledger.record("a", "s", Money(5))
        assert ledger.database.rows("SELECT kind, amount FROM spend_entries ORDER BY number") == [
            ("expired", 100),
            ("corrected", -60),
            ("corrected", 5),
            ("recorded", 5),
        ]
        assert ledger.status("a").spent == 50


def test_answers_are_kept_with_the_limit_that_followed(tmp_path: Path) -> None:
    with open_ledger(str(tmp_path / "money.db"), clock=lambda: 7.0) as ledger:
        ledger.limit("a", Money(1_000))
        ledger.limit("a", Money(1_000))
        ledger.record("a", "r", Money(1_000))
        ledger.answer("a", "continue")
        ledger.answer("a", "wrap_up")
        rows = ledger.database.rows(
            "SELECT time, scope, answer, amount FROM spend_answers ORDER BY number"
        )
        assert rows == [
            (7.0, "a", "limit", 1_000),
            (7.0, "a", "continue", 1_100),
            (7.0, "a", "wrap_up", 1_100),
        ]


def test_a_missing_ledger_is_not_made_for_a_hook(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught:
        open_ledger(str(tmp_path / "money.db"), create=False)
    assert caught.value.reason == "missing"
    assert os.listdir(tmp_path) == []


def test_a_scope_that_cannot_be_read_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "money.db"
    with open_ledger(str(path)) as ledger:
        ledger.record("shop", "a", Money(5))
        with ledger.database.writing():
            ledger.database.run("UPDATE spend_scopes SET state = 'odd'")
        with pytest.raises(StoreError) as caught:
            ledger.reserve("shop", Money(1))
        assert caught.value.reason == "damaged"


def test_a_subscriber_that_fails_loses_no_money(tmp_path: Path) -> None:
    def fails(_: object) -> None:
        raise RuntimeError("subscriber")

    with open_ledger(str(tmp_path / "money.db")) as ledger:
        ledger.subscribe(fails)
        ledger.limit("shop", Money(10))
        with pytest.raises(RuntimeError, match="subscriber"):
            ledger.record("shop", "a", Money(10))
        assert ledger.status("shop").spent == 10
