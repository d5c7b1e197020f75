"""``brim run`` with the real programs: it compacts between two turns, stops at the limit, and tells the truth."""

from __future__ import annotations

import pytest

from tests.e2e.agents import Agent, Codex
from tests.e2e.api.script import Say
from tests.e2e.conftest import agent_in
from tests.e2e.world import BRIM, Ran, World

ALWAYS = "Never commit the files under dist/."
PROMPT = "Please fix the login in src/app.py."
SCRATCH = ".context/scratch.md"
BUDGETS = {"claude": "0.52", "codex": "0.52", "gemini": "0.0305"}
"""Dollars that 100,000 tokens bring into what is held back for the wrap-up, by what each model charges."""


def supervised(agent: Agent, *options: str) -> Ran:
    """Run the program under supervision, without a terminal."""
    words = agent.command(PROMPT)
    if agent.name == "claude":  # brim brings the options of the stream itself
        words = [word for word in words if word not in ("--output-format", "stream-json", "--verbose")]
    command = [BRIM, "run", "--agent", agent.name, *options, "--", *words]
    return agent.world.run(command, environ=agent.environ())


def test_a_run_without_trouble_takes_every_turn_and_ends_with_0(agent: Agent) -> None:
    agent.world.api.will(agent.shell("echo one"), Say("The login works."), Say("It is written down."))
    ran = supervised(agent, "--then", "Now write it down.")
    assert ran.code == 0, ran.told
    last = agent.world.api.turns[-1]
    first, second = last.holding(PROMPT)[0], last.holding("Now write it down.")[0]
    assert first.place < second.place, last.told()
    assert PROMPT in (agent.world.project / SCRATCH).read_text()


def test_a_full_window_is_compacted_between_two_turns(claude: Agent) -> None:
    claude.world.learn(ALWAYS, "--kind", "constraint")
    claude.install()
    claude.world.api.will(claude.shell("echo one"), Say("The login works.", tokens=800_000), Say())
    ran = supervised(claude, "--then", "Now write it down.")
    assert ran.code == 0, ran.told
    assert [asked.kind for asked in claude.world.api.asked if asked.kind != "side"] == [
        "turn",
        "turn",
        "compaction",
        "turn",
    ]
    after = claude.world.api.turns[-1]
    assert after.holding("Now write it down.")
    assert after.times(ALWAYS) == 1
    assert SCRATCH in "".join(told.text for told in claude.told(after))
    assert PROMPT in (claude.world.project / SCRATCH).read_text()


def test_a_budget_that_is_spent_ends_the_run_with_1_and_no_further_turn(agent: Agent) -> None:
    agent.world.api.will(Say("Half of it is done.", tokens=100_000), Say("More."))
    ran = supervised(agent, "--budget-usd", "0.02", "--on-limit", "stop", "--then", "Now write it down.")
    assert ran.code == 1, ran.told
    assert len(agent.world.api.turns) == 1
    assert not any(asked.holding("Now write it down.") for asked in agent.world.api.turns)
    assert "$0.02" in ran.err + ran.out


@pytest.mark.parametrize("name", BUDGETS)
def test_at_the_limit_the_agent_is_asked_to_wrap_up_in_a_turn_of_its_own(name: str, world: World) -> None:
    agent = agent_in(world, name)
    world.api.will(Say("Half of it is done.", tokens=100_000), Say("Wrapped up.", tokens=1_000))
    ran = supervised(agent, "--budget-usd", BUDGETS[name], "--on-limit", "wrap_up", "--then", "Now write it down.")
    assert ran.code == 1, ran.told
    last = world.api.turns[-1]
    assert "Wrap up now" in [part for part in last.parts if part.role == "user" and part.kind == "text"][-1].text
    assert last.times("Now write it down.") == 0
    assert "not sent Now write it down." in ran.err + ran.out
    assert "Wrapped up." in ran.out


def test_what_a_program_says_about_its_failure_is_not_lost(claude: Agent) -> None:
    ran = supervised(claude, "--then", "Now write it down.")
    assert ran.code == 0, ran.told
    broken = claude.world.run([BRIM, "run", "--", claude.program, "-p", "hi", "--no-such-option"])
    assert broken.code == 1, broken.told


def test_codex_goes_on_with_the_same_session(codex: Agent) -> None:
    assert isinstance(codex, Codex)
    codex.world.api.will(Say("The login works."), Say("It is written down."))
    supervised(codex, "--then", "Now write it down.")
    assert len(list(codex.folder.glob("sessions/**/*.jsonl"))) == 1
