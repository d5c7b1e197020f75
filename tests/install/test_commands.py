"""``/learn`` inside an agent: installed with the hooks, removed with them, and never in the way of
a person's own."""

from __future__ import annotations

import shlex
import tomllib

import pytest

from brim.agents import AGENTS, agent_named
from brim.agents.settings import settings_for
from brim.install.changes import command_text
from brim.install.shell import brim_program
from tests.cli.conftest import Brim
from tests.install.installed import tree, use

FOLDERS = {name: agent_named(name).places.folder or f".{name}" for name in AGENTS}


@pytest.mark.parametrize("agent", AGENTS)
def test_the_command_comes_with_the_hooks_and_goes_with_them(brim: Brim, agent: str) -> None:
    (brim.home / FOLDERS[agent]).mkdir(parents=True)
    before = tree(brim.home)
    path = brim.home / FOLDERS[agent] / settings_for(agent).learn_file
    found = brim("init", "--json").json
    assert [each["command"] for each in found["agents"]] == [settings_for(agent).learn_called]
    assert "brim learn" in path.read_text()
    assert not any(each["changed"] for each in brim("init", "--json").json["agents"])
    brim("uninstall")
    assert [
        name for name in tree(brim.home) if name not in before and not name.startswith(".brim")
    ] == []


def test_a_command_of_the_users_own_stays_as_it_is(brim: Brim) -> None:
    use(brim, "claude")
    own = brim.home / ".claude/commands/learn.md"
    own.parent.mkdir()
    own.write_text("Learn French.")
    assert [each["command"] for each in brim("init", "--json").json["agents"]] == [None]
    brim("uninstall")
    assert own.read_text() == "Learn French."


def test_a_command_that_was_changed_is_the_users(brim: Brim) -> None:
    use(brim, "claude")
    brim("init")
    path = brim.home / ".claude/commands/learn.md"
    path.write_text(path.read_text() + "Be brief.")
    brim("init")
    brim("uninstall")
    assert path.read_text().endswith("Be brief.")


def test_an_older_text_of_brims_is_brought_up_to_date(brim: Brim) -> None:
    use(brim, "claude")
    brim("init")
    path, receipt = brim.home / ".claude/commands/learn.md", brim.home / ".brim/installed.json"
    from hashlib import sha256

    now = sha256(path.read_bytes()).hexdigest()
    path.write_text("older")
    receipt.write_text(receipt.read_text().replace(now, sha256(b"older").hexdigest()))
    brim("init")
    assert path.read_text() == command_text("claude", shlex.quote(brim_program()))


def test_gemini_can_read_its_command() -> None:
    found = tomllib.loads(command_text("gemini"))
    assert "{{args}}" in found["prompt"]
    assert found["description"]
