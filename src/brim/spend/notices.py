"""What is told about money, each once per limit."""

from __future__ import annotations

from brim.notices import COST_LIMIT, COST_WARNING, INPUT_REQUESTED, Notice
from brim.spend.limits import ANSWERS
from brim.spend.money import in_dollars


class CostNotice(Notice):
    """Something about the money of one scope: ``spent`` of ``limit``, in micro-dollars."""

    spent: int
    limit: int | None
    """None only if a scope without a limit was closed."""
    scope: str = ""
    """The scope whose limit it is; empty for a budget without a name."""

    @property
    def _whose(self) -> str:
        return f"{self.scope}: " if self.scope else ""


class CostWarning(CostNotice):
    """A good part of the limit is spent."""

    kind = COST_WARNING

    limit: int

    def __str__(self) -> str:
        share = f" ({100 * self.spent // self.limit} %)" if self.limit else ""
        return f"{self._whose}{in_dollars(self.spent)} of {in_dollars(self.limit)} is spent{share}"


class CostLimit(CostNotice):
    """The limit is reached: all of it is spent but what is held back for the wrap-up.

    Or a person is asked before that: a request does not fit any more, or has cost more than was reserved for it.
    """

    kind = COST_LIMIT

    held: int = 0
    """What of the limit is held back for the wrap-up."""
    wanted: int = 0
    """What did not fit any more; 0 if the limit was reached by spending."""
    overrun: int = 0
    """How much more a request cost than was reserved for it, so that its scope is closed; else 0."""

    def __str__(self) -> str:
        of = "" if self.limit is None else f" of {in_dollars(self.limit)}"
        parts = [f"{in_dollars(self.spent)}{of} is spent"]
        if self.held:
            parts.append(f"{in_dollars(self.held)} is held back for the wrap-up")
        if self.overrun:
            what = f"closed, because a request cost {in_dollars(self.overrun)} more than was reserved for it"
        elif self.wanted:
            what = f"another {in_dollars(self.wanted)} does not fit under the cost limit"
        else:
            what = "the cost limit is reached"
        return f"{self._whose}{what}: {', '.join(parts)}"


class InputRequested(CostNotice):
    """A person has to answer before anything more is spent. ``answers`` are the words that ``answer`` takes."""

    kind = INPUT_REQUESTED

    answers: tuple[str, ...] = ANSWERS

    def __str__(self) -> str:
        what = "continue" if self.limit is None else "continue once (+10 %), raise the limit"
        return f"{self._whose}{what}, wrap up, or stop?"
