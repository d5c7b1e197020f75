"""``brim upgrade`` brings the launcher up to date, and never touches an agent's settings."""

from __future__ import annotations

import json
import sys

import pytest

from tests.cli.conftest import Brim
from tests.cli.stored import behavior, remember, store_of_another_version
from tests.install.installed import alone, file_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="launchers are shell scripts here")


def test_the_launcher_is_rewritten_and_the_settings_stay(brim: Brim) -> None:
    alone(brim, "init", "--agent", "claude")
    launcher = brim.home / ".brim/bin/hook"
    good, settings = launcher.read_text(), file_of(brim).read_bytes()
    launcher.write_text("#!/bin/sh\nold\n")
    ran = alone(brim, "upgrade")
    assert ran.code == 0
    assert launcher.read_text() == good
    assert file_of(brim).read_bytes() == settings
    assert alone(brim, "upgrade", "--json").json["launchers"] == []


def test_the_budget_goes_where_brim_is_installed(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    alone(brim, "init", "--project", "--agent", "claude")
    alone(brim, "upgrade", "--token-budget", "900")
    assert "900" in (brim.cwd / ".brim/config.yaml").read_text()
    alone(brim, "uninstall")
    alone(brim, "init", "--agent", "claude")
    alone(brim, "upgrade", "--token-budget", "700")
    assert "700" in (brim.home / ".brim/config.yaml").read_text()


def test_other_hooks_of_this_version_are_said_and_not_installed(brim: Brim) -> None:
    alone(brim, "init", "--agent", "claude")
    changed = json.loads(file_of(brim).read_text())
    del changed["hooks"]["Stop"]
    file_of(brim).write_text(json.dumps(changed))
    ran = alone(brim, "upgrade")
    assert ran.code == 0
    assert "brim init" in ran.err
    assert json.loads(file_of(brim).read_text()) == changed


def test_stores_are_looked_at(brim: Brim) -> None:
    remember(brim, behavior("rule"), scope="user")
    alone(brim, "init", "--agent", "claude")
    assert alone(brim, "upgrade", "--json").json["stores"] == [str(brim.home / ".brim/brim.db")]


def test_where_nothing_is_installed_it_says_so(brim: Brim) -> None:
    ran = alone(brim, "upgrade")
    assert (ran.code, ran.out) == (1, "")
    assert "brim init" in ran.err
    assert list(brim.home.iterdir()) == []


def test_a_store_of_another_version_is_said_and_left_alone(brim: Brim) -> None:
    path = store_of_another_version(brim)
    before = path.read_bytes()
    ran = alone(brim, "upgrade", "--token-budget", "5")
    assert ran.code == 2
    assert "~/.brim/brim.db: is of another version of brim" in ran.err
    assert path.read_bytes() == before
    assert "5" in (brim.home / ".brim/config.yaml").read_text()
