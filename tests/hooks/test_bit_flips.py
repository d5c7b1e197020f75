"""A bit that flips in a file of the user's folder lifts no rule, block or limit in silence."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

from brim.config.places import user_folder
from tests.hooks.hook_world import World

FLIPS = 60
BLOCKING = '[pnpm]\ntext = "Use pnpm, not npm."\nblock = ["npm install"]\n'


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A user with a rule, a block and a limit that is reached, in the middle of a session."""
    world = World(tmp_path)
    with world.rules.open("a", encoding="utf-8") as file:
        file.write(f"\n{BLOCKING}")
    world.compile()
    world.call("SessionStart", world.message("SessionStart", source="startup"))
    return world


def install(world: World) -> str:
    """Return what a call of the blocked command is answered, and what is said by then."""
    message = world.message(
        "PreToolUse", tool_name="Bash", tool_input={"command": "npm install"}, tool_use_id="t1"
    )
    return world.call("PreToolUse", message)


def is_refused_or_said(answer: str) -> bool:
    found = json.loads(answer or "{}")
    denied = found.get("hookSpecificOutput", {}).get("permissionDecision") == "deny"
    return denied or bool(found.get("systemMessage"))


def limited(world: World) -> None:
    path = world.home / "config.yaml"
    path.write_text(json.dumps({"limits": {str(world.project): ["0.01"]}}), encoding="utf-8")


def files_of(world: World) -> list[str]:
    home = Path(user_folder(world.environ))
    return sorted(
        str(path.relative_to(home))
        for path in home.rglob("*")
        if path.is_file() and path.stat().st_size and path.suffix not in (".lock", ".log")
    )


@pytest.mark.parametrize("what", ["block", "limit"])
def test_sixty_flips_in_every_file_lift_nothing_in_silence(world: World, what: str) -> None:
    if what == "limit":
        limited(world)
        world.rules.write_text("", encoding="utf-8")
        world.compile()
    for _ in range(2):
        assert is_refused_or_said(install(world))
    files = files_of(world)
    good = world.folder / "good"
    shutil.copytree(world.home, good)
    silent: list[str] = []
    for number, name in enumerate(files):
        chance = random.Random(number)
        for flip in range(FLIPS):
            shutil.rmtree(world.home)
            shutil.copytree(good, world.home)
            path = world.home / name
            data = bytearray(path.read_bytes())
            at = chance.randrange(8 * len(data))
            data[at // 8] ^= 1 << at % 8
            path.write_bytes(data)
            if not is_refused_or_said(install(world)):
                silent.append(f"{name}: flip {flip}, bit {at}")
    assert not silent
