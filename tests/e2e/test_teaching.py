"""Teaching inside the real programs, and the reminder at the end of a turn."""

from __future__ import annotations

import json

import pytest

from brim.hooks.reminder import HEAD
from tests.e2e.agents import Agent, Codex
from tests.e2e.conftest import agent_in
from tests.e2e.script import Say
from tests.e2e.world import BRIM, World

RULE = "Use pnpm, never npm, in this house."
FORMAT = "Run make format before you finish."
TYPED = {"claude": f"/learn {RULE}", "codex": f"$learn {RULE}", "gemini": f"/learn {RULE}"}


def test_what_a_person_types_gives_the_model_the_command_that_notes_the_rule(agent: Agent) -> None:
    agent.install()
    # Codex runs commands in a login shell, which may set another PATH: then the file's second name
    # of brim helps.
    program = BRIM if agent.name == "codex" else "brim"
    command = f"{program} learn - <<'BRIM_RULE'\n{RULE}\nBRIM_RULE"
    agent.world.api.will(agent.shell(command), Say())
    ran = agent.ask(TYPED[agent.name])
    assert ran.code == 0, ran.told
    first, *_, last = agent.world.api.turns
    asked = first.holding("Keep a rule for the user with brim.")
    assert asked, first.told()
    assert f"If the shell doesn't find brim, it is {BRIM}." in asked[0].text
    assert first.holding(RULE), first.told()
    assert last.holding("Your user decides about it: brim rules review"), last.told()
    in_force = json.loads(agent.world.brim("rules", "--json").out)["rules"]
    assert in_force == [], "nobody but a person speaks for the user"
    noted = (agent.world.home / ".brim" / "inbox.toml").read_text()
    assert f'text = "{RULE}"' in noted


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_the_end_of_a_turn_reminds_once_of_a_rule_for_every_change(name: str, world: World) -> None:
    agent = agent_in(world, name)
    world.learn(FORMAT, "--before-done", "make format")
    agent.install()
    edit = (
        agent.patch("a.py", "x = 1")
        if isinstance(agent, Codex)
        else agent.write(world.project / "a.py", "x = 1")
    )
    world.api.will(edit, Say("Done."), Say("Done again."))
    ran = agent.ask("Write a.py.")
    assert ran.code == 0, ran.told
    # Claude Code shows the model what a Stop hook says twice, in two messages of its own.
    asked = [bool(each.times(HEAD.strip())) for each in world.api.turns]
    assert asked == [False, False, True], world.api.turns[-1].told()
    assert world.hook_log == ""
