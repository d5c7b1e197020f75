"""How a supervised run ended, and the exit code that says so."""

from __future__ import annotations

from brim._frozen import Frozen

FINISHED, LIMIT, FAILED, INTERRUPTED = "finished", "limit", "failed", "interrupted"
OUTCOMES = (FINISHED, LIMIT, FAILED, INTERRUPTED)
"""``limit``: the money ended it, with or without a wrap-up."""


class RunReport(Frozen):
    """What happened. Money is micro-dollars."""

    __slots__ = (
        "agent",
        "answer",
        "broken_lines",
        "by_client",
        "client_exit",
        "compactions",
        "context_window",
        "cost",
        "limit",
        "model",
        "outcome",
        "overshoot",
        "run",
        "scope",
        "scratch",
        "seconds",
        "session",
        "signal",
        "turns",
        "unpriced",
        "unsent",
        "used_tokens",
        "why",
        "wrapped_up",
    )

    run: str
    """The id that the agent's hooks saw as ``BRIM_RUN_ID``."""
    agent: str
    outcome: str
    """One of ``OUTCOMES``."""
    why: str
    """In words; empty if it is finished."""
    answer: str
    """What the agent answered last."""
    turns: int
    """Turns that were sent and have ended; requests to compact are not counted."""
    compactions: int
    unsent: tuple[str, ...]
    """What waited and was not sent."""
    wrapped_up: bool
    session: str
    model: str
    used_tokens: int
    context_window: int
    cost: int
    limit: int | None
    overshoot: int
    """How far over the limit the calls in flight have gone."""
    unpriced: tuple[str, ...]
    """Models whose price nobody knows: what they cost is not in ``cost``."""
    by_client: tuple[str, ...]
    """Models whose price only the agent knows: ``cost`` rests on its word."""
    scope: str
    """Where the ledger keeps what was spent."""
    scratch: str
    """The scratch file; empty if there is none."""
    client_exit: int | None
    """The exit code of the agent's last process; None if none was started."""
    signal: int
    """The signal that ended the run; 0 if none."""
    broken_lines: int
    seconds: float

    def __init__(
        self,
        *,
        run: str = "",
        agent: str = "",
        outcome: str = FINISHED,
        why: str = "",
        answer: str = "",
        turns: int = 0,
        compactions: int = 0,
        unsent: tuple[str, ...] = (),
        wrapped_up: bool = False,
        session: str = "",
        model: str = "",
        used_tokens: int = 0,
        context_window: int = 0,
        cost: int = 0,
        limit: int | None = None,
        overshoot: int = 0,
        unpriced: tuple[str, ...] = (),
        by_client: tuple[str, ...] = (),
        scope: str = "",
        scratch: str = "",
        client_exit: int | None = None,
        signal: int = 0,
        broken_lines: int = 0,
        seconds: float = 0.0,
    ) -> None:
        given = dict(locals())
        self._fill(**{name: given[name] for name in self.__slots__})

    @property
    def exit_code(self) -> int:
        """0 if everything was done, 128 and the signal if one ended it, else 1: the limit, or a failure."""
        if self.outcome == FINISHED:
            return 0
        return 128 + self.signal if self.outcome == INTERRUPTED and self.signal else 1
