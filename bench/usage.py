"""``brim usage`` and ``brim report`` against ccusage, same files: ``python bench/usage.py [--quick]
[--json FILE]``.

A seeded tree of transcripts is made. All read it in turns, in fresh processes, with the files in
the page cache: ccusage (``daily --json --offline``), brim without an index, which it builds on the
way, and brim with that index. The report reads all of each file, usage only some lines. Their
totals must be equal, or the run ends with an error. ccusage comes in two versions: 18 is
JavaScript, 20 a native program. ``scripts/bench`` installs both. Then all price requests whose cost
is known from the provider's price list. Exits with 1 if a target is missed. Progress goes to
standard error.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import transcripts
from brim import __version__
from measure import SOURCES, say
from programs import CCUSAGE, CCUSAGE_18, Program, present
from report import Target, arguments, finish, markdown, measured, table, this_machine

COLD, INDEXED = "brim, no index yet", "brim, with its index"
REPORT, REPORT_INDEXED = "brim report, no index yet", "brim report, with its index"
REPORTS = (REPORT, REPORT_INDEXED)
OURS = (COLD, INDEXED, *REPORTS)
NAME = "ccusage"
USAGE = [sys.executable, "-c", "from brim.cli import main; main()", "usage", "--json"]
RUNNER = """
import os, sys, time
start = time.perf_counter()
child = os.fork()
if child == 0:
    os.dup2(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    os.execvp(sys.argv[2], sys.argv[2:])
_, status, used = os.wait4(child, 0)
print(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss)
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
SONNET = "claude-sonnet-4-5-20250929"
PRICED: dict[str, tuple[dict[str, Any], float]] = {
    "input, output, five-minute cache": (
        {
            "input_tokens": 1_000,
            "cache_creation_input_tokens": 10_000,
            "cache_read_input_tokens": 100_000,
        },
        0.0855,
    ),
    "cache written for an hour": (
        {
            "input_tokens": 1_000,
            "cache_creation_input_tokens": 100_000,
            "cache_creation": {
                "ephemeral_5m_input_tokens": 0,
                "ephemeral_1h_input_tokens": 100_000,
            },
        },
        0.618,
    ),
    "a prompt of 300,000 tokens": (
        {"input_tokens": 1_000, "cache_read_input_tokens": 299_000},
        0.2079,
    ),
    "a web search": ({"input_tokens": 1_000, "server_tool_use": {"web_search_requests": 1}}, 0.028),
}
"""Requests with 1,000 tokens of output each, and what Anthropic's price list makes of them.

Sonnet 4.5, per million: input $3, output $15, cache written for five minutes $3.75 and for an hour
$6, read $0.30. If a prompt is over 200,000 tokens, all of it and the output cost $6, $22.50 and
$0.60. A web search is $0.01.
"""


def main() -> int:
    """Measure, print, and return the exit status."""
    options = arguments(__doc__, quick="fewer rounds: under a minute").parse_args()
    peers = present(CCUSAGE_18, CCUSAGE)
    print(
        f"{this_machine()}\nbrim {__version__}, {NAME} "
        + " and ".join(str(each.version) for each in peers.values())
    )
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        say("the transcripts are made")
        size = transcripts.make(folder / "claude", 100_000_000)
        rounds = 3 if options.quick else 7
        results = measure(folder, peers, rounds)
        costs = {
            name: priced(folder / f"priced{at}", peers, name) for at, name in enumerate(PRICED)
        }
    print(f"\n{size / 1e6:,.1f} MB in {results['files']} files; {results['requests']:,} requests")
    print_times(results)
    print_totals(results)
    how = (
        f"medians of {rounds} rounds, {size / 1e6:,.0f} MB in {results['files']} files, page cache"
    )
    versions = {NAME: " and ".join(str(each.version) for each in peers.values())}
    head = measured(options, how, versions, clock=True)
    names = ["brim", *peers]
    rows = [
        [name, *(f"${costs[name][each]:.4f}" for each in names), f"${right:.4f}"]
        for name, (_, right) in PRICED.items()
    ]
    table("What one request costs", ["", *names, "price list"], rows, [])
    tables = {
        "usage": head + markdown(*_times(results)),
        "prices": measured(options, "one request each", versions)
        + markdown(["", *names, "price list"], rows),
    }
    older = results["processor_ratios"].get(CCUSAGE_18.name, {})
    native = results["processor_ratios"].get(CCUSAGE.name, {})
    targets = [
        Target("no index yet: times as fast as ccusage 20", native.get(COLD), at_least=0.5),
        Target("with its index: times as fast as ccusage 20", native.get(INDEXED), at_least=1),
        Target("no index yet: times as fast as ccusage 18", older.get(COLD), at_least=5),
        Target("with its index: times as fast as ccusage 18", older.get(INDEXED), at_least=20),
        Target(
            "report, no index yet: times as fast as ccusage 18", older.get(REPORT), at_least=0.8
        ),
        Target(
            "report, with its index: times as fast as ccusage 18",
            older.get(REPORT_INDEXED),
            at_least=8,
        ),
    ]
    wrong = sum(abs(costs[name]["brim"] - right) > 1e-6 for name, (_, right) in PRICED.items())
    targets.append(Target("requests that brim prices wrongly", wrong, at_most=0))
    return finish(options, {"bytes": size, **results, "costs": costs}, targets, tables)


def environment(home: Path, claude: Path) -> dict[str, str]:
    """Return an environment in which only the transcripts in *claude* are seen."""
    home.mkdir(parents=True)
    environ = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "BRIM", "CODEX"))
    }
    environ |= {"HOME": str(home), "CLAUDE_CONFIG_DIR": str(claude), "TZ": "UTC"}
    return environ | {"PYTHONPYCACHEPREFIX": str(home / "pyc"), "PYTHONPATH": SOURCES}


def priced(folder: Path, peers: dict[str, Program], name: str) -> dict[str, float]:
    """Return what everyone says that one request of ``PRICED`` costs."""
    usage = {
        "output_tokens": 1_000,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        **PRICED[name][0],
    }
    text = [{"type": "text", "text": "Done."}]
    message = {
        "id": "msg_01",
        "type": "message",
        "model": SONNET,
        "role": "assistant",
        "content": text,
        "usage": usage,
    }
    session = "0f3c2f0a-7d2b-4a55-8a43-2f1f6a3b9e10"
    line: dict[str, Any] = {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/user/shop",
    }
    line |= {
        "sessionId": session,
        "version": "2.1.325",
        "gitBranch": "main",
        "message": message,
        "requestId": "req_01",
    }
    line |= {"type": "assistant", "uuid": session, "timestamp": "2026-01-05T08:00:00.000Z"}
    place = folder / "claude" / "projects" / "-home-user-shop"
    place.mkdir(parents=True)
    (place / f"{session}.jsonl").write_text(
        json.dumps(line, separators=(",", ":")) + "\n", encoding="utf-8"
    )
    environ = environment(folder / "home", folder / "claude")
    commands = {"brim": USAGE} | {
        peer: [*each.command, "daily", "--json", "--offline"] for peer, each in peers.items()
    }
    return {
        each: _totals(each, _run(command, environ, folder / "answer.json").answer)["cost"]
        for each, command in commands.items()
    }


def measure(folder: Path, peers: dict[str, Program], rounds: int) -> dict[str, Any]:
    """Run everyone in every round, so that a busy machine slows all of them; the first round does
    not count."""
    home = folder / "home"
    environ = environment(home, folder / "claude")
    report = [*USAGE[:-2], "report", "--json", str(folder / "claude")]
    commands = {
        name: [*each.command, "daily", "--json", "--offline"] for name, each in peers.items()
    }
    commands |= {COLD: USAGE, INDEXED: USAGE, REPORT: report, REPORT_INDEXED: report}
    times: dict[str, list[float]] = {name: [] for name in commands}
    work: dict[str, list[float]] = {name: [] for name in commands}
    memory: dict[str, float] = dict.fromkeys(commands, 0.0)
    answers: dict[str, Any] = {}
    for i in range(rounds + 1):
        say(f"round {i} of {rounds}")
        for name, command in commands.items():
            if name in (COLD, REPORT):
                shutil.rmtree(home / ".brim", ignore_errors=True)  # the index and its daily copy
            ran = _run(command, environ, folder / "answer.json")
            answers[name] = ran.answer
            memory[name] = max(memory[name], ran.megabytes)
            if i:
                times[name].append(ran.seconds)
                work[name].append(ran.processor_seconds)
    agree(answers)
    return {
        "seconds": {name: statistics.median(taken) for name, taken in times.items()},
        "processor_seconds": {name: statistics.median(spent) for name, spent in work.items()},
        "ratios": {
            peer: {name: _ratio(times[peer], times[name]) for name in OURS} for peer in peers
        },
        "processor_ratios": {
            peer: {name: _ratio(work[peer], work[name]) for name in OURS} for peer in peers
        },
        "megabytes": memory,
        "totals": {
            name: _totals(name, answer) for name, answer in answers.items() if name not in REPORTS
        },
        "files": answers[COLD]["read"]["files"],
        "requests": answers[COLD]["total"]["requests"],
    }


@dataclass(frozen=True)
class Run:
    """What one run of a command took, and what it printed."""

    seconds: float
    processor_seconds: float
    """Of all its processes: unlike seconds, the same on a busy machine."""
    megabytes: float
    """The peak memory of its largest process."""
    answer: Any


def _run(command: list[str], environ: dict[str, str], answer: Path) -> Run:
    runner = [sys.executable, "-I", "-c", RUNNER, str(answer), *command]
    done = subprocess.run(runner, env=environ, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[:2]}: {done.stderr.decode(errors='replace')[-500:]}")
    seconds, processor_seconds, kilobytes = map(float, done.stdout.split())
    printed = json.loads(answer.read_text(encoding="utf-8"))
    return Run(seconds, processor_seconds, kilobytes / 1024, printed)


def _ratio(theirs: list[float], ours: list[float]) -> float:
    """How many times as fast as a peer: the median of the rounds, each between neighbours in
    time."""
    return statistics.median(before / after for before, after in zip(theirs, ours, strict=True))


def _totals(name: str, answer: Any) -> dict[str, float]:
    if name.startswith(NAME):
        return {ours: answer["totals"][theirs] for theirs, ours in PAIRS.items()} | {
            "cost": answer["totals"]["totalCost"]
        }
    return {ours: answer["total"][ours] for ours in PAIRS.values()} | {
        "cost": answer["total"]["cost"] / 1e6
    }


def agree(answers: dict[str, Any]) -> None:
    """End the run if two have different totals, or costs that differ by more than is rounded up."""
    totals = {
        name: _totals(name, answer) for name, answer in answers.items() if name not in REPORTS
    }
    ours = totals[COLD]
    for name in REPORTS:
        if answers[name]["money"]["total"] != answers[COLD]["total"]["cost"]:
            raise SystemExit(
                f"{name}: costs {answers[name]['money']['total']}, not {answers[COLD]['total']['cost']}"
            )
    for name, theirs in totals.items():
        different = [key for key in PAIRS.values() if theirs[key] != ours[key]]
        if different:
            raise SystemExit(f"{name}: {different} differ: {theirs} is not {ours}")
        if not 0 <= ours["cost"] - theirs["cost"] <= answers[COLD]["total"]["requests"] / 1e6:
            raise SystemExit(f"{name}: costs ${theirs['cost']:.6f}, not ${ours['cost']:.6f}")


def print_times(results: dict[str, Any]) -> None:
    """Print how long each takes."""
    table("One answer in a fresh process (medians)", *_times(results), [])


def _times(results: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of a table: seconds, how many times as fast as each peer,
    memory."""
    ratios = results["processor_ratios"]
    rows = []
    for name, seconds in results["seconds"].items():
        times = [f"{ratios[peer][name]:.2g}" if name in ratios[peer] else "" for peer in ratios]
        work = f"{results['processor_seconds'][name]:.2f}"
        rows.append([name, f"{seconds:.2f}", work, *times, f"{results['megabytes'][name]:.0f}"])
    names = [f"times as fast as {peer}" for peer in ratios]
    return ["", "seconds", "processor seconds", *names, "peak MB"], rows


def print_totals(results: dict[str, Any]) -> None:
    """Print the totals, which are equal."""
    rows = [
        [name, *(f"{totals[key]:,}" for key in PAIRS.values()), f"${totals['cost']:,.4f}"]
        for name, totals in results["totals"].items()
    ]
    head = ["", "input", "output", "cache write", "cache read", "cost"]
    table(
        "Totals: the costs differ by what brim rounds up, less than a micro-dollar per request",
        head,
        rows,
        [],
    )


if __name__ == "__main__":
    sys.exit(main())
