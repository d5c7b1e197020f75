"""The PostgreSQL server of the tests starts anywhere, once, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.money.server import (
    LIBRARIES,
    PREFIX,
    Server,
    can_run,
    copy_programs,
    installed_postgres,
    run_unprivileged,
    running,
)
from tests.temporary import (
    RUN_PREFIX,
    TemporaryFolder,
    command_line,
    first_usable,
    places_on_disk,
    sweep,
)
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[2]
is_root = pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user runs its servers itself")

NEEDING_IT = """
import pytest
from hypothesis import given, strategies
from tests.money.server import running

@pytest.fixture
def server():
    return running()

@given(strategies.integers())
def test_examples(number):
    running()

def test_body():
    running()

@pytest.mark.parametrize("number", range(4))
def test_fixture(server, number):
    pass
"""

STARTING = """
import sys
from tests.money.server import running

print(running().folder, running().folder.joinpath("data", "postmaster.pid").read_text().split()[0], flush=True)
sys.stdin.read()
"""


@pytest.fixture
def place() -> Iterator[Path]:
    """Return a folder with a short path that the server's user can enter: pytest's own are
    closed."""
    folder = TemporaryFolder(
        RUN_PREFIX, first_usable([Path("/tmp"), Path("/var/tmp"), *places_on_disk()])
    )
    yield folder.path
    folder.remove()


def python(code: str, place: Path, **environ: str) -> subprocess.Popen[str]:
    """Start Python with *place* as its temporary folder."""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(place), **environ},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def run_tests(place: Path, *options: str, **environ: str) -> tuple[int, str]:
    """Run tests that need PostgreSQL, with *place* as their temporary folder."""
    shutil.copy(ROOT / "tests" / "conftest.py", place)
    (place / "test_needing_it.py").write_text(NEEDING_IT)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--rootdir",
        str(place),
        "-p",
        "no:cacheprovider",
        *options,
        str(place),
    ]
    environ = {**os.environ, "TMPDIR": str(place), "PYTHONPATH": str(ROOT), **environ}
    environ.pop("CI", None)  # there pytest repeats a failure's whole text in its summary
    pytest_run = subprocess.run(
        command, cwd=place, env=environ, capture_output=True, text=True, check=False
    )
    return pytest_run.returncode, pytest_run.stdout + pytest_run.stderr


@pytest.mark.parametrize(
    "options", [(), ("--numprocesses", "2"), ("-k", "fixture"), ("-k", "body")]
)
def test_a_server_that_fails_says_why_in_one_test_and_the_others_are_skipped(
    place: Path, options: tuple[str, ...]
) -> None:
    programs = place / "programs"
    programs.mkdir()
    initdb = programs / "initdb"
    initdb.write_text("#!/bin/sh\necho 'the disk is on fire' >&2\nexit 3\n")
    initdb.chmod(0o755)
    programs.chmod(0o755)
    code, output = run_tests(place, *options, BRIM_POSTGRES=str(programs))
    assert code == pytest.ExitCode.TESTS_FAILED, output
    assert output.count("the disk is on fire") == 1, output
    assert "Traceback" not in output
    assert "server.py" not in output
    (counts,) = re.findall(r"(\d+) (?:failed|error)", output.splitlines()[-1])
    assert counts == "1", output
    assert list(place.glob(f"{RUN_PREFIX}*")) == []
    assert list(place.glob(f"{PREFIX}*")) == []


def test_programs_that_are_missing_are_named(place: Path) -> None:
    _, output = run_tests(place, BRIM_POSTGRES="/no/such/folder")
    assert "/no/such/folder/initdb" in output


def test_the_server_of_a_killed_process_is_ended_by_the_next_one(place: Path) -> None:
    running()  # if it doesn't start, this is no test that has to say so
    killed = python(STARTING, place)
    assert killed.stdout is not None
    folder, pid = killed.stdout.readline().rsplit(maxsplit=1)
    assert folder in command_line(int(pid))
    assert sweep(place, PREFIX) == []  # its process is still there
    killed.kill()
    killed.communicate(timeout=PATIENCE)
    assert sweep(place, PREFIX) == [Path(folder).parent]
    assert not Path(folder).exists()
    assert folder not in command_line(int(pid))


def test_a_server_starts_below_a_path_with_spaces(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running()
    spaced = place / "a & b"
    spaced.mkdir()
    spaced.chmod(0o755)  # whatever the umask is
    monkeypatch.setattr("tempfile.tempdir", str(spaced))
    server = Server()
    try:
        assert spaced in server.folder.parents
    finally:
        server.remove()
    assert list(spaced.iterdir()) == []


@is_root
def test_a_copy_runs_where_the_installed_programs_cannot_be_entered(
    place: Path, tmp_path: Path
) -> None:
    installed = installed_postgres()
    closed = tmp_path / "closed"
    package = closed / installed.parent.name
    package.mkdir(parents=True)
    closed.chmod(0o700)
    shutil.copytree(installed, package / installed.name, symlinks=True)
    shutil.copytree(installed.parents[1] / LIBRARIES, closed / LIBRARIES, symlinks=True)
    assert not can_run(package / installed.name / "bin", place)
    copied = copy_programs(package / installed.name, place)
    assert can_run(copied / "bin", place)
    data = place / "data"
    data.mkdir()
    data.chmod(0o777)
    made = run_unprivileged(
        [str(copied / "bin" / "initdb"), "-D", str(data / "new"), "--no-sync"], place
    )
    assert made.returncode == 0, made.stderr
