from __future__ import annotations

import pytest

from brim.agents.events import ModelSeen, StateSeen
from tests.memory.making import call, failed, ok
from tests.memory.test_model import fed


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


def test_each_file_of_a_patch_is_recorded_and_taken_back() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n@@\n-1\n+2\n*** Delete File: b.py\n*** End Patch"
    )
    patched = call("1", "apply_patch", "edit", input=patch)
    assert fed(patched).artifacts == ["a.py", "b.py"]
    assert fed(patched, failed("1", "does not apply")).artifacts == []


@pytest.mark.parametrize("refusal", ["", "permission", "interrupt", "cascade"])
def test_a_file_whose_call_failed_or_was_refused_is_taken_back(refusal: str) -> None:
    model = fed(
        call("1", "Edit", "edit", file_path="a"), failed("1", "String not found", refusal=refusal)
    )
    assert model.artifacts == []
    assert [entry.kind for entry in model.entries if entry.kind != "decision"] == [
        "artifact",
        "withdrawn",
    ]


def test_a_file_stays_while_one_of_its_calls_succeeded_or_is_open() -> None:
    edit = [call(str(n), "Edit", "edit", file_path="a") for n in range(3)]
    assert fed(edit[0], ok("0"), edit[1], failed("1")).artifacts == ["a"]
    assert fed(edit[0], edit[1], failed("0")).artifacts == ["a"]
    assert fed(edit[0], edit[1], failed("0"), failed("1")).artifacts == []
    assert fed(edit[0], failed("0"), edit[1], ok("1")).artifacts == ["a"]


def test_a_failing_command_is_kept_with_exit_code_and_first_error() -> None:
    model = fed(
        call("1", "Bash", "shell", command="pytest -q"),
        failed("1", "Exit code 2\ncollecting\nE   error: x"),
    )
    assert model.commands == ["`pytest -q`: ended with 2; quoted output: `E error: x`"]


@pytest.mark.parametrize("command", ["ls -la gone", "cat a | head", "cd /p && grep -rn x src"])
def test_a_look_that_failed_says_nothing_about_the_work(command: str) -> None:
    assert fed(call("1", "Bash", "shell", command=command), failed("1", "no")).commands == []


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
def test_how_a_command_ended_is_read_from_the_beginning_of_what_it_said(
    text: str, ended: str
) -> None:
    model = fed(call("1", "Bash", "shell", command="x"), failed("1", text))
    assert [entry.refs["outcome"] for entry in model.entries if entry.kind == "command"] == [ended]


@pytest.mark.parametrize("said", ["The user said:\n  not now", "İ no. THE USER SAID: not now"])
def test_what_a_person_said_when_refusing_is_kept(said: str) -> None:
    model = fed(call("1", "Bash", "shell", command="x"), failed("1", said, refusal="permission"))
    assert [entry.refs["outcome"] for entry in model.entries if entry.kind == "decision"] == [
        "refused: not now"
    ]


def test_an_exit_code_beside_the_text_counts() -> None:
    events = (
        call("1", "shell", "shell", command="make"),
        failed("1", "boom", detail={"exit_code": 7}),
    )
    assert fed(*events).commands == ["`make`: ended with 7; quoted output: `boom`"]


def test_a_command_that_succeeds_or_was_not_run_is_no_failing_command() -> None:
    run = call("1", "Bash", "shell", command="make")
    assert fed(run, ok("1")).commands == []
    for refusal in ("permission", "interrupt", "cascade"):
        assert fed(run, failed("1", refusal=refusal)).commands == []


def test_a_permission_refusal_is_a_decision_with_what_the_human_said() -> None:
    run = call("1", "Bash", "shell", command="rm -r build")
    text = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nkeep it"
    assert fed(run, failed("1", text, refusal="permission")).decisions == [
        "call `Bash rm -r build`: refused: keep it"
    ]
    assert fed(run, failed("1", "no", refusal="permission")).decisions == [
        "call `Bash rm -r build`: refused"
    ]
    assert fed(run, failed("1", "x", refusal="interrupt")).decisions == []


def test_answers_to_questions_are_decisions() -> None:
    asked = call(
        "1",
        "AskUserQuestion",
        "question",
        questions=[{"question": "Which store?"}, {"question": "Since when?"}],
    )
    answers = {"answers": {"Which store?": "SQLite", "Since when?": ["now", "then"]}}
    assert fed(asked, ok("1", "…", detail=answers)).decisions == [
        "`Which store?`: SQLite",
        "`Since when?`: now, then",
    ]
    assert fed(asked, ok("1", "SQLite")).decisions == ["`Which store? / Since when?`: SQLite"]
    assert fed(asked, failed("1", refusal="permission")).decisions == [
        "`Which store? / Since when?`: not answered"
    ]


def test_a_plan_is_accepted_or_refused() -> None:
    plan = call("1", "ExitPlanMode", "plan", plan="1. read\n2. write")
    assert fed(plan, ok("1")).decisions == ["plan `1. read 2. write`: accepted"]
    assert fed(plan, failed("1", "the user said: first tests", refusal="permission")).decisions == [
        "plan `1. read 2. write`: refused: first tests"
    ]
    assert fed(call("1", "EnterPlanMode", "plan"), ok("1")).decisions == []


TWO = call(
    "1",
    "AskUserQuestion",
    "question",
    questions=[{"question": "Which store?", "id": "db"}, {"question": 'Say "when"?', "id": "when"}],
)
END = "You can now continue with the user's answers in mind."


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        (
            f'User has answered your questions: "Which store?"="SQLite, one file", "Say "when"?"="now". {END}',
            None,
        ),
        ("…", {"answers": {"Which store?": "SQLite, one file", 'Say "when"?': "now"}}),
        ('{"answers":{"db":{"answers":["SQLite, one file"]},"when":{"answers":["now"]}}}', None),
        ('{"answers":{"0":"SQLite, one file","1":"now"}}', {"exit_code": 0}),
        ("…", {"answers": [["SQLite, one file"], ["now"]]}),
        ("…", {"answers": [{"question": "x", "selected": "SQLite, one file"}, {"answer": "now"}]}),
    ],
)
def test_each_question_has_its_answer_however_the_client_says_it(text: str, detail: object) -> None:
    asked = call(
        "1",
        "AskUserQuestion",
        "question",
        questions=[{"question": "Which store?"}, {"question": 'Say "when"?'}]
        if '"0"' in text
        else TWO.input["questions"],
    )
    if isinstance(detail, dict) and isinstance(detail.get("answers"), list):
        asked = call(
            "1",
            "question",
            "question",
            questions=[{"question": "Which store?"}, {"question": 'Say "when"?'}],
        )
    assert fed(asked, ok("1", text, detail=detail)).decisions == [
        "`Which store?`: SQLite, one file",
        '`Say "when"?`: now',
    ]


def test_an_answer_that_is_empty_is_none() -> None:
    for result in (
        ok("1", f"User has answered your questions: . {END}"),
        ok("1", f"User has answered your questions: . {END}", detail={"answers": {}}),
        ok("1", ""),
        failed("1", "The user wants to clarify these questions.", refusal="permission"),
    ):
        assert fed(TWO, result).decisions == ['`Which store? / Say "when"?`: not answered']


def test_a_free_answer_is_kept_without_the_client_s_frame() -> None:
    assert fed(
        TWO, ok("1", f"User has answered your questions: Both, please. {END}")
    ).decisions == ['`Which store? / Say "when"?`: Both, please']


def test_the_plan_that_was_approved_is_the_decision_and_not_the_one_that_was_proposed() -> None:
    proposed = call("1", "ExitPlanMode", "plan", plan="1. rewrite")
    text = "User has approved your plan. You can now start coding.\n\n## Approved Plan (edited by user):\n1. repair"
    assert fed(proposed, ok("1", text)).decisions == ["plan `1. repair`: accepted"]
    without = call("1", "ExitPlanMode", "plan")
    assert fed(without, ok("1", "ok", detail={"plan": "1. repair"})).decisions == [
        "plan `1. repair`: accepted"
    ]


def test_a_plan_that_waits_for_an_answer_is_no_decision() -> None:
    plan = call("1", "ExitPlanMode", "plan", plan="1. rewrite")
    assert (
        fed(plan, ok("1", "Your plan has been submitted to the team lead for approval.")).decisions
        == []
    )


@pytest.mark.parametrize(
    "text",
    [
        "Claude requested permissions to use Bash, but you haven't granted it yet.",
        "Permission to use Bash with command rm has been denied.",
        "PreToolUse:Bash hook error: [check.sh]: no",
        "The user has specified a rule which prevents you from using this specific tool call.",
    ],
)
def test_what_a_rule_or_a_hook_refused_is_nobody_s_decision(text: str) -> None:
    run = call("1", "Bash", "shell", command="rm -r build")
    assert fed(run, failed("1", text, refusal="permission")).decisions == []
    assert fed(
        run,
        failed("1", "The user doesn't want to proceed with this tool use.", refusal="permission"),
    ).decisions


def test_modes_branches_and_models_that_change_are_state_changes() -> None:
    model = fed(
        StateSeen(name="permission_mode", value="default"),
        StateSeen(name="branch", value="main"),
        ModelSeen(model="model-a"),
        StateSeen(name="permission_mode", value="plan"),
        StateSeen(name="branch", value="fix"),
        ModelSeen(model="model-b"),
        ModelSeen(model="model-b"),
    )
    assert model.state_changes == [
        "permission mode: default → plan",
        "branch: main → fix",
        "model: model-a → model-b",
    ]


def test_what_a_sub_agent_runs_on_is_no_change() -> None:
    assert (
        fed(
            ModelSeen(model="a"), ModelSeen(model="b", agent="x"), ModelSeen(model="a")
        ).state_changes
        == []
    )


def test_a_model_with_its_window_is_the_same_model() -> None:
    assert fed(ModelSeen(model="a[1m]"), ModelSeen(model="a")).state_changes == []


def test_each_session_has_its_own_state() -> None:
    assert (
        fed(ModelSeen(model="a", session="1"), ModelSeen(model="b", session="2")).state_changes
        == []
    )


def test_folder_and_version_are_no_state_of_the_work() -> None:
    assert (
        fed(
            StateSeen(name="version", value="1"), StateSeen(name="version", value="2")
        ).state_changes
        == []
    )


def test_todo_items_that_change_status_are_state_changes() -> None:
    def todo(id: str, *statuses: str) -> object:
        return call(
            id,
            "TodoWrite",
            "todo",
            todos=[{"content": f"step {n}", "status": s} for n, s in enumerate(statuses)],
        )

    model = fed(
        todo("1", "in_progress", "pending"),
        todo("2", "completed", "pending"),
        todo("3", "completed", "pending"),
    )
    assert model.state_changes == ["todo `step 0`: in_progress → completed"]


def test_todo_lists_of_other_agents_are_read() -> None:
    before = call("1", "todo_list", "todo", items=[{"text": "a", "completed": False}])
    after = call("2", "todo_list", "todo", items=[{"text": "a", "completed": True}])
    assert fed(before, after).state_changes == ["todo `a`: pending → completed"]
    before = call("1", "update_plan", "todo", plan=[{"step": "a", "status": "pending"}])
    after = call("2", "update_plan", "todo", plan=[{"step": "a", "status": "completed"}])
    assert fed(before, after).state_changes == ["todo `a`: pending → completed"]


def test_a_task_is_known_by_its_name_if_only_the_text_tells_its_number() -> None:
    made = (
        call("1", "TaskCreate", "todo", subject="Write tests"),
        ok("1", "Task #4 created successfully: Write tests"),
    )
    assert fed(
        *made, call("2", "TaskUpdate", "todo", taskId="4", status="completed")
    ).state_changes == ["todo `Write tests`: completed"]


def test_a_task_is_known_by_the_name_that_it_was_made_with() -> None:
    model = fed(
        call("1", "TaskCreate", "todo", subject="Write tests"),
        ok("1", "Task #4 created", detail={"task": {"id": "4", "subject": "Write tests"}}),
        call("2", "TaskUpdate", "todo", taskId="4", status="in_progress"),
        call("3", "TaskUpdate", "todo", taskId="4", status="completed"),
        call("4", "TaskUpdate", "todo", taskId="5", status="completed"),
    )
    assert model.state_changes == [
        "todo `Write tests`: in_progress",
        "todo `Write tests`: in_progress → completed",
        "todo `task 5`: completed",
    ]
