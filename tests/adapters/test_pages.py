"""The pages about adapters: each program compiles. ``scripts/adapters`` runs them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.adapters.pages import PAGES, program


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_the_program_of_a_page_uses_its_adapter(page: Path) -> None:
    tree = ast.parse(program(page))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert f"brim.adapters.{page.stem}" in imported
