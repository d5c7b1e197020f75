"""What comes next? Decided when nothing runs: before the first turn, and whenever one has ended."""

from __future__ import annotations

from brim._frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from brim.tracking.events import End

END, ASK, COMPACT, SEND, CONTINUE = "end", "ask", "compact", "send", "continue"
STEPS = (END, ASK, COMPACT, SEND, CONTINUE)
"""``ask``: the limit is reached. ``send``: the next turn that waits. ``continue``: go on with what was cut short."""

DONE, CUT_SHORT, FAILED = "done", "cut short", "failed"
OUTCOMES = (DONE, CUT_SHORT, FAILED)
"""How one turn ended."""

MOST_CONTINUES = 3
"""How often in a row a task that was cut short is continued: what is cut short again and again will not end."""

MOST_REFUSALS = 2
"""How often in a row an agent may fail to compact before it is asked no more."""

_SPENT = "budget_exhausted"
_TOO_LONG = "prompt is too long"
_STOPPED = {
    "hook_stopped": "a hook of the agent stopped the turn",
    "max_turns": "the number of turns that the command allows was reached",
    "error_max_turns": "the number of turns that the command allows was reached",
}
"""Ends that are no errors for the agent, and yet leave the work undone."""


class TurnEnd(Frozen):
    """How a turn ended."""

    __slots__ = ("is_full", "is_spent", "outcome", "why")

    outcome: str
    """One of ``OUTCOMES``."""
    why: str
    """In the agent's words; empty if it is done."""
    is_spent: bool
    """Whether the agent's own limit ended it."""
    is_full: bool
    """Whether it failed because its window is full."""

    def __init__(self, outcome: str, why: str = "", *, is_spent: bool = False, is_full: bool = False) -> None:
        self._fill(outcome=outcome, why=why, is_spent=is_spent, is_full=is_full)


def turn_end(end: End, line: Mapping[str, Any], *, answered: bool = False) -> TurnEnd:
    """Return how a turn ended, by its last event and the *line* that told it.

    An agent whose own limit is reached by the very call that *answered* has done its turn, though it says otherwise.
    """
    if end.reason in (_SPENT, "error_max_budget_usd"):
        return TurnEnd(DONE, is_spent=True) if answered else TurnEnd(CUT_SHORT, end.text, is_spent=True)
    if end.reason in _STOPPED:
        return TurnEnd(FAILED, end.text if end.error and end.text else _STOPPED[end.reason])
    if end.error:
        is_full = end.text.lower().startswith(_TOO_LONG) or end.reason == "prompt_too_long"
        return TurnEnd(CUT_SHORT if is_full else FAILED, end.text or end.reason or "an error", is_full=is_full)
    if line.get("stop_reason") == "max_tokens":
        return TurnEnd(CUT_SHORT, "its answer was too long for one turn")
    return TurnEnd(DONE)


def next_step(
    last: TurnEnd | None,
    *,
    is_over: bool = False,
    is_spent: bool = False,
    compact_due: bool = False,
    waiting: bool = False,
    continues: int = 0,
    refusals: int = 0,
) -> str:
    """Return one of ``STEPS``. *last* is how the last turn ended, None before the first.

    *is_over* is whether somebody ended the run; *continues* and *refusals* are how often in a row a turn was continued,
    and the agent did not compact. Money comes first: nothing may be sent without it. A failed turn ends the run, since
    what waits was meant for after it.

    >>> next_step(TurnEnd(DONE), compact_due=True, waiting=True)
    'compact'
    """
    cut_short = last is not None and last.outcome == CUT_SHORT
    will_compact = compact_due and refusals < MOST_REFUSALS
    if is_over or (last is not None and last.outcome == FAILED):
        return END
    if is_spent:
        return ASK if waiting or cut_short else END
    if will_compact:
        return COMPACT
    if cut_short:
        return CONTINUE if continues < MOST_CONTINUES else END
    return SEND if waiting else END
