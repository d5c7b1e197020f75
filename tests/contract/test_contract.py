"""brim does what 0.1 did: every scenario is replayed with the code under test, and compared with the record.

The records in ``data/expected`` and the home in ``data/home.json`` were made with the wheel of 0.1. Those with rules
that agents hear were made again when 0.2 began to rank rules and to count tools as models read them, and those that
list agents when opencode came. A difference that is meant goes into ``comparison.py``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.contract.commands import COMMANDS
from tests.contract.comparison import RENAMED, compared, difference
from tests.contract.scenarios import DATA, SCENARIOS

AGAIN = [name for name, made in COMMANDS.items() if any(RENAMED.keys() & each.get("words", [])[:1] for each in made())]
"""The scenarios in which a command is used that has a new name."""


def expected(scenario: str) -> dict[str, Any]:
    """Return what 0.1 did."""
    found: dict[str, Any] = json.loads((DATA / "expected" / f"{scenario}.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="session")
def player() -> Iterator[subprocess.Popen[str]]:
    """The process that plays scenarios. It ends when its input does."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.contract.player"],
        cwd=Path(__file__).parents[2],
        env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process


def check(scenario: str, renamed: dict[str, str], folder: Path, player: subprocess.Popen[str]) -> None:
    """Fail, and show where, if a step answers otherwise or changes other files, or if other files or rows are left."""
    out = folder / "record.json"
    asked, answered = player.stdin, player.stdout
    assert asked is not None
    assert answered is not None
    asked.write(json.dumps([str(out), json.dumps(renamed), scenario]) + "\n")
    asked.flush()
    assert answered.readline() == "0\n"
    played = json.loads(out.read_text(encoding="utf-8"))[scenario]
    old, new = (compared(scenario, record) for record in (expected(scenario), played))
    differences = [difference(before, now) for before, now in zip(old["steps"], new["steps"], strict=True)]
    differences += [difference(old.get(part), new.get(part)) for part in ("left", "rows")]
    found = [each for each in differences if each]
    assert not found, "\n\n".join([f"{scenario} differs in {len(found)} places:", *found[:5]])


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_brim_does_what_it_did(scenario: str, tmp_path: Path, player: subprocess.Popen[str]) -> None:
    if scenario == "launchers":  # real processes say nothing after 0.9 seconds: once more if the machine was busy
        with suppress(AssertionError):
            return check(scenario, {}, tmp_path, player)
    check(scenario, {}, tmp_path, player)


@pytest.mark.parametrize("scenario", AGAIN)
def test_new_names_of_commands_do_the_same(scenario: str, tmp_path: Path, player: subprocess.Popen[str]) -> None:
    check(scenario, RENAMED, tmp_path, player)
