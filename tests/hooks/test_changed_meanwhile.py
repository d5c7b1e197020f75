"""What changed rules, limits, settings or hooks in the middle of a session is said at the next
event."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from brim.agents.call import Answer
from brim.hooks.process import run_hook
from tests.hooks.injected import NOW, Agent, rule, tool_call

AFTER = "changed since this session's last event"


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    agent = Agent(tmp_path)
    agent.learn(rule("pnpm", "Use pnpm, not npm.", block=["npm install"]))
    agent.configure("hooks: {gate: off}\n")
    (agent.home / ".claude").mkdir()
    settings = {"hooks": {"Stop": []}, "model": "opus"}
    (agent.home / ".claude" / "settings.json").write_text(json.dumps(settings))
    return agent


def event(agent: Agent, name: str = "after_tool") -> Answer:
    call = agent.call(name, source="startup", tool=tool_call("Bash", {"command": "ls"}))
    return run_hook(call, agent.environ, now=NOW)


def settings(agent: Agent) -> Path:
    return agent.home / ".claude" / "settings.json"


CHANGES: dict[str, Callable[[Agent], object]] = {
    "rules": lambda agent: agent.rules_file().write_text(""),
    "limits": lambda agent: agent.configure("limits: {}\n"),
    "no rules": lambda agent: agent.rules_file().unlink(),
    "hooks": lambda agent: settings(agent).write_text("{}"),
    "no hooks": lambda agent: settings(agent).write_text(
        json.dumps({"hooks": {"Stop": []}, "disableAllHooks": True})
    ),
    "launcher": lambda agent: (agent.home / ".brim" / "bin" / "hook").write_text("exit 0\n"),
    "state": lambda agent: (agent.home / ".brim" / "state.db").unlink(),
    "memory": lambda agent: (agent.project / ".context" / "journal.jsonl").write_text(""),
    "project": lambda agent: agent.configure("hooks: {loops: off}\n", "project"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_said_once(agent: Agent, change: str) -> None:
    (agent.home / ".brim" / "bin").mkdir()
    (agent.home / ".brim" / "bin" / "hook").write_text("#!/bin/sh\n")
    (agent.home / ".brim" / "state.db").touch()
    (agent.project / ".context").mkdir()
    (agent.project / ".context" / "journal.jsonl").write_text("{}\n")
    assert AFTER not in event(agent, "session_start").note
    assert AFTER not in event(agent).note
    CHANGES[change](agent)
    assert AFTER in event(agent).note
    assert AFTER not in event(agent).note


def test_what_says_the_same_is_no_change(agent: Agent) -> None:
    event(agent, "session_start")
    os.utime(agent.rules_file(), (1, 1))
    settings(agent).write_text(json.dumps({"model": "haiku", "hooks": {"Stop": []}}))
    assert AFTER not in event(agent).note


def test_a_session_that_begins_again_does_not_say_what_changed_before(agent: Agent) -> None:
    event(agent, "session_start")
    agent.rules_file().write_text("")
    assert AFTER not in event(agent, "session_start").note
    assert AFTER not in event(agent).note
