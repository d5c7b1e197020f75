"""What comes next? Decided when nothing runs: before the first turn, and whenever one has ended."""

from __future__ import annotations

from dataclasses import dataclass

from brim.agents.events import End
from brim.agents.running import ANSWER_CUT, OWN_LIMIT, STOPPED, WINDOW_FULL, EndCause
from brim.sessions.window.compaction import build_reminder
from brim.text import fold

END, ASK, COMPACT, SEND, CONTINUE = "end", "ask", "compact", "send", "continue"
STEPS = (END, ASK, COMPACT, SEND, CONTINUE)
"""``ask``: the limit is reached. ``send``: the next turn that waits. ``continue``: go on with what
was cut short."""

DONE, CUT_SHORT, FAILED = "done", "cut short", "failed"
OUTCOMES = (DONE, CUT_SHORT, FAILED)
"""How one turn ended."""

MOST_CONTINUES = 3
"""How often in a row a task that was cut short is continued: one that is cut short again and again
won't end."""

MOST_REFUSALS = 2
"""How often in a row an agent may fail to compact before it isn't asked any more."""


@dataclass(frozen=True)
class TurnEnd:
    """How a turn ended."""

    outcome: str
    """One of ``OUTCOMES``."""
    why: str = ""
    """In the agent's words; empty if it is done."""
    is_spent: bool = False
    """Whether the agent's own limit ended it."""
    is_full: bool = False
    """Whether it failed because its window is full."""


def turn_end(cause: EndCause, end: End, *, answered: bool = False) -> TurnEnd:
    """Return how a turn ended, by its last event and the *cause* that the agent gives for it.

    An agent whose own limit is reached by the very call that *answered* has done its turn, though
    it says otherwise.
    """
    if cause.kind == OWN_LIMIT:
        if answered:
            return TurnEnd(DONE, is_spent=True)
        return TurnEnd(CUT_SHORT, end.text, is_spent=True)
    if cause.kind == STOPPED:
        return _stopped(cause, end)
    if cause.kind == ANSWER_CUT:
        return TurnEnd(CUT_SHORT, "its answer was too long for one turn")
    if end.error:
        return _failed(cause, end)
    return TurnEnd(DONE)


def _failed(cause: EndCause, end: End) -> TurnEnd:
    """Return how a turn ended with an error; one whose window is full can go on."""
    why = end.text or end.reason or "an error"
    if cause.kind == WINDOW_FULL:
        return TurnEnd(CUT_SHORT, why, is_full=True)
    return TurnEnd(FAILED, why)


def _stopped(cause: EndCause, end: End) -> TurnEnd:
    """Return how a turn ended that the agent stopped; an error has its own words."""
    if end.error and end.text:
        return TurnEnd(FAILED, end.text)
    return TurnEnd(FAILED, cause.why)


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

    *is_over* is whether the run was ended; *continues* and *refusals* are how often in a row a turn
    was continued, and the agent did not compact. Money comes first: nothing may be sent without it.
    A failed turn ends the run, since what waits was meant for after it.

    >>> next_step(TurnEnd(DONE), compact_due=True, waiting=True)
    'compact'
    """
    outcome = DONE
    if last is not None:
        outcome = last.outcome
    if is_over or outcome == FAILED:
        return END
    step = END
    if outcome == CUT_SHORT:
        step = CONTINUE
    elif waiting:
        step = SEND
    if is_spent:
        return ASK if waiting or step == CONTINUE else END
    if compact_due and refusals < MOST_REFUSALS:
        return COMPACT
    if step == CONTINUE and continues >= MOST_CONTINUES:
        return END
    return step


def build_continue_prompt(
    task: str = "", scratch_path: str = "", *, compacted: bool = False
) -> str:
    """Return the turn for a task that was cut short: read the scratch file first, then go on.

    >>> print(build_continue_prompt("fix the parser", ".context/scratch.md"))
    You were cut short. First read .context/scratch.md: it says what was asked, decided, written and tried.
    Then continue where you stopped: fix the parser
    """
    first = "You were cut short"
    if compacted:
        first += ", and the conversation was compacted since"
    first += "."
    then = "Continue"
    if scratch_path:
        first += f" First read {scratch_path}: it says what was asked, decided, written and tried."
        then = "Then continue"
    work = fold(task)
    if work:
        return f"{first}\n{then} where you stopped: {work}"
    return f"{first}\n{then} where you stopped."


def build_pointer(scratch_path: str) -> str:
    """Return what stands before the first turn after a compaction; nothing if there is no scratch
    file."""
    if not scratch_path:
        return ""
    return build_reminder(scratch_path)
