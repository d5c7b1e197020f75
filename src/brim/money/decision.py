"""What happens at a limit: one table, without side effects.

| event              | soft: spent ≥ limit − kept   | hard: spent + next > limit, or refused twice |
|--------------------|------------------------------|----------------------------------------------|
| prompt             | refused                      | refused                                      |
| before a tool      | denied, "wrap up now"        | denied                                       |
| between requests   | one wrap-up request passes   | the turn ends                                |
| before a compaction| a manual one is refused      | refused                                      |
| start, stop        | noted                        | noted                                        |

Below that, the start and the stop of a turn warn once from 80% on.
"""

from __future__ import annotations

from dataclasses import dataclass

PROMPT = "prompt"
TOOL = "tool"
BETWEEN = "between"
COMPACTION = "compaction"
START = "start"
STOP = "stop"
MOMENTS = (PROMPT, TOOL, BETWEEN, COMPACTION, START, STOP)

BELOW = "below"
WARNED = "warned"
SOFT = "soft"
HARD = "hard"
LEVELS = (BELOW, WARNED, SOFT, HARD)
"""How near a limit is, the farthest first."""

ALLOW = "allow"
REFUSE_PROMPT = "refuse the prompt"
WRAP_UP_INSTEAD = "deny the tool, ask for a wrap-up"
DENY_TOOL = "deny the tool"
LAST_REQUEST = "let one wrap-up request pass"
END_TURN = "end the turn"
REFUSE_COMPACTION = "refuse the compaction"
WARN = "warn"
NOTE = "note"
ACTIONS = (
    ALLOW,
    REFUSE_PROMPT,
    WRAP_UP_INSTEAD,
    DENY_TOOL,
    LAST_REQUEST,
    END_TURN,
    REFUSE_COMPACTION,
    WARN,
    NOTE,
)

_AT_SOFT = {
    PROMPT: REFUSE_PROMPT,
    TOOL: WRAP_UP_INSTEAD,
    BETWEEN: LAST_REQUEST,
    COMPACTION: REFUSE_COMPACTION,
    START: NOTE,
    STOP: NOTE,
}
_AT_HARD = {
    PROMPT: REFUSE_PROMPT,
    TOOL: DENY_TOOL,
    BETWEEN: END_TURN,
    COMPACTION: REFUSE_COMPACTION,
    START: NOTE,
    STOP: NOTE,
}
SECOND_REFUSAL = 2


@dataclass(frozen=True)
class LimitMoment:
    """An event of an agent at which a limit may hold it."""

    kind: str
    """One of ``MOMENTS``."""
    refusals: int = 0
    """How often this turn was refused something before."""
    is_manual: bool = False
    """Whether a person asked for it: only compactions are asked for."""
    was_warned: bool = False
    """Whether the person was warned about this limit in this period."""


def level_of(
    spent: int, amount: int, *, set_aside: int, next_cost: int = 0, warn: float = 0.8
) -> str:
    """Return how near a limit of *amount* is: one of ``LEVELS``.

    *next_cost* is what the next request will cost, 0 if nothing is known about it.
    """
    if spent + next_cost > amount:
        return HARD
    if spent >= amount - set_aside:
        return SOFT
    if spent >= amount * warn:
        return WARNED
    return BELOW


def decide(moment: LimitMoment, level: str) -> str:
    """Return what happens at *moment* if the nearest limit is at *level*: one of ``ACTIONS``."""
    if level in (BELOW, WARNED):
        return _below(moment, level)
    if level == HARD or moment.refusals + 1 >= SECOND_REFUSAL:
        return _AT_HARD[moment.kind]
    if moment.kind == COMPACTION and not moment.is_manual:
        return ALLOW
    return _AT_SOFT[moment.kind]


def _below(moment: LimitMoment, level: str) -> str:
    if level == BELOW or moment.was_warned:
        return ALLOW
    if moment.kind in (START, STOP):
        return WARN
    return ALLOW
