"""Planning, measured: ``python bench/plan.py [--quick] [--seed N] [--json FILE] [--write]``.

How the time of a plan grows with the number of behaviors, for each strategy, and how much of the value that could be
had each of them keeps at several budgets. Exits with 1 if a target is missed. Progress goes to standard error.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from brim.injection import ActivationTierMapper, InjectionPlan
from brim.injection.mapper import STRATEGIES
from measure import say
from report import ROOT, Target, arguments, finish, markdown, measured, table, this_machine
from rules import Made, make

BUDGETS = (100, 200, 500, 1_000, 2_000, 4_000)
BEHAVIORS = 200
"""How many are activated at once where values are compared."""


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = arguments(__doc__, quick="up to 10,000 behaviors, fewer sets: under a minute")
    parser.add_argument("--seed", type=int, default=1, help="makes other behaviors (default: 1)")
    options = parser.parse_args()
    print(this_machine())
    values = compare(5 if options.quick else 40, options.seed)
    print_values(values)
    grown = growth((100, 1_000, 10_000) if options.quick else (100, 1_000, 10_000, 100_000), options.seed)
    print_growth(grown)
    if options.write:
        chart(values, ROOT / "docs" / "plan-value.png")
    head = measured(options, f"mean of {values['sets']} sets of {BEHAVIORS} generated rules, by token budget")
    lines = [[f"`{name}`", *(f"{found[b]:.0%}" for b in BUDGETS)] for name, found in values["mean"].items()]
    tables = {"plans": head + markdown(["", *(f"{budget:,}" for budget in BUDGETS)], lines)}
    return finish(options, {"values": values, "growth": grown}, judge(values, grown), tables)


def plan(made: Made, strategy: str, budget: int | None) -> InjectionPlan:
    """Return the plan of one strategy."""
    behaviors, pairs, costs = made
    return ActivationTierMapper(strategy=strategy).plan(pairs, behaviors, budget=budget, costs=costs)


def compare(sets: int, seed: int) -> dict[str, Any]:
    """Return, per budget, the mean share of the best possible value that each strategy keeps, and the worst one."""
    shares: dict[str, dict[int, list[float]]] = {name: {budget: [] for budget in BUDGETS} for name in STRATEGIES}
    gaps = []
    better = 0
    for number in range(sets):
        if number % 10 == 0:
            say(f"values: set {number} of {sets}")
        made = make(BEHAVIORS, seed * 1_000 + number)
        for budget in BUDGETS:
            plans = {name: plan(made, name, budget) for name in STRATEGIES}
            best = plans["optimal"]
            bound = best.upper_bound
            if any(each.over_budget for each in plans.values()) or not bound:
                raise SystemExit(f"a plan does not fit {budget} tokens: not what is to be measured")
            gaps.append((bound - best.value) / bound)
            for name, each in plans.items():
                shares[name][budget].append(each.value / bound)
                better += each.value > best.value
    return {
        "sets": sets,
        "mean": {name: {b: sum(v) / len(v) for b, v in found.items()} for name, found in shares.items()},
        "worst": {name: {b: min(v) for b, v in found.items()} for name, found in shares.items()},
        "largest_gap": max(gaps),
        "better_than_optimal": better,
    }


def growth(numbers: Sequence[int], seed: int) -> dict[str, dict[int, dict[str, float]]]:
    """Seconds of processor time to plan so many behaviors into a tenth of the tokens they would take: best of five."""
    grown: dict[str, dict[int, dict[str, float]]] = {name: {} for name in STRATEGIES}
    for number in numbers:
        say(f"growth: {number:,} behaviors")
        made = make(number, seed)
        budget = int(plan(made, "level", None).total_tokens) // 10
        gc.collect()
        gc.disable()  # as timeit does: what was made before is not what is measured
        for name in STRATEGIES:
            times = []
            for _ in range(5):
                start = time.process_time()
                found = plan(made, name, budget)
                times.append(time.process_time() - start)
            gap = 0.0 if found.upper_bound is None else 1 - found.value / found.upper_bound
            grown[name][number] = {"seconds": min(times), "evaluated": found.evaluated / number, "gap": gap}
        gc.enable()
    return grown


def judge(values: dict[str, Any], grown: dict[str, dict[int, dict[str, float]]]) -> list[Target]:
    """Compare the results with what brim promises."""
    targets = [
        Target("plans better than optimal", values["better_than_optimal"], at_most=0),
        Target("optimal: largest gap to its bound, relative", values["largest_gap"], at_most=1e-9),
    ]
    for name in ("lowest-first", "level"):
        found = grown[name]
        steepest = max(b["seconds"] / a["seconds"] for a, b in pairwise(found.values()))
        targets.append(Target(f"{name}: times the time for ten times the behaviors", steepest, at_most=15))
        most = max(each["evaluated"] for each in found.values())
        targets.append(Target(f"{name}: demotions looked at per behavior", most, at_most=4))
    gap = max(each["gap"] for each in grown["optimal"].values())
    targets.append(Target("optimal: gap at any size, relative", gap, at_most=0.001))
    return targets


def print_values(values: dict[str, Any]) -> None:
    """Print what each strategy keeps of what could be kept."""
    head = ["", *(f"{budget:,}" for budget in BUDGETS)]
    for what in ("mean", "worst"):
        lines = [[name, *(f"{found[b]:.1%}" for b in BUDGETS)] for name, found in values[what].items()]
        title = f"Value kept of the best possible, {what} of {values['sets']} sets of {BEHAVIORS} behaviors, by budget"
        table(title, head, lines, [])


def print_growth(grown: dict[str, dict[int, dict[str, float]]]) -> None:
    """Print how time grows with the number of behaviors."""
    numbers = list(next(iter(grown.values())))
    head = ["", *(f"{n:,}" for n in numbers), *(f"{b / a:g} x" for a, b in pairwise(numbers)), "looked at", "gap"]
    lines = []
    for name, found in grown.items():
        each = [1e6 * found[n]["seconds"] / n for n in numbers]
        times = [found[b]["seconds"] / found[a]["seconds"] for a, b in pairwise(numbers)]
        looked = max(one["evaluated"] for one in found.values())
        gap = "-" if name != "optimal" else f"{max(one['gap'] for one in found.values()):.1e}"
        lines.append([name, *(f"{v:.1f}" for v in each), *(f"{v:.1f}" for v in times), f"{looked:.2f}", gap])
    title = (
        "Growth: microseconds per behavior to plan all into a tenth of their tokens, times the time for a tenth of\n"
        "them, changes of tier looked at per behavior, and the gap between optimal and its bound"
    )
    table(title, head, lines, [])


def chart(values: dict[str, Any], path: Path) -> None:
    """Draw the share of the best possible value over the budget."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3.8), layout="constrained")
    drawn = {"optimal": ("#1f6f54", 500), "lowest-first": ("#30475e", 200), "level": ("#b08d3c", 1_000)}
    for name, (colour, labelled) in drawn.items():
        mean, worst = ([100 * values[what][name][b] for b in BUDGETS] for what in ("mean", "worst"))
        axes.plot(BUDGETS, mean, color=colour, marker="o", markersize=4)
        axes.fill_between(BUDGETS, worst, mean, color=colour, alpha=0.1, linewidth=0)
        place = labelled, mean[BUDGETS.index(labelled)]
        axes.annotate(name, place, xytext=(0, 8), textcoords="offset points", color=colour, ha="center")
    axes.set_xscale("log")
    axes.set_xticks(BUDGETS, [f"{budget:,}" for budget in BUDGETS])
    axes.minorticks_off()
    axes.set_ylim(0, 108)
    axes.set_xlabel("budget in tokens")
    axes.yaxis.set_major_formatter("{x:.0f}%")
    axes.set_title(
        f"Value kept of the best possible\n{values['sets']} sets of {BEHAVIORS} behaviors: mean (line), worst (shade)",
        loc="left",
        fontsize=11,
    )
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=140)


if __name__ == "__main__":
    sys.exit(main())
