"""Counting, measured against its peers in one run: ``python bench/count.py [--quick] [--json FILE]
[--write]``.

Prints one table per question and exits with 1 if a target is missed. Progress goes to standard
error.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import brim
import measure
from peers import BRIM, ENCODINGS, ENGINES, FAST, TIKTOKEN, Count, Engine, write_vocabularies
from report import (
    ROOT,
    Results,
    Target,
    arguments,
    chart,
    finish,
    markdown,
    measured,
    print_tables,
    this_machine,
)

CJK = ("chinese", "japanese", "korean")
BULK = ("english", "python", "logs")


def main() -> int:
    """Measure, print, and return the exit status."""
    options = arguments(__doc__, quick="fewer kinds, rounds and cases: about a minute").parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = run(Path(folder), quick=options.quick)
    print_tables(results)
    if options.write:
        chart(results, ROOT / "docs" / "measurements.png")
    return finish(options, results.as_dict(), judge(results), published(results, options))


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
        raise SystemExit(
            f"tiktoken is what everything is compared with, and it is absent: {absent[TIKTOKEN.name]}"
        )
    counters: dict[Engine, Count] = {engine: loaded[engine]["o200k_base"] for engine in present}
    named = {engine.name: count for engine, count in counters.items()}
    cases, rounds = (3_000, 3) if quick else (10_000, 5)
    return Results(
        machine=this_machine(),
        versions={engine.name: engine.version or brim.__version__ for engine in present},
        absent=absent,
        cold=measure.cold_start(present, folder, 5 if quick else 11),
        throughput=measure.throughput(
            counters,
            (*BULK, "transcript", *CJK) if quick else tuple(dict.fromkeys((*SHOWN, *CJK))),
            500_000 if quick else 1_000_000,
            rounds,
        ),
        latency=measure.latency({**named, "brim.count()": brim.count}, 500 if quick else 4_000),
        pathological=measure.pathological(named, 1_000_000),
        growth=measure.growth(1_000_000),
        exactness={
            encoding: measure.exactness({e.name: loaded[e][encoding] for e in present}, cases)
            for encoding in ENCODINGS
        },
        cases=measure.exactness_cases(cases),
        rounds=rounds,
    )


def judge(results: Results) -> list[Target]:
    """Compare the results with what brim promises."""
    targets = [
        Target("cold exact count over bare python -I, ms", results.cold.get(BRIM.name), at_most=25),
        Target(
            "brim dev count FILE over bare python -I, ms",
            results.cold.get("brim dev count FILE"),
            at_most=70,
        ),
    ]
    for kind in BULK:
        targets.append(
            Target(
                f"brim[fast] on {kind}, times tiktoken", results.ratio(kind, FAST.name), at_least=3
            )
        )
    for kind in CJK:
        targets.append(
            Target(
                f"brim[fast] on {kind}, times tiktoken", results.ratio(kind, FAST.name), at_least=1
            )
        )
    everything = results.slowest(BRIM.name, results.pathological)
    targets.append(Target("brim on 1 MB of any pathological text, ms", everything, at_most=5_000))
    runs = results.slowest(BRIM.name, measure.RUNS)
    targets.append(Target("brim on 1 MB of one character, ms", runs, at_most=1_000))
    steepest = max(results.growth.values())
    targets.append(Target("brim on 16 times the text, times the time", steepest, at_most=20))
    slowest = results.slowest_pathological(FAST.name, TIKTOKEN.name)
    targets.append(
        Target("brim[fast] on pathological text, times tiktoken's time", slowest, at_most=2)
    )
    for name in (BRIM.name, FAST.name):
        found = [sum(table[name]) for table in results.exactness.values() if name in table]
        targets.append(Target(f"mismatches of {name}", sum(found) if found else None, at_most=0))
    return targets


SHOWN = {
    "english": "English",
    "python": "Python code",
    "logs": "JSON logs",
    "transcript": "agent transcript",
    "base64": "base64",
    "chinese": "Chinese",
    "japanese": "Japanese",
    "russian": "Russian",
}
"""The kinds of text in the documentation; the short table has the first four."""
SLOW = ("one letter", "spaces", "random letters", "base64 on one line")


def published(results: Results, options: argparse.Namespace) -> dict[str, str]:
    """Return the tables of the documentation: all engines, and the three that most people choose
    from."""
    everyone, three = list(results.versions), [TIKTOKEN.name, BRIM.name, FAST.name]
    how = f"medians of {results.rounds} rounds"
    versions = {
        name: version for name, version in results.versions.items() if not name.startswith("brim")
    }
    head = measured(options, how, versions, clock=True)
    short = measured(options, how, {TIKTOKEN.name: versions[TIKTOKEN.name]}, clock=True)
    slower, faster = (
        1 / (results.ratio("english", BRIM.name) or 1),
        results.ratio("english", FAST.name) or 0,
    )
    ours, theirs = results.cold[BRIM.name], results.cold[TIKTOKEN.name]
    sentence = (
        f"**Counting.** On top of Python's start, brim takes {ours:.0f} ms to count 5 KB in a fresh process; tiktoken "
        f"takes {theirs:.0f} ms and downloads its\nvocabulary first. In bulk, tiktoken is {slower:.1f} times as fast "
        f"as plain brim on English, and `brim[fast]` {faster:.1f} times as fast as tiktoken."
    )
    return {
        "counting, sentence": sentence,
        "counting": head + markdown(["", *everyone], rows(results, everyone)),
        "counting, short": short + markdown(["", *three], rows(results, three, full=False)),
    }


def rows(results: Results, names: list[str], *, full: bool = True) -> list[list[str]]:
    """Return the rows of a table of *names*: the short one leaves out texts that few people
    count."""

    def cells(label: str, what: Callable[[str], str]) -> list[str]:
        return [label, *(what(name) if name in results.versions else "absent" for name in names)]

    def speed(kind: str) -> Callable[[str], str]:
        found = results.throughput[kind]
        return lambda name: (
            f"{found[name][0]:.1f} MB/s" if name == TIKTOKEN.name else f"{found[name][1]:.2f}"
        )

    def slow(label: str) -> Callable[[str], str]:
        found = results.pathological[label]
        return lambda name: f"{ms:,.0f}" if isinstance(ms := found[name], float) else "fails"

    def wrong(encoding: str) -> Callable[[str], str]:
        found = results.exactness[encoding]
        return lambda name: "/".join(map(str, found[name])) if name in found else ""

    kinds = [kind for kind in list(SHOWN)[: None if full else 4] if kind in results.throughput]
    made = [cells("**cold start**, ms over bare Python", lambda name: f"{results.cold[name]:,.0f}")]
    for at, kind in enumerate(kinds):
        made.append(
            cells("**throughput**, times tiktoken: " * (at == 0) + SHOWN[kind], speed(kind))
        )
    made.append(
        cells(
            "**warm count** of 50 characters, µs", lambda name: f"{results.latency[50][name]:.1f}"
        )
    )
    for at, label in enumerate(SLOW if full else ()):
        made.append(cells("**pathological**, ms for 1 MB: " * (at == 0) + label, slow(label)))
    for encoding in results.exactness:
        label = f"**mismatches / exceptions**, {encoding}, of {results.cases:,} texts"
        made.append(cells(label, wrong(encoding)))
    return made


if __name__ == "__main__":
    sys.exit(main())
