"""brim answers what it answered when ``data/answers`` was recorded."""

from __future__ import annotations

import difflib
import json
import os
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from tests.recorded.differences import REMOVED, reworded, without_new_events
from tests.recorded.scenarios import SCENARIOS
from tests.recorded.world import DATA

ROOT = Path(__file__).parents[2]
LONGEST_DIFFERENCE = 120


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_brim_answers_as_recorded(scenario: str, tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "tests.recorded", str(tmp_path), scenario],
        cwd=ROOT,
        env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"},
        check=True,
    )
    name = f"{scenario}.json"
    recorded = json.loads((DATA / "answers" / name).read_text(encoding="utf-8"))
    played = json.loads((tmp_path / name).read_text(encoding="utf-8"))
    recorded_lines = as_lines(with_todays_words(without_removed(recorded, scenario)))
    played_lines = as_lines(without_removed(played, scenario))
    changes = difflib.unified_diff(
        recorded_lines, played_lines, "recorded", "played", lineterm="", n=6
    )
    difference = "\n".join(line[:400] for line in list(changes)[:LONGEST_DIFFERENCE])
    assert not difference, f"{scenario} differs:\n{difference}"


def test_every_recording_is_played() -> None:
    assert {path.stem for path in (DATA / "answers").glob("*.json")} == set(SCENARIOS)


def as_lines(value: Any) -> list[str]:
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True).splitlines()


def without_removed(value: Any, place: str) -> Any:
    """Return JSON without the places in ``REMOVED``. An item of a list has its name for a key, or
    its number."""
    if isinstance(value, dict):
        places = {key: f"{place}/{key}" for key in value}
        return {
            key: without_removed(value[key], places[key])
            for key in value
            if not is_removed(places[key])
        }
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return without_new_events(value)
    if isinstance(value, list):
        items = []
        for number, item in enumerate(value):
            name = item.get("name", number) if isinstance(item, dict) else number
            if not is_removed(f"{place}/{name}"):
                items.append(without_removed(item, f"{place}/{name}"))
        return items
    return value


def is_removed(place: str) -> bool:
    return any(fnmatchcase(place, pattern) for pattern in REMOVED)


def with_todays_words(value: Any) -> Any:
    """Return recorded JSON with the words that stand there now."""
    if isinstance(value, str):
        return reworded(value)
    if isinstance(value, list):
        return [with_todays_words(part) for part in value]
    if isinstance(value, dict):
        return {reworded(key): with_todays_words(part) for key, part in value.items()}
    return value
