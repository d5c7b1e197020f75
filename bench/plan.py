"""Planning, measured: ``python bench/plan.py [--quick] [--seed N] [--json FILE] [--write]``.

How the time of a plan grows with the number of behaviors, and how much of the value that could be
had it keeps at several budgets. Exits with 1 if a target is missed. Progress goes to standard
error.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from brim.rules import ActivationTierMapper, InjectionPlan, Status, Tier
from measure import say
from optimum import best_value
from report import Target, arguments, finish, markdown, measured, table, this_machine
from rules import Made, make

BUDGETS = (100, 200, 500, 1_000, 2_000, 4_000)
BEHAVIORS = 200
"""How many are activated at once where values are compared."""
PLANS = {"lowest-first": False, "with fill": True}
"""Whether spare tokens are filled with more detail, by the name of the plan."""


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = arguments(__doc__, quick="up to 10,000 behaviors, fewer sets: under a minute")
    parser.add_argument("--seed", type=int, default=1, help="makes other behaviors (default: 1)")
    options = parser.parse_args()
    print(this_machine())
    values = compare(5 if options.quick else 40, options.seed)
    print_values(values)
    grown = growth(
        (100, 1_000, 10_000) if options.quick else (100, 1_000, 10_000, 100_000), options.seed
    )
    print_growth(grown)
    head = measured(
        options, f"mean of {values['sets']} sets of {BEHAVIORS} generated rules, by token budget"
    )
    lines = [
        [f"`{name}`", *(f"{found[b]:.0%}" for b in BUDGETS)]
        for name, found in values["mean"].items()
    ]
    tables = {"plans": head + markdown(["", *(f"{budget:,}" for budget in BUDGETS)], lines)}
    return finish(options, {"values": values, "growth": grown}, judge(values, grown), tables)


def plan(made: Made, fill: bool, budget: int | None) -> InjectionPlan:
    """Return brim's plan, with spare tokens filled or not."""
    behaviors, pairs, costs = made
    return ActivationTierMapper().plan(pairs, behaviors, budget=budget, costs=costs, fill=fill)


def best(made: Made, fill: bool, budget: int) -> float:
    """Return the value of the best plan there is; *fill* allows more detail than activation
    does."""
    behaviors, pairs, costs = made
    values = dict(pairs)
    mapper = ActivationTierMapper()
    most = {}
    for behavior in behaviors:
        tier = mapper.tier(values[behavior.id], behavior.kind)
        if behavior.status is Status.PENDING:
            tier = min(tier, Tier.SUMMARY)
        elif fill and tier is not Tier.OMITTED:
            tier = Tier.FULL
        most[behavior.id] = tier
    return best_value(behaviors, most, values, costs, budget)


def compare(sets: int, seed: int) -> dict[str, Any]:
    """Return, per budget, the mean share of the best possible value that a plan keeps, and the
    worst one."""
    shares: dict[str, dict[int, list[float]]] = {
        name: {budget: [] for budget in BUDGETS} for name in PLANS
    }
    better = 0
    for number in range(sets):
        if number % 10 == 0:
            say(f"values: set {number} of {sets}")
        made = make(BEHAVIORS, seed * 1_000 + number)
        for budget in BUDGETS:
            for name, fill in PLANS.items():
                made_plan = plan(made, fill, budget)
                most = best(made, fill, budget)
                if made_plan.over_budget or not most > 0:
                    raise SystemExit(
                        f"a plan does not fit {budget} tokens: not what is to be measured"
                    )
                shares[name][budget].append(made_plan.value / most)
                better += made_plan.value > most * (1 + 1e-9)
    return {
        "sets": sets,
        "mean": {
            name: {b: sum(v) / len(v) for b, v in found.items()} for name, found in shares.items()
        },
        "worst": {name: {b: min(v) for b, v in found.items()} for name, found in shares.items()},
        "better_than_best": better,
    }


def growth(numbers: Sequence[int], seed: int) -> dict[str, dict[int, dict[str, float]]]:
    """Seconds of processor time to plan so many behaviors into a tenth of the tokens they would
    take: best of five."""
    grown: dict[str, dict[int, dict[str, float]]] = {name: {} for name in PLANS}
    for number in numbers:
        say(f"growth: {number:,} behaviors")
        made = make(number, seed)
        budget = int(plan(made, False, None).total_tokens) // 10
        gc.collect()
        gc.disable()  # as timeit does: what was made before is not what is measured
        for name, fill in PLANS.items():
            times = []
            for _ in range(5):
                start = time.process_time()
                found = plan(made, fill, budget)
                times.append(time.process_time() - start)
            grown[name][number] = {"seconds": min(times), "evaluated": found.evaluated / number}
        gc.enable()
    return grown


def judge(values: dict[str, Any], grown: dict[str, dict[int, dict[str, float]]]) -> list[Target]:
    """Compare the results with what brim promises."""
    targets = [Target("plans better than the best there is", values["better_than_best"], at_most=0)]
    for name, found in grown.items():
        steepest = max(b["seconds"] / a["seconds"] for a, b in pairwise(found.values()))
        targets.append(
            Target(f"{name}: times the time for ten times the behaviors", steepest, at_most=15)
        )
    most = max(each["evaluated"] for each in grown["lowest-first"].values())
    targets.append(Target("lowest-first: demotions looked at per behavior", most, at_most=4))
    return targets


def print_values(values: dict[str, Any]) -> None:
    """Print what a plan keeps of what could be kept."""
    head = ["", *(f"{budget:,}" for budget in BUDGETS)]
    for what in ("mean", "worst"):
        lines = [
            [name, *(f"{found[b]:.1%}" for b in BUDGETS)] for name, found in values[what].items()
        ]
        title = f"Value kept of the best possible, {what} of {values['sets']} sets of {BEHAVIORS} behaviors, by budget"
        table(title, head, lines, [])


def print_growth(grown: dict[str, dict[int, dict[str, float]]]) -> None:
    """Print how time grows with the number of behaviors."""
    numbers = list(next(iter(grown.values())))
    head = [
        "",
        *(f"{n:,}" for n in numbers),
        *(f"{b / a:g} x" for a, b in pairwise(numbers)),
        "looked at",
    ]
    lines = []
    for name, found in grown.items():
        each = [1e6 * found[n]["seconds"] / n for n in numbers]
        times = [found[b]["seconds"] / found[a]["seconds"] for a, b in pairwise(numbers)]
        looked = max(one["evaluated"] for one in found.values())
        lines.append(
            [name, *(f"{v:.1f}" for v in each), *(f"{v:.1f}" for v in times), f"{looked:.2f}"]
        )
    title = (
        "Growth: microseconds per behavior to plan all into a tenth of their tokens, times the time for a tenth of\n"
        "them, and changes of tier looked at per behavior"
    )
    table(title, head, lines, [])


if __name__ == "__main__":
    sys.exit(main())
