from __future__ import annotations

import pytest

from tests.scratch.making import call, failed, ok
from tests.scratch.test_model import fed

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
        (f'User has answered your questions: "Which store?"="SQLite, one file", "Say "when"?"="now". {END}', None),
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
        asked = call("1", "question", "question", questions=[{"question": "Which store?"}, {"question": 'Say "when"?'}])
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
    assert fed(TWO, ok("1", f"User has answered your questions: Both, please. {END}")).decisions == [
        '`Which store? / Say "when"?`: Both, please'
    ]


def test_the_plan_that_was_approved_is_the_decision_and_not_the_one_that_was_proposed() -> None:
    proposed = call("1", "ExitPlanMode", "plan", plan="1. rewrite")
    text = "User has approved your plan. You can now start coding.\n\n## Approved Plan (edited by user):\n1. repair"
    assert fed(proposed, ok("1", text)).decisions == ["plan `1. repair`: accepted"]
    without = call("1", "ExitPlanMode", "plan")
    assert fed(without, ok("1", "ok", detail={"plan": "1. repair"})).decisions == ["plan `1. repair`: accepted"]


def test_a_plan_that_waits_for_an_answer_is_no_decision() -> None:
    plan = call("1", "ExitPlanMode", "plan", plan="1. rewrite")
    assert fed(plan, ok("1", "Your plan has been submitted to the team lead for approval.")).decisions == []


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
    assert fed(run, failed("1", "The user doesn't want to proceed with this tool use.", refusal="permission")).decisions
