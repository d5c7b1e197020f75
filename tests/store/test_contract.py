"""The engines that there are, held to the contract."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.behaviors import Behavior
from brim.store import open_scopes, open_store
from tests.store import making
from tests.store.contract import Open, StoreContract, one_store_for_all_examples
from tests.store.server import empty_schema


class TestOneFile(StoreContract):
    @pytest.fixture
    def opened(self, tmp_path: Path) -> Open:
        return lambda: open_store(str(tmp_path / ".brim" / "brim.db"))


class TestBothScopes(StoreContract):
    @pytest.fixture
    def opened(self, tmp_path: Path) -> Open:
        return lambda: open_scopes(str(tmp_path / "project"), str(tmp_path / "user"), trusted=True)


class TestPostgres(StoreContract):
    @pytest.fixture
    def opened(self) -> Open:
        address = empty_schema()
        return lambda: open_store(address)

    @given(st.lists(making.behaviors, unique_by=lambda each: each.id, max_size=6), making.facts, st.data())
    @settings(one_store_for_all_examples, max_examples=6)
    def test_seeds_are_never_too_few(
        self, opened: Open, some: list[Behavior], facts: dict[str, tuple[str, ...]], data: st.DataObject
    ) -> None:
        self.check_seeds(opened, some, facts, data)


def test_postgres_has_the_columns_of_sqlite(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "brim.db")) as file, open_store(empty_schema()) as server:
        tables = [row[0] for row in file.database.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
        ours = {
            (table, column[1])
            for table in tables
            if not table.startswith("sqlite_")
            for column in file.database.rows(f"PRAGMA table_info({table})")
        }
        theirs = server.database.rows(
            "SELECT table_name::text, column_name::text FROM information_schema.columns "
            "WHERE table_schema = current_schema()"
        )
        assert set(theirs) == ours
