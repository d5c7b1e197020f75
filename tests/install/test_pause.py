"""``brim pause`` silences every hook, and takes that back."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from tests.cli.conftest import Brim
from tests.cli.stored import behavior, remember
from tests.waiting import PATIENCE


def told(brim: Brim) -> str:
    """Return what a session that begins now is told."""
    given = {
        "session_id": "s",
        "hook_event_name": "SessionStart",
        "source": "startup",
        "cwd": str(brim.cwd),
    }
    code = f"from brim.hooks import process; process.SECONDS = {PATIENCE}; process.main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "SessionStart", "claude"],
        input=json.dumps(given).encode(),
        capture_output=True,
        env=brim.environ,
        check=True,
    )
    return done.stdout.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="launchers are shell scripts here")
def test_a_paused_hook_says_nothing_until_it_is_taken_back(brim: Brim) -> None:
    remember(brim, behavior("rule", "constraint", "Never push to main."), scope="user")
    assert "Never push" in told(brim)
    assert brim("pause").code == 0
    assert told(brim) == ""
    assert brim("pause", "off").code == 0
    assert "Never push" in told(brim)


def test_it_says_what_changed(brim: Brim) -> None:
    assert brim("pause", "--json").json == {
        "paused": True,
        "changed": True,
        "file": str(brim.home / ".brim/paused"),
    }
    assert brim("pause", "--json").json["changed"] is False
    assert "already" in brim("pause").out
    assert brim("pause", "off", "--json").json["paused"] is False
    assert brim("pause", "off", "--json").json["changed"] is False


def test_a_pause_ends_at_its_time(brim: Brim) -> None:
    remember(brim, behavior("rule", "constraint", "Never push to main."), scope="user")
    done = brim("pause", "30m", "--json").json
    assert done["changed"]
    assert abs(done["until"] - time.time() - 1800) < 300
    assert told(brim) == ""
    (found,) = [
        each for each in brim("doctor", "--json").json["findings"] if each["what"] == "paused"
    ]
    assert found["until"] == done["until"]
    assert "until 20" in found["text"]
    (brim.home / ".brim/paused").write_text(f"{time.time() - 1:.0f}\n")
    assert "Never push" in told(brim)
    assert brim("pause", "off", "--json").json["changed"] is False
    assert not (brim.home / ".brim/paused").exists()


def test_a_pause_can_be_made_longer_or_endless(brim: Brim) -> None:
    assert "until 20" in brim("pause", "2h").out
    assert brim("pause", "--json").json == {
        "paused": True,
        "changed": True,
        "file": str(brim.home / ".brim/paused"),
    }
    assert (brim.home / ".brim/paused").read_bytes() == b""  # until it is taken back


@pytest.mark.parametrize("given", ["odd", "30", "0m", "-5m", "m", "1.5h", "9999d"])
def test_what_is_no_time_is_refused(brim: Brim, given: str) -> None:
    ran = brim("pause", "--", given)
    assert ran.code == 2
    assert "30m" in ran.err
    assert not (brim.home / ".brim/paused").exists()


def test_a_folder_in_its_place_is_refused(brim: Brim) -> None:
    (brim.home / ".brim/paused").mkdir(parents=True)
    assert brim("pause", "off").code == 2
