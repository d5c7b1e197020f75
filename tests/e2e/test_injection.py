"""What is learned is in the request that the model receives: once, in its place, within its budget."""

from __future__ import annotations

import pytest

import brim
from brim.behaviors import When
from tests.e2e.agents import Agent
from tests.e2e.api.script import Say
from tests.e2e.conftest import agent_in
from tests.e2e.world import World

ALWAYS = "Never commit the files under dist/."
TESTING = "Run the tests with 'uv run pytest -x', never with plain pytest."
HANDLERS = "Every handler checks the session before it reads the body."


COMMITS = "Write short messages with 'git commit -m'."

PLACES = {
    "claude": ["prompt", "start, with the prompt", "call", "result", "with the call"],
    "claude claude-sonnet-4-5": ["start, with the prompt, prompt", "call", "result, with the call"],
    "codex": ["start", "prompt", "with the prompt", "call", "with the call", "result"],
    "gemini": ["prompt, with the prompt, start", "call", "result, with the call"],
}
"""In which order the model reads what brim tells, message by message: what docs/agents.md says of each program."""


@pytest.mark.parametrize("name", PLACES)
def test_what_is_told_stands_where_the_documentation_says(name: str, world: World) -> None:
    agent = agent_in(world, name.partition(" ")[0])
    agent.model = name.partition(" ")[2] or agent.model
    agent.world.learn(ALWAYS, "--kind", "constraint")
    agent.world.learn(TESTING, "--task", "testing")
    agent.world.learn(COMMITS, "--task", "git")
    agent.install()
    agent.world.api.will(agent.shell("git status --short; printf 'it was %s' run"), Say())
    agent.ask("Please run the tests and fix what fails.")
    words = {
        "prompt": "fix what fails",
        "start": ALWAYS,
        "with the prompt": TESTING,
        "call": "it was %s",
        "result": "it was run",
        "with the call": COMMITS,
    }
    messages: dict[int, str] = {}
    for part in agent.world.api.turns[-1].parts:
        messages[part.place] = messages.get(part.place, "") + part.text
    found = [
        sorted((text.find(each), what) for what, each in words.items() if each in text) for text in messages.values()
    ]
    assert [", ".join(what for _, what in message) for message in found if message] == PLACES[name]
    for told in (ALWAYS, TESTING, COMMITS):
        assert agent.world.api.turns[-1].times(told) == 1


def test_a_rule_that_always_holds_is_there_from_the_start_and_once(agent: Agent) -> None:
    agent.world.learn(ALWAYS, "--kind", "constraint")
    agent.install()
    agent.world.api.will(agent.shell("echo one"), agent.shell("echo two"), Say())
    ran = agent.ask("Say hello.")
    assert ran.code == 0, ran.told
    first, *_, last = agent.world.api.turns
    assert first.only(ALWAYS).role == agent.role
    assert last.only(ALWAYS) == first.only(ALWAYS), "what was told stays where it was: the cache is kept"


def test_a_rule_comes_with_the_prompt_that_it_is_about(agent: Agent) -> None:
    agent.world.learn(TESTING, "--task", "testing")
    agent.install()
    agent.ask("Say hello.")
    assert agent.world.api.turns[-1].times(TESTING) == 0
    agent.world.api.will(agent.shell("echo one"), Say())
    agent.ask("Please run the tests and fix what fails.")
    told = agent.world.api.turns[-1].only(TESTING)
    prompt = agent.world.api.turns[-1].holding("fix what fails")[0]
    assert told.role == agent.role
    assert told.place - prompt.place in (0, 1)


def test_a_rule_comes_with_the_command_that_it_is_about(agent: Agent) -> None:
    agent.world.learn(TESTING, "--task", "testing")
    agent.install()
    agent.world.api.will(agent.shell("pytest --version || true"), agent.shell("pytest --version || true"), Say())
    agent.ask("Say hello.")
    before, after, last = agent.world.api.turns
    assert before.times(TESTING) == 0
    assert after.only(TESTING).place >= after.holding("pytest --version")[-1].place
    assert last.times(TESTING) == 1


@pytest.mark.parametrize("name", ["claude", "gemini"])  # Codex writes files by commands, in which no path is looked for
def test_a_rule_comes_with_the_file_that_it_is_about(name: str, world: World) -> None:
    agent = agent_in(world, name)
    world.learn(HANDLERS, "--when", "file=src/handlers/**")
    agent.install()
    path = world.project / "src" / "handlers" / "logout.py"
    world.api.will(agent.write(path, "def logout(): ..."), Say())
    agent.ask("Say hello.")
    before, after = world.api.turns
    assert before.times(HANDLERS) == 0
    assert after.only(HANDLERS).place == after.parts[-1].place, "it comes with the result, at the end"
    assert path.read_text() == "def logout(): ..."


def test_what_is_told_keeps_to_the_budget_that_init_wrote(agent: Agent) -> None:
    agent.world.learn_all(f"Check rule number {n} before you change module_{n}, and say so." for n in range(80))
    agent.world.learn(ALWAYS, "--kind", "constraint")
    agent.world.brim("config", "set", "--user", "token_budget.dynamic_context", "100")
    agent.install("--token-budget", "300")
    agent.ask("Say hello.")
    told = agent.told(agent.world.api.turns[0])[0]
    assert ALWAYS in told.text
    # Gemini CLI is told with the prompt, together with what the prompt itself brings up.
    most = 400 if agent.name == "gemini" else 300
    assert most - 150 < brim.count(told.text, model=agent.model) <= most


def test_what_is_told_during_the_work_keeps_to_the_budgets_of_one_text_and_of_the_session(agent: Agent) -> None:
    rules = (f"Run test number {n} with 'make check_{n}' before you change module_{n}." for n in range(80))
    agent.world.learn_all(rules, when=When(task="testing"))
    for setting, tokens in (("token_budget.dynamic_context", "200"), ("session.max_tokens", "300")):
        agent.world.brim("config", "set", "--user", setting, tokens)
    agent.install("--token-budget", "200")
    test = agent.shell("pytest --version || true")
    agent.world.api.will(test, test, test, Say())
    agent.ask("Please run the tests.")
    # Gemini CLI is told with the first prompt what belongs to the start, which has a budget of its own.
    start = 200 if agent.name == "gemini" else 0
    first, *later = (int(brim.count(told.text, model=agent.model)) for told in agent.told(agent.world.api.turns[-1]))
    assert start + 100 < first <= start + 200
    assert later
    assert max(later) <= 200
    assert start + 200 < first + sum(later) <= start + 300


def test_nothing_is_told_twice_when_a_session_goes_on(agent: Agent) -> None:
    agent.world.learn(TESTING, "--task", "testing")
    agent.install()
    agent.ask("Please run the tests.")
    agent.ask_again("Please run the tests again.")
    assert agent.world.api.turns[-1].times(TESTING) == 1


def test_a_project_is_not_listened_to_before_it_is_trusted(agent: Agent) -> None:
    agent.world.brim("learn", "--project", "--right", ALWAYS, "--kind", "constraint")
    agent.world.brim("trust", "--remove", "--yes")  # as if somebody else had learned it
    agent.install()
    agent.ask("Say hello.")
    assert agent.world.api.turns[-1].times(ALWAYS) == 0
    agent.world.brim("trust", "--yes")
    agent.ask("Say hello.")
    assert agent.world.api.turns[-1].times(ALWAYS) == 1


def test_a_call_that_breaks_a_rule_not_yet_shown_is_held_back_once(agent: Agent) -> None:
    agent.world.learn("Never force-push with 'git push --force'.", "--kind", "constraint", "--when", "task=git")
    agent.world.brim("config", "set", "--user", "hooks.gate", "constraints")
    agent.install()
    push = agent.shell("git push --force 2>/dev/null; echo pushed >> pushed.txt")
    agent.world.api.will(push, push, Say())
    agent.ask("Say hello.")
    result = [part for part in agent.world.api.turns[1].parts if part.kind == "result"]
    assert "Never force-push" in result[-1].text
    assert (agent.world.project / "pushed.txt").read_text() == "pushed\n"
