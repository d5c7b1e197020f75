"""The gate: a call that a constraint is about is held back once if this window was not shown the
constraint yet."""

from __future__ import annotations

from pathlib import Path

import pytest

import brim
from brim.hooks.gate import HELD_BACK
from tests.hooks.injected import Agent, rule, told

NEVER = rule("never", "Never edit generated files by hand.", when="gen/**")
PUSH = rule("push", "Never push to main.", when="branch main")


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    agent = Agent(tmp_path)
    agent.learn(NEVER)
    return agent


def test_the_first_such_call_is_denied_with_the_rule_and_the_retry_passes(agent: Agent) -> None:
    first = agent.edit("gen/api.py")
    assert first.deny == HELD_BACK + told(NEVER)
    assert not first.text
    assert not agent.edit("gen/api.py")


@pytest.mark.parametrize("text", ["hooks: {gate: off}\n", "hooks: {gate: 'off'}\n"])
def test_a_user_can_turn_it_off(agent: Agent, text: str) -> None:
    agent.configure(text)
    found = agent.edit("gen/api.py")
    assert not found.deny
    assert found.text == told(NEVER)


def test_settings_can_set_it_and_a_project_can_only_set_it(agent: Agent) -> None:
    agent.configure("hooks: {gate: off}\n", "project")
    agent.trust()
    assert agent.edit("gen/api.py").deny
    (agent.home / ".brim" / "state.db").unlink()
    agent.configure("hooks: {gate: off}\n")
    agent.configure("hooks: {gate: constraints}\n", "project")
    agent.trust()
    assert agent.edit("gen/api.py").deny


def test_reading_is_never_held_back(agent: Agent) -> None:
    found = agent.tool("Read", file_path="gen/api.py")
    assert found.text
    assert not found.deny
    assert not agent.edit("gen/api.py")  # it has been shown


def test_a_call_that_no_constraint_is_about_is_not_held_back(agent: Agent) -> None:
    agent.learn(
        rule("plain", "Use uv.", when="python"),
        rule("all", "Never swear."),
    )
    found = agent.edit("src/app.py")
    assert not found.deny
    assert "Use uv." in found.text


def test_commands_and_writes_are_held_back_too(agent: Agent) -> None:
    (agent.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    agent.learn(PUSH)
    assert not agent.tool("Bash", command="ls").deny
    assert not agent.tool("Bash", command="git push").deny  # it was shown, on this branch
    assert agent.tool("Write", file_path="gen/new.py", content="").deny


def test_what_the_start_has_shown_is_known(agent: Agent) -> None:
    (agent.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    agent.learn(PUSH)
    assert "Never push" in agent.start().text
    assert not agent.tool("Bash", command="git push").deny


def test_after_a_compaction_it_holds_back_again(agent: Agent) -> None:
    agent.environ["BRIM_TOKEN_BUDGET"] = "10"
    assert agent.edit("gen/api.py").deny
    agent.start("compact")
    assert agent.edit("gen/api.py").deny


def test_a_sub_agent_has_a_window_of_its_own(agent: Agent) -> None:
    assert agent.edit("gen/api.py").deny
    assert agent.tool_of("agent-1", "Edit", file_path="gen/api.py").deny
    assert not agent.tool_of("agent-1", "Edit", file_path="gen/api.py")


def test_what_is_said_is_charged(agent: Agent) -> None:
    deny = agent.edit("gen/api.py").deny
    rules = deny.removeprefix(HELD_BACK)
    assert agent.session().used == len(HELD_BACK.encode()) + int(brim.count(rules, model="gpt-5"))


def test_a_call_is_never_denied_without_room_to_say_why(agent: Agent) -> None:
    agent.configure(f"session: {{max_tokens: {len(HELD_BACK) + 3}}}\n")
    assert not agent.edit("gen/api.py").deny


def test_an_agent_that_hears_nothing_before_a_call_can_still_be_held_back(tmp_path: Path) -> None:
    agent = Agent(tmp_path, agent="gemini")
    agent.learn(NEVER)
    assert agent.tool("replace", file_path="gen/api.py").deny
    assert not agent.tool("replace", file_path="gen/api.py")


@pytest.mark.parametrize(
    ("client", "longest"), [("claude", 9_000), ("codex", 7_500), ("gemini", 9_000)]
)
def test_a_reason_is_never_longer_than_the_client_takes(
    tmp_path: Path, client: str, longest: int
) -> None:
    agent = Agent(tmp_path, agent=client)
    agent.configure(
        "token_budget: {dynamic_context: 20000}\nsession: {max_tokens: 20000, max_per_injection: 20000}\n"
    )
    agent.learn(
        *[
            rule(
                f"r{number}",
                f"Never do {number}: " + "Ж" * 900 + ".",
                when="gen/**",
            )
            for number in range(12)
        ]
    )
    denied = agent.edit("gen/api.py").deny
    assert denied.startswith(HELD_BACK)
    assert len(denied) <= longest
    assert client != "codex" or len(denied.encode()) <= 9_900
