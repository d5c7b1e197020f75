"""The examples in the documentation and the docstrings run as they stand."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/models.md"


def test_the_page_runs() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert (failed, tried > 10) == (0, True)


@pytest.mark.parametrize("name", ["light", "catalog", "pricing", "usage", "overflow", "overrides"])
def test_the_docstrings_run(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(f"brim.models.{name}"))
    assert (failed, tried > 0) == (0, True)
