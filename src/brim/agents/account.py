"""``Account``: what is known of a session's money between two hooks, so that each reads only what is new.

The requests themselves are in the ledger. Here is how far the files were read, and what the client's own total says:
what that has more than the requests (compactions, above all) is in no line. The rules are ``SpendMeter``'s.

It is kept beside the ledger and written with it, in one transaction: an account that is older than the ledger would
take requests for known that it has not counted.
"""

from __future__ import annotations

from brim import _json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from brim.store.database import Database

_MOST_FILES = 512
_MOST_KIN = 16
_MOST_RECENT = 16
_KEPT = 30 * 86_400.0
_KEY, _AFTER = "account:", "account;"


class Account:
    """The account of one session. Amounts are micro-dollars."""

    def __init__(self) -> None:
        self.offsets: dict[str, int] = {}
        """How far each agent's file was read; the empty name is the session's own."""
        self.reported = 0
        """The highest total that the client gave."""
        self.before = 0
        """The cost of the requests that are in that total."""
        self.after = 0
        """The cost of those that are not."""
        self.mark: float | None = None
        """When that total was made, if that is known."""
        self.is_dated = False
        """Whether its own line says so."""
        self.latest: float | None = None
        """The time of the latest report."""
        self.kin: list[str] = []
        """Scopes of the sessions whose requests this one's files show too: it goes on from them."""
        self.anew = True
        """Whether the files are read from their beginning: then nothing is counted here, whatever the ledger has."""
        self.unpriced = False
        """Whether something counts as nothing for want of a price: one may be set."""
        self.recent: dict[str, int] = {}
        """What the last few requests cost: their lines may go on."""

    def see(self, time: float | None) -> None:
        """Take in when something happened."""
        if time is not None:
            self.latest = max(time, self.latest or time)

    def add(self, cost: int, time: float | None) -> None:
        """Take in that a request cost so much (more): it is in the total already, or it comes after it."""
        if time is None or self.mark is None:
            is_in = self.reported > 0 and (self.is_dated or time is not None)
        else:
            is_in = time <= self.mark
        if is_in:
            self.before += cost
        else:
            self.after += cost

    def settle(self, total: int, time: float | None) -> None:
        """Take in the client's *total*, which has every request so far; a lower one was begun anew and says nothing."""
        if total <= self.reported:
            return
        self.before, self.after = self.before + self.after, 0
        self.reported = total
        self.mark = time if time is not None else self.latest
        self.is_dated = time is not None

    def add_kin(self, scope: str) -> None:
        """Take in that the session of *scope* has requests of this one."""
        if scope not in self.kin:
            self.kin = [*self.kin, scope][-_MOST_KIN:]

    @property
    def difference(self) -> int:
        """What the total has more than the requests in it."""
        return max(0, self.reported - self.before)


def load_account(database: Database, id: str) -> Account:
    """Return the account of the session *id*; an empty one if there is none that can be read."""
    account = Account()
    row = database.row("SELECT value FROM meta WHERE key = ?", (_KEY + id,))
    try:
        found = _json.loads(row[0].partition(" ")[2]) if row is not None else None
    except (ValueError, RecursionError):
        return account
    if not isinstance(found, dict):
        return account
    offsets, kin, recent = found.get("offsets"), found.get("kin"), found.get("recent")
    if isinstance(offsets, dict):
        account.offsets = {str(name): at for name, at in offsets.items() if _is_amount(at)}
    if isinstance(kin, list):
        account.kin = [scope for scope in kin if isinstance(scope, str)]
    if isinstance(recent, dict):
        account.recent = {str(key): cost for key, cost in recent.items() if _is_amount(cost)}
    for name in ("reported", "before", "after"):
        if _is_amount(found.get(name)):
            setattr(account, name, found[name])
    account.mark, account.latest = _time(found.get("mark")), _time(found.get("latest"))
    account.is_dated = found.get("is_dated") is True
    account.anew, account.unpriced = found.get("anew") is not False, found.get("unpriced") is True
    return account


def save_account(database: Database, id: str, account: Account, *, now: float) -> None:
    """Keep *account* for the session *id*, and forget those that nobody has touched for 30 days. Call it in a
    transaction.
    """
    values = dict(vars(account))
    values["offsets"] = dict(list(account.offsets.items())[-_MOST_FILES:])
    values["recent"] = dict(list(account.recent.items())[-_MOST_RECENT:])
    text = f"{_stamp(now)} {_json.dumps(values)}"
    if not database.run("UPDATE meta SET value = ? WHERE key = ?", (text, _KEY + id)):
        database.run("INSERT INTO meta (key, value) VALUES (?, ?)", (_KEY + id, text))
        database.run("DELETE FROM meta WHERE key > ? AND key < ? AND value < ?", (_KEY, _AFTER, _stamp(now - _KEPT)))


def _stamp(now: float) -> str:
    return f"{max(0, int(now)):012d}"


def _is_amount(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**62


def _time(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
