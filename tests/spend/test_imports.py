"""A hook looks at the limit in a fresh process: that imports nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from brim.store import open_ledger

HEAVY = {"typing", "dataclasses", "pathlib", "logging", "decimal", "datetime", "asyncio", "yaml", "brim.models.catalog"}


def test_looking_at_a_limit_and_recording_a_spend_imports_nothing_heavy(tmp_path: Path) -> None:
    path = str(tmp_path / "brim.db")
    open_ledger(path).close()
    code = f"""
import sys
before = set(sys.modules)
from brim.spend import CostBudget, SpendMeter, build_wrap_up_prompt
from brim.store.ledger import open_ledger
SpendMeter()
CostBudget(100).add(100)
build_wrap_up_prompt(1, 2)
with open_ledger({path!r}, migrate=False, timeout=0.15) as ledger:
    ledger.limit("shop", 100)
    ledger.record("shop", "r", 100)
    assert ledger.status("shop").left == 0
# SQLite's own module reads dates for adapters that nobody uses
print(*(set(sys.modules) - before - {{"datetime", "_datetime"}}))
"""
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert set(done.stdout.split()) & HEAVY == set()
    assert not any(name.startswith("brim.tokens") for name in done.stdout.split())


def test_every_public_name_is_there() -> None:
    import brim.spend

    for name in brim.spend.__all__:
        assert getattr(brim.spend, name) is not None
    assert set(brim.spend.__all__) <= set(dir(brim.spend))
