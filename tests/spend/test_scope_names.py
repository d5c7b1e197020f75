"""Scopes are names with slashes between them."""

from __future__ import annotations

from typing import Any

import pytest

from brim.errors import InputError
from brim.spend import lineage


def test_a_spend_counts_against_every_scope_above() -> None:
    assert lineage("shop") == ["shop"]
    assert lineage("a/b/c") == ["a", "a/b", "a/b/c"]


@pytest.mark.parametrize(
    "scope", ["", "/", "a/", "/a", "a//b", "a b", ".", "a/..", "ä", "a" * 81, "/".join("abcdefghi"), None, 1]
)
def test_what_is_no_scope_is_an_error(scope: Any) -> None:
    with pytest.raises(InputError, match="no scope"):
        lineage(scope)
