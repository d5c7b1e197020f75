"""What a session is told when it begins, and what it is told again after a compaction."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import brim
from brim.config.trust import user_secret
from brim.memory import ScratchWriter
from tests.hooks.injected import FRAME, SESSION, Agent, rule, told

ALWAYS = rule("always", "Answer in English.")
PYTHON = rule("python", "Use uv, not pip.", when="python")
NEVER = rule("never", "Never force-push.")


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path)


def remember(agent: Agent, session: str = SESSION) -> None:
    """Write a scratch file as the hooks of *session* do."""
    secret = user_secret(str(agent.home / ".brim"))
    writer = ScratchWriter(agent.project, session=session, clock=lambda: agent.now, secret=secret)
    writer.append_human_input("Port the parser")


def test_a_session_is_told_what_holds_here(agent: Agent) -> None:
    agent.learn(ALWAYS, PYTHON, NEVER)
    assert agent.start().text == told(NEVER, ALWAYS, PYTHON)


def test_the_start_is_remembered_and_not_charged(agent: Agent) -> None:
    agent.learn(ALWAYS)
    assert agent.start().text
    assert agent.session().used == 0
    assert agent.prompt().text == ""


def test_the_start_keeps_to_its_budget(agent: Agent) -> None:
    agent.learn(
        *(
            rule(f"r{n}", f"Rule number {n} holds whatever the agent may think of it.")
            for n in range(40)
        )
    )
    agent.environ["BRIM_TOKEN_BUDGET"] = "120"
    text = agent.start().text
    assert 60 < brim.count(text, model="gpt-5") <= 120


@pytest.mark.parametrize("how", ["environment", "settings"])
def test_a_budget_of_0_is_off(agent: Agent, how: str) -> None:
    agent.learn(ALWAYS, NEVER)
    if how == "environment":
        agent.environ["BRIM_TOKEN_BUDGET"] = "0"
    else:
        agent.configure("token_budget: {default: 0}\n")
    remember(agent)
    assert not agent.start()
    assert not agent.start("compact")


def test_the_environment_is_stronger_than_the_settings(agent: Agent) -> None:
    agent.learn(ALWAYS)
    agent.configure("token_budget: {default: 0}\n")
    agent.environ["BRIM_TOKEN_BUDGET"] = "100"
    assert agent.start().text


@pytest.mark.parametrize("source", ["clear", "compact", "startup"])
def test_an_emptied_window_is_told_the_rules_again(agent: Agent, source: str) -> None:
    agent.learn(ALWAYS)
    first = agent.start()
    assert agent.start(source) == first
    assert agent.session().shown.popitem()[1].times == 1


def test_a_resumed_session_has_them_already(agent: Agent) -> None:
    agent.learn(ALWAYS)
    agent.start()
    agent.learn(NEVER)
    assert not agent.start("resume")


def test_a_resumed_session_that_heard_nothing_yet_is_told_everything(agent: Agent) -> None:
    """brim may have been set up since, or the state may be lost."""
    agent.learn(ALWAYS)
    assert agent.start("resume").text == told(ALWAYS)
    assert not agent.start("resume")


def test_a_compaction_renews_the_total(agent: Agent) -> None:
    agent.learn(PYTHON)
    agent.environ["BRIM_TOKEN_BUDGET"] = "10"
    agent.start()
    agent.edit()
    used = agent.session().used
    assert used > 0
    agent.start("compact")
    assert agent.session().used == 0


def test_after_a_compaction_the_scratch_memory_is_named_before_the_rules(agent: Agent) -> None:
    agent.learn(ALWAYS)
    remember(agent)
    pointer, rules = agent.start("compact").text.split("\n", 1)
    assert ".context/scratch.md" in pointer
    assert rules == FRAME + "- Answer in English.\n"
    assert ".context" not in agent.start("startup").text


def test_the_pointer_is_whole_for_an_agent_in_another_folder(agent: Agent) -> None:
    remember(agent)
    (agent.project / "src").mkdir()
    text = agent.start("compact", cwd=str(agent.project / "src")).text
    assert str(agent.project / ".context" / "scratch.md") in text


def test_the_pointer_is_charged_by_its_bytes(agent: Agent) -> None:
    agent.learn(ALWAYS)
    remember(agent)
    pointer = agent.start("compact").text.split("\n", 1)[0] + "\n"
    agent.environ["BRIM_TOKEN_BUDGET"] = str(len(pointer) + 5)
    assert agent.start("compact").text == pointer
    agent.environ["BRIM_TOKEN_BUDGET"] = str(len(pointer) - 1)
    assert agent.start("compact").text == FRAME + "- Answer in English.\n"


def test_two_live_sessions_are_each_pointed_to_their_own(agent: Agent) -> None:
    remember(agent, "another-session")
    assert not agent.start("compact")
    remember(agent)
    assert f".context/{SESSION[:8]}/scratch.md" in agent.start("compact").text


def test_the_memory_that_a_supervisor_keeps_is_its_agents_too(agent: Agent) -> None:
    remember(agent, "the-run")
    assert not agent.start("compact")
    agent.environ["BRIM_RUN_ID"] = "run-1"
    assert ".context/scratch.md" in agent.start("compact").text


def test_a_scratch_memory_that_came_with_a_clone_is_not_named(agent: Agent) -> None:
    remember(agent)
    (agent.project / ".git").rmdir()
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(agent.project)]
    subprocess.run([*git, "init", "-q"], check=True, timeout=300)
    assert ".context/scratch.md" in agent.start("compact").text
    subprocess.run([*git, "add", "-f", ".context/scratch.md"], check=True, timeout=300)
    assert not agent.start("compact")


def test_a_linked_scratch_folder_is_not_named(agent: Agent) -> None:
    remember(agent)
    (agent.project / ".context").rename(agent.project / "elsewhere")
    (agent.project / ".context").symlink_to("elsewhere")
    answer = agent.start("compact")
    assert not answer.text
    assert "is a link" in answer.note


def test_constraints_that_are_too_much_are_told_as_far_as_they_fit_and_counted(
    agent: Agent,
) -> None:
    agent.learn(*(rule(f"c{n}", f"Never do thing number {n}.") for n in range(300)))
    agent.compile()
    for budget in (30, 50, 100, 200):
        agent.environ["BRIM_TOKEN_BUDGET"] = str(budget)
        *lines, last = agent.start(session=f"s{budget}").text.removeprefix(FRAME).splitlines()
        assert last == f"{300 - len(lines)} more rules didn't fit: brim rules"
        assert lines
        assert brim.count(agent.start("clear", session=f"s{budget}").text, model="gpt-5") <= budget


def test_the_text_is_within_what_the_client_takes(tmp_path: Path) -> None:
    agent = Agent(tmp_path, agent="codex", BRIM_TOKEN_BUDGET="unlimited")
    agent.learn(*(rule(f"r{n:03}", f"Rule {n}: " + "lorem ipsum dolor " * 3) for n in range(300)))
    agent.compile()
    text = agent.start().text
    assert 8_500 < len(text) <= 9_000


def test_nothing_learned_is_nothing_told(agent: Agent) -> None:
    assert not agent.start()
    assert not agent.prompt()
    assert not agent.edit()
    assert not (agent.home / ".brim" / "brim.db").exists()


def test_a_session_without_an_id_is_told_and_not_remembered(agent: Agent) -> None:
    agent.learn(ALWAYS)
    assert agent.start(session="") == agent.start(session="")
    assert agent.start(session="").text
    assert not agent.prompt(session="")


def test_tokens_are_those_of_the_model_that_the_agent_runs(agent: Agent) -> None:
    agent.learn(
        *(
            rule(f"r{n}", f"Rule number {n} holds whatever the agent may think of it.")
            for n in range(40)
        )
    )
    agent.environ["BRIM_TOKEN_BUDGET"] = "200"
    exact = agent.start()
    claude = agent.start("clear", model="claude-opus-5-5")
    assert len(claude.text) < len(exact.text) / 1.3
    assert agent.start("clear", model="") == claude  # as it was said before


@pytest.mark.parametrize("summary", ["", "Keep it short."])
def test_a_rule_of_any_length_does_not_push_out_the_others(agent: Agent, summary: str) -> None:
    agent.learn(rule("long", "Never do this and that. " * 800, summary=summary), ALWAYS)
    text = agent.start().text
    assert "- Answer in English.\n" in text
    assert ("Keep it short." in text) is bool(summary)
    assert "- Answer in English.\n" in agent.start("compact").text
