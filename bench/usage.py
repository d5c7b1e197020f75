"""``brim usage`` and ``brim report`` against ccusage 18, same files: ``python bench/usage.py [--quick] [--json FILE]``.

A seeded tree of transcripts is made. All read it in turns, in fresh processes, with the files in the page cache:
ccusage (``daily --json --offline``), brim without an index, which it builds on the way, and brim with that index. The
report reads all of each file, usage only some lines. Their totals must be equal, or the run ends with an error. ccusage
is installed into a temporary folder by npm, unless ``--ccusage`` names its ``index.js``. Exits with 1 if a target is
missed. Progress goes to standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import transcripts
from brim import __version__
from measure import SOURCES, say
from report import Target, print_targets, table, this_machine

PEER = "ccusage@18.0.11"
COLD, INDEXED, THEIRS = "brim, no index yet", "brim, with its index", "ccusage 18.0.11"
REPORT, REPORT_INDEXED = "brim report, no index yet", "brim report, with its index"
REPORTS = (REPORT, REPORT_INDEXED)
RUNNER = """
import os, sys, time
start = time.perf_counter()
child = os.fork()
if child == 0:
    os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    os.execvp(sys.argv[2], sys.argv[2:])
_, status, used = os.wait4(child, 0)
print(time.perf_counter() - start, used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""Runs a command from a small process: Linux counts the memory of whoever starts one as its own."""
PAIRS = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheCreationTokens": "cache_creation_input_tokens",
    "cacheReadTokens": "cache_read_input_tokens",
}
"""What ccusage calls the totals, and what brim does."""


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds: under a minute")
    parser.add_argument("--ccusage", type=Path, metavar="PATH", help="the index.js of an installed ccusage 18")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every number there")
    options = parser.parse_args()
    machine = this_machine()
    print(f"{machine}\nbrim {__version__}, {PEER.replace('@', ' ')}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        say("the transcripts are made")
        size = transcripts.make(folder / "claude", 100_000_000)
        peer = options.ccusage or _install(folder / "npm")
        results = measure(folder, peer, 5 if options.quick else 15)
    files = results["files"]
    print(f"\n{size / 1e6:,.1f} MB in {files} files; {results['requests']:,} requests")
    print_times(results)
    print_totals(results)
    targets = [
        Target("no index yet: times as fast as ccusage", results["ratios"][COLD], at_least=5),
        Target("with its index: times as fast as ccusage", results["ratios"][INDEXED], at_least=20),
        Target("report, no index yet: times as fast as ccusage", results["ratios"][REPORT], at_least=0.8),
        Target("report, with its index: times as fast as ccusage", results["ratios"][REPORT_INDEXED], at_least=8),
    ]
    missed = print_targets(targets)
    if options.json:
        everything = {"machine": machine, "bytes": size, **results, "targets": [each.as_dict() for each in targets]}
        options.json.write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")
    return 1 if missed else 0


def _install(folder: Path) -> Path | None:
    """Install ccusage with npm; return its program, or None if that is not possible."""
    npm = shutil.which("npm")
    if npm is None:
        say("npm is not installed: ccusage cannot be measured")
        return None
    say(f"npm installs {PEER}")
    folder.mkdir()
    done = subprocess.run([npm, "install", "--silent", "--prefix", str(folder), PEER], capture_output=True, check=False)
    program = folder / "node_modules" / "ccusage" / "dist" / "index.js"
    if done.returncode or not program.exists():
        say(f"ccusage cannot be installed: {done.stderr.decode(errors='replace').strip()[-200:]}")
        return None
    return program


def measure(folder: Path, peer: Path | None, rounds: int) -> dict[str, Any]:
    """Run everyone in every round, so that a busy machine slows all of them; the first round does not count."""
    home = folder / "home"
    home.mkdir()
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "BRIM", "CODEX"))}
    environ |= {"HOME": str(home), "CLAUDE_CONFIG_DIR": str(folder / "claude"), "TZ": "UTC"}
    environ |= {"PYTHONPYCACHEPREFIX": str(folder / "pyc"), "PYTHONPATH": SOURCES}
    ours = [sys.executable, "-c", "from brim.cli import main; main()", "usage", "--json"]
    report = [*ours[:-2], "report", "--json", str(folder / "claude")]
    commands = {COLD: ours, INDEXED: ours, REPORT: report, REPORT_INDEXED: report}
    if peer is not None:
        commands = {THEIRS: ["node", str(peer), "daily", "--json", "--offline"], **commands}
    times: dict[str, list[float]] = {name: [] for name in commands}
    memory: dict[str, float] = dict.fromkeys(commands, 0.0)
    answers: dict[str, Any] = {}
    for i in range(rounds + 1):
        say(f"round {i} of {rounds}")
        for name, command in commands.items():
            if name in (COLD, REPORT):
                for part in home.glob(".brim/usage.db*"):
                    part.unlink()
            seconds, megabytes, answers[name] = _run(command, environ, folder / "answer.json")
            memory[name] = max(memory[name], megabytes)
            if i:
                times[name].append(seconds)
    agree(answers)
    return {
        "seconds": {name: statistics.median(taken) for name, taken in times.items()},
        "ratios": {name: _ratio(times, name) for name in (COLD, INDEXED, *REPORTS)},
        "megabytes": memory,
        "totals": {name: _totals(name, answer) for name, answer in answers.items() if name not in REPORTS},
        "files": answers[COLD]["read"]["files"],
        "requests": answers[COLD]["total"]["requests"],
    }


def _run(command: list[str], environ: dict[str, str], answer: Path) -> tuple[float, float, Any]:
    """Return seconds, peak memory of the largest process in megabytes, and what it printed."""
    runner = [sys.executable, "-I", "-c", RUNNER, str(answer), *command]
    done = subprocess.run(runner, env=environ, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[:2]}: {done.stderr.decode(errors='replace')[-500:]}")
    seconds, kilobytes = done.stdout.split()
    return float(seconds), int(kilobytes) / 1024, json.loads(answer.read_text(encoding="utf-8"))


def _ratio(times: dict[str, list[float]], name: str) -> float | None:
    """How many times as fast as ccusage: the median of the rounds, each between neighbours in time."""
    if THEIRS not in times:
        return None
    return statistics.median(theirs / ours for theirs, ours in zip(times[THEIRS], times[name], strict=True))


def _totals(name: str, answer: Any) -> dict[str, float]:
    if name == THEIRS:
        return {ours: answer["totals"][theirs] for theirs, ours in PAIRS.items()} | {
            "cost": answer["totals"]["totalCost"]
        }
    return {ours: answer["total"][ours] for ours in PAIRS.values()} | {"cost": answer["total"]["cost"] / 1e6}


def agree(answers: dict[str, Any]) -> None:
    """End the run if two have different totals, or costs that differ by more than is rounded up."""
    totals = {name: _totals(name, answer) for name, answer in answers.items() if name not in REPORTS}
    ours = totals[COLD]
    for name in REPORTS:
        if answers[name]["money"]["total"] != answers[COLD]["total"]["cost"]:
            raise SystemExit(f"{name}: costs {answers[name]['money']['total']}, not {answers[COLD]['total']['cost']}")
    for name, theirs in totals.items():
        different = [key for key in PAIRS.values() if theirs[key] != ours[key]]
        if different:
            raise SystemExit(f"{name}: {different} differ: {theirs} is not {ours}")
        if not 0 <= ours["cost"] - theirs["cost"] <= answers[COLD]["total"]["requests"] / 1e6:
            raise SystemExit(f"{name}: costs ${theirs['cost']:.6f}, not ${ours['cost']:.6f}")


def print_times(results: dict[str, Any]) -> None:
    """Print how long each takes."""
    rows = []
    for name, seconds in results["seconds"].items():
        ratio = results["ratios"].get(name)
        times = "" if ratio is None else f"{ratio:.1f}"
        rows.append([name, f"{seconds:.3f}", times, f"{results['megabytes'][name]:.0f}"])
    table("One answer in a fresh process (medians)", ["", "seconds", "times as fast", "peak MB"], rows, [])


def print_totals(results: dict[str, Any]) -> None:
    """Print the totals, which are equal."""
    rows = [
        [name, *(f"{totals[key]:,}" for key in PAIRS.values()), f"${totals['cost']:,.4f}"]
        for name, totals in results["totals"].items()
    ]
    head = ["", "input", "output", "cache write", "cache read", "cost"]
    table("Totals: the costs differ by what brim rounds up, less than a micro-dollar per request", head, rows, [])


if __name__ == "__main__":
    sys.exit(main())
