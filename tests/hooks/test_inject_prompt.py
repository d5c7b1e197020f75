"""What an agent is told with a prompt: what is new and due, within the session's total; and what
its summary lost."""

from __future__ import annotations

from pathlib import Path

import pytest

import brim
from tests.hooks.injected import FRAME, Agent, rule

ALWAYS = rule("always", "Answer in English.")
TESTS = rule("tests", "Run pytest with -q.", when="task tests")
LOST = "Lost in the summary:\n- src/parser.py\n- retry limit 3\n"


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path)


def test_what_the_prompt_is_about_is_told_once(agent: Agent) -> None:
    agent.learn(TESTS)
    assert not agent.prompt("rename the class")
    assert agent.prompt("run the tests").text == FRAME + "- Run pytest with -q.\n"
    assert not agent.prompt("run the tests again")


def test_a_session_whose_start_was_not_heard_is_told_with_its_first_prompt(agent: Agent) -> None:
    agent.begins = False
    agent.learn(ALWAYS, TESTS)
    assert agent.prompt("hello").text == FRAME + "- Answer in English.\n- Run pytest with -q.\n"
    assert not agent.prompt("run the tests")


def test_a_late_start_that_cannot_be_noted_is_not_told_with_each_prompt(agent: Agent) -> None:
    agent.begins = False
    agent.learn(ALWAYS)
    (agent.home / ".brim" / "state.db").mkdir()
    assert not agent.prompt("hello")


def test_what_a_late_start_and_its_prompt_tell_is_one_list(agent: Agent) -> None:
    agent.begins = False
    agent.configure("token_budget: {default: 24, dynamic_context: 60}\n")
    agent.learn(ALWAYS, TESTS)
    assert agent.prompt("run the tests").text.count(FRAME) == 1


def test_the_second_time_waits_five_prompts_and_the_third_ten(agent: Agent) -> None:
    agent.learn(TESTS)
    answers = [bool(agent.prompt(f"run the tests of step {n}")) for n in range(17)]
    assert [n for n, answer in enumerate(answers) if answer] == [0, 5, 15]


def test_what_the_start_had_no_room_for_does_not_take_the_room_of_what_a_prompt_asks_for(
    agent: Agent,
) -> None:
    agent.configure("token_budget: {default: 60, dynamic_context: 60}\n")
    agent.learn(
        *(rule(f"c{n}", f"Never break part{n} of it at all.") for n in range(20)),
        TESTS,
    )
    assert "didn't fit" in agent.start().text
    assert agent.prompt("run the tests").text == FRAME + "- Run pytest with -q.\n"
    assert not agent.prompt("go on")
    assert "part19 " in agent.prompt("what about part19?").text


def test_prompts_of_a_machine_do_not_count_and_bring_up_nothing(agent: Agent) -> None:
    agent.learn(ALWAYS, TESTS)
    for _ in range(20):
        assert not agent.prompt(
            "<task-notification>the tests failed</task-notification>", human=False
        )
    assert agent.session().prompts == 0
    assert "- Run pytest with -q.\n" in agent.prompt("run the tests").text


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
    agent.compile()
    assert 300 < brim.count(agent.prompt("think of the number").text, model="gpt-5") <= 500
    agent.environ["BRIM_TOKEN_BUDGET_DYNAMIC"] = "60"
    assert brim.count(agent.prompt("think of the number").text, model="gpt-5") <= 60


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
    agent.compile()
    agent.configure("session: {max_tokens: 130, backoff: 0}\n")
    texts = [agent.prompt(f"think of number {n}").text for n in range(6)]
    taken = sum(int(brim.count(text, model="gpt-5")) for text in texts if text)
    assert taken == agent.session().used
    assert 100 < taken <= 130
    assert not texts[-1]


def test_a_sub_agent_has_its_own_window_and_spends_from_the_same_total(agent: Agent) -> None:
    agent.learn(TESTS)
    main = agent.prompt("run the tests")
    assert agent.tool_of("agent-1", "Bash", command="make tests").text == main.text
    assert not agent.tool_of("agent-1", "Bash", command="make tests")
    assert agent.session().used == 2 * int(brim.count(main.text, model="gpt-5"))
    assert agent.session("agent-1").remaining == agent.session().remaining


def test_what_the_summary_lost_is_given_once_and_charged_by_its_bytes(agent: Agent) -> None:
    agent.learn(TESTS)
    agent.lose(LOST)
    assert agent.prompt("go on").text == LOST
    assert agent.session().used == len(LOST.encode())
    assert not agent.prompt("go on")


def test_it_stands_above_the_rules_and_is_none_of_them_with_a_tool_too(agent: Agent) -> None:
    agent.learn(rule("py", "Use uv.", when="python"))
    agent.lose(LOST)
    assert agent.edit().text == LOST + FRAME + "- Use uv.\n"
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
    assert agent.prompt("in English?").text
    assert ".context" not in agent.written()


def test_what_a_person_typed_is_written_down(agent: Agent) -> None:
    agent.prompt("Port the parser", human=True)
    journal = agent.project / ".context" / "journal.jsonl"
    assert "Port the parser" in journal.read_text(encoding="utf-8")


def test_one_part_that_fails_does_not_take_the_others_with_it(agent: Agent) -> None:
    agent.learn(ALWAYS)
    (agent.project / ".context" / ".lock").mkdir(parents=True)
    assert agent.prompt("Port the parser, in English").text
    assert ".context" in agent.log()


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
