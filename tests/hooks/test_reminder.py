"""With ``hooks.remind_at_stop``, a turn doesn't end before the rules for every change are followed,
or reminded of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brim.behaviors import Rule
from brim.store import open_store
from tests.hooks.sittings import Sitting

RULE = "Run `make format` after every change."


def sitting_with(folder: Path, *texts: str, on: bool = True, **fields: Any) -> Sitting:
    found = Sitting(folder)
    with open_store(str(found.home / "brim.db")) as store:
        for at, text in enumerate(texts or (RULE,)):
            store.put(
                Rule(f"b-{at}", f"rule-{at}", "directive", text, **fields),
                event="learned",
                now=0,
            )
    if on:
        (found.home / "config.yaml").write_text("hooks: {remind_at_stop: true}\n")
    return found


def edit(sitting: Sitting, file: str = "app.py") -> None:
    path = str(sitting.project / file)
    sitting.tool("Edit", {"file_path": path, "old_string": "a", "new_string": "b"})


def run(sitting: Sitting, command: str, *, fails: str = "") -> None:
    sitting.tool("Bash", {"command": command}, fails=fails)


def reminded(sitting: Sitting, **fields: Any) -> str:
    """End the turn; return why the agent has to go on."""
    answer = sitting.hook("Stop", **{"stop_hook_active": False, **fields})
    assert answer.get("decision") in (None, "block")
    return str(answer.get("reason", ""))


def test_it_comes_once_for_each_prompt(tmp_path: Path) -> None:
    sitting = sitting_with(tmp_path)
    for text in ("Change it", "Change it again"):
        sitting.prompt(text)
        edit(sitting)
        assert RULE in reminded(sitting)
        edit(sitting)
        assert not reminded(sitting)


def test_it_is_off_unless_the_user_wants_it(tmp_path: Path) -> None:
    sitting = sitting_with(tmp_path, on=False)
    (sitting.project / ".brim").mkdir()
    (sitting.project / ".brim" / "config.yaml").write_text("hooks: {remind_at_stop: true}\n")
    sitting.prompt("Change it")
    edit(sitting)
    assert not reminded(sitting)


def test_it_never_follows_on_itself(tmp_path: Path) -> None:
    sitting = sitting_with(tmp_path)
    sitting.prompt("Change it")
    edit(sitting)
    assert not reminded(sitting, stop_hook_active=True)


def test_a_turn_without_a_change_just_ends(tmp_path: Path) -> None:
    sitting = sitting_with(tmp_path)
    sitting.prompt("Change it")
    edit(sitting)
    run(sitting, "make format")
    assert not reminded(sitting)
    sitting.prompt("What does it do?")
    run(sitting, "ls")
    assert not reminded(sitting)


@pytest.mark.parametrize(
    ("text", "command", "file", "is_due"),
    [
        (RULE, "make format", "app.py", False),
        (RULE, "cd api && make format", "app.py", False),
        (RULE, "make test", "app.py", True),
        ("Run the formatter after every change.", "ruff format .", "app.py", False),
        ("Run the formatter after every change.", "ls", "app.py", True),
        ("Run `ruff format` after every change in Python files.", "ls", "app.py", True),
        ("Run `ruff format` after every change in Python files.", "ls", "app.go", False),
        ("After every change, say what it costs.", "ls", "app.py", False),  # no command can show it
        ("Answer in English.", "ls", "app.py", False),
    ],
)
def test_a_command_that_the_rule_asks_for_is_enough(
    tmp_path: Path, text: str, command: str, file: str, is_due: bool
) -> None:
    sitting = sitting_with(tmp_path, text)
    sitting.prompt("Change it")
    edit(sitting, file)
    run(sitting, command)
    assert (text in reminded(sitting)) is is_due


def test_it_must_succeed_after_the_last_change(tmp_path: Path) -> None:
    sitting = sitting_with(tmp_path)
    sitting.prompt("Change it")
    run(sitting, "make format")
    edit(sitting)
    run(sitting, "make format", fails="Exit code 2")
    assert RULE in reminded(sitting)


def test_not_at_a_limit(tmp_path: Path) -> None:
    sitting = sitting_with(tmp_path)
    (sitting.home / "config.yaml").write_text('limits: {"*": ["0/day"]}\n')
    sitting.prompt("Change it")
    edit(sitting)
    assert not reminded(sitting)


def test_it_is_charged_and_within_the_budget(tmp_path: Path) -> None:
    sitting = sitting_with(
        tmp_path, *(f"Run `tool{at} format` after every change." for at in range(40))
    )
    sitting.prompt("Change it")
    edit(sitting)
    assert 0 < len(reminded(sitting)) <= 500
