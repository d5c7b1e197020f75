"""Every rule stands on the page of rules, with a source or the word *assumed*, and with a test that exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from brim.history.types import PROVIDERS, Provider
from brim.history.validity.check import RULES

ROOT = Path(__file__).parents[3]
PAGES = [page for page in (ROOT / "docs" / "history.md", ROOT / "docs" / "history_rules.md") if page.exists()]
ROW = re.compile(r"^\| (\w+) \| `([a-z-]+)` \| (.*) \| (.*) \| `([\w/]+\.py)::(\w+)` \|$", re.MULTILINE)
ROWS = [row for page in PAGES for row in ROW.findall(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_rule_has_a_row_and_every_row_a_rule(provider: Provider) -> None:
    checked = {rule.__name__.replace("_", "-") for rule in RULES[provider]}
    assert {row[1] for row in ROWS if row[0] == provider} == checked


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[1]}")
def test_a_row_has_a_source_or_is_assumed(row: tuple[str, ...]) -> None:
    assert "https://" in row[3] or "*assumed*" in row[3]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[1]}")
def test_a_row_names_a_test_that_exists(row: tuple[str, ...]) -> None:
    assert f"def {row[5]}(" in (ROOT / row[4]).read_text(encoding="utf-8")
