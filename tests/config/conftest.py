"""What the tests of settings share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.config.places import Places


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)
