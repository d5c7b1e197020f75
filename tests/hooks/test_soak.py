"""A short version of ``bench/soak.py``: agents at work, hooks that are killed, and everything is
sound at the end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).parents[2] / "bench" / "soak.py"


@pytest.mark.skipif(sys.platform == "win32", reason="no hooks there yet")
def test_what_brim_keeps_is_sound_after_agents_worked_and_hooks_were_killed(tmp_path: Path) -> None:
    found = tmp_path / "found.json"
    words = ["--here", "--calls", "60", "--agents", "3", "--kill-every", "10", "--json", str(found)]
    ran = subprocess.run(
        [sys.executable, str(SOAK), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    figures = json.loads(found.read_text(encoding="utf-8"))
    assert figures["problems"] == []
    assert figures["calls"] >= 60
    assert figures["kills"] >= 1
    assert figures["compactions"] == 9
    assert figures["limited"] > 0
    assert figures["requests"] > 0  # how many depends on who was stopped or killed when
