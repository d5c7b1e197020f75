"""Where settings are, what is remembered of them, and the scripts that they name."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.agents.install.json_places import read_places
from brim.agents.install.launchers import install_launchers, interpreter_of, remove_launchers, resident_path
from brim.agents.install.receipt import Record, read_records, write_records
from brim.agents.install.resident import announce, withdraw
from brim.agents.install.targets import read_settings_file, user_target, why_not
from brim.errors import InputError

posix = pytest.mark.skipif(sys.platform == "win32", reason="no hooks there yet")


def test_records_are_kept_for_their_owner_alone(tmp_path: Path) -> None:
    home = str(tmp_path / ".brim")
    records = {"/a/settings.json": Record("claude", "user", empty={"hooks": " "}, status="{}", blank="gone")}
    write_records(home, records)
    assert read_records(home) == records
    if sys.platform != "win32":
        assert stat.S_IMODE(os.stat(os.path.join(home, "installed.json")).st_mode) == 0o600
    write_records(home, {})
    assert os.listdir(home) == [".gitignore"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"files": 1}', '{"files": {"a": 1}}', '{"files": {"a": {"agent": 1}}}', "[" * 9_999]
)
def test_damaged_records_are_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "installed.json").write_text(text)
    assert read_records(str(tmp_path)) == {}


def test_a_records_wrong_fields_are_none(tmp_path: Path) -> None:
    write_records(str(tmp_path), {"a": Record("claude", "user", status="x")})
    path = tmp_path / "installed.json"
    path.write_text(path.read_text().replace('"status": "x"', '"status": 7'))
    assert read_records(str(tmp_path)) == {}


def test_settings_come_from_where_the_agent_looks() -> None:
    found = user_target("claude", {"HOME": "/home/user"})
    assert found.path == os.path.abspath("/home/user/.claude/settings.json")
    assert why_not(found) == ""


@posix
def test_what_is_no_file_of_text_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "bytes").write_bytes(b"{\xff}")
    for name in ("pipe", "bytes", "."):
        with pytest.raises(InputError):
            read_settings_file(str(tmp_path / name))
    assert read_settings_file(str(tmp_path / "missing")) is None


@posix
def test_launchers_are_written_once_and_go_again(tmp_path: Path) -> None:
    home = str(tmp_path / "it's\nbrim [x]")
    assert len(install_launchers(home)) == 3
    (tmp_path / "it's\nbrim [x]/cache").mkdir()
    (tmp_path / "it's\nbrim [x]/cache/hook-x.bin").touch()
    assert install_launchers(home) == []
    assert interpreter_of(os.path.join(home, "bin", "hook")) == sys.executable
    assert interpreter_of(os.path.join(home, "bin", "statusline")) == sys.executable
    remove_launchers(home)
    assert not os.path.exists(home)


@posix
@pytest.mark.parametrize("who", ["nobody", "another session", "a dead server", "a server"])
def test_the_process_stands_by_while_a_server_answers(tmp_path: Path, who: str) -> None:
    home = str(tmp_path / "my brim")
    install_launchers(home)
    Path(home, "bin", "hook").write_text('#!/bin/sh\necho "ran $*"; cat\nexit 3\n')
    dead = subprocess.Popen(["true"])
    dead.wait()
    sessions = {"another session": "other", "a dead server": "s-1", "a server": "s-1"}
    path = announce(home, sessions[who], dead.pid if who == "a dead server" else os.getpid()) if who in sessions else ""
    done = subprocess.run(
        [resident_path(home), "Stop", "claude"],
        input=b"given",
        capture_output=True,
        env={**os.environ, "CLAUDE_CODE_SESSION_ID": "s-1"},
        check=True,
    )
    assert done.stdout == (b"" if who == "a server" else b"ran Stop claude\ngiven")
    assert done.stderr == b""
    withdraw(path)
    withdraw(path)


@posix
def test_what_killed_servers_left_is_swept_away(tmp_path: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    announce(str(tmp_path), "old", dead.pid)
    announce(str(tmp_path), "alive")
    (tmp_path / "resident" / "damaged").write_text("?")
    announce(str(tmp_path), "new")
    assert sorted(os.listdir(tmp_path / "resident")) == ["alive", "new"]


@posix
def test_nothing_is_announced_under_a_name_that_leads_elsewhere(tmp_path: Path) -> None:
    assert announce(str(tmp_path), "../../x") == ""
    assert announce(str(tmp_path), "") == ""
    assert announce(str(tmp_path / "gone"), "s") == ""
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet='{}[]",:/*\\ \n01ae-.tnul', max_size=40), st.booleans())
def test_any_text_is_read_as_json_reads_it_or_refused(text: str, comments: bool) -> None:
    import json

    try:
        expected = json.loads(text)
    except ValueError:
        if not comments:
            with pytest.raises(InputError):
                read_places(text, "settings.json")
        return
    assert read_places(text, "settings.json", comments=comments).value == expected
