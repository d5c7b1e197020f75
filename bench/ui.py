"""How fast ``brim ui`` starts and answers, and what it takes, with 1,000 sessions: python -m
bench.ui [--quick]

Targets: it listens within 0.5 s, the first page takes under 100 ms, and the process under 60 MB.
Times are CPU times of the server, so that a busy machine doesn't count; the wall clock is printed
next to them.
"""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.ui.story import Story

COMMAND = str(Path(sys.executable).with_name("brim"))
SESSIONS = 1_000
START, PAGE, MEMORY = 0.5, 0.1, 60.0
TICKS = os.sysconf("SC_CLK_TCK")


def cpu(process: int) -> float:
    """Return the CPU seconds that *process* has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory(process: int) -> float:
    """Return the megabytes that *process* has in memory."""
    found = next(
        line
        for line in Path(f"/proc/{process}/status").read_text().splitlines()
        if line.startswith("VmRSS")
    )
    return int(found.split()[1]) / 1_000


def home_with(root: Path, sessions: int) -> dict[str, str]:
    """Make a home with so many *sessions* of ten projects, most of them old, and return its
    environment."""
    environ = {"HOME": str(root / "home"), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    (root / "home").mkdir()
    now = time.time()
    for number in range(sessions):
        project = root / f"project{number % 10}"
        project.mkdir(exist_ok=True)
        begin = now - 600 * number - 400
        story = Story(environ, project, begin=begin, number=number, scale=0.02)
        story.play(cut=number > 3)
        os.utime(story.path, (begin + 300, begin + 300))
    return environ


def served(environ: dict[str, str], folder: Path) -> bool:
    """Start it, ask for pages, and print what they take; return whether the targets are met."""
    begun = time.monotonic()
    process = subprocess.Popen(
        [COMMAND, "ui", "--no-open", "--port", "0"],
        env=environ,
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        host, _, token = link.removeprefix("http://").partition("/")
        connection = http.client.HTTPConnection(host, timeout=120)
        connection.request("GET", f"/{token}")
        answer = connection.getresponse()
        cookie = answer.headers["set-cookie"].partition(";")[0]
        answer.read()
        start, wall = cpu(process.pid), time.monotonic() - begun
        time.sleep(2)  # a browser takes longer to start
        print(f"start           {start:6.2f} s CPU  {wall:6.2f} s  (target {START} s)")
        session = ""
        first = 0.0
        for name in (
            "first page",
            "Now",
            "Rules",
            "Money",
            "Money again",
            "Session",
            "Session again",
        ):
            path = {"Rules": "/rules", "Money": "/money", "Session": session}.get(
                name.split()[0], "/"
            )
            before, begun = cpu(process.pid), time.monotonic()
            while True:
                connection.request("GET", path, headers={"Cookie": cookie})
                text = connection.getresponse().read().decode()
                if "<h1>Reading" not in text:
                    break
                time.sleep(0.2)
            taken = cpu(process.pid) - before
            first = first or taken
            about = f"{memory(process.pid):5.1f} MB"
            print(
                f"{name:<15} {1000 * taken:6.0f} ms CPU {1000 * (time.monotonic() - begun):6.0f} ms  {about}"
            )
            if "/session/" in text and not session:
                session = text.partition('href="/session/')[2].partition('"')[0]
                session = f"/session/{session}"
        size = memory(process.pid)
        return start <= START and first <= PAGE and size <= MEMORY
    finally:
        process.terminate()
        process.wait()


def main() -> int:
    sessions = 50 if "--quick" in sys.argv else SESSIONS
    with tempfile.TemporaryDirectory() as folder:
        environ = home_with(Path(folder), sessions)
        print(
            f"{sessions:,} sessions; first page under {1000 * PAGE:.0f} ms, at most {MEMORY:.0f} MB"
        )
        return 0 if served(environ, Path(folder, "project0")) else 1


if __name__ == "__main__":
    sys.exit(main())
