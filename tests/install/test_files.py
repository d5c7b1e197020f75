"""Where settings are, what is remembered of them, and the scripts that they name."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.agents.jsonc import JsonText
from brim.agents.settings import read_settings
from brim.errors import InputError
from brim.install.agents import user_target
from brim.install.changes import Record, read_records, write_records
from brim.install.launchers import install_launchers, interpreter_of, remove_launchers

posix = pytest.mark.skipif(sys.platform == "win32", reason="launchers are shell scripts here")


def test_records_are_kept_for_their_owner_alone(tmp_path: Path) -> None:
    home = str(tmp_path / ".brim")
    records = {
        "/a/settings.json": Record(
            "claude", "user", original="{ }", installed="0f", status="{}", backups=("/a/b",)
        )
    }
    write_records(home, records)
    assert read_records(home) == records
    if sys.platform != "win32":
        assert stat.S_IMODE(os.stat(os.path.join(home, "installed.json")).st_mode) == 0o600
    write_records(home, {})
    assert os.listdir(home) == [".gitignore"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"files": 1}',
        '{"files": {"a": 1}}',
        '{"files": {"a": {"agent": 1}}}',
        "[" * 9_999,
    ],
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
    assert found.why_not == ""


@posix
def test_what_is_no_file_of_text_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "bytes").write_bytes(b"{\xff}")
    for name in ("pipe", "bytes", "."):
        with pytest.raises(InputError):
            read_settings(str(tmp_path / name))
    assert read_settings(str(tmp_path / "missing")) is None


@posix
def test_launchers_are_written_once_and_go_again(tmp_path: Path) -> None:
    home = str(tmp_path / "it's\nbrim [x]")
    assert len(install_launchers(home)) == 2
    (tmp_path / "it's\nbrim [x]/cache").mkdir()
    (tmp_path / "it's\nbrim [x]/cache/hook-x.bin").touch()
    assert install_launchers(home) == []
    assert interpreter_of(os.path.join(home, "bin", "hook")) == sys.executable
    assert interpreter_of(os.path.join(home, "bin", "statusline")) == sys.executable
    remove_launchers(home)
    assert not os.path.exists(home)


@settings(deadline=None)
@given(st.text(alphabet='{}[]",:/*\\ \n01ae-.tnul', max_size=40), st.booleans())
def test_any_text_is_read_as_json_reads_it_or_refused(text: str, comments: bool) -> None:
    import json

    try:
        expected = json.loads(text)
    except ValueError:
        if not comments and text.strip():
            with pytest.raises(InputError):
                JsonText(text, "settings.json")
        return
    if isinstance(expected, dict):
        assert JsonText(text, "settings.json", comments=comments).value == expected
