"""The gate: a call that a constraint is about is held back once if this window was not shown the
constraint yet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import brim
from brim.behaviors.behavior import RuleUsage, Status
from brim.hooks import handlers as events
from brim.hooks.rules import HELD_BACK
from brim.store.statistics import outcomes
from tests.hooks.injected import FRAME, Agent, rule, tool_call

NEVER = rule(
    "never", "Never edit generated files by hand.", kind="constraint", when={"file": "gen/**"}
)
PUSH = rule(
    "push", "Never push to main.", kind="constraint", tags=["push"], when={"branch": "main"}
)


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    agent = Agent(tmp_path)
    agent.learn(NEVER)
    return agent


def outcome(agent: Agent, id: str = "never") -> dict[str, int]:
    """Return what ``brim rules`` shows of a rule."""
    with agent.place() as place:
        return outcomes(place.scopes, place.scopes.behaviors())[id].to_dict()


def test_the_first_such_call_is_denied_with_the_rule_and_the_retry_passes(agent: Agent) -> None:
    first = agent.edit("gen/api.py")
    assert (
        first.deny == f"{HELD_BACK}{FRAME}## Constraints\n- Never edit generated files by hand.\n"
    )
    assert not first.text
    assert not agent.edit("gen/api.py")


@pytest.mark.parametrize("text", ["hooks: {gate: off}\n", "hooks: {gate: 'off'}\n"])
def test_a_user_can_turn_it_off(agent: Agent, text: str) -> None:
    agent.configure(text)
    found = agent.edit("gen/api.py")
    assert not found.deny
    assert found.text == FRAME + "## Constraints\n- Never edit generated files by hand.\n"


def test_settings_can_set_it_and_a_project_can_only_set_it(agent: Agent) -> None:
    agent.configure("hooks: {gate: off}\n", "project")
    agent.trust()
    assert agent.edit("gen/api.py").deny
    agent.start("clear")
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
        rule("plain", "Use uv.", when={"language": "python"}),
        rule("all", "Never swear.", kind="constraint"),
    )
    found = agent.edit("src/app.py")
    assert not found.deny
    assert "Use uv." in found.text


def test_commands_and_writes_are_held_back_too(agent: Agent) -> None:
    (agent.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    agent.learn(PUSH)
    assert not agent.tool("Bash", command="ls").deny
    agent.start("clear")  # and is shown it, so it is known from now on
    assert not agent.tool("Bash", command="git push").deny
    assert agent.tool("Write", file_path="gen/new.py", content="").deny


def test_what_the_start_has_shown_is_known(agent: Agent) -> None:
    (agent.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    agent.learn(PUSH)
    assert "Never push" in agent.start().text
    assert not agent.tool("Bash", command="git push").deny


def test_after_a_compaction_it_holds_back_again(agent: Agent) -> None:
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


def test_a_note_that_nobody_confirmed_holds_nothing_back(agent: Agent) -> None:
    agent.learn(replace(NEVER, status=Status.PENDING))
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
                kind="constraint",
                when={"file": "gen/**"},
            )
            for number in range(12)
        ]
    )
    denied = agent.edit("gen/api.py").deny
    assert denied.startswith(HELD_BACK)
    assert len(denied) <= longest
    assert client != "codex" or len(denied.encode()) <= 9_900


# What came of it ----------------------------------------------------------------------------------


def test_a_held_call_that_is_given_up_counts_as_obeyed(agent: Agent) -> None:
    agent.edit("gen/api.py")
    agent.edit("src/app.py")
    agent.tool("Bash", command="ls gen")
    assert outcome(agent) == {"told": 1, "held": 1, "obeyed": 1, "overridden": 0}


def test_a_held_call_that_is_made_again_counts_as_overridden_once(agent: Agent) -> None:
    agent.edit("gen/api.py")
    for _ in range(3):
        assert not agent.edit("gen/api.py").deny
    assert outcome(agent) == {"told": 1, "held": 1, "obeyed": 0, "overridden": 1}


def test_another_file_that_the_rule_is_about_is_not_the_same_call(agent: Agent) -> None:
    agent.edit("gen/api.py")
    agent.edit("gen/other.py")
    assert outcome(agent)["overridden"] == 0


def test_what_a_person_asks_for_after_it_is_not_the_agents_doing(agent: Agent) -> None:
    agent.edit("gen/api.py")
    agent.prompt("edit it by hand this once")
    agent.edit("gen/api.py")
    assert outcome(agent)["overridden"] == 0


def test_a_command_is_the_same_in_other_words(agent: Agent) -> None:
    agent.learn(rule("npm", "Never run npm install; use pnpm.", kind="constraint"))
    assert agent.tool("Bash", command="npm install left-pad").deny
    assert not agent.tool("Bash", command="cd web && npm install --save left-pad").deny
    assert outcome(agent, "npm") == {"told": 1, "held": 1, "obeyed": 0, "overridden": 1}


def test_every_session_counts_and_feedback_is_added(agent: Agent) -> None:
    agent.learn(replace(NEVER, usage=RuleUsage(overridden=2)))
    agent.edit("gen/api.py")
    agent.start("compact")
    agent.edit("gen/api.py")
    assert outcome(agent) == {
        "told": 2,
        "held": 1,
        "obeyed": 0,
        "overridden": 2,
    }  # it was tried again
    call = agent.call(
        "before_tool",
        tool=tool_call("Edit", {"file_path": "gen/a.py"}),
        session="other",
    )
    with agent.place() as place:
        assert events.before_tool(call, place).deny
    assert outcome(agent)["held"] == 2


def test_events_say_which_call_it_was_without_its_secrets(agent: Agent) -> None:
    agent.edit("gen/api.py")
    agent.edit("gen/api.py")
    with agent.place() as place:
        found = [
            each for each in place.scopes.home.events(behavior="never") if each.kind != "learned"
        ]
    assert [each.kind for each in found] == ["held", "allowed"]
    assert all(
        each.detail == {"tool": "Edit", "call": str(agent.project / "gen/api.py")} for each in found
    )
