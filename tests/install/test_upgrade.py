"""``brim upgrade`` brings the launcher and the stores up to date, and never touches an agent's settings."""

from __future__ import annotations

import json
import sys

import pytest

from brim.store.database import VERSION
from tests.cli.conftest import Brim
from tests.cli.stored import behavior, older_store, remember, version_of
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


def test_stores_are_brought_up_to_date(brim: Brim) -> None:
    remember(brim, behavior("rule"), scope="user")
    alone(brim, "init", "--agent", "claude")
    assert alone(brim, "upgrade", "--json").json["stores"] == [str(brim.home / ".brim/brim.db")]


def test_where_nothing_is_installed_it_says_so(brim: Brim) -> None:
    ran = alone(brim, "upgrade")
    assert (ran.code, ran.out) == (1, "")
    assert "brim init" in ran.err
    assert list(brim.home.iterdir()) == []


@pytest.mark.parametrize("version", [1, 2, VERSION - 1])
def test_stores_are_brought_up_to_date_where_nothing_is_installed_too(brim: Brim, version: int) -> None:
    path = older_store(brim, "project", version=version)
    ran = alone(brim, "upgrade")
    (kept,) = path.parent.joinpath("backups").iterdir()
    assert (ran.code, ran.out) == (0, f"brought up to date: {path}\nkept as it was: {kept}\n")
    assert version_of(path) == VERSION
    assert alone(brim, "upgrade").out == f"up to date: {path}\n"


def test_a_broken_store_does_not_keep_the_others_as_they_were(brim: Brim) -> None:
    (brim.home / ".brim").mkdir(mode=0o700)
    (brim.home / ".brim/brim.db").write_bytes(b"no database" * 999)
    path = older_store(brim, "project")
    ran = alone(brim, "upgrade", "--token-budget", "5")
    assert ran.code == 2
    assert "~/.brim/brim.db" in ran.err
    assert version_of(path) == VERSION
    assert "5" in (brim.home / ".brim/config.yaml").read_text()
