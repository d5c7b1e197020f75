from __future__ import annotations

import pytest

from tests.scratch.making import call, failed, ok
from tests.scratch.test_model import fed


@pytest.mark.parametrize(
    ("name", "tool", "key"),
    [
        ("Write", "write", "file_path"),
        ("Edit", "edit", "file_path"),
        ("MultiEdit", "edit", "file_path"),
        ("NotebookEdit", "edit", "notebook_path"),
    ],
)
def test_a_changed_file_is_recorded_when_its_call_is_seen(name: str, tool: str, key: str) -> None:
    assert fed(call("1", name, tool, **{key: "a/b.py"})).artifacts == ["a/b.py"]


@pytest.mark.parametrize("refusal", ["", "permission", "interrupt", "cascade"])
def test_a_file_whose_call_failed_or_was_refused_is_taken_back(refusal: str) -> None:
    model = fed(call("1", "Edit", "edit", file_path="a"), failed("1", "String not found", refusal=refusal))
    assert model.artifacts == []
    assert [entry.kind for entry in model.entries if entry.kind != "decision"] == ["artifact", "withdrawn"]


def test_a_file_stays_while_one_of_its_calls_succeeded_or_is_open() -> None:
    edit = [call(str(n), "Edit", "edit", file_path="a") for n in range(3)]
    assert fed(edit[0], ok("0"), edit[1], failed("1")).artifacts == ["a"]
    assert fed(edit[0], edit[1], failed("0")).artifacts == ["a"]
    assert fed(edit[0], edit[1], failed("0"), failed("1")).artifacts == []
    assert fed(edit[0], failed("0"), edit[1], ok("1")).artifacts == ["a"]


def test_a_failing_command_is_kept_with_exit_code_and_first_error() -> None:
    model = fed(call("1", "Bash", "shell", command="pytest -q"), failed("1", "Exit code 2\ncollecting\nE   error: x"))
    assert model.commands == ["`pytest -q`: ended with 2; quoted output: `E error: x`"]


@pytest.mark.parametrize(
    ("text", "ended"),
    [
        ("exit code 3", "ended with 3"),
        ("Error: Command failed with exit code: -9\nx", "ended with -9"),
        ("\n  Exited with status 12x", "ended with 12"),
        ("EXIT STATUS: 1234567890", "ended with 123456789"),
        ("exited with code -", "failed"),
        ("exit code3", "failed"),
        ("exit code: ", "failed"),
        ("exit code\n3", "failed"),
        ("the exit code 3", "failed"),
        (" " * 10 + "exit code 3", "failed"),
    ],
)
def test_how_a_command_ended_is_read_from_the_beginning_of_what_it_said(text: str, ended: str) -> None:
    model = fed(call("1", "Bash", "shell", command="x"), failed("1", text))
    assert [entry.refs["outcome"] for entry in model.entries if entry.kind == "command"] == [ended]


@pytest.mark.parametrize("said", ["The user said:\n  not now", "İ no. THE USER SAID: not now"])
def test_what_a_person_said_when_refusing_is_kept(said: str) -> None:
    model = fed(call("1", "Bash", "shell", command="x"), failed("1", said, refusal="permission"))
    assert [entry.refs["outcome"] for entry in model.entries if entry.kind == "decision"] == ["refused: not now"]


def test_an_exit_code_beside_the_text_counts() -> None:
    events = call("1", "shell", "shell", command="ls"), failed("1", "boom", detail={"exit_code": 7})
    assert fed(*events).commands == ["`ls`: ended with 7; quoted output: `boom`"]


def test_a_command_that_succeeds_or_was_not_run_is_no_failing_command() -> None:
    run = call("1", "Bash", "shell", command="ls")
    assert fed(run, ok("1")).commands == []
    for refusal in ("permission", "interrupt", "cascade"):
        assert fed(run, failed("1", refusal=refusal)).commands == []


def test_a_permission_refusal_is_a_decision_with_what_the_human_said() -> None:
    run = call("1", "Bash", "shell", command="rm -r build")
    text = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nkeep it"
    assert fed(run, failed("1", text, refusal="permission")).decisions == ["call `Bash rm -r build`: refused: keep it"]
    assert fed(run, failed("1", "no", refusal="permission")).decisions == ["call `Bash rm -r build`: refused"]
    assert fed(run, failed("1", "x", refusal="interrupt")).decisions == []


def test_answers_to_questions_are_decisions() -> None:
    asked = call(
        "1", "AskUserQuestion", "question", questions=[{"question": "Which store?"}, {"question": "Since when?"}]
    )
    answers = {"answers": {"Which store?": "SQLite", "Since when?": ["now", "then"]}}
    assert fed(asked, ok("1", "…", detail=answers)).decisions == ["`Which store?`: SQLite", "`Since when?`: now, then"]
    assert fed(asked, ok("1", "SQLite")).decisions == ["`Which store? / Since when?`: SQLite"]
    assert fed(asked, failed("1", refusal="permission")).decisions == ["`Which store? / Since when?`: not answered"]


def test_a_plan_is_accepted_or_refused() -> None:
    plan = call("1", "ExitPlanMode", "plan", plan="1. read\n2. write")
    assert fed(plan, ok("1")).decisions == ["plan `1. read 2. write`: accepted"]
    assert fed(plan, failed("1", "the user said: first tests", refusal="permission")).decisions == [
        "plan `1. read 2. write`: refused: first tests"
    ]
    assert fed(call("1", "EnterPlanMode", "plan"), ok("1")).decisions == []
