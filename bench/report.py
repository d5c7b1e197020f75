"""What was measured, as aligned tables, as JSON, as a chart, and in the documentation.

A page of the documentation has its figures between ``<!-- bench: NAME -->`` and ``<!-- end -->``.
``--write`` replaces them, so that nothing is copied by hand.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import brim

ROOT = Path(__file__).resolve().parents[1]
LOAD = os.getloadavg()[0]
"""How many processes wanted to run when this one began."""


def arguments(about: str | None, quick: str) -> argparse.ArgumentParser:
    """Return the options that every benchmark has: *about* is its docstring, *quick* what
    ``--quick`` leaves out."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every number there")
    parser.add_argument(
        "--write", action="store_true", help="put the tables into README.md and docs"
    )
    return parser


def finish(
    options: argparse.Namespace,
    numbers: Mapping[str, Any],
    targets: Sequence[Target],
    published: Mapping[str, str] | None = None,
) -> int:
    """Print the targets, write what the *options* ask for, and return the exit status."""
    missed = print_targets(targets)
    if options.json:
        about = {"machine": this_machine(), "targets": [target.as_dict() for target in targets]}
        options.json.write_text(
            json.dumps({**about, **numbers}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
    if options.write:
        for name, text in (published or {}).items():
            publish(name, text)
    return 1 if missed else 0


def publish(name: str, text: str) -> None:
    """Put *text* between the marks of *name*, on every page that has them."""
    marked = re.compile(rf"(<!-- bench: {re.escape(name)} -->\n).*?(?=<!-- end -->)", re.DOTALL)
    pages = []
    for page in sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]):
        before = page.read_text(encoding="utf-8")
        after, found = marked.subn(lambda match: f"{match[1]}\n{text.strip()}\n\n", before)
        if found:
            page.write_text(after, encoding="utf-8")
            pages.append(page.name)
    if not pages:
        raise SystemExit(f"no page has a place for {name!r}: <!-- bench: {name} -->")
    print(f"{name}: written to {', '.join(pages)}")


def measured(
    options: argparse.Namespace,
    how: str,
    versions: Mapping[str, str] | None = None,
    *,
    clock: bool = False,
) -> str:
    """Say what a table was measured with: the command with its *options*, the programs with their
    *versions*, *how*.

    If it has times on the *clock*, it also says whether the machine was busy.
    """
    command = f"scripts/bench {Path(sys.argv[0]).stem}{' --quick' * options.quick}"
    programs = ", ".join(
        f"{name} {version}"
        for name, version in {"brim": brim.__version__, **(versions or {})}.items()
    )
    busy = (
        f", busy with other work (load {LOAD:.0f})"
        if clock and (os.cpu_count() or 1) < LOAD
        else ""
    )
    return f"*`{command}`: {programs}; {how}; {this_machine()}{busy}.*\n\n"


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table for the documentation, the first column to the left and the others to the
    right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n".replace("|  |", "| |") for line in lines)


def this_machine() -> str:
    """Say in a few words what the numbers were measured on."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


@dataclass(frozen=True)
class Results:
    """Every number of one run."""

    machine: str
    versions: dict[str, str]
    absent: dict[str, str]
    """Engines that could not be loaded, and why."""
    cold: dict[str, float]
    throughput: dict[str, dict[str, tuple[float, float]]]
    latency: dict[int, dict[str, float]]
    pathological: dict[str, dict[str, float | str]]
    growth: dict[str, float]
    exactness: dict[str, dict[str, tuple[int, int]]]
    cases: int
    rounds: int

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values."""
        return asdict(self)

    def ratio(self, kind: str, engine: str) -> float | None:
        """How many times as fast as tiktoken *engine* counts *kind*."""
        found = self.throughput.get(kind, {}).get(engine)
        return found[1] if found else None

    def slowest(self, engine: str, labels: Iterable[str]) -> float | None:
        """The most milliseconds that *engine* took for one of the pathological texts in *labels*;
        None if it raised."""
        times = [self.pathological[label][engine] for label in labels]
        return max((time for time in times if isinstance(time, float)), default=None)

    def slowest_pathological(self, engine: str, reference: str) -> float | None:
        """The worst quotient of times, over the texts on which both have an answer."""
        quotients = []
        for row in self.pathological.values():
            ours, theirs = row.get(engine), row.get(reference)
            if isinstance(ours, float) and isinstance(theirs, float):
                quotients.append(ours / theirs)
        return max(quotients, default=None)


@dataclass(frozen=True)
class Target:
    """A promise and what was measured; a value that could not be measured misses its target."""

    name: str
    value: float | None
    at_most: float | None = None
    at_least: float | None = None

    @property
    def met(self) -> bool:
        """Whether the value is within the limit."""
        if self.value is None:
            return False
        return (self.at_most is None or self.value <= self.at_most) and (
            self.at_least is None or self.value >= self.at_least
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the target as plain values."""
        return {**asdict(self), "met": self.met}


def print_tables(results: Results) -> None:
    """Print one table for each question."""
    print(
        f"{results.machine}\n"
        + ", ".join(f"{name} {version}" for name, version in results.versions.items())
    )
    for name, reason in results.absent.items():
        print(f"absent: {name} ({reason})")
    names = list(results.versions)
    absent = list(results.absent)

    rows = [[name, f"{value:.1f}"] for name, value in results.cold.items()]
    table(
        "Cold start: one exact count of 5 KB in a fresh process, ms over bare python -I",
        ["", "ms"],
        rows,
        absent,
    )

    rows = []
    for kind, found in results.throughput.items():
        rows.append(
            [
                kind,
                f"{found['tiktoken'][0]:.1f}",
                *(f"{found[n][1]:.2f}" for n in names if n != "tiktoken"),
            ]
        )
    head = ["", "tiktoken MB/s", *(name for name in names if name != "tiktoken")]
    table(
        "Throughput: tiktoken in MB/s, the others in times tiktoken (median of rounds)",
        head,
        rows,
        absent,
    )

    everyone = [*names, "brim.count()"]
    rows = [
        [f"{length} characters", *(f"{found[n]:.1f}" for n in everyone)]
        for length, found in results.latency.items()
    ]
    table("Latency of a warm count, microseconds (median)", ["", *everyone], rows, absent)

    rows = []
    for label, timed in results.pathological.items():
        rows.append(
            [label, *(f"{v:.0f}" if isinstance(v := timed[n], float) else "raises" for n in names)]
        )
    table("Pathological text, 1 MB each, ms", ["", *names], rows, absent)

    rows = [[label, f"{times:.1f}"] for label, times in results.growth.items()]
    table(
        "Growth: brim on 1 MB (16 MB of one character), in times the time for a sixteenth of it",
        ["", "times"],
        rows,
        [],
    )

    rows = []
    for encoding, compared in results.exactness.items():
        rows.append([encoding, *("{}/{}".format(*compared[n]) for n in names if n != "tiktoken")])
    title = f"Exactness: mismatches with tiktoken / exceptions, in {results.cases:,} texts"
    table(title, ["", *(name for name in names if name != "tiktoken")], rows, absent)


def table(title: str, head: list[str], rows: list[list[str]], absent: list[str]) -> None:
    """Print *rows* under *head*, the first column to the left and the others to the right, absent
    engines last."""
    if len(head) > 2:
        head = head + absent
        rows = [row + ["absent"] * len(absent) for row in rows]
    else:
        rows = rows + [[name, "absent"] for name in absent]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    print(f"\n{title}")
    for row in [head, *rows]:
        first, *others = row
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        print("  ".join([first.ljust(widths[0]), *cells]).rstrip())


def print_targets(targets: Sequence[Target]) -> int:
    """Print each promise, and return how many are missed."""
    print("\nTargets")
    for target in targets:
        limit = (
            f"at most {target.at_most:g}"
            if target.at_most is not None
            else f"at least {target.at_least:g}"
        )
        value = "not measured" if target.value is None else f"{target.value:.2f}"
        print(f"{'met   ' if target.met else 'MISSED'}  {target.name}: {value} ({limit})")
    return sum(not target.met for target in targets)


def chart(results: Results, path: Path) -> None:
    """Draw cold starts and throughput ratios as bars."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(
        1, 2, figsize=(13, 5.2), width_ratios=(2, 3), layout="constrained"
    )
    cold = sorted(
        ((ms, name) for name, ms in results.cold.items() if not name.startswith("bare")),
        reverse=True,
    )
    colours = ["#1f6f54" if name.startswith("brim") else "#b4b9bf" for _, name in cold]
    bars = left.barh([name for _, name in cold], [ms for ms, _ in cold], color=colours)
    left.bar_label(bars, fmt="%.0f", padding=3)
    left.set_title(
        "Cold start: one exact count of 5 KB\nms over bare python -I, less is better", loc="left"
    )
    left.margins(x=0.12)

    kinds = [
        kind
        for kind in ("english", "python", "logs", "transcript", "chinese", "japanese", "korean")
        if kind in results.throughput
    ]
    names = [name for name in results.versions if name not in ("tiktoken", "brim", "tokenizers")]
    shades = ["#1f6f54", "#8fb7a8", "#c9ccd1", "#9aa3ad", "#6d7a88", "#d9c9a3", "#b39b6b"]
    width = 0.84 / len(names)
    for i, name in enumerate(names):
        heights = [results.throughput[kind][name][1] for kind in kinds]
        places = [k + (i - (len(names) - 1) / 2) * width for k in range(len(kinds))]
        right.bar(places, heights, width, label=name, color=shades[i % len(shades)])
    right.axhline(1, color="#444444", linewidth=1)
    right.annotate("tiktoken", (-0.52, 1), ha="right", va="bottom", color="#444444", fontsize=9)
    right.set_xticks(range(len(kinds)), kinds)
    right.set_xlim(-1.1, len(kinds) - 0.4)
    right.set_title("Throughput in bulk\ntimes tiktoken, more is better", loc="left")
    right.legend(frameon=False, ncols=2, loc="upper right", bbox_to_anchor=(1, 1.16))
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=140)
