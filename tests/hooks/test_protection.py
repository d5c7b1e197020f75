"""What an agent may not do to brim, and what it may: the lists in ``data`` were written before the
code that reads commands."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
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
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder without a space in its path: the lists don't quote the home."""
    if " " not in str(tmp_path):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def agent(place: Path) -> Agent:
    agent = Agent(place, BRIM_HOOKS_GATE="off", BRIM_HOOKS_LOOPS="off")
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


@pytest.mark.parametrize("kind", sorted({kind for kind, _ in ATTEMPTS}))
def test_attempts_are_refused(agent: Agent, kind: str) -> None:
    allowed: list[str] = []
    for attempt_kind, command in ATTEMPTS:
        if attempt_kind != kind:
            continue
        if not refusal_of(agent, command).startswith("Your user doesn't allow agents "):
            allowed.append(command)
    assert not allowed


def test_commands_that_only_mention_or_read_are_not_refused(agent: Agent) -> None:
    refused = [command for command in MENTIONS if refusal_of(agent, command)]
    assert not refused


def wrote(agent: Agent, name: str, text: str) -> None:
    """A script of the session, and one of a year ago that says the same."""
    for path in (agent.project / name, agent.project / f"old-{name}"):
        path.write_text(text)
    os.utime(path, (1, 1))


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("fix.sh", "rm -f ~/.brim/state.db\n", "bash {}"),
        ("fix", "#!/bin/sh\nD=~/.brim\n: > $D/rules.toml\n", "./{}"),
        ("up.mk", "up:\n\tbrim limit raise 50/day\n", "make -f {} up"),
        (
            "fix.py",
            "import os\nos.remove(os.path.expanduser('~/.brim/config.yaml'))\n",
            "python3 {}",
        ),
    ],
)
def test_a_script_that_was_just_written_is_followed(
    agent: Agent, name: str, text: str, command: str
) -> None:
    wrote(agent, name, text)
    assert refusal_of(agent, command.format(name))
    assert not refusal_of(agent, command.format(f"old-{name}"))


def test_an_archive_may_be_unpacked_where_no_hooks_are_set(agent: Agent) -> None:
    assert refusal_of(agent, "tar xzf x.tgz -C ~/.claude")
    assert refusal_of(agent, "tar cf x.tar -C fake .brim/config.yaml && tar xf x.tar -C ~")
    assert not refusal_of(agent, "tar xzf node.tgz -C ~/.local")
    assert not refusal_of(agent, "tar xzf x.tgz -C ~/.claude/skills")


def test_a_copied_folder_may_hold_what_no_protected_file_is_replaced_by(agent: Agent) -> None:
    for name in ("settings.json", "skills.md"):
        (agent.project / name.partition(".")[0]).mkdir()
        (agent.project / name.partition(".")[0] / name).write_text("{}")
    assert refusal_of(agent, "cp -r settings/. ~/.claude")
    assert not refusal_of(agent, "cp -r skills/. ~/.claude")


def test_settings_may_be_edited_if_their_hooks_stay(agent: Agent) -> None:
    path = agent.home / ".claude" / "settings.json"
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "~/.brim/bin/hook Stop"}]}]}
    path.write_text(json.dumps({"hooks": hooks}))

    def refusal(settings: object, file: Path = path) -> str:
        return agent.tool("Write", file_path=str(file), content=json.dumps(settings)).deny

    assert not refusal({"hooks": hooks, "model": "opus"})
    assert refusal({"model": "opus"})
    assert refusal({"hooks": hooks, "disableAllHooks": True})
    project_file = agent.project / ".claude" / "settings.json"
    assert not refusal({"hooks": {"Stop": []}}, project_file)
    assert refusal({"disableAllHooks": True}, project_file)
    assert refusal({"hooks": {"Stop": [{"command": "brim limit raise 9/day"}]}}, project_file)
