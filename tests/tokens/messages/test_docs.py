from __future__ import annotations

import doctest
from pathlib import Path

import brim.tokens.messages.framing as framing

PAGE = Path(__file__).parents[3] / "docs" / "messages.md"


def test_the_examples_on_the_page_run() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 5
    assert result.failed == 0


def test_the_example_in_the_docstring_runs() -> None:
    assert doctest.testmod(framing).failed == 0
