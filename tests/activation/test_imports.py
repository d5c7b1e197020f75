"""Activation runs in hooks, each a fresh process: what it imports is time that an agent waits."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {"typing", "dataclasses", "json", "logging", "pathlib", "re", "inspect", "brim.activation.why"}


def test_activating_imports_nothing_heavy() -> None:
    code = (
        "import sys; before = set(sys.modules)\n"
        "from brim.activation import Context, Graph, activate\n"
        "from brim.behaviors import Behavior, Edge\n"
        "some = [Behavior(id=id, name='use-uv', kind='directive', canonical='x') for id in 'ab']\n"
        "context = Context(file='a.py', prompt='run the tests with uv', command='uv run pytest')\n"
        "assert len(activate(Graph(some, [Edge('a', 'b', 'requires')]), context, now=0.0)) == 2\n"
        "print(*set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert not HEAVY & set(done.stdout.split())
