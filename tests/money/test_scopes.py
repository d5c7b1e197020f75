"""Scopes are names with slashes between them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from brim.errors import InputError
from brim.money import lineage, open_ledger


def test_a_spend_counts_against_every_scope_above() -> None:
    assert lineage("shop") == ["shop"]
    assert lineage("a/b/c") == ["a", "a/b", "a/b/c"]


@pytest.mark.parametrize(
    "scope",
    [
        "",
        "/",
        "a/",
        "/a",
        "a//b",
        "a b",
        ".",
        "a/..",
        "ä",
        "a" * 81,
        "/".join("abcdefghi"),
        None,
        1,
    ],
)
def test_what_is_no_scope_is_an_error(scope: Any) -> None:
    with pytest.raises(InputError, match="isn't a scope"):
        lineage(scope)


HEAVY = {"pathlib", "logging", "asyncio", "yaml", "brim.models.catalog"}


def test_looking_at_a_limit_and_recording_a_spend_imports_nothing_heavy(tmp_path: Path) -> None:
    path = str(tmp_path / "brim.db")
    open_ledger(path).close()
    code = f"""
import sys
before = set(sys.modules)
from brim.money import CostBudget, SpendMeter, build_wrap_up_prompt
from brim.money import open_ledger
SpendMeter()
CostBudget("0.0001").add("0.0001")
build_wrap_up_prompt("1", "2")
with open_ledger({path!r}, create=False, timeout=0.15) as ledger:
    ledger.limit("shop", "0.0001")
    ledger.record("shop", "r", "0.0001")
    assert ledger.status("shop").left == 0
# SQLite's own module reads dates for adapters that nobody uses
print(*(set(sys.modules) - before - {{"datetime", "_datetime"}}))
"""
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    assert set(done.stdout.split()) & HEAVY == set()
