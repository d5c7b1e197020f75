"""What brim did this week, in one sentence."""

from __future__ import annotations

from dataclasses import dataclass

from brim.figures import counted, dollars
from brim.models.price_list import PriceList
from brim.record import PlainData
from brim.sessions.report.overview import Overview
from brim.sessions.report.own_texts import DAY

WEEK = 7 * DAY


@dataclass(frozen=True)
class Week(PlainData):
    """What brim did in the last seven days."""

    stopped: int
    """Calls of agents that brim stopped."""
    compactions: int
    given_back: int
    """Things that brim gave back after a compaction."""
    used_again: int
    """Those of them that the agent used afterwards."""
    own_cost: int
    """Micro-dollars that brim's own texts cost."""

    def __str__(self) -> str:
        parts = []
        if self.stopped:
            parts.append(f"{counted(self.stopped, 'call')} stopped")
        if self.compactions:
            parts.append(counted(self.compactions, "compaction"))
        if self.given_back:
            parts.append(f"{counted(self.given_back, 'thing')} given back")
            parts.append(f"{self.used_again:,} used again")
        sentence = ", ".join(parts)
        if not self.own_cost:
            return sentence
        cost = f"brim's own texts cost {dollars(self.own_cost)}"
        if not sentence:
            return cost
        return f"{sentence}; {cost}"


def week_of(overview: Overview, *, stopped: int, now: float) -> Week:
    """Return what brim did in the week before *now*; *stopped* calls are counted elsewhere."""
    begin = now - WEEK
    compactions = [item for item in overview.lost.items if (item.time or 0.0) >= begin]
    given_back = 0
    used_again = 0
    for compaction in compactions:
        given_back += len(compaction.given_back)
        for fact in compaction.given_back:
            used_again += fact.used_again
    prices = PriceList()
    own_cost = 0
    for texts in overview.own_texts:
        if texts.day > begin - DAY:
            own_cost += texts.cost(prices)
    return Week(stopped, len(compactions), given_back, used_again, own_cost)
