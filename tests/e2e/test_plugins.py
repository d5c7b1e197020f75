"""brim as a plugin of the real programs: installed from this repository, told once, and gone
again."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.agents import Agent
from tests.e2e.script import Say
from tests.e2e.world import Ran

ROOT = Path(__file__).parents[2]
RULE = "Never commit the files under dist/."
VALIDATE = {
    "claude": [
        ["plugin", "validate", "--strict", "plugins/brim"],
        ["plugin", "validate", "--strict", "."],
    ],
    "codex": [],  # it has no command for that
    "gemini": [["extensions", "validate", "plugins/brim/gemini"]],
}
ADD = {
    "claude": [["plugin", "marketplace", "add", str(ROOT)], ["plugin", "install", "brim@brim"]],
    "codex": [["plugin", "marketplace", "add", str(ROOT)], ["plugin", "add", "brim@brim"]],
    "gemini": [["extensions", "install", str(ROOT / "plugins/brim/gemini"), "--consent"]],
    "copilot": [["plugin", "marketplace", "add", str(ROOT)], ["plugin", "install", "brim@brim"]],
}
REMOVE = {
    "claude": ["plugin", "uninstall", "brim@brim"],
    "codex": ["plugin", "remove", "brim@brim"],
    "gemini": ["extensions", "uninstall", "brim"],
    "copilot": ["plugin", "uninstall", "brim@brim"],
}


def run(agent: Agent, *arguments: str) -> Ran:
    """Run the program itself in the repository, or in the project; it must not fail."""
    ran = agent.world.run([agent.program, *arguments], environ=agent.environ())
    assert ran.code == 0, ran.told
    return ran


def test_the_plugin_tells_once_with_and_without_init_and_is_gone_after_it_is_removed(
    agent: Agent,
) -> None:
    world = agent.world
    for arguments in ADD[agent.name]:
        run(agent, *arguments)
    world.learn(RULE, "--kind", "constraint")
    world.brim("upgrade", environ=agent.environ())  # as the plugin does at the first session
    assert "plugin" in world.brim("doctor", environ=agent.environ()).out
    agent.wait_for_hooks()
    world.api.will(Say())
    agent.ask("Say hello.")
    assert world.api.turns[-1].times(RULE) == 1

    world.brim("init", "--agent", agent.name, environ=agent.environ())
    world.api.will(Say())
    agent.ask("Say hello.")
    assert world.api.turns[-1].times(RULE) == 1, "nothing is told twice"

    run(agent, *REMOVE[agent.name])
    world.brim("uninstall", environ=agent.environ())
    world.api.will(Say())
    agent.ask("Say hello.")
    assert world.api.turns[-1].times(RULE) == 0
    assert world.hook_log == ""


def test_the_program_finds_nothing_wrong_with_it(agent: Agent) -> None:
    for *arguments, path in VALIDATE[agent.name]:
        run(agent, *arguments, str(ROOT / path))
