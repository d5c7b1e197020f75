"""What ``brim spend`` shares: the ledger of this user, and how money looks on a terminal."""

from __future__ import annotations

import os

from brim.cli.output import heading, note, paint, symbols, table
from brim.cli.settings import settings, working_folder
from brim.config import user_folder
from brim.spend.ledger import lineage
from brim.spend.money import DOLLAR, in_dollars, micro_dollars

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brim.config import Config
    from brim.record import Record
    from brim.spend.ledger import ScopeStatus
    from brim.store.ledger import SqliteLedger
    from brim.tracking.notices import Notice

BAR = 16
"""Columns of a bar."""

STATES = {
    "open": "",
    "asked": "limit reached",
    "unfit": "asked: a request did not fit",
    "wrapping_up": "wrapping up",
    "stopped": "stopped",
    "closed": "closed: overrun",
}
"""How a state is called; ``unfit`` is ``asked`` while there is still room."""


class Money:
    """The user's ledger, opened with the settings in force. What it has to tell is kept in ``notices``."""

    def __init__(self) -> None:
        from brim.store.ledger import open_ledger

        self.config: Config = settings()
        self.ledger: SqliteLedger = open_ledger(ledger_file(), warn=self.config["spend.warn"])
        self.notices: list[Notice] = []
        self.ledger.subscribe(self.notices.append)

    @property
    def default(self) -> int | None:
        """The limit of a project for which nobody has set one."""
        limit = self.config["spend.limit"]
        return None if limit is None else micro_dollars(repr(limit), up=False)

    def apply_default(self, scope: str) -> None:
        """Let the setting ``spend.limit`` be the limit of the project that *scope* is in, unless somebody set one."""
        if not self.ledger.database.readonly:
            self.ledger.limit(lineage(scope)[0], self.default, default=True)

    def statuses(self, under: str) -> list[ScopeStatus]:
        """Return how the scopes stand under the settings of this place; looking changes nothing for other places."""
        from brim.spend.limits import Limit

        return self.ledger.statuses(under, default=Limit(self.default))

    def believe_own_prices(self) -> None:
        """Leave out the prices in the project's file unless it is trusted: low ones would raise every limit."""
        from brim.config import load, project_folder
        from brim.models.overrides import use
        from brim.store.trust import is_trusted

        folder = working_folder()
        project = None if folder is None else project_folder(os.environ, folder)
        if project is None or is_trusted(project, user_folder(os.environ)):
            return
        own = load(os.environ, None)["models"]
        if own != self.config["models"]:
            note("this project is not trusted, so the prices in its configuration do not count: see 'brim trust'")
            use(own)

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


def as_object(value: Record) -> dict[str, Any]:
    """Return the fields of *value* for JSON."""
    return value.to_dict()


def scope_table(statuses: list[ScopeStatus]) -> str:
    """Return a table of *statuses*: whole cents if all are, else to the hundredth of a cent."""
    amounts = [(each.spent, each.reserved, each.limit or 0, each.left or 0) for each in statuses]
    places = 2 if all(amount % (DOLLAR // 100) == 0 for row in amounts for amount in row) else 4
    rows = [["scope", "spent", "reserved", "limit", "left", "", "state"]]
    for each in statuses:
        limit = "none" if each.limit is None else _rounded(each.limit, places)
        left = "none" if each.left is None else _rounded(each.left, places, up=False)
        spent, reserved = _rounded(each.spent, places), _rounded(each.reserved, places) if each.reserved else ""
        rows.append([each.scope, spent, reserved, limit, left, _bar(each), _state(each)])
    return heading(table(rows, right=frozenset({1, 2, 3, 4})))


def in_words(status: ScopeStatus) -> str:
    """Return how one scope stands, as a sentence."""
    parts = [f"{in_dollars(status.spent)} spent"]
    parts += [f"{in_dollars(status.reserved)} reserved"] if status.reserved else []
    parts.append("no limit" if status.limit is None else f"limit {in_dollars(status.limit)}")
    parts += [f"{in_dollars(status.left)} left"] if status.left is not None else []
    if status.held and status.state in ("open", "asked"):
        parts.append(f"{in_dollars(status.held)} held back for the wrap-up")
    parts += [_called(status)] if status.state != "open" else []
    return f"{status.scope}: {', '.join(parts)}"


def _rounded(amount: int, places: int, *, up: bool = True) -> str:
    """Return *amount*: what is spent is never shown as less than it is, and what is left never as more."""
    unit = DOLLAR // 10**places
    whole, rest = divmod(-(-amount // unit) if up else amount // unit, 10**places)
    return f"${whole:,}.{rest:0{places}}"


def _called(status: ScopeStatus) -> str:
    """Return what the state of *status* is called."""
    is_room = status.limit is not None and status.spent < status.limit - status.held
    return STATES["unfit" if status.state == "asked" and is_room else status.state]


def _state(status: ScopeStatus) -> str:
    text = _called(status)
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
