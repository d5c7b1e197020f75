"""The modules of a hook in one file: used while their sources are the same, never when they are not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from brim.agents.bundle import bundle_path
from tests.agents.hook_world import RULE, World

CODE = "import sys; sys.path.insert(0, sys.argv[1]); from brim.agents.bundle import use_bundle\n"
PACKAGE = Path(__file__).parents[2] / "src"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_the_second_hook_finds_what_the_first_one_kept(world: World) -> None:
    path = bundle_path(str(world.home), "SessionStart")
    start = world.message("SessionStart", source="startup")
    first = world.launch("SessionStart", start)
    assert os.stat(path).st_mode & 0o777 == 0o600
    second = world.launch("SessionStart", {**start, "session_id": "another"})
    kept = os.stat(path).st_ino
    third = world.launch("SessionStart", {**start, "session_id": "a-third"})
    assert os.stat(path).st_ino == kept  # it had everything, in the order in which it is wanted
    assert first.stdout == second.stdout == third.stdout
    assert RULE in third.stdout.decode()
    assert world.log() == ""


@pytest.mark.parametrize("damage", [b"", b"\xff" * 100, b"i\x01\x00\x00\x00", b"{0"])
def test_a_broken_bundle_is_as_none_and_is_written_anew(world: World, damage: bytes) -> None:
    path = Path(bundle_path(str(world.home), "SessionStart"))
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(damage)
    done = world.launch("SessionStart", world.message("SessionStart", source="startup"))
    assert RULE in done.stdout.decode()
    assert path.stat().st_size > 10_000


def test_a_bundle_that_ends_too_early_is_as_none_and_is_written_anew(world: World) -> None:
    start = world.message("SessionStart", source="startup")
    world.launch("SessionStart", start)
    path = Path(bundle_path(str(world.home), "SessionStart"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    done = world.launch("SessionStart", {**start, "session_id": "another"})
    assert RULE in done.stdout.decode()
    assert len(path.read_bytes()) >= len(whole)


def test_a_bundle_that_others_can_write_is_not_believed(world: World) -> None:
    world.launch("Stop", world.message("Stop"))
    path = bundle_path(str(world.home), "Stop")
    os.chmod(path, 0o666)
    world.launch("Stop", world.message("Stop"))
    assert os.stat(path).st_mode & 0o777 == 0o600


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with as much of brim as the bundle needs, to which a test adds."""
    package = tmp_path / "lib"
    (package / "brim" / "agents").mkdir(parents=True)
    (tmp_path / "cache").mkdir()
    for name in ("__init__.py", "_lazy.py", "_atomic.py", "agents/__init__.py", "agents/bundle.py"):
        source = PACKAGE / "brim" / name
        (package / "brim" / name).write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    return package


def told(package: Path, code: str, *, before: str = "") -> str:
    """Return what *code* prints in a new process, after the bundle beside *package* was put to use as ``kept``."""
    use = "kept = use_bundle(sys.argv[2])\n"
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            CODE + before + use + code,
            str(package),
            str(package.parent / "cache" / "some.bin"),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.strip()


KEEP = "kept.save()\n"
COMPLETE = "print(kept.save())\n"
BY_WHOM = "print(*[name for name in sorted(sys.modules) if name in {!r} and sys.modules[name].__loader__ is kept])\n"


def write(package: Path, **modules: str) -> None:
    for name, source in modules.items():
        path = package / "brim" / f"{name}.py"
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(source, encoding="utf-8")


def test_what_a_module_needs_is_made_before_it_and_once(package: Path) -> None:
    write(
        package,
        top="import brim.left, brim.right\nprint('top', brim.left.BASE is brim.right.BASE)\n",
        left="from brim.base import BASE\nprint('left')\n",
        right="from brim.base import BASE\nprint('right')\n",
        base="import colorsys\nBASE = [colorsys]\nprint('base')\n",
    )
    names = ["brim.top", "brim.left", "brim.right", "brim.base", "colorsys"]
    said = "base\nleft\nright\ntop True"
    assert told(package, "import brim.top\n" + KEEP + BY_WHOM.format(names)) == said
    again = told(package, "import brim.top\n" + BY_WHOM.format(names) + COMPLETE)
    assert again.splitlines() == [*said.splitlines(), "brim.base brim.left brim.right brim.top colorsys", "False"]


def test_packages_and_their_modules_are_as_python_makes_them(package: Path) -> None:
    write(package, **{"room/__init__": "", "room/one": "import brim.room.two\n", "room/late": ""})
    write(package, **{"room/two": "import brim.room.part.deep\n", "room/part/__init__": "", "room/part/deep": ""})
    look = (
        "import brim.room.one as one\n"
        "for name in ('brim.room', 'brim.room.one', 'brim.room.two', 'brim.room.part', 'brim.room.part.deep'):\n"
        "    module = sys.modules[name]\n"
        "    above = sys.modules[name.rpartition('.')[0]]\n"
        "    assert getattr(above, name.rpartition('.')[2]) is module, name\n"
        "    print(name, module.__package__, module.__file__, *getattr(module, '__path__', []))\n"
        "import brim.room.late\n"
    )
    assert told(package, look + KEEP) == told(package, look + "assert not kept.save()") == told(package, look)


def test_a_module_that_fails_is_left_to_whoever_asks_for_it(package: Path) -> None:
    write(
        package,
        top="try:\n    import brim.moody\n    print('well')\nexcept ImportError as error:\n    print(error)\n",
        moody="import os\nif os.environ.get('X'): pass\nimport brim.friend\n",
        friend="",
    )
    code = "import brim.top\n"
    assert told(package, code + KEEP) == "well"
    (package / "brim" / "friend.py").unlink()
    assert told(package, code + KEEP) == "No module named 'brim.friend'"


def test_a_module_that_the_end_of_the_time_came_upon_is_not_left_half_made(package: Path) -> None:
    inner = "import sys\nif getattr(sys, 'is_late', False): raise KeyboardInterrupt\nprint('whole')\n"
    write(package, top="import brim.inner\n", inner=inner)
    assert told(package, "import brim.top\n" + KEEP) == "whole"
    code = "sys.is_late = True\ntry:\n    import brim.top\nexcept KeyboardInterrupt:\n    sys.is_late = False\n"
    assert told(package, code + "import brim.inner\n") == "whole"


def test_a_library_is_found_without_looking_through_folders(package: Path) -> None:
    code = "import _sqlite3\nprint(_sqlite3.connect(':memory:').execute('SELECT 1').fetchall(), kept.save())\n"
    if told(package, "import _sqlite3; print(_sqlite3.__spec__.has_location)") != "True":
        pytest.skip("SQLite is built into this Python")
    assert told(package, code) == "[(1,)] True"
    assert told(package, code) == "[(1,)] False"


def test_a_source_that_changed_is_taken_from_its_own_file_and_the_bundle_is_thrown_away(package: Path) -> None:
    write(package, thing="VALUE = 'old'\n", user="import brim.thing\n")
    thing = package / "brim" / "thing.py"
    look = "import brim.user\nprint(brim.thing.VALUE, brim.thing.__loader__ is kept, kept.save())\n"
    assert told(package, look) == "old False True"
    assert told(package, look) == "old True False"
    thing.write_text("VALUE = 'newer'\n", encoding="utf-8")
    assert told(package, look) == "newer False True"
    assert not (package.parent / "cache" / "some.bin").exists()
    assert told(package, look) == "newer False True"
    assert told(package, look) == "newer True False"
    thing.unlink()
    with pytest.raises(subprocess.CalledProcessError):
        told(package, look)


def test_what_is_asked_for_later_is_added(package: Path) -> None:
    write(package, one="", two="import brim.three\n", three="")
    assert told(package, "import brim.one\n" + KEEP) == ""
    assert told(package, "import brim.one, brim.two\n" + KEEP) == ""
    names = ["brim.one", "brim.two", "brim.three"]
    assert told(package, "import brim.one, brim.two\n" + BY_WHOM.format(names)) == "brim.one brim.three brim.two"


def test_what_is_asked_for_again_is_made_ahead_in_the_order_of_its_needs(package: Path) -> None:
    names = ["one", "two", "three", "four"]
    write(package, **{name: f"print('{name}')\n" for name in names})
    write(package, two="import brim.one\nprint('two')\n", rare="print('rare')\n")
    ask = "print('asked')\n" + "".join(f"def ask_{name}(): import brim.{name}\nask_{name}()\n" for name in names)
    on_demand = "asked\none\ntwo\nthree\nfour"
    assert told(package, ask + "import brim.rare\n" + COMPLETE) == on_demand + "\nrare\nTrue"  # kept
    assert told(package, ask + COMPLETE) == on_demand + "\nTrue"  # asked for again
    ahead = "one\ntwo\nthree\nfour\nasked"
    assert told(package, ask + COMPLETE) == ahead + "\nFalse"
    assert told(package, ask + "import brim.rare\n" + COMPLETE) == ahead + "\nrare\nFalse"


def test_what_is_made_ahead_and_fails_is_made_when_it_is_asked_for(package: Path) -> None:
    names = ["one", "two", "three", "four"]
    write(package, **dict.fromkeys(names, ""))
    write(package, four="import sys\nif '--late' in sys.argv and not hasattr(sys, 'late'): raise RuntimeError\n")
    ask = "".join(f"import brim.{name}\n" for name in names)
    for _ in range(3):
        told(package, ask + KEEP)
    early = "import sys; sys.argv.append('--late')\n"
    late = "sys.late = True\nimport brim.four; print(brim.four.__name__, brim.one.__loader__ is kept)\n"
    assert told(package, late, before=early) == "brim.four True"


def test_what_another_brim_has_kept_is_not_taken_for_this_one(package: Path, tmp_path: Path) -> None:
    write(package, thing="VALUE = 'old'\n")
    look = "import brim.thing\nprint(brim.thing.VALUE, kept.save())\n"
    told(package, look)
    assert told(package, look) == "old False"
    other = tmp_path / "lib2"
    shutil.copytree(package, other, ignore=shutil.ignore_patterns("__pycache__"))
    write(other, thing="VALUE = 'new'\n")
    assert told(other, look) == "new True"
    assert [told(other, look) for _ in range(2)] == ["new True", "new False"]
