"""What a person is asked at the limit, and what the answers mean."""

from __future__ import annotations

from brim.errors import InputError
from brim.spend.limits import Raise
from brim.spend.money import in_dollars, micro_dollars

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.spend.limits import CostBudget

ON_LIMIT = ("ask", "continue", "wrap_up", "stop")
"""What may be done at the limit. ``ask`` without a person to ask is ``wrap_up``."""


def question(budget: CostBudget) -> str:
    """Return the question at the limit of *budget*."""
    limit = budget.limit or 0
    base = f"{in_dollars(budget.spent)} of {in_dollars(limit)} is spent"
    whose = f" in {budget.scope}" if budget.scope else ""
    rest = f"; {in_dollars(budget.held)} is held back for the wrap-up" if budget.held else ""
    return (
        f"The cost limit is reached{whose}: {base}{rest}.\n"
        "  c        continue once, with a tenth more\n"
        "  r USD    raise the limit to USD\n"
        "  w        wrap up: the agent leaves the work in a sound state and says where it stands\n"
        "  s        stop now\n"
        "What shall be done? [w] "
    )


def read_answer(typed: str) -> str | Raise:
    """Return the answer that *typed* means; nothing is ``wrap_up``. An ``InputError`` says what is not understood.

    >>> read_answer("c"), read_answer("r 8"), read_answer("")
    ('continue', Raise(to=8000000), 'wrap_up')
    """
    word, _, rest = typed.strip().casefold().partition(" ")
    if word in ("", "w", "wrap", "wrap-up", "wrap_up", "n", "no"):
        return "wrap_up"
    if word in ("c", "continue", "y", "yes"):
        return "continue"
    if word in ("s", "stop", "q", "quit"):
        return "stop"
    if word in ("r", "raise"):
        if not rest.strip():
            raise InputError("raise to how many dollars? write r 8")
        return Raise(micro_dollars(rest.removeprefix("to "), up=False))
    raise InputError(f"{typed[:40]!r} is no answer: write c, r USD, w or s")
