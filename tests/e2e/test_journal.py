"""What an agent does is written down while it does it: what was asked, which files it made, and what did not work."""

from __future__ import annotations

import json
from typing import Any

from tests.e2e.agents import Agent
from tests.e2e.api.script import Say

PROMPT = "Please fix the login in src/app.py."


def journal(agent: Agent) -> list[dict[str, Any]]:
    """Return the entries of the journal, without those that say that two are one."""
    lines = (agent.world.project / ".context" / "journal.jsonl").read_text().splitlines()
    return [entry for entry in map(json.loads, lines) if entry["kind"] != "same"]


def test_what_was_asked_and_which_command_failed_is_written_down_once(agent: Agent) -> None:
    agent.install()
    agent.world.api.will(agent.shell("echo it works"), agent.shell("echo no such login >&2; exit 3"), Say())
    agent.ask(PROMPT)
    entries = journal(agent)
    assert [(entry["kind"], entry["text"]) for entry in entries] == [
        ("human", PROMPT),
        ("command", "echo no such login >&2; exit 3"),
    ]
    assert entries[1]["refs"]["outcome"] == "ended with 3"
    assert "no such login" in entries[1]["refs"]["output"]


def test_a_file_that_was_written_is_written_down_and_one_that_was_not_is_not(claude: Agent) -> None:
    claude.install()
    good, bad = claude.world.project / "src" / "app.py", claude.world.project / "README.md" / "no.py"
    claude.world.api.will(claude.write(good, "login = 1"), claude.write(bad, "no"), Say())
    claude.ask(PROMPT)
    memory = (claude.world.project / ".context" / "artifacts.md").read_text()
    assert str(good) in memory
    assert str(bad) not in memory


def test_what_fails_in_the_same_way_again_and_again_is_noticed(agent: Agent) -> None:
    agent.install()
    fails = agent.shell("echo no such login >&2; exit 3")
    agent.world.api.will(fails, fails, fails, Say())
    agent.ask(PROMPT)
    assert "suspect" in {entry["kind"] for entry in journal(agent)}


def test_whoever_wants_only_the_rules_gets_no_journal(agent: Agent) -> None:
    agent.world.learn("Never commit the files under dist/.", "--kind", "constraint")
    agent.install("--hooks", "injection-only")
    agent.world.api.will(agent.shell("echo one"), Say())
    agent.ask(PROMPT)
    assert agent.world.api.turns[-1].times("Never commit the files under dist/.") == 1
    assert not (agent.world.project / ".context").exists()
