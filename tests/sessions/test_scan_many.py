"""Several processes find what one finds, and what one of them leaves is read all the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from brim.errors import InputError
from brim.sessions.scan_processes import scan_many
from brim.sessions.scans import Scan
from brim.sessions.session_files import SessionFile, Stamp
from tests.sessions.window.transcripts import answer, cost_state, write

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no second process there")


def jobs(folder: Path, files: int, requests: int) -> list[SessionFile]:
    made = []
    for i in range(files):
        lines = [answer(f"msg_{i}_{j}", f"req_{i}_{j}") for j in range(requests)]
        path = write(folder / f"{i}.jsonl", *lines, cost_state(1.5, f"s-{i}", outputTokens=i))
        made.append(SessionFile(str(path), Stamp.of(path.stat()), i, "claude-transcript"))
    return [*made, SessionFile(str(folder / "missing.jsonl"), Stamp(0, 10, 0), "missing")]


def fields(found: Scan | InputError) -> object:
    if isinstance(found, InputError):
        return str(found)
    usage = found.usage
    return usage.to_row(), found.stamp, found.offset, found.check, found.format


def test_processes_find_what_one_process_finds(tmp_path: Path) -> None:
    wanted = jobs(tmp_path, 5, 3)
    alone = {place: fields(found) for place, found in scan_many(wanted, processes=1)}
    assert {place: fields(found) for place, found in scan_many(wanted, processes=3)} == alone
    assert len(alone) == 6


def test_a_file_that_is_missing_is_an_answer_too(tmp_path: Path) -> None:
    alone = {place: fields(found) for place, found in scan_many(jobs(tmp_path, 5, 1), processes=1)}
    assert "missing.jsonl" in str(alone[5])


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are found in /proc")
def test_what_a_killed_process_leaves_is_read_all_the_same(tmp_path: Path) -> None:
    wanted = jobs(
        tmp_path, 6, 800
    )  # more than a pipe holds, so nobody is done before the first answer is taken
    before = children()
    scanning = scan_many(wanted, processes=2)
    found = dict([next(scanning)])
    for child in children() - before:
        os.kill(child, signal.SIGKILL)
    found |= dict(scanning)
    assert sorted(found) == list(range(7))
    assert (
        sum(len(each.usage.requests) for each in found.values() if isinstance(each, Scan))
        == 6 * 800
    )


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are found in /proc")
def test_whoever_reads_ends_when_the_one_who_asked_is_killed(tmp_path: Path) -> None:
    jobs(tmp_path, 6, 800)
    code = (
        "import os, sys, time\n"
        "from brim.sessions.scan_processes import scan_many\n"
        "from brim.sessions.session_files import SessionFile, Stamp\n"
        "wanted = [SessionFile(f'{sys.argv[1]}/{i}.jsonl', Stamp(0, 1, 0), i) for i in range(6)]\n"
        "scanning = scan_many(wanted, processes=2)\n"
        "next(scanning)\n"
        "print(open(f'/proc/self/task/{os.getpid()}/children').read(), flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as asking:
        assert asking.stdout is not None
        reading = asking.stdout.readline().split()
        asking.kill()
        assert len(reading) == 2
        assert (
            asking.stdout.read() == ""
        )  # which ends when the last process that could write there has ended


def children() -> set[int]:
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}
