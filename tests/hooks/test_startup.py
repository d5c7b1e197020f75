"""The compiled modules of hooks in one file: used by exactly the brim and Python that it was
written for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import brim
from brim._startup import startup_path
from brim._startup.writer import write_startup
from tests.hooks.hook_world import RULE, World, patient

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the launcher is for a POSIX shell")

SOURCE = Path(brim.__file__).parent
INFO = f"brim-{brim.__version__}.dist-info"
ANSWER = (
    "import io, sys; sys.path.append(sys.argv.pop(1)); from brim._startup import use_startup\n"
    "used = use_startup(sys.argv.pop(1)); import brim.hooks.process, json, enum\n"
    "brim.hooks.process.SECONDS = 600\n"
    "print(used, type(json.__loader__).__name__, json.__file__, brim.hooks.main(sys.argv[1:], sys.stdin, sys.stdout))"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which this brim is installed as from a wheel."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(SOURCE, folder / "brim")
    info = folder / INFO
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: brim\n", encoding="utf-8")
    (info / "RECORD").write_text(f"brim/__init__.py,,\n{INFO}/RECORD,,\n", encoding="utf-8")
    return folder


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def python(code: str, *arguments: object, sent: str = "", world: World | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, *map(str, arguments)],
        input=sent,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        env=world.environ if world is not None else None,
    )
    return done.stdout


def write(site: Path, home: Path) -> Path:
    """Write the file for the brim in *site*; a second time it is copied, since nothing in it is of
    the home."""
    kept = site / "startup.bin"
    path = Path(startup_path(str(home)))
    if kept.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(kept.read_bytes())
        path.chmod(0o600)
        return path
    code = "import sys; sys.path.append(sys.argv[1]); import brim._startup.writer as writer; "
    code += "print(writer.write_startup(sys.argv[2]))"
    assert python(code, site, home).strip() == str(path)
    shutil.copy(path, kept)
    return path


def answer(site: Path, world: World) -> str:
    sent = json.dumps(world.message("SessionStart", source="startup"))
    return python(ANSWER, site, world.home, "SessionStart", "claude", sent=sent, world=world)


def test_modules_come_from_the_file(site: Path, world: World) -> None:
    path = write(site, world.home)
    assert path.stat().st_mode & 0o777 == 0o600
    said = answer(site, world)
    assert RULE in said
    assert "True _Modules" in said
    assert f"{os.sep}json{os.sep}__init__.py 0" in said
    assert world.log() == ""


STARTS_WITH = ("__init__.py", "_lazy.py")


@pytest.fixture
def without_sources(site: Path, world: World) -> Iterator[Path]:
    """The same folder after its file was written, with no other sources than those that a hook
    starts with."""
    write(site, world.home)
    package, aside = site / "brim", site / "aside"
    package.rename(aside)
    shutil.copytree(
        aside,
        package,
        ignore=lambda _, names: {n for n in names if n.endswith(".py") and n not in STARTS_WITH},
    )
    yield site
    shutil.rmtree(package)
    aside.rename(package)


def test_the_launcher_uses_it(without_sources: Path, world: World) -> None:
    """Hook and status line answer from the file even after the sources are gone."""
    from brim.install.launchers import STATUS_CODE, install_launcher, launcher_text

    sent = json.dumps(world.message("SessionStart", source="startup")).encode()
    launcher = patient(install_launcher(str(world.home), package=str(without_sources)))
    command = [launcher, "SessionStart", "claude"]
    done = subprocess.run(
        command, input=sent, capture_output=True, check=False, env=world.environ, timeout=300
    )
    assert RULE in done.stdout.decode()
    script = launcher_text(
        sys.executable, str(without_sources), home=str(world.home), code=STATUS_CODE
    )
    given = b'{"model": {"id": "claude-opus-5-5", "display_name": "Opus"}}'
    command = ["sh", "-c", script]
    done = subprocess.run(
        command, input=given, capture_output=True, check=True, env=world.environ, timeout=300
    )
    assert done.stdout == b"Opus\n"


def test_another_brim_is_not_run_from_it(site: Path, world: World) -> None:
    """Two that share a home don't run each other's modules."""
    write(site, world.home)
    other = world.folder / "other"
    shutil.copytree(site, other)
    assert "False" in answer(other, world)


def test_another_record_is_another_brim(site: Path, world: World) -> None:
    write(site, world.home)
    record, kept = site / INFO / "RECORD", site / INFO / "RECORD.kept"
    record.rename(kept)
    record.write_text(f"{kept.read_text(encoding='utf-8')}brim/new.py,,\n", encoding="utf-8")
    said = answer(site, world)
    kept.replace(record)
    assert "False" in said
    assert RULE in said
    assert "True" in answer(site, world)


PROBLEM = (
    "import sys; sys.path.append(sys.argv[1]); from brim._startup.writer import startup_problem\n"
    "print(startup_problem(sys.argv[2]))"
)


def test_doctor_says_that_it_is_missing_or_another_brims(site: Path, world: World) -> None:
    path = write(site, world.home)
    assert python(PROBLEM, site, world.home) == "\n"
    path.write_bytes(path.read_bytes()[:8] + b"another" + path.read_bytes()[8:])
    assert "was written by another brim" in python(PROBLEM, site, world.home)
    path.unlink()
    assert "is missing" in python(PROBLEM, site, world.home)


@pytest.mark.parametrize("damage", [b"", b"\xff" * 100, b"\0" * 100, b"\0\0\0\0\0\0\0\x02{0"])
def test_a_broken_file_is_ignored(site: Path, world: World, damage: bytes) -> None:
    write(site, world.home).write_bytes(damage)
    said = answer(site, world)
    assert "False" in said
    assert RULE in said


def test_a_file_that_others_can_write_is_ignored(site: Path, world: World) -> None:
    write(site, world.home).chmod(0o620)
    assert "False" in answer(site, world)


def test_a_link_is_ignored(site: Path, world: World) -> None:
    path = write(site, world.home)
    path.rename(path.with_suffix(".moved"))
    path.symlink_to(path.with_suffix(".moved"))
    assert "False" in answer(site, world)


def test_doctor_can_say_that_it_is_missing(site: Path, world: World) -> None:
    path = write(site, world.home)
    code = "import sys; sys.path.append(sys.argv[1]); from brim._startup.writer import startup_problem\n"
    code += "print(startup_problem(sys.argv[2]))"
    assert python(code, site, world.home) == "\n"
    path.unlink()
    assert python(code, site, world.home) == f"{path} is missing\n"


def test_what_it_cannot_hold_is_a_problem(site: Path, world: World) -> None:
    """Then hooks answer without the file."""
    write(site, world.home).unlink()
    other = world.folder / "other"
    shutil.copytree(site, other)
    with (other / "brim" / "figures.py").open("a", encoding="utf-8") as file:
        file.write("\nimport dataclasses\n")
    code = "import sys; sys.path.append(sys.argv[1]); from brim._startup.writer import startup_problem\n"
    code += "print(startup_problem(sys.argv[2]))"
    assert "figures.py:" in python(code, other, world.home)
    assert "hooks can't use 'import dataclasses'" in python(code, other, world.home)
    said = answer(other, world)
    assert "False" in said
    assert RULE in said


def test_there_is_none_for_an_editable_install(world: World) -> None:
    path = Path(startup_path(str(world.home)))
    path.parent.mkdir()
    path.write_bytes(b"old")
    assert write_startup(str(world.home)) == ""
    assert not path.exists()
