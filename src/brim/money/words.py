"""What is said at a limit: to the person also how to go on, to the agent never.

The model that reads a refusal learns why it's held and what to do now. How a limit is lifted is
said only where the person reads it.
"""

from __future__ import annotations

from brim.figures import DOLLAR, clock
from brim.money.amounts import PERCENT, USD, as_written, in_unit, out_of
from brim.money.limits import SpendingLimit
from brim.money.periods import DAY, TOTAL, when
from brim.money.standing import LimitStanding
from brim.sessions.requests import EVERYTHING

SMALLEST = 10_000
"""The lowest limit that is offered: a cent, or so many tokens."""
STOPPED_BY = "Stopped by your user's limit"
"""How a refusal begins."""
WRAP_UP = (
    "Wrap up now without tools: start nothing new, and say in a few lines what is done, "
    "what isn't, and what the next step would be."
)


def sum_sentence(standing: LimitStanding) -> str:
    """Return what is spent of a limit.

    ``$5.02 of $5.00 spent today.``
    """
    limit = standing.limit
    if limit.unit == PERCENT:
        used = f"{standing.spent}% of the plan's {limit.period} window is used"
        return f"{used}, the limit is {limit.amount}%."
    spent = out_of(standing.spent, standing.amount, limit.unit)
    where = " in all projects" if limit.project == EVERYTHING else ""
    return f"{spent} spent{when(limit.period)}{where}."


def ahead_sentence(standing: LimitStanding) -> str:
    """Return why a limit holds that isn't spent yet; empty if it's spent."""
    if standing.left == 0 or not standing.next_cost:
        return ""
    return f" The next request would take about {in_unit(standing.next_cost, USD)} more."


def prompt_refused(standing: LimitStanding) -> str:
    """Return what a person reads whose prompt wasn't sent, with the commands to go on."""
    reason = f"{sum_sentence(standing)}{ahead_sentence(standing)}"
    return f"{reason} Your prompt wasn't sent. {go_on(standing)}"


def compaction_refused(standing: LimitStanding) -> str:
    """Return what a person reads whose compaction didn't run."""
    return f"{sum_sentence(standing)} The conversation wasn't compacted. {go_on(standing)}"


def tool_denied(standing: LimitStanding, *, wraps_up: bool) -> str:
    """Return what the agent reads whose tool was denied. It never has the commands to go on."""
    spent = sum_sentence(standing)[:-1]
    reason = f"{STOPPED_BY}: {spent}{_until(standing)}.{ahead_sentence(standing)}"
    if wraps_up:
        return f"{reason} No tool runs now. {WRAP_UP}"
    return f"{reason} No tool runs now."


def turn_ended(standing: LimitStanding) -> str:
    """Return what a person reads when a turn was ended at a limit."""
    return (
        f"{sum_sentence(standing)}{ahead_sentence(standing)} The turn was ended. {go_on(standing)}"
    )


def warning(standing: LimitStanding) -> str:
    """Return what a person reads once at 80% of a limit."""
    share = round(100 * standing.share)
    return f"{sum_sentence(standing)[:-1]} ({share}%){_until(standing)}."


def problem_told(problem: str) -> str:
    """Return what a person reads about settings or an index that can't be used as they are."""
    return f"{problem}. Limits go on applying: brim limit shows them"


def unpriced(model: str) -> str:
    """Return what a person reads about a model whose requests count as nothing."""
    name = model[:80] or "a model without a name"
    return (
        f"The price of {name} isn't known: its requests count as nothing. "
        "Put it under 'models' in the configuration."
    )


def _until(standing: LimitStanding) -> str:
    resets = reset_words(standing)
    if not resets:
        return ""
    return f"; it resets {resets}"


def stopped_sentence(standing: LimitStanding) -> str:
    """Return what a person reads about a limit that stops agents, with the commands to go on."""
    return f"{sum_sentence(standing)}{ahead_sentence(standing)} {go_on(standing)}"


def go_on(standing: LimitStanding) -> str:
    """Return the commands that let an agent go on after *standing*."""
    limit = standing.limit
    if limit.unit == PERCENT:
        return f"Go on without this limit: brim limit remove {_everywhere(limit)}{limit.text}"
    higher = f"brim limit raise {_everywhere(limit)}{higher_limit(standing).text}"
    if limit.amount == 0:
        return f"Go on: brim limit remove {_everywhere(limit)}{limit.text}"
    once = {DAY: "Go on for today", TOTAL: "Go on once"}.get(limit.period, "Go on for now")
    percent = standing.percent_to_go_on
    if not percent:
        return f"Go on: {higher}"
    return f"{once}: brim limit {_everywhere(limit)}+{percent}%. For good: {higher}"


def _everywhere(limit: SpendingLimit) -> str:
    return "--all " if limit.project == EVERYTHING else ""


def higher_limit(standing: LimitStanding) -> SpendingLimit:
    """Return a limit of the same kind that leaves room: a round number, at least half as much
    again."""
    limit = standing.limit
    ahead = standing.spent + 2 * standing.next_cost
    enough = max(3 * limit.amount // 2, 6 * standing.spent // 5, ahead, SMALLEST)
    if limit.amount == 0:
        enough = max(enough, DOLLAR)
    step = 1
    while 10 * step <= enough:
        step *= 10
    amount = -(-enough // step) * step
    return SpendingLimit(amount, limit.unit, limit.period, limit.project)


def raised_sentence(limit: SpendingLimit, now: float) -> str:
    """Return until when a limit is raised; empty if it isn't."""
    if limit.amount_at(now) == limit.amount or limit.raised_until is None:
        return ""
    return f"raised to {as_written(limit.amount_at(now), limit.unit)}"


def reset_words(standing: LimitStanding) -> str:
    """Return when a limit starts over, by this machine's clock; empty if never."""
    if standing.resets_at is None:
        return ""
    return clock(standing.resets_at, standing.now)
