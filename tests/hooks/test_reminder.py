"""A turn doesn't end before the commands have run that rules ask for, or the agent was reminded of
them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brim.rules.state import RulesState
from tests.hooks.sittings import Sitting

RULE = "Format before you finish."


def sitting_with(
    folder: Path, *, text: str = RULE, command: str = "make format", when: str = ""
) -> Sitting:
    found = Sitting(folder)
    lines = ["[format]", f"text = {text!r}"]
    if command:
        lines.append(f"before_done = {command!r}")
    if when:
        lines.append(f"when = {when!r}")
    (found.home / "rules.toml").write_text("\n".join(lines) + "\n")
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


def test_a_user_can_switch_it_off_and_a_project_cannot(tmp_path: Path) -> None:
    sitting = sitting_with(tmp_path)
    (sitting.project / ".brim").mkdir()
    (sitting.project / ".brim" / "config.yaml").write_text("hooks: {remind_at_stop: false}\n")
    sitting.prompt("Change it")
    edit(sitting)
    assert reminded(sitting)
    (sitting.home / "config.yaml").write_text("hooks: {remind_at_stop: false}\n")
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
    ("wanted", "command", "is_due"),
    [
        ("make format", "make format", False),
        ("make format", "cd api && make format", False),
        ("make format", "bash -c 'make format'", False),
        ("make format", "make test", True),
        ("make format", "echo 'make format'", True),
        ("just fmt && just test", "just fmt", True),
        ("just fmt && just test", "just test; just fmt", False),
    ],
)
def test_a_command_that_the_rule_asks_for_is_enough(
    tmp_path: Path, wanted: str, command: str, is_due: bool
) -> None:
    sitting = sitting_with(tmp_path, command=wanted)
    sitting.prompt("Change it")
    edit(sitting)
    run(sitting, command)
    assert (RULE in reminded(sitting)) is is_due


@pytest.mark.parametrize(("file", "is_due"), [("src/app.py", True), ("src/app.go", False)])
def test_it_is_about_the_files_that_the_rule_is_for(
    tmp_path: Path, file: str, is_due: bool
) -> None:
    sitting = sitting_with(tmp_path, when="python")
    sitting.prompt("Change it")
    edit(sitting, file)
    assert bool(reminded(sitting)) is is_due


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


def test_it_says_what_is_missing_and_is_charged(tmp_path: Path) -> None:
    sitting = sitting_with(tmp_path)
    sitting.prompt("Change it")
    edit(sitting)
    reason = reminded(sitting)
    assert reason.splitlines()[1:] == [f"- {RULE} (not done since your last change: make format)"]
    state = RulesState(str(sitting.home), now=sitting.now)
    assert state.session(sitting.session).used == len(reason)


def test_it_comes_though_the_budget_is_spent(tmp_path: Path) -> None:
    sitting = sitting_with(tmp_path)
    (sitting.home / "config.yaml").write_text("session: {max_tokens: 3}\n")
    sitting.prompt("Change it")
    edit(sitting)
    assert reminded(sitting)


def test_the_first_end_after_the_rule_was_lost_from_the_index(tmp_path: Path) -> None:
    sitting = sitting_with(tmp_path)
    sitting.prompt("Change it")
    edit(sitting)
    (sitting.home / "rules.db").write_bytes(b"garbage" * 900)
    assert reminded(sitting)
