"""Whatever is missing or broken, the agent goes on: exit status 0, and an answer that is empty or
valid."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from brim.install.agents import launcher_path
from brim.install.launchers import install_launcher, launcher_text
from tests.hooks.hook_world import RULE, World, patient
from tests.hooks.read_only import read_only


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def start(world: World) -> dict[str, object]:
    return world.message("SessionStart", source="startup")


def run(launcher: str, world: World, sent: bytes = b"{}") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [launcher, "SessionStart", "claude"],
        input=sent,
        capture_output=True,
        check=False,
        env=world.environ,
        timeout=300,
    )


def silent(done: subprocess.CompletedProcess[bytes]) -> bool:
    return (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_interpreter_is_gone(world: World) -> None:
    assert silent(run(install_launcher(str(world.home), "/gone/bin/python3"), world))


def test_the_package_is_gone(world: World, tmp_path: Path) -> None:
    assert silent(run(install_launcher(str(world.home), package=str(tmp_path / "gone")), world))


def test_half_of_the_package_is_gone(world: World, tmp_path: Path) -> None:
    (tmp_path / "half" / "brim" / "agents").mkdir(parents=True)
    (tmp_path / "half" / "brim" / "__init__.py").touch()
    assert silent(run(install_launcher(str(world.home), package=str(tmp_path / "half")), world))


def test_a_folder_with_quotes_and_spaces_is_no_trouble(world: World, tmp_path: Path) -> None:
    folder = tmp_path / 'it\'s a "place" $HOME'
    folder.mkdir()
    python = folder / "python"
    python.symlink_to(sys.executable)
    package = folder / "lib"
    package.symlink_to(Path(install_launcher.__code__.co_filename).parents[2])
    path = install_launcher(str(world.home), str(python), package=str(package))
    done = run(patient(path), world, json.dumps(start(world)).encode())
    assert done.returncode == 0
    assert RULE in done.stdout.decode()


def test_the_launcher_is_three_lines_that_end_well(world: World) -> None:
    lines = launcher_text("/usr/bin/python3").splitlines()
    assert len(lines) == 3
    assert lines[0] == "#!/bin/sh"
    assert "/usr/bin/python3" in lines[1]
    assert " -I " in lines[1]
    assert lines[2] == "exit 0"
    assert os.stat(install_launcher(str(world.home))).st_mode & 0o777 == 0o700


def test_a_launcher_that_is_right_is_left_alone(world: World) -> None:
    path = install_launcher(str(world.home))
    before = os.stat(path).st_ino
    assert install_launcher(str(world.home)) == path == launcher_path(str(world.home))
    assert os.stat(path).st_ino == before
    install_launcher(str(world.home), "/other/python")
    assert os.stat(path).st_ino != before


def test_the_home_folder_is_gone(world: World) -> None:
    shutil.rmtree(world.home)
    assert world.call("SessionStart", start(world)) == ""
    assert not world.home.exists()


def test_the_home_folder_is_a_file(world: World) -> None:
    shutil.rmtree(world.home)
    world.home.write_text("x", encoding="utf-8")
    assert world.call("SessionStart", start(world)) == ""


def test_a_home_that_cannot_be_written_still_answers_or_keeps_still(world: World) -> None:
    with read_only(world.home):
        said = world.call("SessionStart", start(world))
    assert not said or RULE in said


def test_no_environment_at_all(world: World) -> None:
    done = subprocess.run(
        [install_launcher(str(world.home)), "Stop", "claude"],
        input=b"{",
        capture_output=True,
        check=False,
        env={},
        timeout=300,
    )
    assert silent(done)


@pytest.mark.parametrize("name", ["rules.db", "state.db", "index.db", "brim.db"])
@pytest.mark.parametrize(
    "data", [b"", b"no database at all", b"SQLite format 3\0" + b"\xff" * 5_000]
)
def test_no_broken_database_silences_a_rule(world: World, name: str, data: bytes) -> None:
    (world.home / name).write_bytes(data)
    for _ in range(2):
        assert RULE in world.call("SessionStart", start(world))
    assert "Traceback" not in world.log()


@pytest.mark.parametrize("name", ["rules.db", "state.db"])
def test_a_locked_database_silences_no_rule_and_is_not_waited_for(world: World, name: str) -> None:
    world.call("SessionStart", start(world))
    database = sqlite3.connect(world.home / name, isolation_level=None)
    database.execute("BEGIN EXCLUSIVE")
    try:
        assert RULE in world.call("SessionStart", start(world))
        assert "took too long" not in world.log()
    finally:
        database.close()


def test_the_transcript_has_vanished(world: World) -> None:
    world.transcript.unlink()
    for event in ("UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd", "PreCompact"):
        world.call(
            event,
            world.message(event, prompt="hello", tool_name="Bash", tool_input={"command": "ls"}),
        )
    assert "took too long" not in world.log()


def test_a_working_folder_that_has_vanished(world: World) -> None:
    environ = {key: value for key, value in world.environ.items() if key != "CLAUDE_PROJECT_DIR"}
    gone = world.folder / "gone"
    gone.mkdir()
    launcher = install_launcher(str(world.home))
    command = f'cd "{gone}" && rmdir "{gone}" && exec "{launcher}" SessionStart claude'
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        input=b"{}",
        capture_output=True,
        check=False,
        env=environ,
        timeout=300,
    )
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr  # the shell itself complains


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_harm_nothing(world: World, closed: str) -> None:
    launcher = install_launcher(str(world.home))
    sent = json.dumps(start(world)).encode()
    command = f'"{launcher}" SessionStart claude {closed}'
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        input=sent,
        capture_output=True,
        check=False,
        env=world.environ,
        timeout=300,
    )
    assert done.returncode == 0
    with sqlite3.connect(world.state) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()


def test_whoever_does_not_read_the_answer_is_not_told(world: World) -> None:
    launcher = install_launcher(str(world.home))
    process = subprocess.Popen(
        [launcher, "SessionStart", "claude"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=world.environ,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.close()
    process.stdin.write(json.dumps(start(world)).encode())
    process.stdin.close()
    assert process.wait(300) == 0
