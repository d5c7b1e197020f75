"""What an agent is told with a prompt: what is new and due, within the session's total; and what
its summary lost."""

from __future__ import annotations

from pathlib import Path

import pytest

import brim
from tests.hooks.injected import FRAME, SESSION, Agent, rule

ALWAYS = rule("always", "Answer in English.")
TESTS = rule("tests", "Run pytest with -q.", when={"task": "testing"})
LOST = "Lost in the summary:\n- src/parser.py\n- retry limit 3\n"


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path)


def test_what_the_prompt_is_about_is_told_once(agent: Agent) -> None:
    agent.learn(TESTS)
    assert not agent.prompt("rename the class")
    assert agent.prompt("run the tests").text == FRAME + "## Directives\n- Run pytest with -q.\n"
    assert not agent.prompt("run the tests again")


def test_a_summary_that_says_everything_is_not_followed_by_the_whole_text(agent: Agent) -> None:
    agent.environ["BRIM_INJECTION_FILL"] = "false"
    agent.learn(
        rule("uv", "Use uv, not pip.", tags=("python",), summary="Use uv, not pip"),
        rule(
            "env",
            "Use a virtual environment.\nIt is in .venv.",
            tags=("python",),
            summary="Use a virtual environment",
        ),
    )
    assert (
        agent.start().text
        == FRAME + "## Directives\n- Use uv, not pip\n- Use a virtual environment\n"
    )
    told = agent.prompt("install the python package with pip").text
    assert told == FRAME + "## Directives\n- Use a virtual environment.\n  It is in .venv.\n"


def test_the_second_time_waits_five_prompts_and_the_third_ten(agent: Agent) -> None:
    agent.learn(TESTS)
    told = [bool(agent.prompt(f"run the tests of step {n}")) for n in range(17)]
    assert [n for n, each in enumerate(told) if each] == [0, 5, 15]


def test_a_rule_without_conditions_is_told_once_and_with_the_prompt_after_it_was_learned(
    agent: Agent,
) -> None:
    agent.start()
    agent.learn(ALWAYS)
    told = [bool(agent.prompt(f"step {n}")) for n in range(17)]
    assert [n for n, each in enumerate(told) if each] == [0]


def test_what_the_start_had_no_room_for_does_not_take_the_room_of_what_a_prompt_asks_for(
    agent: Agent,
) -> None:
    agent.configure("token_budget: {default: 60, dynamic_context: 60}\n")
    agent.learn(
        *(rule(f"c{n}", f"Never break part{n} of it at all.", "constraint") for n in range(20)),
        TESTS,
    )
    assert "didn't fit" in agent.start().text
    assert agent.prompt("run the tests").text == FRAME + "## Directives\n- Run pytest with -q.\n"
    assert not agent.prompt("go on")
    assert "part1 " in agent.prompt("what about part1?").text


def test_a_constraint_that_a_prompt_only_touches_does_not_take_the_room_of_what_it_is_about(
    agent: Agent,
) -> None:
    agent.configure("token_budget: {default: 60, dynamic_context: 60}\n")
    about = rule("seal", "Seal parcels with the red wax of the harbor office.")
    agent.learn(
        *(
            rule(f"c{n}", f"Never break part{n} of a parcel at all.", "constraint")
            for n in range(20)
        ),
        about,
    )
    agent.start()
    assert "red wax" in agent.prompt("Seal the parcels with red wax for the harbor office").text


def test_the_little_that_the_start_had_no_room_for_comes_with_the_prompt(agent: Agent) -> None:
    agent.configure("token_budget: {default: 60, dynamic_context: 60}\n")
    agent.learn(
        *(rule(f"c{n}", f"Never break part{n} of it at all.", "constraint") for n in range(5))
    )
    told = agent.start().text + agent.prompt("go on").text
    assert all(f"part{n} " in told for n in range(5))


def test_prompts_of_a_machine_do_not_count_and_bring_up_nothing(agent: Agent) -> None:
    agent.learn(ALWAYS, TESTS)
    agent.start()
    for _ in range(20):
        assert not agent.prompt(
            "<task-notification>the tests failed</task-notification>", human=False
        )
    assert agent.session().prompts == 0
    assert agent.prompt("run the tests").text == FRAME + "## Directives\n- Run pytest with -q.\n"


def test_every_prompt_counts_whether_anything_is_told_or_not(agent: Agent) -> None:
    agent.learn(TESTS)
    for _ in range(3):
        agent.prompt("rename the class")
    assert agent.session().prompts == 3


def test_an_injection_keeps_to_the_dynamic_budget(agent: Agent) -> None:
    agent.learn(
        *(
            rule(f"r{n}", f"Rule number {n} holds whatever the agent may think of it.")
            for n in range(60)
        )
    )
    assert 300 < brim.count(agent.prompt().text, model="gpt-5") <= 500
    agent.environ["BRIM_TOKEN_BUDGET_DYNAMIC"] = "60"
    assert brim.count(agent.prompt().text, model="gpt-5") <= 60


def test_a_dynamic_budget_of_0_is_off(agent: Agent) -> None:
    agent.learn(ALWAYS)
    agent.lose(LOST)
    agent.configure("token_budget: {dynamic_context: 0}\n")
    assert not agent.prompt()
    assert not agent.edit()


def test_the_total_of_a_session_is_never_exceeded(agent: Agent) -> None:
    agent.learn(
        *(
            rule(f"r{n}", f"Rule number {n} holds whatever the agent may think of it.")
            for n in range(60)
        )
    )
    agent.configure("session: {max_tokens: 130, backoff: 0}\n")
    texts = [agent.prompt(f"step {n}").text for n in range(6)]
    taken = sum(int(brim.count(text, model="gpt-5")) for text in texts if text)
    assert taken == agent.session().used
    assert 100 < taken <= 130
    assert not texts[-1]


def test_a_sub_agent_has_its_own_window_and_spends_from_the_same_total(agent: Agent) -> None:
    agent.learn(ALWAYS)
    main = agent.prompt()
    assert agent.tool_of("agent-1", "Read", file_path="notes").text == main.text
    assert not agent.tool_of("agent-1", "Read", file_path="notes")
    assert agent.session().used == 2 * int(brim.count(main.text, model="gpt-5"))
    assert agent.session("agent-1").remaining == agent.session().remaining


def test_constraints_that_are_too_much_are_told_in_turn(agent: Agent) -> None:
    agent.learn(*(rule(f"c{n}", f"Never do part{n}.", kind="constraint") for n in range(90)))
    assert "more rules didn't fit: brim rules\n" in agent.prompt().text
    assert "didn't fit" not in agent.prompt().text
    assert len(agent.session().shown) == 90


def test_what_the_summary_lost_is_given_once_and_charged_by_its_bytes(agent: Agent) -> None:
    agent.learn(TESTS)
    agent.lose(LOST)
    assert agent.prompt("go on").text == LOST
    assert agent.session().used == len(LOST.encode())
    assert not agent.prompt("go on")


def test_it_stands_above_the_rules_and_is_none_of_them_with_a_tool_too(agent: Agent) -> None:
    agent.learn(rule("py", "Use uv.", when={"language": "python"}))
    agent.lose(LOST)
    assert agent.edit().text == LOST + FRAME + "## Directives\n- Use uv.\n"
    assert not agent.prompt()


def test_a_sub_agent_does_not_get_what_the_main_thread_lost(agent: Agent) -> None:
    agent.learn(TESTS)
    agent.lose(LOST)
    assert not agent.tool_of("agent-1", "Read", file_path="notes")
    assert agent.tool("Read", file_path="notes").text == LOST


def test_a_machine_prompt_brings_it_as_well(agent: Agent) -> None:
    agent.learn(ALWAYS)
    agent.lose(LOST)
    assert agent.prompt("<task-notification/>", human=False).text == LOST


def test_lines_that_do_not_fit_wait_for_the_next_event(agent: Agent) -> None:
    agent.learn(TESTS)
    lines = [f"- src/module_{n}.py, which nobody else has mentioned so far\n" for n in range(20)]
    agent.lose("Lost in the summary:\n" + "".join(lines) + f"- {'x' * 900}\n")
    texts = [agent.prompt("go on").text for _ in range(5)]
    assert all(len(text.encode()) <= 500 for text in texts)
    assert all(text.startswith("Lost in the summary:\n") for text in texts[:3])
    assert "".join(text.removeprefix("Lost in the summary:\n") for text in texts) == "".join(lines)
    assert texts[3:] == ["", ""]


def test_what_was_lost_never_exceeds_the_total(agent: Agent) -> None:
    agent.learn(TESTS)
    agent.configure(f"session: {{max_tokens: {len(LOST) - 1}}}\n")
    agent.lose(LOST)
    assert agent.prompt().text == "Lost in the summary:\n- src/parser.py\n"
    assert agent.session().used == len("Lost in the summary:\n- src/parser.py\n")
    assert not agent.prompt()


def test_a_huge_prompt_is_looked_at_from_both_ends(agent: Agent) -> None:
    agent.learn(TESTS)
    assert agent.prompt("x " * 1_000_000 + "now run the tests").text


def test_under_a_supervisor_prompts_still_bring_up_rules(agent: Agent) -> None:
    agent.learn(ALWAYS)
    agent.environ["BRIM_RUN_ID"] = "run-1"
    assert agent.prompt().text
    assert ".context" not in agent.written()


def test_what_a_person_typed_is_written_down(agent: Agent) -> None:
    agent.prompt("Port the parser", human=True)
    journal = agent.project / ".context" / "journal.jsonl"
    assert "Port the parser" in journal.read_text(encoding="utf-8")


def test_one_part_that_fails_does_not_take_the_others_with_it(agent: Agent) -> None:
    agent.learn(ALWAYS)
    (agent.project / ".context" / ".lock").mkdir(parents=True)
    assert agent.prompt("Port the parser").text
    assert ".context" in agent.log()


def test_a_damaged_state_of_the_session_tells_nothing(agent: Agent) -> None:
    import sqlite3

    agent.learn(ALWAYS)
    agent.prompt()
    with sqlite3.connect(agent.home / ".brim" / "brim.db") as database:
        database.execute("UPDATE sessions SET state = '{'")
    database.close()
    assert not agent.prompt()
    assert SESSION in agent.log()


def test_what_was_lost_is_given_back_once_where_nothing_was_ever_learned(agent: Agent) -> None:
    agent.lose(LOST)
    assert agent.prompt().text == LOST
    assert not agent.prompt()


def test_what_was_lost_keeps_to_the_budget_where_nothing_was_learned(agent: Agent) -> None:
    agent.environ["BRIM_TOKEN_BUDGET_DYNAMIC"] = "45"
    agent.lose(LOST)
    assert agent.prompt().text == "Lost in the summary:\n- src/parser.py\n"
    assert agent.prompt().text == "Lost in the summary:\n- retry limit 3\n"
    assert not agent.prompt()
