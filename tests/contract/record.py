"""Records what a brim does: ``python -m tests.contract.record --python /path/to/old/python [SCENARIO ...]``.

The records in ``data/expected`` were made with the wheel of 0.1; so was the home in ``data/home.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.contract.scenarios import DATA, SCENARIOS

ROOT = Path(__file__).parents[2]
EXPECTED = DATA / "expected"


def replay(
    names: Iterable[str], renamed: Mapping[str, str] | None = None, *, python: str = sys.executable
) -> dict[str, Any]:
    """Play scenarios with *python*, and with new names for *renamed* commands; return the records by scenario."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "records.json")
        subprocess.run(
            [python, "-m", "tests.contract.player", out, json.dumps(renamed or {}), *names],
            cwd=ROOT,
            check=True,
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"},
        )
        found: dict[str, Any] = json.loads(Path(out).read_text(encoding="utf-8"))
        return found


def expected(name: str) -> dict[str, Any]:
    """Return what 0.1 did."""
    found: dict[str, Any] = json.loads((EXPECTED / f"{name}.json").read_text(encoding="utf-8"))
    return found


def write(path: Path, record: Mapping[str, Any]) -> None:
    """Write *record* so that git shows what changed."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


def main() -> None:
    """Record every scenario twice, and refuse what is not the same both times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="interpreter of an environment with the brim to record")
    parser.add_argument("--home", action="store_true", help="make data/home.json anew first")
    parser.add_argument("scenario", nargs="*")
    options = parser.parse_args()
    if options.home:
        write(DATA / "home.json", replay(["old-home"], python=options.python)["old-home"]["snapshot"])
    names = options.scenario or list(SCENARIOS)
    first, second = (replay(names, python=options.python) for _ in range(2))
    for name in names:
        if first[name] != second[name]:
            from tests.contract.comparison import difference

            sys.exit(f"{name} is not the same twice:\n{difference(first[name], second[name])}")
        write(EXPECTED / f"{name}.json", first[name])


if __name__ == "__main__":
    main()
