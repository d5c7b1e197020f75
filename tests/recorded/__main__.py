"""Play scenarios, and write a file of answers for each.

``python -m tests.recorded FOLDER [SCENARIO ...]``
"""

from __future__ import annotations

import gc
import importlib
import json
import pkgutil
import sys
import tempfile
from pathlib import Path

from tests.recorded.clock import CLOCK, stop_the_clock
from tests.recorded.scenarios import SCENARIOS
from tests.recorded.world import World

NEEDS_SDK = (
    "brim.__main__",
    "brim.adapters.",
    "brim.loopback",
    "brim.mcp",
    "brim.run",
    "brim.money.postgres_",
    "brim.ui",
)
"""Modules that import an optional package, or take long."""


def main() -> None:
    """Play the scenarios that the command line names, or all."""
    folder = Path(sys.argv[1])
    names = sys.argv[2:] or list(SCENARIOS)
    stop_the_clock()
    import_brim()
    for name in names:
        answers = play(name)
        text = json.dumps(answers, indent=1, ensure_ascii=False, sort_keys=True)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def import_brim() -> None:
    """Import what most steps need: each runs in a fork of this process."""
    import brim

    for module in pkgutil.walk_packages(brim.__path__, "brim."):
        if not module.name.startswith(NEEDS_SDK):
            importlib.import_module(module.name)
    gc.freeze()


def play(name: str) -> dict[str, object]:
    """Take the steps of one scenario in a home of its own; return each answer by its name."""
    CLOCK.reset()
    with tempfile.TemporaryDirectory(prefix="brim-recorded-") as folder:
        world = World(Path(folder))
        SCENARIOS[name](world)
        return world.answers


if __name__ == "__main__":
    main()
