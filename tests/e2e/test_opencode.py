"""opencode itself: rules reach the model, blocks and limits hold, and nothing is left when brim is
gone."""

from __future__ import annotations

import pytest

from brim.money.words import STOPPED_BY
from tests.e2e.agents import Opencode
from tests.e2e.programs import program
from tests.e2e.script import Say
from tests.e2e.shared import LIMITS, AgentTest, name_of
from tests.e2e.world import World

ALWAYS = "Never commit the files under dist/."
TESTING = "Run the tests with 'uv run pytest -x', never with plain pytest."


@pytest.fixture
def opencode(world: World) -> Opencode:
    found = program("opencode")
    if found is None:
        pytest.skip("opencode is not here: make e2e installs it on Linux with an x64 processor")
    return Opencode(found, world)


def test_rules_are_told_once_and_a_block_refuses(opencode: Opencode) -> None:
    world = opencode.world
    world.learn(ALWAYS, "--kind", "constraint")
    world.learn(TESTING, "--when", "task test")
    world.brim("learn", "--user", "--block", "npm install", "Use pnpm")
    opencode.install()
    edited = world.project / "dist" / "a.txt"
    world.brim("learn", "--user", "--block", "edit dist/**", "dist/ is built")
    world.api.will(
        opencode.shell("npm install x"),
        opencode.write(edited, "x"),
        opencode.shell("echo fine"),
        Say(),
    )
    ran = opencode.ask("Please run the tests and fix what fails.")
    assert ran.code == 0, ran.told
    first, refused, _, last = world.api.turns
    assert first.only(ALWAYS).role == first.only(TESTING).role == "user"
    assert refused.times("Use pnpm") >= 1
    assert last.times(ALWAYS) == last.times(TESTING) == 1
    assert not edited.exists()
    assert world.hook_log == ""


def test_a_call_that_breaks_a_rule_is_stopped_once_and_runs_the_second_time(
    opencode: Opencode,
) -> None:
    world = opencode.world
    opencode.install()
    world.brim("learn", "--user", "Never run `echo installed`.")
    install = "echo installed >> installed.txt"
    traces = world.project / "installed.txt"
    world.api.will(opencode.shell(install), Say())
    opencode.ask("Install it.")
    assert world.api.turns[-1].times("the same call again passes") == 1
    assert not traces.exists()
    world.api.will(opencode.shell(install), opencode.shell(install), Say())
    opencode.ask("Install it.")
    assert traces.read_text() == "installed\n"


@pytest.mark.parametrize("test", LIMITS, ids=name_of)
def test_it_keeps_limits_as_every_agent_does(opencode: Opencode, test: AgentTest) -> None:
    test(opencode)


def test_a_limit_holds_and_uninstalling_ends_it(opencode: Opencode) -> None:
    world = opencode.world
    opencode.install()
    world.brim("limit", "0.02/day")
    world.api.will(*(opencode.shell(f"echo step {number}") for number in range(4)), Say())
    opencode.ask("Count.")
    assert world.api.turns[-1].times(STOPPED_BY) >= 2
    world.brim("uninstall", environ=opencode.environ())
    world.api.will(opencode.shell("printf 'it was %s' run"), Say())
    opencode.ask("Go on.")
    assert world.api.turns[-1].times("it was run") == 1
    assert world.hook_log == ""
