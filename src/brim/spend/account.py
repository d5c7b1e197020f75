"""One session's money, compared with its client's own total.

Some requests, such as compactions, aren't in any line; only the client's total includes them.
``SpendMeter`` has a ``SessionTotal`` per session in memory. Hooks store an ``Account`` between two
processes, so that each reads only new lines. It's written in the ledger's transaction: otherwise it
could skip requests that the ledger hasn't counted.
"""

from __future__ import annotations

import json
from typing import Any

from brim.agents.events import RunTotal
from brim.models.price_list import Prices

_MOST_FILES = 512
_MOST_KIN = 16
_MOST_RECENT = 16


class SessionTotal:
    """The cost of one session's requests, and its client's own total, in micro-dollars."""

    def __init__(self) -> None:
        self.reported = 0
        """The highest total that the client gave. A lower one started over, and the requests after
        it count."""
        self.before = 0
        """The cost of the requests that are in that total."""
        self.after = 0
        """The cost of those that aren't."""
        self.mark: float | None = None
        """When that total was made, if known."""
        self.is_dated = False
        """Whether its own line says so."""
        self.latest: float | None = None
        """The time of the latest event."""

    def see(self, time: float | None) -> None:
        """Take note that something happened at *time*."""
        if time is not None:
            self.latest = max(time, self.latest or time)

    def add(self, cost: int, time: float | None) -> bool:
        """Add the cost of a request at *time*; return whether the client's total includes it.

        A request may be in the total already: a sub-agent's file is read after the main one. If
        only one of the two has a time they are from different files, and the total may include it;
        in one stream without times, a request that comes after the total isn't included.
        """
        if time is None or self.mark is None:
            included = self.reported > 0 and (self.is_dated or time is not None)
        else:
            included = time <= self.mark
        if included:
            self.before += cost
        else:
            self.after += cost
        return included

    def priced(self, event: RunTotal, prices: Prices) -> int | None:
        """Return the client's total in micro-dollars; None if neither it nor *prices* say."""
        if event.cost is None and event.tokens:
            return prices.sum(event.tokens, self.latest if event.time is None else event.time)
        return event.cost

    def settle(self, total: int, time: float | None) -> None:
        """Take the client's *total*, which includes every request so far. A lower one than before
        is ignored."""
        if total > self.reported:
            self.before, self.after = self.before + self.after, 0
            self.reported = total
            self.mark = time if time is not None else self.latest
            self.is_dated = time is not None

    @property
    def difference(self) -> int:
        """How much the client's total is above the sum of its requests."""
        return max(0, self.reported - self.before)


class Account(SessionTotal):
    """What hooks remember of a session's money. ``dumps`` and ``loads`` are its JSON."""

    def __init__(self) -> None:
        super().__init__()
        self.offsets: dict[str, int] = {}
        """How far each agent's file was read; the empty name is the session's own."""
        self.kin: list[str] = []
        """Scopes of the sessions whose requests this one's files show too: it continues them."""
        self.anew = True
        """Whether the files are read from their beginning: then nothing counts yet, whatever the
        ledger has."""
        self.unpriced = False
        """Whether something counts as nothing for lack of a price: one may be set later."""
        self.recent: dict[str, int] = {}
        """What the last few requests cost: more lines about them may follow."""

    def add_kin(self, scope: str) -> None:
        """Take note that the session of *scope* has requests of this one."""
        if scope not in self.kin:
            self.kin = [*self.kin, scope][-_MOST_KIN:]

    def dumps(self) -> str:
        """Return the account as JSON, with the latest files and requests."""
        values = {"offsets": {}, **vars(self)}
        values["offsets"] = dict(list(self.offsets.items())[-_MOST_FILES:])
        values["recent"] = dict(list(self.recent.items())[-_MOST_RECENT:])
        return json.dumps(values)

    @classmethod
    def loads(cls, text: str) -> Account:
        """Return the account in *text*; values that can't be read start over."""
        account = cls()
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return account
        if isinstance(found, dict):
            for name, default in vars(account).items():
                value = found.get(name)
                if name in ("mark", "latest"):
                    value = (
                        float(value)
                        if isinstance(value, (int, float)) and not isinstance(value, bool)
                        else None
                    )
                elif type(value) is not type(default) or (
                    type(value) is int and not _is_amount(value)
                ):
                    continue
                elif isinstance(value, list):
                    value = [scope for scope in value if isinstance(scope, str)]
                elif isinstance(value, dict):
                    value = {key: amount for key, amount in value.items() if _is_amount(amount)}
                setattr(account, name, value)
        return account


def _is_amount(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**62
