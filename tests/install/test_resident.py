"""What 0.1 installed with ``--resident`` is upgraded by ``brim init`` and removed by ``brim uninstall``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Brim
from tests.install.installed import alone, commands, events, file_of, tree
from tests.install.test_doctor import looked

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="launchers are shell scripts here")

SETTINGS, SERVERS = '{\n  "model": "opus",\n  "hooks": {}\n}\n', '{"numStartups": 3}'
"""What was there before 0.1 came."""


@pytest.fixture
def resident(brim: Brim) -> Brim:
    """A home in which 0.1 installed resident hooks."""
    for path in (Path(__file__).parent / "data" / "resident-0.1").iterdir():
        written = brim.home / ("." + path.name.replace("+", "/"))
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(path.read_text().replace("@HOME@", str(brim.home)))
        written.chmod(0o700 if "bin" in path.name else 0o600)
    (brim.home / ".brim").chmod(0o700)
    assert any("hook-unless-resident" in each for each in file_of(brim).read_text().splitlines())
    return brim


def test_init_makes_them_ordinary_hooks(resident: Brim) -> None:
    assert alone(resident, "init", "--agent", "claude").code == 0
    assert set(commands(file_of(resident))) == {
        f"{resident.home}/.brim/bin/hook {event} claude" for event in events(file_of(resident))
    }
    assert (resident.home / ".claude.json").read_text() == SERVERS
    assert not (resident.home / ".brim/bin/hook-unless-resident").exists()
    before = tree(resident.home)
    assert alone(resident, "init", "--agent", "claude").code == 0
    assert tree(resident.home) == before
    assert alone(resident, "uninstall").code == 0
    assert file_of(resident).read_text() == SETTINGS


def test_uninstall_gives_every_file_back(resident: Brim) -> None:
    assert alone(resident, "uninstall", "--json").json["server"] is True
    assert tree(resident.home) == {
        ".claude": None,
        ".claude/settings.json": SETTINGS.encode(),
        ".claude.json": SERVERS.encode(),
    }


def test_settings_that_changed_since_lose_only_what_is_brims(resident: Brim) -> None:
    servers = resident.home / ".claude.json"
    servers.write_text(servers.read_text().replace("3", "4"))
    file_of(resident).write_text(file_of(resident).read_text().replace("opus", "sonnet"))
    assert alone(resident, "uninstall").code == 0
    assert json.loads(servers.read_text()) == {"numStartups": 4}
    assert json.loads(file_of(resident).read_text()) == {"model": "sonnet"}


def test_doctor_says_so_and_corrects_it(resident: Brim) -> None:
    assert "differ from what this version installs" in looked(resident, code=1)["Claude Code"][0]["text"]
    looked(resident, "--fix")
    assert (resident.home / ".claude.json").read_text() == SERVERS


def test_the_option_is_accepted_and_does_nothing(brim: Brim) -> None:
    ran = alone(brim, "init", "--agent", "claude", "--resident")
    assert ran.code == 0
    assert "--resident changes nothing" in ran.err
    assert not (brim.home / ".claude.json").exists()
