"""Activation, measured against its peers in one run: ``python bench/activation.py [--quick] [--json
FILE]``.

All compute the same activations, equal to a billionth, or the run ends with an error. Then the same
neighbourhood is activated in graphs of a hundred to a hundred thousand rules. Exits with 1 if a
target is missed. Progress goes to standard error.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable, Sequence

import spreaders
from brim.rules import Context, Graph, activate
from measure import say
from report import Target, arguments, finish, markdown, measured, table, this_machine
from spreaders import BRIM, NOW, PEERS, Spreader

CONTEXTS = {
    "one topic": Context(custom={"topic": "topic-2"}),
    "one topic and a language": Context(language="python", custom={"topic": "topic-2"}),
    "fifty topics": Context(custom={"topic": [f"topic-{i}" for i in range(50)]}),
    "every Python rule": Context(language="python"),
    "every rule there is": Context(project_type="library"),
}
NARROW = ("one topic", "one topic and a language", "fifty topics")
"""What a prompt brings up: some of what was ever learned. The other contexts reach more than half
of the graph."""


def main() -> int:
    """Measure, print, and return the exit status."""
    options = arguments(__doc__, quick="up to 10,000 behaviors: under a minute").parse_args()
    engines = [BRIM, *(peer for peer in PEERS if peer.version)]
    versions = {engine.package: str(engine.version) for engine in engines}
    absent = [peer.name for peer in PEERS if not peer.version]
    print(
        f"{this_machine()}\n" + ", ".join(f"{name} {version}" for name, version in versions.items())
    )
    compared, sizes = compare(engines, 10_000, 5 if options.quick else 15)
    print_comparison(compared, sizes, absent)
    numbers = (100, 1_000, 10_000) if options.quick else (100, 1_000, 10_000, 100_000)
    grown = growth(numbers, 9 if options.quick else 25)
    print_growth(grown)
    found = {
        "versions": versions,
        "absent": absent,
        "comparison": compared,
        "activated": sizes,
        "growth": grown,
    }
    how = "milliseconds, 10,000 rules and 30,000 connections"
    head = measured(
        options, how, {name: each for name, each in versions.items() if name != "brim"}, clock=True
    )
    names = list(next(iter(compared.values())))
    lines = [
        [
            label,
            f"{sizes[label]:,}" if label in sizes else "",
            *(_milliseconds(times[name]) for name in names),
        ]
        for label, times in compared.items()
    ]
    tables = {"activation": head + markdown(["context", "rules found", *names], lines)}
    return finish(options, found, judge(compared, grown, numbers[-1]), tables)


def _milliseconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def timed(call: Callable[[], object], rounds: int) -> float:
    """Milliseconds of *call*: the median of *rounds*, after one that does not count."""
    call()
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        taken.append((time.perf_counter() - start) * 1000)
    return statistics.median(taken)


def compare(
    engines: Sequence[Spreader], number: int, rounds: int
) -> tuple[dict[str, dict[str, float]], dict[str, int]]:
    """Milliseconds of everyone to prepare a graph and to activate in each context, and how many
    that activates."""
    behaviors, edges = spreaders.make(number)
    found: dict[str, dict[str, float]] = {"prepare the graph": {}}
    prepared = {}
    for engine in engines:
        say(f"comparison: {engine.name} prepares {number:,} behaviors and {len(edges):,} edges")
        start = time.perf_counter()
        prepared[engine.name] = engine.prepare(behaviors, edges)
        found["prepare the graph"][engine.name] = (time.perf_counter() - start) * 1000
    gc.collect()
    gc.freeze()  # what was made before is not what is measured
    sizes = {}
    for label, context in CONTEXTS.items():
        say(f"comparison: {label}")
        ours = prepared[BRIM.name](context)
        sizes[label] = len(ours)
        for name, spread in prepared.items():
            agree(ours, spread(context), name, label)
        taken: dict[str, list[float]] = {name: [] for name in prepared}
        for _ in range(rounds):  # everyone in every round, so that a busy machine slows all of them
            for name, spread in prepared.items():
                start = time.perf_counter()
                spread(context)
                taken[name].append((time.perf_counter() - start) * 1000)
        found[label] = {name: statistics.median(times) for name, times in taken.items()}
    return found, sizes


def agree(ours: dict[str, float], theirs: dict[str, float], name: str, label: str) -> None:
    """End the run if two have different activations."""
    worst = max(
        (abs(ours.get(id, 0) - theirs.get(id, 0)) for id in ours.keys() | theirs.keys()),
        default=0.0,
    )
    if not ours or worst > 1e-9:
        raise SystemExit(f"{label}: {name} is off by {worst}: these are not the same numbers")


def growth(numbers: Sequence[int], rounds: int) -> dict[str, dict[int, float]]:
    """Milliseconds to activate one topic in graphs of so many behaviors."""
    found: dict[str, dict[int, float]] = {"in memory": {}}
    context = CONTEXTS["one topic"]
    for number in numbers:
        say(f"growth: {number:,} behaviors")
        behaviors, edges = spreaders.make(number)
        graph = Graph(behaviors, edges)
        assert len(activate(graph, context, now=NOW)) > 5
        found["in memory"][number] = timed(
            lambda: activate(graph, context, now=NOW),  # noqa: B023
            20 * rounds,
        )
    return found


def judge(
    compared: dict[str, dict[str, float]], grown: dict[str, dict[int, float]], most: int
) -> list[Target]:
    """Compare the results with what brim promises."""
    targets = []
    for peer in PEERS:
        for label in NARROW:
            theirs = compared[label].get(peer.name)
            times = None if theirs is None else theirs / compared[label][BRIM.name]
            targets.append(Target(f"{label}: times as fast as {peer.name}", times, at_least=1))
    for label, found in grown.items():
        targets.append(
            Target(f"{label}: {most:,} behaviors to 1,000", found[most] / found[1_000], at_most=3)
        )
    return targets


def print_comparison(
    found: dict[str, dict[str, float]], sizes: dict[str, int], absent: list[str]
) -> None:
    """Print milliseconds, and how many behaviors came up."""
    names = list(next(iter(found.values())))
    rows = [
        [label, str(sizes.get(label, "")), *(f"{times[name]:,.2f}" for name in names)]
        for label, times in found.items()
    ]
    title = "10,000 behaviors, 30,000 edges: milliseconds for the same activations"
    table(title, ["", "activated", *names], rows, absent)


def print_growth(found: dict[str, dict[int, float]]) -> None:
    """Print how time grows with the number of behaviors around the same neighbourhood."""
    numbers = list(next(iter(found.values())))
    rows = [
        [label, *(f"{times[number]:.2f}" for number in numbers)] for label, times in found.items()
    ]
    title = "Growth: milliseconds to activate the same topic of twenty, among so many behaviors"
    table(title, ["", *(f"{number:,}" for number in numbers)], rows, [])


if __name__ == "__main__":
    sys.exit(main())
