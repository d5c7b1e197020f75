"""At the cost limit no tool runs: the agent is told to stop, the human how to lift the limit,
once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from brim.spend import Raise
from brim.store.trust import trust
from tests.hooks.sittings import Sitting


@pytest.fixture
def sitting(tmp_path: Path) -> Sitting:
    return Sitting(tmp_path)


def limit(sitting: Sitting, amount: int, scope: str = "shop") -> None:
    with sitting.ledger() as ledger:
        ledger.limit(scope, amount)


def before(sitting: Sitting, turn: str = "p1") -> dict[str, Any]:
    given = {"command": "ls"}
    return sitting.hook(
        "PreToolUse", tool_name="Bash", tool_input=given, tool_use_id="t1", prompt_id=turn
    )


def reason(answer: dict[str, Any]) -> str:
    specific = answer.get("hookSpecificOutput", {})
    return (
        str(specific.get("permissionDecisionReason", ""))
        if specific.get("permissionDecision") == "deny"
        else ""
    )


def test_without_a_limit_every_call_is_let_through(sitting: Sitting) -> None:
    sitting.used("m1", 10_000_000)
    sitting.hook("Stop")
    assert before(sitting) == {}


def test_a_warning_goes_to_the_human_once(sitting: Sitting) -> None:
    limit(sitting, 10_000)
    sitting.used("m1", 2_700)
    told = sitting.tool("Read", {"file_path": "a"})
    assert told == {"systemMessage": "brim: shop: $0.0081 of $0.01 is spent (81%)"}
    assert sitting.tool("Read", {"file_path": "a"}) == {}
    assert before(sitting) == {}


def test_at_the_limit_the_call_is_denied_and_only_the_human_gets_the_commands(
    sitting: Sitting,
) -> None:
    limit(sitting, 10_000)
    sitting.used("m1", 4_000)
    told = sitting.tool("Read", {"file_path": "a"})["systemMessage"]
    assert told.split("\n") == [
        "brim: shop: $0.012 of $0.01 is spent. Tools are held. To go on:",
        "brim limit continue shop",
        "brim limit raise shop 5",
        "brim limit wrap-up shop",
        "brim limit stop shop",
    ]
    denied = before(sitting)
    for part in ("Held by your user's limit", "$0.012 of $0.01", "Wrap up now", "what is done"):
        assert part in reason(denied)
    assert "brim" not in reason(denied)
    assert "systemMessage" not in denied  # the human has been told already


def test_who_was_not_told_when_it_was_settled_is_told_with_the_refusal(sitting: Sitting) -> None:
    limit(sitting, 10_000)
    with sitting.ledger() as ledger:
        ledger.record("shop/other/main", "r1", 12_000)
    first, second = before(sitting), before(sitting)
    assert "brim limit continue shop" in first["systemMessage"]
    assert "systemMessage" not in second
    assert reason(second)


def test_a_limit_of_nothing_lets_nothing_be_spent(sitting: Sitting) -> None:
    limit(sitting, 0)
    held = before(sitting)
    assert "$0.00 of $0.00 is spent" in reason(held)
    assert "brim limit raise shop 5\n" in held["systemMessage"]
    assert "continue" not in held["systemMessage"]  # a tenth more of nothing is nothing


def test_what_is_held_back_is_said(sitting: Sitting) -> None:
    limit(sitting, 1_000_000)
    sitting.used("m1", 160_000)
    sitting.used("m2", 160_000)
    sitting.hook("Stop")
    assert "$0.96 of $1.00 is spent; $0.04 is kept for the wrap-up." in reason(before(sitting))


def test_a_wrap_up_for_which_nothing_is_left_is_not_offered_again(sitting: Sitting) -> None:
    limit(sitting, 10_000)
    sitting.used("m1", 4_000)
    sitting.hook("Stop")
    with sitting.ledger() as ledger:
        ledger.answer("shop", "wrap_up")
    assert "brim limit continue shop" in before(sitting)["systemMessage"]


def test_the_limit_of_the_session_counts_too(sitting: Sitting) -> None:
    limit(sitting, 1_000, "shop/8eeb040d")
    sitting.used("m1", 1_000)
    sitting.hook("Stop")
    assert "shop/8eeb040d: $0.003 of $0.001 is spent" in reason(before(sitting))


@pytest.mark.parametrize("mark", [".git", ".brim"])
@pytest.mark.parametrize("first", ["UserPromptSubmit", "PreToolUse"])
@pytest.mark.parametrize("how", ["ledger", "settings"])
def test_a_folder_with_a_project_of_its_own_lifts_no_limit(
    sitting: Sitting, mark: str, first: str, how: str
) -> None:
    del sitting.environ["CLAUDE_PROJECT_DIR"]
    (sitting.project / ".git").mkdir()
    inside = sitting.project / "inside"
    (inside / mark).mkdir(parents=True)
    if how == "ledger":
        limit(sitting, 10_000)
    else:
        (sitting.project / ".brim").mkdir()
        (sitting.project / ".brim" / "config.yaml").write_text("spend: {limit: 0.01}\n")
        trust(str(sitting.project), str(sitting.home), now=sitting.now)
    sitting.hook(
        first, prompt="go", tool_name="Bash", tool_input={"command": "cd inside"}, tool_use_id="t0"
    )
    sitting.project = inside
    sitting.used("m1", 4_000)
    sitting.hook("Stop")
    assert "shop: $0.012 of $0.01 is spent" in reason(before(sitting))


def test_the_settings_limit_counts_where_nobody_has_set_one(sitting: Sitting) -> None:
    (sitting.home / "config.yaml").write_text("spend:\n  limit: 0.01\n")
    assert before(sitting) == {}
    sitting.used("m1", 4_000)
    sitting.tool("Read", {"file_path": "a"})
    assert "$0.012 of $0.01" in reason(before(sitting))


def test_an_answer_lets_the_next_call_through(sitting: Sitting) -> None:
    limit(sitting, 10_000)
    sitting.used("m1", 4_000)
    sitting.hook("Stop")
    assert reason(before(sitting))
    with sitting.ledger() as ledger:
        ledger.answer("shop", Raise(50_000))
    assert before(sitting) == {}
    sitting.used("m2", 20_000)
    assert "$0.072 of $0.05" in sitting.tool("Read", {"file_path": "a"})["systemMessage"]


def test_an_agent_that_does_not_stop_is_stopped(sitting: Sitting) -> None:
    limit(sitting, 0)
    answers = [before(sitting) for _ in range(5)]
    assert [answer.get("continue") for answer in answers] == [None, None, None, False, False]
    assert all(reason(answer) for answer in answers)
    assert "continue" not in before(
        sitting, "p2"
    )  # what a person types next has its own chance to end well


def test_a_scope_that_a_person_stopped_ends_the_turn_at_once(sitting: Sitting) -> None:
    limit(sitting, 10_000)
    with sitting.ledger() as ledger:
        ledger.answer("shop", "stop")
    denied = before(sitting)
    assert denied["continue"] is False
    assert "was stopped" in reason(denied)
    assert denied["stopReason"].endswith("\nbrim limit continue shop")


def test_while_it_is_wrapped_up_calls_pass_and_the_agent_is_told_once(sitting: Sitting) -> None:
    limit(sitting, 1_000_000)
    sitting.used("m1", 160_000)
    sitting.used("m2", 160_000)
    sitting.hook("Stop")
    with sitting.ledger() as ledger:
        ledger.answer("shop", "wrap_up")
    told = before(sitting)
    assert "Wrap up now" in told["hookSpecificOutput"]["additionalContext"]
    assert before(sitting) == {}
    sitting.used("m3", 20_000)
    sitting.hook("Stop")
    assert reason(before(sitting))


def test_a_supervised_agent_is_left_to_its_supervisor(sitting: Sitting) -> None:
    limit(sitting, 0)
    sitting.environ["BRIM_RUN_ID"] = "run-1"
    assert before(sitting) == {}


def test_a_limit_that_comes_during_the_session_is_seen_with_the_next_call(sitting: Sitting) -> None:
    assert before(sitting) == {}
    limit(sitting, 10_000)
    assert before(sitting) == {}
    sitting.used("m1", 4_000)
    assert sitting.tool("Read", {"file_path": "a"})["systemMessage"]
    assert reason(before(sitting))


def test_no_ledger_no_limit(sitting: Sitting) -> None:
    (sitting.home / "brim.db").unlink()
    sitting.used("m1", 4_000)
    sitting.hook("Stop")
    assert before(sitting) == {}
    assert not (sitting.home / "brim.db").exists()


def test_the_refusal_is_in_the_words_of_each_client(sitting: Sitting) -> None:
    limit(sitting, 0)
    codex = sitting.hook(
        "PreToolUse", "codex", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="c1"
    )
    gemini = sitting.hook(
        "BeforeTool", "gemini", tool_name="run_shell_command", tool_input={"command": "ls"}
    )
    assert "Held by your user's limit" in json.dumps(codex)
    assert gemini["decision"] == "deny"
    assert "Held by your user's limit" in gemini["reason"]


def test_what_a_person_types_next_has_its_own_chance_where_turns_have_no_ids(
    sitting: Sitting,
) -> None:
    limit(sitting, 0)

    def call() -> Any:
        given = {"command": "ls"}
        return sitting.hook(
            "BeforeTool", "gemini", tool_name="run_shell_command", tool_input=given
        ).get("continue")

    assert [call() for _ in range(4)] == [None, None, None, False]
    sitting.hook("BeforeAgent", "gemini", prompt="wrap up")
    assert call() is None


def test_who_types_is_told_that_the_money_was_spent_elsewhere(sitting: Sitting) -> None:
    limit(sitting, 10_000)
    with sitting.ledger() as ledger:
        ledger.record("shop/other/main", "r1", 12_000)
    assert "$0.012 of $0.01" in sitting.prompt("go on")["systemMessage"]
    assert sitting.prompt("go on") == {}
    assert "systemMessage" not in before(sitting)


def test_a_turn_that_a_person_stopped_is_settled_with_the_next_prompt(sitting: Sitting) -> None:
    limit(sitting, 10_000)
    before(sitting)
    sitting.used("m1", 2_700)
    told = {"systemMessage": "brim: shop: $0.0081 of $0.01 is spent (81%)"}
    assert sitting.prompt("no, do it so") == told
    assert sitting.prompt("go on") == {}
