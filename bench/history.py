"""Pruning, measured against its peers in one run: ``python bench/history.py [--quick] [--seed N]
[--json FILE]``.

Every trimmer gets the same histories and limits. What comes out is *usable* if a provider accepts
it, it fits by brim's count, and the system prompt and the last user message are still there. Exits
with 1 if a target is missed. Progress goes to standard error.
"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from typing import Any

import histories
from brim.messages import FifoPruner, WatermarkPruner
from brim.tokens import TokenCounter, counter_for
from histories import History, Message
from measure import SOURCES, say
from replay import Bill, cheapest, replay
from report import Target, arguments, finish, markdown, measured, table, this_machine
from trimmers import Trimmer, start_all, timed
from usable import Case, Row, Sizes, mean

MODEL = "gpt-4o"
BEST = "best possible"
SHARES = ("valid", "fits", "user", "last_user", "newest", "usable", "used", "used_tools")
REPLAYED = ("task", "parallel", "outputs", "turns")


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = arguments(__doc__, quick="fewer histories: under a minute")
    parser.add_argument("--seed", type=int, default=1, help="makes other histories (default: 1)")
    options = parser.parse_args()
    counter = counter_for(MODEL)
    sizes = Sizes(counter)
    say("importing everyone, making the histories")
    present, absent = start_all(counter)
    made = histories.make(10 if options.quick else 160, options.seed)
    versions = {trimmer.package: str(trimmer.version) for trimmer in present}
    print(
        f"{this_machine()}\n" + ", ".join(f"{name} {version}" for name, version in versions.items())
    )
    rows = compare(made, present, counter, sizes)
    print_comparison(rows, absent, len(made))
    played = [history for history in made if history.profile in REPLAYED][
        : 4 if options.quick else 8
    ]
    played.sort(
        key=lambda history: len(history.messages)
    )  # the slowest are measured on the first of every four
    bills = replay(played, present, counter, sizes.one, sizes.usable, say)
    print_replay(bills, len(played))
    grown = growth((1_000, 10_000) if options.quick else (1_000, 10_000, 100_000), counter)
    print_growth(grown)
    first = first_fit(5 if options.quick else 21)
    print(f"\nfirst brim.fit of 20 messages in a fresh process: {first:.1f} times bare Python")
    numbers: dict[str, Any] = {
        "versions": versions,
        "absent": absent,
        "comparison": {name: row.as_dict() for name, row in rows.items()},
        "replay": {name: asdict(bill) for name, bill in bills.items()},
        "growth": grown,
        "first_fit": first,
    }
    how = f"{len(made)} histories, {len(rows[BEST].cases):,} cases, {len(played)} conversations, processor time"
    head = measured(
        options, how, {name: found for name, found in versions.items() if name != "brim"}
    )
    lines = published(numbers["comparison"], numbers["replay"])
    short = [[line[0], *(line[1 + COLUMNS.index(name)] for name in SHORT)] for line in lines]
    tables = {
        "histories": head + markdown(["", *COLUMNS], lines),
        "histories, short": head + markdown(["", *SHORT], short),
    }
    targets = judge(rows)
    targets.append(Target("first fit in a fresh process, times bare python", first, at_most=8))
    return finish(options, numbers, targets, tables)


def compare(
    made: Sequence[History], trimmers: Sequence[Trimmer], counter: TokenCounter, sizes: Sizes
) -> dict[str, Row]:
    """Trim every history to each of its limits, with everyone; each processor takes some of the
    cases."""
    limits = [
        (history, limit)
        for history in made
        for limit in histories.targets(sizes.all(history.messages))
    ]
    numbered, processes = list(enumerate(limits)), os.cpu_count() or 1
    _everyone.update(trimmers=trimmers, counter=counter, sizes=sizes)
    with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
        rows, *more = pool.map(compare_some, [numbered[at::processes] for at in range(processes)])
    for part in more:
        for name, row in part.items():
            rows[name].extend(row)
    return rows


_everyone: dict[str, Any] = {}
"""What a forked process knows already: libraries can't be sent to it."""


def compare_some(cases: Sequence[tuple[int, tuple[History, int]]]) -> dict[str, Row]:
    """Trim the histories of numbered *cases* with everyone."""
    trimmers, counter, sizes = (_everyone[name] for name in ("trimmers", "counter", "sizes"))
    rows = {BEST: Row()} | {trimmer.name: Row() for trimmer in trimmers}
    for number, (history, limit) in cases:
        if number % 50 == 0:
            say(f"comparison: case {number}")
        case = Case.of(history, limit, sizes)
        rows[BEST].add(case, case.best, sizes)
        for trimmer in trimmers:
            if number % trimmer.every:
                continue
            row = rows[trimmer.name]
            trim = trimmer.start(counter)
            trimmed: list[Message] | None = None
            try:
                trimmed, seconds = trim(history.messages, limit)
                row.ms.append(seconds * 1000)
            except Exception as error:
                row.errors += 1
                say(f"{trimmer.name}: {type(error).__name__}: {error}")
            row.add(case, trimmed, sizes)
    return rows


def growth(numbers: Sequence[int], counter: TokenCounter) -> dict[str, dict[int, float]]:
    """Seconds to prune so many short messages to half of their tokens: the best of three."""
    table: dict[str, dict[int, float]] = {"fifo": {}, "watermark": {}, "watermark, next turn": {}}
    gc.freeze()  # what was made before is not what is measured
    for number in numbers:
        say(f"growth: {number:,} messages")
        messages = histories.short(number)
        limit = int(counter.count_messages(messages)) // 2
        times: dict[str, list[float]] = defaultdict(list)
        for _ in range(3):
            watermark = WatermarkPruner()
            again = [
                *messages,
                {"role": "assistant", "content": "done"},
                {"role": "user", "content": "and now?"},
            ]
            for name, pruner, chat in (
                ("fifo", FifoPruner(), messages),
                ("watermark", watermark, messages),
                ("watermark, next turn", watermark, again),
            ):
                _, seconds = timed(
                    partial(pruner.prune, chat, limit, counter=counter, provider="openai")
                )
                times[name].append(seconds)
        for name, taken in times.items():
            table[name][number] = min(taken)
    return table


FIRST_FIT = """
import sys
sys.path.insert(0, sys.argv[1])
import brim
history = [{"role": "user", "content": f"message {n}: tell me about it"} for n in range(20)]
brim.fit(history, model="gpt-4o")
"""


def first_fit(rounds: int) -> float:
    """Return how much longer a process takes that fits one history than one that does nothing.

    Both run in turn, so that a busy machine slows both; it is the median of their ratios.
    """
    ratios = []
    for number in range(rounds + 1):
        say(f"first fit: round {number} of {rounds}")
        bare = process_seconds("pass")
        fitting = process_seconds(FIRST_FIT)
        if number:  # the first round only warms the file cache
            ratios.append(fitting / bare)
    return statistics.median(ratios)


def process_seconds(code: str) -> float:
    """Return how long a fresh Python process takes to run *code*."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-I", "-c", code, SOURCES], check=True)
    return time.perf_counter() - start


def judge(rows: dict[str, Row]) -> list[Target]:
    """Compare the results with what brim promises."""
    targets = []
    for name, row in rows.items():
        if name.startswith("brim"):
            targets.append(Target(f"{name}: valid", mean(row.valid), at_least=1))
            targets.append(Target(f"{name}: fits, where it can", row.reached(row.fits), at_least=1))
            targets.append(
                Target(f"{name}: usable, where it can", row.reached(row.usable), at_least=1)
            )
            targets.append(
                Target(f"{name}: newest message kept, where it fits", row.kept_newest, at_least=1)
            )
    filled = mean(rows["brim fifo, fill"].used_tools)
    targets.append(
        Target("brim fifo, fill: share of the limit used, tool-heavy", filled, at_least=0.95)
    )
    return targets


def _share(value: float | None) -> str:
    """Return a percentage that says 100 only if nothing is missing."""
    return "-" if value is None else "100%" if value == 1 else f"{int(value * 1000) / 10}%"


COLUMNS = (
    "valid",
    "fits",
    "usable",
    "newest",
    "used",
    "ms",
    "cost each",
    "from cache",
    "usable then",
)
SHORT = ("valid", "fits", "usable", "newest", "cost each")
"""The columns of the tables in the documentation: of all, and of the one that compares."""


def published(comparison: dict[str, Any], replayed: dict[str, Any]) -> list[list[str]]:
    """Return the rows for the documentation: what everyone made of the histories, and what their
    requests cost."""
    best = comparison[BEST]
    lines = [[BEST, "", "", _share(best["usable"]), "", _share(best["used"]), *[""] * 4]]
    for name, bill in replayed.items():
        found = comparison[name]
        paid = [dollars for dollars in bill["dollars"] if dollars is not None]
        few = found["cases"] < best["cases"]
        label = f"{name} ({found['cases']} cases, {len(paid)} conversations)" if few else name
        shares = [_share(found[key]) for key in COLUMNS[:5]]
        read = _share(bill["read"] / max(1, bill["read"] + bill["written"]))
        sent = _share(bill["usable"] / max(1, bill["requests"]))
        lines.append(
            [
                label,
                *shares,
                f"{found['median_ms']:.1f}",
                f"${sum(paid) / max(1, len(paid)):.2f}",
                read,
                sent,
            ]
        )
    return lines


def print_comparison(rows: dict[str, Row], absent: dict[str, str], number: int) -> None:
    """Print what everyone made of the same histories, under the most that any selection of whole
    steps can reach."""
    head = [
        "cases",
        "valid",
        "fits",
        "user",
        "last user",
        "newest",
        "usable",
        "used",
        "used, tools",
        "ms",
        "errors",
    ]
    most = rows[BEST]
    bounds = [_share(mean(values)) for values in (most.usable, most.used, most.used_tools)]
    lines = [[BEST, str(len(most.cases)), *["-"] * 5, *bounds, "-", "-"]]
    for name, row in rows.items():
        if name != BEST:
            found = row.as_dict()
            ms = "-" if found["median_ms"] is None else f"{found['median_ms']:.1f}"
            lines.append(
                [
                    name,
                    str(found["cases"]),
                    *(_share(found[key]) for key in SHARES),
                    ms,
                    str(row.errors),
                ]
            )
    lines += [[f"{name}: not installed", *["-"] * len(head)] for name in absent]
    table(
        f"Pruning: {number} histories, each to several limits; shares of the outputs",
        ["", *head],
        lines,
        [],
    )


def print_replay(bills: dict[str, Bill], number: int) -> None:
    """Print what everyone's requests cost."""
    least = cheapest(bills)
    lines = []
    for name, bill in bills.items():
        measured = sum(dollars is not None for dollars in bill.dollars)
        ratio = f"{bill.ratio(bills[least]):.2f}" if least else "-"
        read = bill.read / max(1, bill.read + bill.written)
        mean = (bill.read + bill.written) / max(1, bill.requests)
        usable = _share(bill.usable / max(1, bill.requests))
        lines.append(
            [
                name,
                f"{bill.total / max(1, measured):.4f}",
                ratio,
                _share(read),
                f"{mean:,.0f}",
                usable,
            ]
        )
    title = f"Replay: {number} conversations trimmed before every request; times the cheapest that is nearly always usable"
    table(title, ["", "$ each", "times", "from cache", "tokens", "usable"], lines, [])


def print_growth(grown: dict[str, dict[int, float]]) -> None:
    """Print how time grows with the number of messages."""
    numbers = list(next(iter(grown.values())))
    head = [f"{number:,}" for number in numbers] + [f"{b / a:g} x" for a, b in pairwise(numbers)]
    lines = []
    for name, found in grown.items():
        seconds = [found[number] for number in numbers]
        times = [b / a for a, b in pairwise(seconds)]
        lines.append(
            [name, *(f"{value:.3f}" for value in seconds), *(f"{value:.1f}" for value in times)]
        )
    table(
        "Growth: seconds for so many short messages, and times the time for a tenth of them",
        ["", *head],
        lines,
        [],
    )


if __name__ == "__main__":
    sys.exit(main())
