"""``brim init`` sets the status line of each agent that has one, and calls the one before it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from brim.files import WINDOWS
from brim.install import diagnose
from tests.cli.conftest import Brim
from tests.install.installed import alone

pytestmark = pytest.mark.skipif(WINDOWS, reason="launchers are shell scripts here")

FILES = {
    "claude": (".claude/settings.json", ("statusLine",)),
    "copilot": (".copilot/settings.json", ("statusLine",)),
    "qwen": (".qwen/settings.json", ("ui", "statusLine")),
}
"""Where each agent's status line is set."""

SENT = b'{"model": {"id": "claude-opus-4-5", "display_name": "Opus"}}'

every_agent = pytest.mark.parametrize("agent", list(FILES))


def settings_file(brim: Brim, agent: str) -> Path:
    return brim.home / FILES[agent][0]


def write(brim: Brim, agent: str, line: object) -> str:
    """Let a person have set *line*, in a style of their own; return the file's text."""
    settings: object = line
    for key in reversed(FILES[agent][1]):
        settings = {key: settings}
    text = json.dumps(settings).replace(": ", " :   ") + "\n\n"
    file = settings_file(brim, agent)
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return text


def line_in(brim: Brim, agent: str) -> object:
    """Return what is set."""
    settings = json.loads(settings_file(brim, agent).read_text())
    for key in FILES[agent][1]:
        settings = settings.get(key) or {}
    return settings


def shown(brim: Brim, agent: str) -> list[str]:
    """Return what the agent shows: the lines that its command prints."""
    line = line_in(brim, agent)
    assert isinstance(line, dict)
    ran = subprocess.run(
        ["sh", "-c", line["command"]],
        input=SENT,
        capture_output=True,
        env=brim.environ,
        check=True,
    )
    return ran.stdout.decode().splitlines()


@every_agent
def test_it_is_set_and_gone_with_its_file(brim: Brim, agent: str) -> None:
    ran = alone(brim, "init", "--agent", agent)
    assert "status line" in ran.out
    assert str(line_in(brim, agent)).count("/.brim/bin/statusline") == 1
    assert len(shown(brim, agent)) == 1
    alone(brim, "uninstall")
    assert not settings_file(brim, agent).exists()


@every_agent
def test_what_was_there_is_called_and_comes_back_to_the_byte(brim: Brim, agent: str) -> None:
    text = write(brim, agent, {"type": "command", "command": "echo mine", "padding": 2})
    alone(brim, "init", "--agent", agent)
    line = line_in(brim, agent)
    assert isinstance(line, dict)
    assert line["padding"] == 2
    assert shown(brim, agent)[0] == "mine"
    alone(brim, "init", "--agent", agent)
    assert shown(brim, agent)[0] == "mine"
    alone(brim, "uninstall")
    assert settings_file(brim, agent).read_text() == text
    assert not list((brim.home / ".brim").glob("statusline*"))


def test_each_agent_gets_its_own_line_back(brim: Brim) -> None:
    texts = {}
    for agent in FILES:
        texts[agent] = write(brim, agent, {"type": "command", "command": f"echo {agent}"})
    alone(brim, "init", "--agent", "all")
    assert [shown(brim, agent)[0] for agent in FILES] == list(FILES)
    alone(brim, "uninstall", "--agent", "copilot")
    assert shown(brim, "qwen")[0] == "qwen"
    alone(brim, "uninstall")
    assert {agent: settings_file(brim, agent).read_text() for agent in FILES} == texts


@every_agent
def test_settings_that_were_changed_since_lose_only_brims_line(brim: Brim, agent: str) -> None:
    alone(brim, "init", "--agent", agent)
    file = settings_file(brim, agent)
    file.write_text(json.dumps({**json.loads(file.read_text()), "theme": "dark"}))
    alone(brim, "uninstall")
    assert json.loads(file.read_text()) == {"theme": "dark"}


@every_agent
def test_a_line_that_is_no_command_stays(brim: Brim, agent: str) -> None:
    text = write(brim, agent, "mine")
    ran = alone(brim, "init", "--agent", agent)
    assert "status line" not in ran.out
    assert line_in(brim, agent) == "mine"
    alone(brim, "uninstall")
    assert settings_file(brim, agent).read_text() == text


@every_agent
def test_it_can_be_left_alone_and_taken_out(brim: Brim, agent: str) -> None:
    alone(brim, "init", "--agent", agent, "--no-statusline")
    assert not settings_file(brim, agent).exists() or not line_in(brim, agent)
    alone(brim, "init", "--agent", agent)
    assert line_in(brim, agent)
    alone(brim, "init", "--agent", agent, "--no-statusline")
    assert not settings_file(brim, agent).exists() or not line_in(brim, agent)


@every_agent
def test_doctor_says_whether_it_is_there(brim: Brim, agent: str) -> None:
    alone(brim, "init", "--agent", agent)
    assert has_line(brim, agent) == [True]
    write(brim, agent, {"type": "command", "command": "echo mine"})
    alone(brim, "init", "--agent", agent, "--no-statusline")
    assert has_line(brim, agent) == [False]


def has_line(brim: Brim, agent: str) -> list[bool]:
    """Return what doctor says of the status line."""
    findings = diagnose(brim.environ, str(brim.cwd)).findings
    lines = [finding.facts.get("status_line") for finding in findings]
    return [line for line in lines if line is not None]


def test_a_line_that_took_brims_place_is_named(brim: Brim) -> None:
    alone(brim, "init", "--agent", "copilot")
    write(brim, "copilot", {"type": "command", "command": "echo mine"})
    assert "another status line is in brim's place" in alone(brim, "doctor").out
    alone(brim, "init", "--agent", "copilot")
    assert shown(brim, "copilot")[0] == "mine"


def test_rules_alone_come_without_it(brim: Brim) -> None:
    alone(brim, "init", "--agent", "copilot", "--hooks", "injection-only")
    assert not settings_file(brim, "copilot").exists()
