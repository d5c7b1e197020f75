"""A hook reads a session in a fresh process: it must not load what it does not need."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.agents.claude_lines import TRANSCRIPT

_SLOW = ("asyncio", "logging", "pathlib", "brim.tokens", "brim.rules.delivery")
_PROGRAM = """
import sys
from brim.agents import read
before = len(list(read(sys.argv[1])))
print(before, *[name for name in sys.argv[2:] if name in sys.modules])
"""


def test_reading_a_session_loads_no_slow_module(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in TRANSCRIPT), encoding="utf-8")
    command = [sys.executable, "-I", "-c", _PROGRAM, str(path), *_SLOW]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    events, *loaded = done.stdout.split()
    assert int(events) > len(TRANSCRIPT)
    assert loaded == []
