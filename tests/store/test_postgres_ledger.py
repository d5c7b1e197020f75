"""The ledger in PostgreSQL: the contract, against a real server."""

from __future__ import annotations

from typing import Any

import pytest

from brim.store import open_ledger
from tests.store.ledger_contract import Clock, LedgerContract, Open
from tests.store.server import new_schema


class TestPostgres(LedgerContract):
    @pytest.fixture
    def opened(self, clock: Clock) -> Open:
        address = new_schema()
        return lambda: open_ledger(address, clock=clock)

    def new(self, folder: Any, clock: Clock) -> Any:
        return open_ledger(new_schema(), clock=clock)
