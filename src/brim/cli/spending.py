"""What ``brim spend`` shares: the ledger of this user, and how money looks on a terminal."""

from __future__ import annotations

import os

from brim.cli.output import heading, paint, symbols, table
from brim.cli.settings import settings
from brim.config import user_folder
from brim.spend.money import DOLLAR, in_dollars, micro_dollars
from brim.spend.scope_names import lineage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brim._frozen import Frozen
    from brim.config import Config
    from brim.notices import Notice
    from brim.spend.ledger import ScopeStatus
    from brim.store.ledger import SqliteLedger

BAR = 16
"""Columns of a bar."""

STATES = {
    "open": "",
    "asked": "limit reached",
    "wrapping_up": "wrapping up",
    "stopped": "stopped",
    "closed": "closed: overrun",
}
"""How a state is called."""


class Money:
    """The user's ledger, opened with the settings in force. What it has to tell is kept in ``notices``."""

    def __init__(self) -> None:
        from brim.store.ledger import open_ledger

        self.config: Config = settings()
        self.ledger: SqliteLedger = open_ledger(ledger_file(), warn=self.config["spend.warn"])
        self.notices: list[Notice] = []
        self.ledger.subscribe(self.notices.append)

    def apply_default(self, scope: str) -> None:
        """Let the setting ``spend.limit`` be the limit of the project that *scope* is in, unless somebody set one."""
        limit = self.config["spend.limit"]
        amount = None if limit is None else micro_dollars(repr(limit), up=False)
        if not self.ledger.database.readonly:
            self.ledger.limit(lineage(scope)[0], amount, default=True)

    def __enter__(self) -> Money:
        return self

    def __exit__(self, *_: object) -> None:
        self.ledger.close()


def ledger_file() -> str:
    """Return the file of the user's ledger: the one that holds what you have learned as well."""
    return os.path.join(user_folder(os.environ), "brim.db")


def complete_scope(prefix: str, **_: object) -> list[str]:
    """Return the known scopes that begin with what was typed."""
    from brim.errors import BrimError

    if not os.path.exists(ledger_file()):
        return []
    try:
        with Money() as money:
            return [status.scope for status in money.ledger.statuses() if status.scope.startswith(prefix)]
    except BrimError:
        return []


def as_object(value: Frozen) -> dict[str, Any]:
    """Return the fields of *value* for JSON."""
    return {name: getattr(value, name) for name in value.__slots__}


def scope_table(statuses: list[ScopeStatus]) -> str:
    """Return a table of *statuses*: whole cents if all are, else to the hundredth of a cent."""
    amounts = [(each.spent, each.reserved, each.limit or 0, each.left or 0) for each in statuses]
    places = 2 if all(amount % (DOLLAR // 100) == 0 for row in amounts for amount in row) else 4
    rows = [["scope", "spent", "reserved", "limit", "left", "", "state"]]
    for each in statuses:
        limit, left = ("none" if amount is None else _rounded(amount, places) for amount in (each.limit, each.left))
        spent, reserved = _rounded(each.spent, places), _rounded(each.reserved, places) if each.reserved else ""
        rows.append([each.scope, spent, reserved, limit, left, _bar(each), _state(each)])
    return heading(table(rows, right=frozenset({1, 2, 3, 4})))


def in_words(status: ScopeStatus) -> str:
    """Return how one scope stands, as a sentence."""
    parts = [f"{in_dollars(status.spent)} spent"]
    parts += [f"{in_dollars(status.reserved)} reserved"] if status.reserved else []
    parts.append("no limit" if status.limit is None else f"limit {in_dollars(status.limit)}")
    parts += [f"{in_dollars(status.left)} left"] if status.left is not None else []
    parts += [STATES[status.state]] if status.state != "open" else []
    return f"{status.scope}: {', '.join(parts)}"


def _rounded(amount: int, places: int) -> str:
    unit = DOLLAR // 10**places
    whole, rest = divmod(-(-amount // unit), 10**places)
    return f"${whole:,}.{rest:0{places}}"


def _state(status: ScopeStatus) -> str:
    text = STATES[status.state]
    if status.overshoot:
        text += f"{', ' if text else ''}{in_dollars(status.overshoot)} over"
    return paint(text, "red" if status.state != "wrapping_up" else "yellow") if text else ""


def _bar(status: ScopeStatus) -> str:
    """Return a bar of what is spent and reserved of the limit; something that is there is never shown as nothing."""
    if not status.limit:
        return ""
    full, half, empty = tuple(symbols("█▒░", "#=."))
    spent = min(BAR, -(-BAR * status.spent // status.limit))
    taken = min(BAR, max(spent, -(-BAR * (status.spent + status.reserved) // status.limit)))
    share = status.spent / status.limit
    colour = "red" if status.left == 0 else "yellow" if share >= 0.8 else "green"
    return paint(full * spent + half * (taken - spent) + empty * (BAR - taken), colour)
