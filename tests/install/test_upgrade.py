"""``brim upgrade`` is ``brim init``; ``brim.install.upgrade`` leaves the agents' settings as they are."""

from __future__ import annotations

import json
import sys

import pytest

from brim.install import Upgraded, upgrade
from brim.store.database import VERSION
from tests.cli.conftest import Brim
from tests.cli.stored import behavior, older_store, remember, version_of
from tests.install.installed import alone, file_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no hooks there yet")


def upgraded(brim: Brim, tokens: int | None = None) -> Upgraded:
    return upgrade({"HOME": str(brim.home), "PATH": ""}, str(brim.cwd), token_budget=tokens)


def test_the_command_is_another_name_of_init(brim: Brim) -> None:
    path = older_store(brim, "project")
    alone(brim, "init", "--agent", "claude")
    (brim.home / ".brim/bin/hook").write_text("#!/bin/sh\nold\n")
    ran = alone(brim, "upgrade", "--agent", "claude")
    again = alone(brim, "init", "--agent", "claude")
    assert (ran.code, ran.out) == (0, again.out)
    assert "python" in (brim.home / ".brim/bin/hook").read_text()
    assert version_of(path) == VERSION


def test_the_launcher_is_written_and_the_settings_stay(brim: Brim) -> None:
    alone(brim, "init", "--agent", "claude")
    launcher, settings = brim.home / ".brim/bin/hook", file_of(brim).read_bytes()
    launcher.write_text("#!/bin/sh\nold\n")
    done = upgraded(brim)
    assert (done.exit_code, [str(launcher) in done.launchers]) == (0, [True])
    assert file_of(brim).read_bytes() == settings
    assert upgraded(brim).launchers == []


def test_the_budget_goes_where_brim_is_installed(brim: Brim) -> None:
    (brim.cwd / ".git").mkdir()
    alone(brim, "init", "--project", "--agent", "claude")
    upgraded(brim, 900)
    assert "900" in (brim.cwd / ".brim/config.yaml").read_text()
    alone(brim, "uninstall")
    alone(brim, "init", "--agent", "claude")
    upgraded(brim, 700)
    assert "700" in (brim.home / ".brim/config.yaml").read_text()


def test_other_hooks_of_this_version_are_said_and_not_installed(brim: Brim) -> None:
    alone(brim, "init", "--agent", "claude")
    changed = json.loads(file_of(brim).read_text())
    del changed["hooks"]["Stop"]
    file_of(brim).write_text(json.dumps(changed))
    assert upgraded(brim).differ == [str(file_of(brim))]
    assert json.loads(file_of(brim).read_text()) == changed


def test_stores_are_brought_up_to_date(brim: Brim) -> None:
    remember(brim, behavior("rule"), scope="user")
    alone(brim, "init", "--agent", "claude")
    assert upgraded(brim).stores == {str(brim.home / ".brim/brim.db"): False}


def test_stores_are_brought_up_to_date_where_nothing_is_installed_too(brim: Brim) -> None:
    assert upgraded(brim).exit_code == 1
    path = older_store(brim, "project")
    assert (upgraded(brim).exit_code, version_of(path)) == (0, VERSION)


def test_a_broken_store_does_not_keep_the_others_as_they_were(brim: Brim) -> None:
    (brim.home / ".brim").mkdir(mode=0o700)
    (brim.home / ".brim/brim.db").write_bytes(b"no database" * 999)
    path = older_store(brim, "project")
    done = upgraded(brim, 5)
    assert (done.exit_code, len(done.broken), version_of(path)) == (2, 1, VERSION)
    assert "5" in (brim.home / ".brim/config.yaml").read_text()
