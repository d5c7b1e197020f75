"""brim does what 0.1 did: every scenario is replayed with the code under test, and compared with the record.

A difference that is meant goes into ``comparison.py``. The records are never made anew from the code under test.
"""

from __future__ import annotations

from contextlib import suppress

import pytest

from tests.contract.commands import COMMANDS
from tests.contract.comparison import RENAMED, compared, difference
from tests.contract.record import expected, replay
from tests.contract.scenarios import SCENARIOS

AGAIN = [name for name, made in COMMANDS.items() if any(RENAMED.keys() & each.get("words", [])[:1] for each in made())]
"""The scenarios in which a command is used that has a new name."""


def check(scenario: str, renamed: dict[str, str]) -> None:
    """Fail, and show where, if a step answers otherwise or changes other files, or if other files or rows are left."""
    old, new = (compared(scenario, record) for record in (expected(scenario), replay([scenario], renamed)[scenario]))
    differences = [difference(before, now) for before, now in zip(old["steps"], new["steps"], strict=True)]
    differences += [difference(old.get(part), new.get(part)) for part in ("left", "rows")]
    found = [each for each in differences if each]
    assert not found, "\n\n".join([f"{scenario} differs in {len(found)} places:", *found[:5]])


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_brim_does_what_it_did(scenario: str) -> None:
    if scenario == "launchers":  # real processes say nothing after 0.9 seconds: once more if the machine was busy
        with suppress(AssertionError):
            return check(scenario, {})
    check(scenario, {})


@pytest.mark.parametrize("scenario", AGAIN)
def test_new_names_of_commands_do_the_same(scenario: str) -> None:
    check(scenario, RENAMED)
