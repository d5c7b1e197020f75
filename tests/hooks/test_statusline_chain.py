"""The status line that was there before: run with the same input, and never in the way."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from brim.hooks.status_chain import INSIDE, Other, previous_command

pytestmark = pytest.mark.skipif(
    not hasattr(os, "posix_spawn"), reason="there are no hooks on this system"
)

ENVIRON = {"PATH": os.environ.get("PATH", os.defpath)}


def ran(
    command: str,
    given: bytes = b"{}",
    environ: dict[str, str] | None = None,
    patience: float | None = 30,
) -> tuple[bytes, str]:
    other = Other(command, given, ENVIRON if environ is None else environ, patience=patience)
    return other.lines(), other.failure


def test_it_gets_the_same_input_and_its_lines_come_back_with_their_colours() -> None:
    assert ran("cat; printf '\\033[35mtwo\\033[0m\\n\\n'", b"one\n") == (
        b"one\n\x1b[35mtwo\x1b[0m",
        "",
    )


def test_input_and_output_may_be_larger_than_a_pipe() -> None:
    assert ran("cat", b"x" * 1_000_000) == (b"x" * 65_536, "")
    assert ran("head -c 5", b"x" * 1_000_000) == (b"xxxxx", "")


def test_one_that_does_not_read_is_no_failure() -> None:
    assert ran("exec 0<&-; echo hi", b"x" * 1_000_000) == (b"hi", "")


def test_it_has_the_environment_and_a_mark_that_it_is_inside() -> None:
    assert ran(f"echo $NAME ${INSIDE}", environ={**ENVIRON, "NAME": "value"}) == (b"value 1", "")


@pytest.mark.parametrize(
    "command", ["echo lost; exit 3", "/nowhere/at-all", "echo lost; kill -9 $$", "'"]
)
def test_one_that_fails_shows_nothing_as_the_client_would(command: str) -> None:
    lines, failure = ran(command)
    assert lines == b""
    assert failure.startswith("ended with")


def test_one_that_says_nothing_is_no_failure() -> None:
    assert ran("true") == (b"", "")


def test_one_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        # What it starts holds the pipe open for an hour, unless it's ended.
        lines, failure = ran(f"sleep 3600 > '{pipe}' | cat; echo never", patience=None)
        assert (lines, failure) == (b"", "took longer than 0.5 s")
        os.set_blocking(reader, True)
        assert os.read(reader, 1) == b""
    finally:
        os.close(reader)


def test_what_it_leaves_running_is_not_waited_for() -> None:
    assert ran("sleep 1 & echo hi") == (b"hi", "")


def test_its_errors_are_not_shown(capfd: pytest.CaptureFixture[str]) -> None:
    assert ran("echo wrong >&2; echo right") == (b"right", "")
    assert capfd.readouterr() == ("", "")


def test_no_file_descriptor_is_left_open() -> None:
    folder = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"
    before = len(os.listdir(folder))
    for command in ("true", "exit 1", "cat", "exec 0<&- 1>&-"):
        ran(command)
    assert len(os.listdir(folder)) == before


def test_the_command_is_the_one_that_the_settings_had(tmp_path: Path) -> None:
    file = tmp_path / "statusline.json"
    file.write_text(json.dumps({"type": "command", "command": "date", "padding": 0}))
    file.chmod(0o600)
    assert previous_command(str(tmp_path)) == "date"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "{}", '{"command": 3}', '{"command": "a\\u0000b"}', "[" * 9_999]
)
def test_a_file_that_names_no_command_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "statusline.json").write_text(text)
    assert previous_command(str(tmp_path)) == ""


def test_no_file_is_no_command(tmp_path: Path) -> None:
    assert previous_command(str(tmp_path / "gone")) == ""


def test_a_file_that_others_can_write_to_is_not_run(tmp_path: Path) -> None:
    file = tmp_path / "statusline.json"
    file.write_text('{"command": "date"}')
    file.chmod(0o666)
    assert previous_command(str(tmp_path)) == ""
