"""Blocks in the real programs: what a rule refuses isn't done, and what a person allows once is
done once."""

from __future__ import annotations

import json

import pytest

from tests.e2e.agents import Agent
from tests.e2e.conftest import agent_in
from tests.e2e.script import Call, Say
from tests.e2e.world import World

INSTALL = "echo installed >> installed.txt"
"""Stands for ``npm install``: it leaves a trace."""


@pytest.fixture
def blocking(agent: Agent) -> Agent:
    world = agent.world
    world.brim(
        "learn",
        "--user",
        "--name",
        "use-pnpm",
        "--block",
        INSTALL.partition(" >>")[0],
        "Use pnpm, not npm.",
    )
    world.brim(
        "learn",
        "--user",
        "--name",
        "no-dist",
        "--block",
        "edit dist/**",
        "Change src/ and build again.",
    )
    agent.install()
    return agent


def results(agent: Agent) -> list[str]:
    return [part.text for part in agent.world.api.turns[-1].parts if part.kind == "result"]


def calls(world: World, name: str) -> int:
    path = world.project / name
    return len(path.read_text().splitlines()) if path.exists() else 0


def patch(path: str, content: str) -> str:
    return f"*** Begin Patch\n*** Add File: {path}\n+{content}\n*** End Patch"


def edit(agent: Agent, path: str, content: str = "made") -> Call:
    """Return a call of the program's own tool for edits."""
    if agent.name == "codex":
        return agent.shell(f"apply_patch <<'EOF'\n{patch(path, content)}\nEOF")
    return agent.write(agent.world.project / path, content)


def test_a_command_that_a_rule_refuses_is_not_run_until_a_person_allows_it_once(
    blocking: Agent,
) -> None:
    agent, world = blocking, blocking.world
    world.api.will(agent.shell(f"cd . && {INSTALL}"), agent.shell(f'bash -c "{INSTALL}"'), Say())
    ran = agent.ask("Say hello.")
    assert ran.code == 0, ran.told
    assert calls(world, "installed.txt") == 0
    assert all(
        "Use pnpm, not npm." in text and "rules allow" not in text for text in results(agent)
    )
    assert len(results(agent)) == 2
    world.brim("rules", "allow", "use-pnpm", "--once")
    world.api.will(agent.shell(INSTALL), agent.shell(INSTALL), Say())
    agent.ask("Say hello.")
    assert calls(world, "installed.txt") == 1
    world.brim("rules", "allow", "use-pnpm", "--session")  # the one that was refused last
    world.api.will(agent.shell(INSTALL), agent.shell(INSTALL), Say())
    agent.ask_again("Say hello.")
    assert calls(world, "installed.txt") == 3
    assert not world.hook_log


def test_an_edit_that_a_rule_refuses_is_not_made_until_a_person_allows_it_once(
    blocking: Agent,
) -> None:
    agent, world = blocking, blocking.world
    world.api.will(edit(agent, "dist/app.js"), edit(agent, "src/app.js"), Say())
    ran = agent.ask("Say hello.")
    assert ran.code == 0, ran.told
    assert not (world.project / "dist" / "app.js").exists()
    assert (world.project / "src" / "app.js").exists()
    assert "Change src/ and build again." in results(agent)[0]
    world.brim("rules", "allow", "no-dist", "--once")
    world.api.will(edit(agent, "dist/one.js"), edit(agent, "dist/two.js"), Say())
    agent.ask("Say hello.")
    assert [(world.project / "dist" / name).exists() for name in ("one.js", "two.js")] == [
        True,
        False,
    ]


def test_a_call_that_breaks_a_rule_is_stopped_once_and_runs_the_second_time(agent: Agent) -> None:
    world = agent.world
    world.brim(
        "learn", "--user", "--name", "no-echo", f"Never run `{INSTALL.partition(' >>')[0]}`."
    )
    agent.install()
    world.api.will(agent.shell(INSTALL), agent.shell("echo other >> other.txt"), Say())
    ran = agent.ask("Say hello.")
    assert ran.code == 0, ran.told
    first, second = results(agent)
    assert "Never run `echo installed`." in first
    assert "the same call again passes" in first
    assert "Stopped once" not in second
    assert calls(world, "installed.txt") == 0
    assert calls(world, "other.txt") == 1
    world.api.will(agent.shell(INSTALL), agent.shell(INSTALL), Say())
    agent.ask_again("Say hello.")
    assert calls(world, "installed.txt") == 2
    assert not world.hook_log


def test_a_rule_of_a_native_file_stops_after_a_person_agreed(agent: Agent) -> None:
    world = agent.world
    for name in ("CLAUDE.md", "AGENTS.md", "GEMINI.md"):
        world.write(name, f"- Never run `{INSTALL.partition(' >>')[0]}`.\n")
    agent.install()
    world.brim("rules", "trust", "--yes")
    world.api.will(agent.shell(INSTALL), Say())
    agent.ask("Say hello.")
    assert calls(world, "installed.txt") == 1
    for check in json.loads(world.brim("rules", "review", "--json").out)["checks"]:
        world.brim("rules", "review", "accept", check["name"])
    world.api.will(agent.shell(INSTALL), Say())
    agent.ask("Say hello.")
    assert "the same call again passes" in results(agent)[-1]
    assert calls(world, "installed.txt") == 1


def test_an_agent_cannot_pause_brim_or_edit_its_hooks(agent: Agent) -> None:
    world = agent.world
    agent.install()
    turn_off = edit(agent, ".claude/settings.local.json", '{"disableAllHooks": true}')
    world.api.will(agent.shell("brim pause; brim --json"), turn_off, Say())
    ran = agent.ask("Say hello.")
    assert ran.code == 0, ran.told
    assert not (world.home / ".brim" / "paused").exists()
    assert not (world.project / ".claude" / "settings.local.json").exists()
    assert all("Only a person changes what brim allows" in text for text in results(agent))


def test_a_sub_agent_is_refused_too(world: World) -> None:
    claude = agent_in(world, "claude")
    world.brim(
        "learn", "--user", "--name", "use-pnpm", "--block", "echo installed", "Use pnpm, not npm."
    )
    claude.install()
    helper = {"description": "install", "prompt": "Install it.", "subagent_type": "general-purpose"}
    world.api.will(
        Call("Agent", helper), claude.shell(INSTALL), Say("It was refused."), Say(), Say()
    )
    ran = claude.ask("Say hello.")
    assert ran.code == 0, ran.told
    told = [part.text for turn in world.api.turns for part in turn.parts if part.kind == "result"]
    assert any("Use pnpm, not npm." in text for text in told), told
    assert calls(world, "installed.txt") == 0
