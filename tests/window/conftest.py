from __future__ import annotations

from collections.abc import Iterator

import pytest

from brim.models import MemoryWindowStore, remember_in, use


@pytest.fixture(autouse=True)
def _nothing_configured_or_reported() -> Iterator[None]:
    before = remember_in(MemoryWindowStore())
    use({})
    yield
    use({})
    remember_in(before)
