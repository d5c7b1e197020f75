"""What an agent may not do to brim, and what it may: the lists in ``data`` were written before the
code that reads commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from brim.install.launchers import launcher_text
from tests.hooks.injected import Agent, rule

DATA = Path(__file__).parent / "data"
HOME = "/home/dev"
"""The home in the lists."""


def lines_of(name: str) -> list[str]:
    """Return the lines of a list, without its heading; ``\\n`` is a new line."""
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()[1:]
    return [line.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\") for line in lines]


ATTEMPTS = [line.split("\t", 1) for line in lines_of("attempts.tsv")]
MENTIONS = lines_of("mentions.tsv")


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    agent = Agent(tmp_path, BRIM_HOOKS_GATE="off", BRIM_HOOKS_LOOPS="off")
    agent.learn(rule("pnpm", "Use pnpm, not npm.", block=["npm install"]))
    agent.configure("hooks: {gate: off}\n")
    own = agent.home / ".brim"
    (own / "bin").mkdir()
    (own / "bin" / "hook").write_text(launcher_text("/usr/bin/python3", home=str(own)))
    (own / "state.db").touch()
    for folder in (agent.home / ".claude", agent.project / ".claude"):
        folder.mkdir()
        (folder / "settings.json").write_text("{}")
    (agent.project / ".context").mkdir()
    (agent.project / ".context" / "journal.jsonl").touch()
    return agent


def refusal_of(agent: Agent, command: str) -> str:
    return agent.tool("Bash", command=command.replace(HOME, str(agent.home))).deny


@pytest.mark.parametrize(("kind", "command"), ATTEMPTS)
def test_an_attempt_is_refused(agent: Agent, kind: str, command: str) -> None:
    assert refusal_of(agent, command).startswith("Your user doesn't allow agents "), kind


@pytest.mark.parametrize("command", MENTIONS)
def test_a_command_that_only_mentions_or_reads_is_not_refused(agent: Agent, command: str) -> None:
    assert not refusal_of(agent, command)
