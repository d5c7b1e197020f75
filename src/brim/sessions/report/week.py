"""What brim did this week, in one sentence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from brim.figures import counted, dollars
from brim.models.price_list import PriceList
from brim.record import PlainData
from brim.sessions.report.overview import LostSum, Overview
from brim.sessions.report.own_texts import DAY

WEEK = 7 * DAY


@dataclass(frozen=True)
class Week(PlainData):
    """What brim did in the last seven days."""

    stopped: int
    """Calls of agents that brim stopped."""
    lost: LostSum
    """What compactions lost, and what brim gave back of it."""
    own_cost: int
    """Micro-dollars that brim's own texts cost."""

    def __str__(self) -> str:
        parts = []
        if self.stopped:
            parts.append(f"{counted(self.stopped, 'call')} stopped")
        if self.lost.items:
            parts.append(counted(len(self.lost.items), "compaction"))
        if self.lost.given_back:
            parts.append(self.lost.given_back_words)
        sentence = ", ".join(parts)
        if not self.own_cost:
            return sentence
        cost = f"brim's own texts cost {dollars(self.own_cost)}"
        if not sentence:
            return cost
        return f"{sentence}; {cost}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {
            "stopped": self.stopped,
            "compactions": len(self.lost.items),
            "given_back": self.lost.given_back,
            "usable": self.lost.usable,
            "used_again": self.lost.used_again,
            "own_cost": self.own_cost,
        }


def week_of(overview: Overview, *, stopped: int, now: float) -> Week:
    """Return what brim did in the week before *now*; *stopped* calls are counted elsewhere."""
    begin = now - WEEK
    compactions = [item for item in overview.lost.items if (item.time or 0.0) >= begin]
    prices = PriceList()
    own_cost = 0
    for texts in overview.own_texts:
        if texts.day > begin - DAY:
            own_cost += texts.cost(prices)
    return Week(stopped, replace(overview.lost, items=compactions), own_cost)
