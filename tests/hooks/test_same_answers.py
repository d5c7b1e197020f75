"""Hooks answer the same with the start-up file and its stand-ins as with the sources and the real
modules."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from brim._startup import startup_path
from tests.hooks.hook_world import World
from tests.hooks.test_startup import python, site, write

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the launcher is for a POSIX shell")
__all__ = ["site"]

(DATA,) = {path.parent for path in Path(__file__).parents[1].glob("*/data/hooks.jsonl")}
PLAYER = """
import io, json, os, sys, time
sys.path.append(sys.argv[1])
from brim._startup import use_startup
used = sys.argv[2] == "with" and use_startup(os.environ["BRIM_HOME"])
from brim.hooks import process, statusline
process.SECONDS = 600
now = 1_794_744_000.0
time.time = lambda: now
answers = []
for line in sys.stdin:
    now += 10
    kind, words, sent, environ = json.loads(line)
    environ = {**os.environ, **environ}
    if kind == "hook":
        out = io.StringIO()
        process.main(words, io.StringIO(json.dumps(sent)), out, environ)
        answers.append(out.getvalue())
    else:
        shown = io.BytesIO()
        statusline.main(io.BytesIO(json.dumps(sent).encode()), shown, environ)
        answers.append(shown.getvalue().decode())
real = {"typing", "dataclasses"} & set(sys.modules)
print(json.dumps([bool(used), sorted(real), answers]))
"""


def recorded(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def steps() -> list[list[Any]]:
    """Return what agents and the status line's clients have sent."""
    hooks = [
        ["hook", [each["event"], each["agent"]], each["data"], each["environ"]]
        for each in recorded("hooks.jsonl")
    ]
    return hooks + [["status", [], each, {}] for each in recorded("statusline.jsonl")]


def answers(site: Path, folder: Path, how: str) -> tuple[bool, list[str], list[str], list[str]]:
    """Play all steps in a new world; return whether the file was used, what was imported, answers,
    and the log."""
    world = World(folder)
    if how == "with":
        write(site, world.home)
    for rule in ("Run the tests before you commit.", "Never edit files in /etc."):
        world.brim("learn", rule)
    lines = "".join(json.dumps(step) + "\n" for step in steps())
    lines = lines.replace("/home/user/shop", str(world.project)).replace(
        "/home/user", str(folder / "home")
    )
    environ = {**world.environ, "BRIM_HOME": str(world.home)}
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", PLAYER, str(site), how],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
        env=environ,
        cwd=world.project,
    )
    used, real, said = json.loads(done.stdout)
    log = [line.partition(" ")[2] for line in world.log().splitlines()]  # without the time
    shutil.rmtree(folder)
    return used, real, said, log


def test_every_recorded_event(site: Path, tmp_path: Path) -> None:
    folder = tmp_path / "world"
    used, real, fast, log = answers(site, folder, "with")
    assert used
    assert real == []
    not_used, _, plain, plain_log = answers(site, folder, "without")
    assert not not_used
    assert len(fast) == len(steps())
    assert sum(map(bool, fast)) > 10
    assert fast == plain
    assert log == plain_log


def test_a_module_that_is_not_in_the_file_is_refused(site: Path, tmp_path: Path) -> None:
    """Real dataclasses and those of the stand-ins never meet in one process."""
    world = World(tmp_path)
    write(site, world.home)
    assert Path(startup_path(str(world.home))).exists()
    code = "import sys; sys.path.append(sys.argv[1]); from brim._startup import use_startup\n"
    code += "assert use_startup(sys.argv[2])\ntry:\n    import brim.guard\nexcept ImportError as error:\n    print(error)"
    assert python(code, site, world.home) == "brim.guard isn't in the start-up file of hooks\n"
