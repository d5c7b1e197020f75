"""How a plan looks: a table of what goes in and why, or a picture of how tiers change over a range of budgets."""

from __future__ import annotations

from collections.abc import Sequence

from brim.behaviors.behavior import Behavior
from brim.cli.output import counted, cut, heading, lines, listed, paint, symbols, table, terminal_width
from brim.cli.rule_view import heard, kind_of, one_line
from brim.errors import InputError
from brim.injection.plan import InjectionPlan, Item
from brim.injection.tiers import Tier
from brim.store.planner import Planner, constraints_left_out

DRAWN = 24
"""Budgets that can be drawn: they fit next to the names in 40 columns."""
LISTED = 1_000
"""Budgets that can be asked for as JSON."""
DETAIL = (Tier.FULL, Tier.SUMMARY, Tier.NAME_ONLY, Tier.OMITTED)
NARROWEST = 8
"""Columns that a text gets at least."""


def is_range(text: str | None) -> bool:
    """Whether *text* means several budgets."""
    return text is not None and ".." in text


def budgets_of(text: str, *, for_drawing: bool) -> list[int]:
    """Return the budgets that ``A..B`` or ``A..B..STEP`` means, with both ends in.

    >>> budgets_of("0..100..30", for_drawing=True)
    [0, 30, 60, 90, 100]
    """
    try:
        first, last, *steps = [int(part) for part in text.split("..")]
        least_step = min(steps, default=1)
    except ValueError:
        raise InputError(f"--tokens takes N, A..B or A..B..STEP in whole numbers, not {text[:60]!r}") from None
    if len(steps) > 1 or not 0 <= first <= last or least_step < 1:
        raise InputError(f"--tokens {text[:60]}: a range goes from 0 or more up, in steps of at least 1")
    most = DRAWN if for_drawing else LISTED
    step = steps[0] if steps else _round_step(last - first, DRAWN)
    if -(-(last - first) // step) + 1 > most:
        least = _round_step(last - first, most)
        raise InputError(f"--tokens {text[:60]}: {most:,} budgets at most: take a step of {least:,} or more")
    return [*range(first, last, step), last]


def active_view(planner: Planner, items: Sequence[Item]) -> str:
    """Return what matters, and why, without a budget."""
    rows = [["activation", "tier", "kind", "why", "rule"]]
    rows += [
        [f"{item.activation:.2f}", str(item.tier), kind_of(item.behavior), planner.why(item), one_line(item.behavior)]
        for item in items
    ]
    return heading(table(rows, right=frozenset({0}), optional=(2, 3)))


def plan_view(planner: Planner, plan: InjectionPlan) -> str:
    """Return what goes in within the budget, in how much detail, and why."""
    rows, more = listed([_row(planner, item) for item in plan.items])
    head = ["activation", "tier", "tokens", "kind", "why", "rule"]
    shown = heading(table([head, *rows], right=frozenset({0, 2}), optional=(3, 4)))
    proof = _proof(plan) if plan.upper_bound is not None else ""
    return lines(shown, more, f"\n{total_line(plan)}", proof, *plan.reasons)


def waiting_view(rules: Sequence[Behavior]) -> str:
    """Return the rules that come later, each with when agents are told it; empty if there are none."""
    if not rules:
        return ""
    rows, more = listed([[one_line(each), heard(each)] for each in rules])
    count = f"{counted(len(rules), 'more rule')} {'waits' if len(rules) == 1 else 'wait'} for the right moment"
    return lines(f"\n{count}:", heading(table([["rule", "told"], *rows])), more)


def _row(planner: Planner, item: Item) -> list[str]:
    tier = str(item.tier)
    if item.tier is not item.mapped:
        tier = f"{item.mapped} {symbols('→', '->')} {item.tier}"
    tokens = f"{int(item.tokens):,}" if item.tier else ""
    kind = kind_of(item.behavior) if item.tier else item.behavior.kind.value
    return [f"{item.activation:.2f}", tier, tokens, kind, planner.why(item), one_line(item.behavior)]


def total_line(plan: InjectionPlan) -> str:
    """Return what the plan takes in all, and how that was counted."""
    total, budget = plan.total_tokens, plan.token_budget
    taken = f"{int(total):,} tokens, no limit" if budget is None else f"{int(total):,} of {budget:,} tokens"
    basis = total.basis if total.low == total.high else f"{total.basis} ({total.low:,} to {total.high:,})"
    characters = [] if plan.max_chars is None else [f"{plan.characters:,} of {plan.max_chars:,} characters"]
    line = ", ".join([taken, *characters, f"{basis} for {plan.counter}", plan.format, plan.strategy])
    return paint(line, "red") if constraints_left_out(plan) else line


def _proof(plan: InjectionPlan) -> str:
    """Return how good the choice is, which only ``optimal`` knows."""
    gap, bound = plan.gap or 0.0, plan.upper_bound or 0.0
    if gap < 1e-9:
        return f"value {plan.value:.3f}: no choice that fits has more"
    return f"value {plan.value:.3f}, upper bound {bound:.3f}: at most {gap:.3f} ({gap / bound:.2%}) could be gained"


def range_view(plans: Sequence[InjectionPlan]) -> str:
    """Return the picture of *plans*, which differ by their budgets alone: within the terminal, with a legend."""
    marks = dict(zip(DETAIL, symbols("█▓░·", "#=-."), strict=True))
    by_rule = list(zip(*(plan.items for plan in plans), strict=True))
    rows, more = listed([[f"{items[0].activation:.2f}", _letters(one_line(items[0].behavior))] for items in by_rule])
    room = terminal_width() - len("0.00") - 4
    widest = max(len(text) for _, text in rows)
    cell = max(1, min(3, (room - widest) // len(plans)))
    width = max(NARROWEST, min(widest, room - cell * len(plans)))
    left = len("0.00") + 2 + width + 2
    picture = [paint(" " * left + _axis([plan.token_budget or 0 for plan in plans], cell), "faint")]
    for (activation, text), items in zip(rows, by_rule, strict=False):
        cells = "".join(marks[item.tier] * cell for item in items)
        picture.append(f"{activation}  {cut(text, width):<{width}}  {cells}")
    over = "".join(("!" if constraints_left_out(plan) else " ") * cell for plan in plans)
    if over.strip():
        picture.append(f"{'':4}  {cut('too much', width):<{width}}  {over}".rstrip())
    legend = "  ".join(f"{marks[tier]} {tier}" for tier in DETAIL)
    return "\n".join([*picture, *([more] if more else []), "", legend])


def _round_step(span: int, most: int) -> int:
    """Return a round step, 1, 2 or 5 times a power of ten, with which *span* takes at most so many budgets."""
    power = 1
    while True:
        for step in (power, 2 * power, 5 * power):
            if -(-span // step) + 1 <= most:
                return step
        power *= 10


def _axis(budgets: Sequence[int], cell: int) -> str:
    """Return the line above the columns: the first and the last budget, and as many between as there is room for."""
    labels = [f"{budget:,}" for budget in budgets]
    stride = -(-(max(map(len, labels)) + 2) // cell)
    end = cell * len(budgets) - len(labels[-1])
    line = labels[0]
    for at in range(stride, len(budgets) - 1, stride):
        if at * cell + len(labels[at]) + 2 <= end:
            line = line.ljust(at * cell) + labels[at]
    return line if len(budgets) == 1 else f"{line.ljust(max(len(line) + 1, end))}{labels[-1]}"


def _letters(text: str) -> str:
    """Return *text* with what the output cannot print replaced, so that columns stay aligned."""
    return symbols(text, text.encode("ascii", "replace").decode())
