"""The engines that there are, held to the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from brim.store import open_scopes, open_store
from tests.store.contract import Open, StoreContract


class TestOneFile(StoreContract):
    @pytest.fixture
    def opened(self, tmp_path: Path) -> Open:
        return lambda: open_store(str(tmp_path / ".brim" / "brim.db"))


class TestBothScopes(StoreContract):
    @pytest.fixture
    def opened(self, tmp_path: Path) -> Open:
        return lambda: open_scopes(str(tmp_path / "project"), str(tmp_path / "user"), trusted=True)
