"""Every rule stands on the page of rules, with a source or the word *assumed*, and with a test that exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.history import PROVIDERS, Provider, validate
from tests.history.histories import any_histories

ROOT = Path(__file__).parents[3]
PAGES = [page for page in (ROOT / "docs" / "history.md", ROOT / "docs" / "history_rules.md") if page.exists()]
ROW = re.compile(r"^\| (\w+) \| `([a-z-]+)` \| (.*) \| (.*) \| `([\w/]+\.py)::(\w+)` \|$", re.MULTILINE)
ROWS = [row for page in PAGES for row in ROW.findall(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("provider", PROVIDERS)
@settings(max_examples=200)
@given(data=st.data())
def test_every_rule_that_is_broken_has_a_row(provider: Provider, data: st.DataObject) -> None:
    rows = {row[1] for row in ROWS if row[0] == provider}
    assert {violation.rule for violation in validate(data.draw(any_histories(provider)), provider)} <= rows


def test_every_row_names_a_rule_that_the_provider_checks() -> None:
    sources = {"openai": "chat"}
    for provider, rule, *_ in ROWS:
        modules = (f"{sources.get(provider, provider)}.py", "rules.py")
        assert any(f'"{rule}"' in (ROOT / "src/brim/history" / name).read_text(encoding="utf-8") for name in modules)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[1]}")
def test_a_row_has_a_source_or_is_assumed(row: tuple[str, ...]) -> None:
    assert "https://" in row[3] or "*assumed*" in row[3]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[1]}")
def test_a_row_names_a_test_that_exists(row: tuple[str, ...]) -> None:
    assert f"def {row[5]}(" in (ROOT / row[4]).read_text(encoding="utf-8")
