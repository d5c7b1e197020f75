"""A broken file of brim's own is said in one sentence, and the decision is made without it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hooks.hook_world import World
from tests.hooks.test_broken_files import status_line

BLOCKING = '\n[pnpm]\ntext = "Use pnpm, not npm."\nblock = ["npm install"]\n'


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    with world.rules.open("a", encoding="utf-8") as file:
        file.write(BLOCKING)
    world.compile()
    return world


def start(world: World) -> str:
    answer = world.call("SessionStart", world.message("SessionStart", source="startup"))
    return str(json.loads(answer or "{}").get("systemMessage", ""))


def is_refused(world: World) -> bool:
    message = world.message(
        "PreToolUse", tool_name="Bash", tool_input={"command": "npm install"}, tool_use_id="t1"
    )
    return '"deny"' in world.call("PreToolUse", message)


@pytest.mark.parametrize("name", ["state.db", "index.db", "rules.db"])
def test_a_damaged_database_is_said_once_and_lifts_no_block(world: World, name: str) -> None:
    (world.home / name).write_bytes(b"not a database" * 100)
    assert "a file is broken: brim doctor" in status_line(world)
    (world.home / name).write_bytes(b"not a database" * 100)
    assert start(world).count(f"{name} is damaged") == 1
    assert is_refused(world)


def test_nothing_is_said_where_nothing_is_broken(world: World) -> None:
    assert "brim doctor" not in start(world)
    assert "broken" not in status_line(world)


def test_doctor_repairs_it(world: World) -> None:
    (world.home / "index.db").write_bytes(b"not a database" * 100)
    looked = world.brim("doctor")
    assert "index.db is damaged" in looked.out
    fixed = world.brim("doctor", "--fix")
    assert "index.db moved away" in fixed.out
    assert "is damaged" not in world.brim("doctor").out


def test_a_missing_database_is_said(world: World) -> None:
    start(world)
    (world.home / "state.db").unlink()
    assert "a file is broken" in status_line(world)
    assert start(world).count("state.db is missing") == 1
    assert is_refused(world)
    assert "is missing" not in start(world)


def test_a_locked_database_is_said_while_it_is(world: World) -> None:
    start(world)
    other = sqlite3.connect(world.home / "state.db", isolation_level=None)
    other.execute("begin exclusive")
    assert "state.db: database is locked" in start(world)
    assert "state.db is locked" in status_line(world)
    assert is_refused(world)
    other.close()
    assert "locked" not in start(world)
    assert "locked" not in status_line(world)


def test_a_clock_that_has_gone_back_is_said_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 3 * 86_400)
    start(world)
    monkeypatch.setattr(time, "time", lambda: now)
    assert "the clock is behind" in start(world)
    assert "the clock was changed" in status_line(world)
    assert is_refused(world)
    assert "clock" not in start(world)
    assert "clock" not in status_line(world)


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="no clock counts sleep here")
def test_a_clock_that_was_set_ahead_is_said_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    start(world)
    monkeypatch.setattr(time, "time", lambda: now + 3 * 86_400)
    assert "set ahead by more than a day" in start(world)
    assert "the clock was changed" in status_line(world)
    assert is_refused(world)
    assert "clock" not in start(world)
    assert "clock" not in status_line(world)


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="no clock counts sleep here")
@pytest.mark.parametrize("uptime", [7 * 86_400.0, 60.0])
def test_a_machine_that_slept_or_was_restarted_has_the_same_clock(
    world: World, monkeypatch: pytest.MonkeyPatch, uptime: float
) -> None:
    now = time.time()
    monkeypatch.setattr(time, "clock_gettime", lambda _: 86_400.0)
    start(world)
    monkeypatch.setattr(time, "clock_gettime", lambda _: uptime)
    monkeypatch.setattr(time, "time", lambda: now + 6 * 86_400)
    assert "clock" not in start(world)


HOLDING = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


def test_an_index_that_another_process_holds_is_said_while_it_does(world: World) -> None:
    allow = 'limits: {"*": ["5/day"]}\n'
    (world.home / "config.yaml").write_text(allow, encoding="utf-8")
    start(world)
    command = [sys.executable, "-c", HOLDING, str(world.home / "index.db")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        assert start(world).count("index.db is locked") == 1
        assert "index.db is locked" in status_line(world)
        assert is_refused(world)
        other.communicate()
    assert "locked" not in start(world)
    assert "locked" not in status_line(world)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of 6 MB."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(place)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only root can mount a disk")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.parametrize("free_pages", [0, 1])
def test_a_full_disk_is_said_at_every_start(small_disk: Path, free_pages: int) -> None:
    world = World(small_disk)
    with world.rules.open("a", encoding="utf-8") as file:
        file.write(BLOCKING)
    world.compile()
    start(world)
    filler = world.home / "filler"
    with filler.open("wb", buffering=0) as file:
        while os.statvfs(small_disk).f_bavail:
            file.write(b"x" * 4_096)
    os.truncate(filler, filler.stat().st_size - free_pages * 4_096)
    for _ in range(2):
        assert "is full" in start(world)
    assert "a file is broken" in status_line(world)
    assert is_refused(world)


@pytest.mark.parametrize("fault", ["full", "read-only"])
def test_a_disk_that_takes_nothing_is_said(
    world: World, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    start(world)
    if fault == "full":
        full = os.statvfs_result((1,) * 4 + (0,) * 6)
        monkeypatch.setattr(os, "statvfs", lambda _: full)
    else:
        monkeypatch.setattr(os, "access", lambda *_: False)
    assert "nothing is remembered until" in start(world)
    assert "a file is broken" in status_line(world)
    assert is_refused(world)
