"""How tiers change over a range of budgets: one line per behavior, one column per budget."""

from __future__ import annotations

from brim.cli.output import listed, paint, symbols, terminal_width
from brim.errors import InputError
from brim.injection.tiers import Tier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from brim.injection.plan import InjectionPlan

DRAWN = 24
"""Budgets that can be drawn: they fit beside the names in 40 columns."""
LISTED = 1_000
"""Budgets that can be asked for as JSON."""
DETAIL = (Tier.FULL, Tier.SUMMARY, Tier.NAME_ONLY, Tier.OMITTED)
NARROWEST = 8
"""Columns that a name gets at least."""


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
        raise InputError(f"--token-budget takes N, A..B or A..B..STEP in whole numbers, not {text[:60]!r}") from None
    if len(steps) > 1 or not 0 <= first <= last or least_step < 1:
        raise InputError(f"--token-budget {text[:60]}: a range goes from 0 or more up, in steps of at least 1")
    most = DRAWN if for_drawing else LISTED
    step = steps[0] if steps else _round_step(last - first, DRAWN)
    if -(-(last - first) // step) + 1 > most:
        least = _round_step(last - first, most)
        raise InputError(f"--token-budget {text[:60]}: {most:,} budgets at most: take a step of {least:,} or more")
    return [*range(first, last, step), last]


def drawn(plans: Sequence[InjectionPlan]) -> str:
    """Return the picture of *plans*, which differ by their budgets alone: within the terminal, with a legend."""
    marks = dict(zip(DETAIL, symbols("█▓░·", "#=-."), strict=True))
    lines = list(zip(*(plan.items for plan in plans), strict=True))
    rows, more = listed([[f"{items[0].activation:.2f}", items[0].behavior.name] for items in lines])
    room = terminal_width() - len("0.00") - 4
    widest = max(len(name) for _, name in rows)
    cell = max(1, min(3, (room - widest) // len(plans)))
    width = max(NARROWEST, min(widest, room - cell * len(plans)))
    left = len("0.00") + 2 + width + 2
    picture = [paint(" " * left + _axis([plan.token_budget or 0 for plan in plans], cell), "faint")]
    for (activation, name), items in zip(rows, lines, strict=False):
        cells = "".join(marks[item.tier] * cell for item in items)
        picture.append(f"{activation}  {_cut(name, width):<{width}}  {cells}")
    if any(plan.over_budget for plan in plans):
        over = "".join(("!" if plan.over_budget else " ") * cell for plan in plans)
        picture.append(f"{'':4}  {'too much':<{width}}  {over}".rstrip())
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


def _cut(name: str, width: int) -> str:
    """Return *name*, which is ASCII, in at most *width* columns."""
    return name if len(name) <= width else name[: width - 1] + symbols("…", "~")
