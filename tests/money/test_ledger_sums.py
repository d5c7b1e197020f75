"""Costs are added up in SQL in two places: those of sessions in one, those of a ledger in one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import brim

SOURCES = Path(brim.__file__).parent
PLACES = {"sessions/sums.py", "money/ledger_sums.py"}
SUM = re.compile(r"\b(?:sum|total)\s*\(\s*(?!\*)", re.IGNORECASE)
STATEMENT = re.compile(r"\bselect\b|\bfrom\b", re.IGNORECASE)


def texts(path: Path) -> Iterator[str]:
    """Yield the texts in a module that aren't docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in docstrings:
            continue
        if isinstance(node.value, str):
            yield node.value


def test_costs_are_added_up_in_sql_in_two_modules_alone() -> None:
    found = set()
    for path in SOURCES.rglob("*.py"):
        if any(SUM.search(text) and STATEMENT.search(text) for text in texts(path)):
            found.add(path.relative_to(SOURCES).as_posix())
    for path in SOURCES.rglob("*.sql"):
        if SUM.search(path.read_text(encoding="utf-8")):
            found.add(path.relative_to(SOURCES).as_posix())
    assert found == PLACES
