"""What the agent is told when nothing more may be spent: finish, and say where things stand."""

from __future__ import annotations

from brim.spend.limits import Limit
from brim.spend.money import in_dollars

_LONGEST = 200
"""Characters of the task that are repeated."""


def build_wrap_up_prompt(
    spent: int, limit: int | None, *, held: int = 0, task: str = "", scratch_path: str | None = None
) -> str:
    """Return the prompt that wraps the work up. It is its own turn: nothing else is put into the same message.

    *limit* is None if there is none; that it is reached is only said if it is. *held* is what that turn may cost at
    most, 0 if that is not said. *task* is folded to one line; *scratch_path* is where notes for the next one belong.

    >>> print(build_wrap_up_prompt(4_750_000, 5_000_000, held=250_000, task="fix the parser"))
    The cost limit is reached: $4.75 of $5.00 is spent. Wrap up now: fix the parser
    Start nothing new and no sub-agents; run only what leaves the work in a sound state. This turn may cost $0.25.
    Then stop, and say in a few lines what is done, what is not, what failed, and what the next step would be.
    """
    what = " ".join(task.split())
    what = f"{what[: _LONGEST - 1]}…" if len(what) > _LONGEST else what
    sum_ = f"{in_dollars(spent)}{'' if limit is None else f' of {in_dollars(limit)}'} is spent. "
    pause_at = Limit(limit).pause_at
    lines = [
        (sum_ if pause_at is None or spent < pause_at else f"The cost limit is reached: {sum_}")
        + (f"Wrap up now: {what}" if what else "Wrap up now."),
        "Start nothing new and no sub-agents; run only what leaves the work in a sound state."
        + (f" This turn may cost {in_dollars(held)}." if held else ""),
        "Then stop, and say in a few lines what is done, what is not, what failed, and what the next step would be.",
    ]
    if scratch_path:
        lines.append(f"What was learned so far is in {scratch_path}.")
    return "\n".join(lines)
