"""Counting, measured against its peers in one run: ``python bench/count.py [--quick] [--json FILE] [--png FILE]``.

Prints one table per question and exits with 1 if a target is missed. Progress goes to standard error.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import brim
import corpus
import measure
from peers import BRIM, ENCODINGS, ENGINES, FAST, TIKTOKEN, Count, Engine, write_vocabularies
from report import Results, Target, chart, print_tables, print_targets, this_machine

CJK = ("chinese", "japanese", "korean")
BULK = ("english", "python", "logs")


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer kinds, rounds and cases: about a minute")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every number there")
    parser.add_argument("--png", type=Path, metavar="FILE", help="draw the chart of docs/benchmarks.md there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = run(Path(folder), quick=options.quick)
    print_tables(results)
    targets = judge(results)
    missed = print_targets(targets)
    if options.json:
        everything = {**results.as_dict(), "targets": [target.as_dict() for target in targets]}
        options.json.write_text(json.dumps(everything, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if options.png:
        chart(results, options.png)
    return 1 if missed else 0


def run(folder: Path, *, quick: bool) -> Results:
    """Measure everything."""
    measure.say("writing the vocabularies for the peers from brim's tables")
    write_vocabularies(folder)
    present, absent, loaded = [], {}, {}
    for engine in ENGINES:
        try:
            loaded[engine] = {encoding: engine.load(encoding, folder) for encoding in ENCODINGS}
            present.append(engine)
        except Exception as error:
            absent[engine.name] = f"{type(error).__name__}: {error}".splitlines()[0]
    if TIKTOKEN not in loaded:
        raise SystemExit(f"tiktoken is what everything is compared with, and it is absent: {absent[TIKTOKEN.name]}")
    counters: dict[Engine, Count] = {engine: loaded[engine]["o200k_base"] for engine in present}
    named = {engine.name: count for engine, count in counters.items()}
    cases = 3_000 if quick else 40_000
    return Results(
        machine=this_machine(),
        versions={engine.name: engine.version or brim.__version__ for engine in present},
        absent=absent,
        cold=measure.cold_start(present, folder, 5 if quick else 21),
        throughput=measure.throughput(
            counters,
            (*BULK, "transcript", *CJK) if quick else corpus.KINDS,
            500_000 if quick else 1_000_000,
            3 if quick else 7,
        ),
        latency=measure.latency({**named, "brim.count()": brim.count}, 500 if quick else 4_000),
        pathological=measure.pathological(named, 1_000_000),
        growth=measure.growth(1_000_000),
        exactness={
            encoding: measure.exactness({e.name: loaded[e][encoding] for e in present}, cases) for encoding in ENCODINGS
        },
        cases=measure.exactness_cases(cases),
    )


def judge(results: Results) -> list[Target]:
    """Compare the results with what brim promises."""
    targets = [
        Target("cold exact count over bare python -I, ms", results.cold.get(BRIM.name), at_most=25),
        Target("brim count FILE over bare python -I, ms", results.cold.get("brim count FILE"), at_most=70),
    ]
    for kind in BULK:
        targets.append(Target(f"brim[fast] on {kind}, times tiktoken", results.ratio(kind, FAST.name), at_least=3))
    for kind in CJK:
        targets.append(Target(f"brim[fast] on {kind}, times tiktoken", results.ratio(kind, FAST.name), at_least=1))
    everything = results.slowest(BRIM.name, results.pathological)
    targets.append(Target("brim on 1 MB of any pathological text, ms", everything, at_most=5_000))
    runs = results.slowest(BRIM.name, measure.RUNS)
    targets.append(Target("brim on 1 MB of one character, ms", runs, at_most=1_000))
    steepest = max(results.growth.values())
    targets.append(Target("brim on 16 times the text, times the time", steepest, at_most=20))
    slowest = results.slowest_pathological(FAST.name, TIKTOKEN.name)
    targets.append(Target("brim[fast] on pathological text, times tiktoken's time", slowest, at_most=2))
    for name in (BRIM.name, FAST.name):
        found = [sum(table[name]) for table in results.exactness.values() if name in table]
        targets.append(Target(f"mismatches of {name}", sum(found) if found else None, at_most=0))
    return targets


if __name__ == "__main__":
    sys.exit(main())
