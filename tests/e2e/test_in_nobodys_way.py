"""brim is never in the way: what is broken, paused or taken out again says nothing, and the program goes on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.e2e.agents import Agent
from tests.e2e.api.script import Say

ALWAYS = "Never commit the files under dist/."


def says_nothing(agent: Agent) -> None:
    """Run a session with a call; it works, and the model hears nothing of brim."""
    agent.world.api.will(agent.shell("echo hello > made.txt"), Say())
    ran = agent.ask("Say hello.")
    assert ran.code == 0, ran.told
    assert (agent.world.project / "made.txt").exists()
    assert agent.told(agent.world.api.turns[-1]) == []


def files_of(agent: Agent) -> dict[Path, str]:
    """Return the settings of the program, as they stand."""
    folder = agent.world.home / f".{agent.name}"
    return {path: path.read_text() for path in folder.glob("*.json") if path.is_file()}


def test_the_settings_are_as_before_when_brim_is_taken_out(agent: Agent) -> None:
    agent.world.learn(ALWAYS, "--kind", "constraint")
    before = files_of(agent)
    agent.install()
    assert files_of(agent) != before
    agent.world.brim("uninstall", environ=agent.environ())
    assert {path: text for path, text in files_of(agent).items() if ".brim" not in path.name} == before
    says_nothing(agent)


def test_a_pause_is_a_pause(agent: Agent) -> None:
    agent.world.learn(ALWAYS, "--kind", "constraint")
    agent.install()
    agent.world.brim("pause")
    says_nothing(agent)


def test_a_store_that_is_broken_stops_nobody(agent: Agent) -> None:
    agent.world.learn(ALWAYS, "--kind", "constraint")
    agent.install()
    (agent.world.home / ".brim" / "brim.db").write_bytes(b"this is not a database" * 100)
    says_nothing(agent)


def test_a_brim_that_is_gone_stops_nobody(agent: Agent) -> None:
    agent.world.learn(ALWAYS, "--kind", "constraint")
    agent.install()
    launcher = agent.world.home / ".brim" / "bin" / "hook"
    launcher.write_text(launcher.read_text().replace("brim.hooks.process", "brim_that_is_gone"))
    says_nothing(agent)
    shutil.rmtree(agent.world.home / ".brim")
    says_nothing(agent)


def test_other_hooks_of_the_person_go_on_working(claude: Agent) -> None:
    claude.world.learn(ALWAYS, "--kind", "constraint")
    own = {"hooks": [{"type": "command", "command": "echo '{}' > started.json"}]}
    folder = claude.world.home / ".claude"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps({"hooks": {"SessionStart": [own]}}))
    claude.install()
    claude.ask("Say hello.")
    assert (claude.world.project / "started.json").exists()
    assert claude.world.api.turns[0].times(ALWAYS) == 1


def test_what_is_installed_for_one_project_works_there_and_nowhere_else(agent: Agent) -> None:
    agent.world.learn(ALWAYS, "--kind", "constraint")
    agent.install("--yes", where="--project")
    agent.ask("Say hello.")
    assert agent.world.api.turns[-1].times(ALWAYS) == 1
    shutil.rmtree(agent.world.project / f".{agent.name}")  # as in a project that it was not installed for
    agent.ask("Say hello.")
    assert agent.world.api.turns[-1].times(ALWAYS) == 0
