"""The status line, measured as Claude Code meets it: ``python bench/statusline.py [--quick] [--json
FILE]``.

From a wheel in an environment of its own, a fresh process each time, in turn with ``python -I -c
pass``: with nothing stored, with a limit, with another status line to run, and
with every part. In the same turns: the status lines of ccstatusline, with its own settings, and of
ccusage. Exits with 1 if a target is missed.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from brim.cli.commands.statusline import EXAMPLE
from brim.config.settings import PARTS
from hook import install_wheel
from programs import CCSTATUSLINE, CCUSAGE, present
from report import Target, arguments, finish, markdown, measured, table, this_machine

BARE = "python -I -c pass"
PLAIN, LIMITED, CHAINED = "nothing stored", "a limit", "another status line (echo)"
EVERYTHING = "every part, for a subscriber"
TYPED = "typed: brim statusline"
START = {
    CCSTATUSLINE.name: CCSTATUSLINE.command,
    CCUSAGE.name: [*CCUSAGE.command, "statusline", "--no-cache"],
}
TARGETED = (PLAIN, LIMITED, EVERYTHING)
MOST = 3.5
"""Times the bare interpreter that it may take: less than a hook, since it's drawn after every
message."""

SESSION = "0f3c2f0a-7d2b-4a55-8a43-2f1f6a3b9e10"


def main() -> int:
    """Measure, print, and return the exit status."""
    options = arguments(__doc__, quick="15 rounds instead of 60").parse_args()
    print(this_machine())
    with tempfile.TemporaryDirectory() as folder:
        taken = measure(Path(folder).resolve(), 15 if options.quick else 60)
    medians = {name: statistics.median(times) for name, times in taken.items()}
    bare = medians[BARE]
    title = f"One status line in a fresh process, median of {len(taken[BARE])} alternating runs"
    rows = [[name, f"{ms:.1f}", f"{ms / bare:.2f}"] for name, ms in medians.items()]
    table(title, ["", "ms", "times bare"], rows, [])
    targets = [
        Target(f"status line, {name}, times bare python", medians[name] / bare, at_most=MOST)
        for name in TARGETED
    ]
    versions = {
        name.split()[0]: str(each.version) for name, each in present(CCSTATUSLINE, CCUSAGE).items()
    }
    head = measured(options, f"medians of {len(taken[BARE])} runs in turn", versions, clock=True)
    for row in rows:
        row.append(f"{MOST}" if row[0] in TARGETED else "")
    rows[0][0] = f"`{BARE}`"
    tables = {
        "statusline": head + markdown(["status line", "ms", "times bare Python", "target"], rows)
    }
    return finish(options, {"taken": taken}, targets, tables)


def measure(folder: Path, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each way to run it; everyone in every round, so that a busy machine slows all
    of them."""
    project = folder / "shop"
    (project / ".git").mkdir(parents=True)
    (project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    soon = time.time() + 86_400
    limits = {
        name: {"used_percentage": 91.2, "resets_at": soon} for name in ("five_hour", "seven_day")
    }
    transcript = folder / "transcript.jsonl"
    transcript.touch()
    window = {"total_input_tokens": 86_425, "total_output_tokens": 311, **EXAMPLE["context_window"]}
    sent = {**EXAMPLE, "session_id": SESSION, "cwd": str(project), "context_window": window}
    sent |= {
        "transcript_path": str(transcript),
        "workspace": {"current_dir": str(project), "project_dir": str(project)},
    }
    given, more = (json.dumps(each).encode() for each in (sent, {**sent, "rate_limits": limits}))
    homes = {
        name: folder / f"home{at}" for at, name in enumerate((PLAIN, LIMITED, CHAINED, EVERYTHING))
    }
    for home in homes.values():
        home.mkdir()
    (homes[LIMITED] / "config.yaml").write_text('limits:\n  "*": [5/day]\n')
    (homes[EVERYTHING] / "config.yaml").write_text(f"statusline:\n  parts: {', '.join(PARTS)}\n")
    chain = homes[CHAINED] / "statusline.json"
    chain.write_text('{"command": "cat >/dev/null; echo mine"}')
    chain.chmod(0o600)
    python = install_wheel(folder)
    install = "import sys; from brim.install.launchers import install_launchers; install_launchers(sys.argv[1])"
    for home in homes.values():
        subprocess.run([python, "-I", "-c", install, str(home)], check=True)
    calls = {
        BARE: ([python, "-I", "-c", "pass"], homes[PLAIN]),
        **{name: ([str(home / "bin" / "statusline")], home) for name, home in homes.items()},
        TYPED: ([str(Path(python).with_name("brim")), "statusline"], homes[PLAIN]),
        **{name: (START[name], homes[PLAIN]) for name in present(CCSTATUSLINE, CCUSAGE)},
    }
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for at in range(rounds + 1):
        for name, (command, home) in calls.items():
            environ = {
                "PATH": os.environ.get("PATH", os.defpath),
                "HOME": str(folder),
                "BRIM_HOME": str(home),
            }
            start = time.perf_counter()
            sent_here = more if home == homes[EVERYTHING] else given
            done = subprocess.run(
                command, input=sent_here, capture_output=True, env=environ, check=True, timeout=60
            )
            spent = (time.perf_counter() - start) * 1000
            if name != BARE and not shown(name, done.stdout):
                raise SystemExit(f"{name}: no status line came: {done.stdout!r} {done.stderr!r}")
            if at:  # the first round fills caches
                taken[name].append(spent)
    return taken


def shown(name: str, line: bytes) -> bool:
    """Whether *line* is a status line: brim's has the share of the window, ccstatusline's and
    ccusage's the model."""
    return (b"Opus" if name in START else b"43%") in line


if __name__ == "__main__":
    sys.exit(main())
