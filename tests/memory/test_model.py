from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.agents.events import Message
from brim.memory import DeadEnd, MemoryEntry, MemoryView, ScratchModel
from brim.memory.sentences import sentence
from tests.memory.making import call, failed, ok, said
from tests.memory.test_entries import JSON

KEY = "sk-abcdefghijklmnopqrstuvwx1234"


def fed(*events: Any) -> ScratchModel:
    model = ScratchModel(job="job", phase="phase")
    for event in events:
        model.extract(event)
    return model


def tool_use(name: str, path: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": {"file_path": path}, **more}


def test_the_seeds_events_are_understood() -> None:
    model = fed(
        {"type": "user", "message": {"role": "user", "content": "Fix the parser"}},
        {
            "type": "user",
            "message": {"role": "user", "content": [{"type": "text", "text": "and the tests"}]},
        },
        tool_use("Write", "src/a.py"),
        tool_use("Edit", "src/b.py"),
        tool_use("Edit", "src/a.py"),
        tool_use("Read", "src/c.py"),
        {
            "type": "assistant",
            "message": {"id": "m1", "content": [tool_use("Edit", "src/d.py", id="t9")]},
        },
    )
    model.record_state_change("PLAN", "EXECUTE")
    model.add_dead_end("a regular expression cannot nest")
    model.record_decision("write it by hand")
    assert model.human_inputs == ["Fix the parser", "and the tests"]
    assert model.artifacts == ["src/a.py", "src/b.py", "src/d.py"]
    assert model.state_changes == ["PLAN → EXECUTE"]
    assert model.dead_ends == ["a regular expression cannot nest"]
    assert model.decisions == ["write it by hand"]


def test_only_what_a_person_typed_is_human_input() -> None:
    model = fed(
        said("typed"),
        Message(role="user", text="from a machine"),
        Message(role="assistant", text="answer"),
    )
    assert model.human_inputs == ["typed"]


def test_saying_the_same_twice_is_two_and_reading_the_same_event_twice_is_one() -> None:
    assert fed(said("go"), said("go")).human_inputs == ["go", "go"]
    assert fed(said("go", id="u1"), said("go", id="u2"), said("go", id="u1")).human_inputs == [
        "go",
        "go",
    ]
    assert fed(said("go", time=5.0), said("go", time=5.0)).human_inputs == ["go"]


def test_secrets_are_never_in_the_model() -> None:
    model = fed(
        said(f"use {KEY}"),
        call("1", "Bash", "shell", command=f"curl {KEY}"),
        failed("1", f"error: {KEY}"),
    )
    model.add_dead_end(KEY)
    model.record_decision(KEY)
    model.record_state_change(KEY, KEY)
    model.job = KEY
    assert KEY not in repr(model.entries) + model.render()


def test_a_dead_end_is_found_with_its_evidence() -> None:
    tries = []
    for number in range(4):
        id = f"t{number}"
        tries += [
            call(id, "Bash", "shell", command="make build"),
            failed(id, "Exit code 2\nerror: no rule for it"),
        ]
    model = fed(*tries)
    (dead_end,) = [entry for entry in model.entries if entry.kind == "dead-end"]
    assert "make build" in dead_end.text
    assert "no rule for it" in dead_end.refs["output"]
    assert (dead_end.refs["rule"], dead_end.refs["times"], dead_end.refs["outcome"]) == (
        "same-call",
        3,
        "failed the same way 3 times",
    )
    assert "at" not in dead_end.refs, "typed events without a place have no byte to name"
    assert model.dead_ends == [
        "`make build`: failed the same way 3 times; quoted output: `error: no rule for it`"
    ]


def test_a_dead_end_that_worked_in_the_end_is_none() -> None:
    tries = []
    for number in range(3):
        tries += [call(str(number), "Bash", "shell", command="make"), failed(str(number))]
    assert len(fed(*tries).dead_ends) == 1
    assert fed(*tries, call("9", "Bash", "shell", command="make"), ok("9")).dead_ends == []


def test_the_same_failing_command_is_one_line_with_its_count() -> None:
    tries = []
    for number in range(4):
        tries += [call(str(number), "Bash", "shell", command="make"), failed(str(number))]
    assert fed(*tries).commands == ["`make`: ended with 1 ×4; quoted output: `error: no`"]


@pytest.mark.parametrize(
    "refusal",
    [
        "PreToolUse:Bash hook error: Your user doesn't allow `npm install` here: Use pnpm.",
        "Held once by brim: `make` failed the same way 5 times.",
        "Error: Your user doesn't allow agents to run it.",
        "Held by your user's limit. $5.03 of $5.00 spent today.",
    ],
)
def test_what_brim_refused_is_no_failed_command(refusal: str) -> None:
    tries = []
    for number in range(4):
        tries += [call(str(number), "Bash", "shell", command="make"), failed(str(number), refusal)]
    assert fed(*tries).entries == ()


def test_a_confirmed_dead_end_is_shown_once_however_often_it_changes() -> None:
    def entry(times: int, status: str = "confirmed") -> MemoryEntry:
        about = {"tried": "sub-agent: port it", "error": "no time left", "at": (1, 2), "key": "k"}
        return DeadEnd(rule="sub-agent", status=status, times=times, **about).entry(0.0)  # type: ignore[arg-type]

    shown = MemoryView([entry(3), entry(4), entry(5)]).of("dead-end")
    assert [sentence(each) for each in shown] == [
        "`sub-agent: port it`: ended in error; quoted output: `no time left`"
    ]


def test_finding_dead_ends_can_be_switched_off() -> None:
    model = ScratchModel(find_dead_ends=False)
    for number in range(9):
        model.extract(call(f"{number}", "Bash", "shell", command="false"))
        model.extract(failed(f"{number}"))
    assert {entry.kind for entry in model.entries} == {"command"}


def test_empty_records_are_left_out() -> None:
    model = fed(said("  \n"))
    model.add_dead_end("  ")
    model.record_decision("")
    assert model.entries == ()


@given(st.lists(JSON, max_size=6))
@settings(deadline=None)
def test_it_never_raises_on_any_line(lines: list[Any]) -> None:
    model = ScratchModel()
    for line in lines:
        model.extract(line)
    model.render()


NAMES = [
    "Write",
    "Edit",
    "Bash",
    "TodoWrite",
    "TaskUpdate",
    "AskUserQuestion",
    "ExitPlanMode",
    "Task",
]
FIELDS = [
    "file_path",
    "command",
    "todos",
    "questions",
    "plan",
    "taskId",
    "status",
    "subject",
    "answers",
    "task",
    "exit_code",
]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(NAMES),
            st.dictionaries(st.sampled_from(FIELDS), JSON),
            JSON,
            st.booleans(),
        ),
        max_size=5,
    )
)
@settings(deadline=None)
def test_it_never_raises_on_any_call_and_result(
    calls: list[tuple[str, dict[str, Any], Any, bool]],
) -> None:
    model = ScratchModel()
    for number, (name, given_, detail, error) in enumerate(calls):
        use = {"type": "tool_use", "id": f"t{number}", "name": name, "input": given_}
        model.extract({"type": "assistant", "message": {"id": f"m{number}", "content": [use]}})
        result = {
            "type": "tool_result",
            "tool_use_id": f"t{number}",
            "is_error": error,
            "content": detail,
        }
        model.extract({"type": "user", "message": {"content": [result]}, "tool_use_result": detail})
    model.render()


def test_results_of_other_calls_change_nothing() -> None:
    assert fed(ok("nobody"), failed("nobody")).entries == ()
