"""The folder of a run goes with the run, however it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.temporary import (
    TemporaryFolder,
    TestRun,
    first_usable,
    places_for_a_run,
    runs_programs,
    sweep,
)
from tests.waiting import PATIENCE, wait_until

ROOT = Path(__file__).parents[1]

OWNER = """
import sys
from pathlib import Path
from tests.temporary import TemporaryFolder

folder = TemporaryFolder("run-", Path(sys.argv[1]))
(folder.path / "file").write_text("x")
print(folder.path, flush=True)
sys.stdin.read()
"""


def start_owner(parent: Path) -> tuple[subprocess.Popen[str], Path]:
    """Start a process that owns a folder in *parent*."""
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(parent)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    return owner, Path(owner.stdout.readline().strip())


def end(owner: subprocess.Popen[str]) -> None:
    owner.kill()
    owner.communicate(timeout=PATIENCE)


def test_the_folder_of_a_killed_process_is_swept_and_one_in_use_is_not(tmp_path: Path) -> None:
    killed, abandoned = start_owner(tmp_path)
    living, in_use = start_owner(tmp_path)
    end(killed)
    try:
        assert sweep(tmp_path, "run-") == [abandoned]
        assert not abandoned.exists()
        assert (in_use / "file").read_text() == "x"
    finally:
        end(living)
    assert sweep(tmp_path, "run-") == [in_use]


def test_a_folder_without_a_lock_is_not_swept(tmp_path: Path) -> None:
    (tmp_path / "run-of-somebody").mkdir()
    assert sweep(tmp_path, "run-") == []
    assert (tmp_path / "run-of-somebody").exists()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    killed, abandoned = start_owner(tmp_path)
    end(killed)
    (tmp_path / "link-to-it").symlink_to(abandoned)
    assert sweep(tmp_path, "link-") == []
    assert abandoned.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_the_folder_of_another_user_is_not_swept(tmp_path: Path) -> None:
    killed, abandoned = start_owner(tmp_path)
    end(killed)
    os.chown(abandoned, 12_345, 12_345)
    assert sweep(tmp_path, "run-") == []
    assert abandoned.exists()


def test_a_fork_that_ends_leaves_the_folder_alone(tmp_path: Path) -> None:
    folder = TemporaryFolder("run-", tmp_path)
    fork = os.fork()
    if fork == 0:
        folder.remove()
        os._exit(0)
    os.waitpid(fork, 0)
    assert folder.path.exists()
    folder.remove()
    assert not folder.path.exists()


def test_a_place_that_is_missing_too_small_or_too_deep_is_passed_over(tmp_path: Path) -> None:
    usable = first_usable(places_for_a_run(), size=1)
    deep = usable / ("x" * 80)
    assert first_usable([tmp_path / "missing", deep, usable], size=1) == usable
    with pytest.raises(OSError, match="TMPDIR=FOLDER make test"):
        first_usable([usable], size=1 << 80)


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user runs its servers itself")
def test_root_passes_over_a_place_that_nobody_can_enter() -> None:
    usable = first_usable(places_for_a_run(), size=1)
    closed = TemporaryFolder("run-", usable)
    closed.path.chmod(0o700)
    try:
        assert first_usable([closed.path, usable], size=1) == usable
        assert runs_programs(closed.path, {})
    finally:
        closed.remove()


def test_a_run_that_fills_its_folder_is_stopped_and_the_folder_emptied() -> None:
    stopped = threading.Event()
    run = TestRun(limit=3_000_000, stop=stopped.set)
    folder = run.folder.path
    try:
        (folder / "small").write_bytes(b"x" * 100_000)
        (folder / "tests").mkdir()
        (folder / "tests" / "large").write_bytes(b"x" * 8_000_000)
        assert stopped.wait(PATIENCE)
        wait_until(lambda: [path.name for path in folder.iterdir()] == ["lock"])
    finally:
        run.remove()
    assert not folder.exists()
