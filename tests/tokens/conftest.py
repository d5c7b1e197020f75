"""What the tests of counting share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from brim.tokens.engines import encoding_counter


@pytest.fixture(scope="module", autouse=True)
def _vocabularies_are_freed() -> Iterator[None]:
    """Free the vocabularies that a module has loaded: all of them together take 300 MB."""
    yield
    encoding_counter.cache_clear()
