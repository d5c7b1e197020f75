"""Several processes find what one finds, and what one of them leaves is read all the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from brim.errors import InputError
from brim.models.price_list import PriceList
from brim.sessions.processes import read_each
from brim.sessions.reading import read_file
from tests.sessions.window.transcripts import answer, cost_state, write

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no second process there")


def jobs(folder: Path, files: int, requests: int) -> list[str]:
    """Write session files; return their paths, and one of a file that is missing."""
    paths = []
    for number in range(files):
        lines = [answer(f"msg_{number}_{at}", f"req_{number}_{at}") for at in range(requests)]
        total = cost_state(1.5, f"s-{number}", outputTokens=number)
        paths.append(str(write(folder / f"{number}.jsonl", *lines, total)))
    return [*paths, str(folder / "missing.jsonl")]


def requests_in(path: str) -> list[tuple[object, ...]]:
    """Return the requests that the file *path* reports."""
    reading = read_file(path, format="claude-transcript", prices=PriceList())
    return [request.to_row() for request in reading.requests.values()]


def answers(wanted: list[str], processes: int) -> dict[int, object]:
    """Return what *processes* find in the files *wanted*, by their places."""
    sizes = [1] * len(wanted)
    found: dict[int, object] = {}
    for place, answer_to_job in read_each(wanted, requests_in, sizes, processes=processes):
        is_error = isinstance(answer_to_job, InputError)
        found[place] = str(answer_to_job) if is_error else answer_to_job
    return found


def test_processes_find_what_one_process_finds(tmp_path: Path) -> None:
    wanted = jobs(tmp_path, 5, 3)
    alone = answers(wanted, 1)
    assert answers(wanted, 3) == alone
    assert len(alone) == 6


def test_a_file_that_is_missing_is_an_answer_too(tmp_path: Path) -> None:
    assert "missing.jsonl" in str(answers(jobs(tmp_path, 5, 1), 1)[5])


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are found in /proc")
def test_what_a_killed_process_leaves_is_read_all_the_same(tmp_path: Path) -> None:
    # More than a pipe holds, so nobody is done before the first answer is taken.
    wanted = jobs(tmp_path, 6, 800)
    before = children()
    reading = read_each(wanted, requests_in, [1] * 7, processes=2)
    found = dict([next(reading)])
    for child in children() - before:
        os.kill(child, signal.SIGKILL)
    found |= dict(reading)
    assert sorted(found) == list(range(7))
    assert sum(len(rows) for rows in found.values() if isinstance(rows, list)) == 6 * 800


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are found in /proc")
def test_whoever_reads_ends_when_the_one_who_asked_is_killed(tmp_path: Path) -> None:
    jobs(tmp_path, 6, 800)
    code = (
        "import os, sys, time\n"
        "from brim.sessions.processes import read_each\n"
        "from tests.sessions.test_processes import requests_in\n"
        "wanted = [f'{sys.argv[1]}/{i}.jsonl' for i in range(6)]\n"
        "reading = read_each(wanted, requests_in, [1] * 6, processes=2)\n"
        "next(reading)\n"
        "print(open(f'/proc/self/task/{os.getpid()}/children').read(), flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    ) as asking:
        assert asking.stdout is not None
        reading = asking.stdout.readline().split()
        asking.kill()
        assert len(reading) == 2
        # Ends when the last process that could write there has ended.
        assert asking.stdout.read() == ""


def children() -> set[int]:
    """Return the child processes of this one."""
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}
