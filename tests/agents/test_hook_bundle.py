"""The modules of a hook in one file: used while their sources are the same, never when they are not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from brim.agents.bundle import bundle_path
from tests.agents.hook_world import RULE, World

CODE = "import sys; sys.path.insert(0, sys.argv[1]); import brim; from brim.agents.bundle import use_bundle\n"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_the_second_hook_finds_what_the_first_one_kept(world: World) -> None:
    path = bundle_path(str(world.home))
    start = world.message("SessionStart", source="startup")
    first = world.launch("SessionStart", start)
    assert os.stat(path).st_mode & 0o777 == 0o600
    kept = os.stat(path).st_ino
    second = world.launch("SessionStart", {**start, "session_id": "another"})
    assert os.stat(path).st_ino == kept  # it had everything
    assert first.stdout == second.stdout
    assert RULE in second.stdout.decode()
    assert world.log() == ""


@pytest.mark.parametrize("damage", [b"", b"\xff" * 100, b"i\x01\x00\x00\x00", b"{0"])
def test_a_broken_bundle_is_as_none_and_is_written_anew(world: World, damage: bytes) -> None:
    path = Path(bundle_path(str(world.home)))
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(damage)
    done = world.launch("SessionStart", world.message("SessionStart", source="startup"))
    assert RULE in done.stdout.decode()
    assert path.stat().st_size > 10_000


def test_a_bundle_that_ends_too_early_is_as_none_and_is_written_anew(world: World) -> None:
    start = world.message("SessionStart", source="startup")
    world.launch("SessionStart", start)
    path = Path(bundle_path(str(world.home)))
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    done = world.launch("SessionStart", {**start, "session_id": "another"})
    assert RULE in done.stdout.decode()
    assert len(path.read_bytes()) >= len(whole)


def test_what_python_brings_is_kept_too(world: World) -> None:
    world.launch("SessionStart", world.message("SessionStart", source="startup"))
    code = "kept = use_bundle(sys.argv[2]); import enum; print(enum.__spec__.loader is kept, kept.missed)"
    package = Path(__file__).parents[2] / "src"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", CODE + code, str(package), str(world.home)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split() == ["True", "False"]


def test_a_bundle_that_others_can_write_is_not_believed(world: World) -> None:
    world.launch("Stop", world.message("Stop"))
    path = bundle_path(str(world.home))
    os.chmod(path, 0o666)
    world.launch("Stop", world.message("Stop"))
    assert os.stat(path).st_mode & 0o777 == 0o600


def told(package: Path, home: Path, code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-I", "-c", CODE + code, str(package), str(home)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.strip()


def test_a_source_that_changed_is_taken_from_its_own_file(tmp_path: Path) -> None:
    import brim

    package, home = tmp_path / "lib", tmp_path / "home"
    (package / "brim" / "agents").mkdir(parents=True)
    (home / "cache").mkdir(parents=True)
    for name in ("__init__.py", "_lazy.py", "_atomic.py", "agents/__init__.py", "agents/bundle.py"):
        source = Path(brim.__file__).parent / name
        (package / "brim" / name).write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    thing = package / "brim" / "thing.py"
    thing.write_text("VALUE = 'old'\n", encoding="utf-8")
    use = "kept = use_bundle(sys.argv[2]); import brim.thing\n"
    assert told(package, home, use + "kept.save(sys.argv[2]); print(brim.thing.VALUE)") == "old"
    by_bundle = use + "print(brim.thing.VALUE, brim.thing.__spec__.loader is kept, brim.thing.__file__, kept.missed)"
    assert told(package, home, by_bundle) == f"old True {thing} False"
    thing.write_text("VALUE = 'newer'\n", encoding="utf-8")
    assert told(package, home, by_bundle) == f"newer False {thing} True"
    thing.unlink()
    with pytest.raises(subprocess.CalledProcessError):
        told(package, home, use)
