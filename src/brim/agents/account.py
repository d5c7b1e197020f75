"""Where hooks keep what they know of a session's money: in the ledger's file, written in its transaction."""

from __future__ import annotations

from brim.spend.account import Account

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.store.database import Database

_KEPT = 30 * 86_400.0
_KEY, _AFTER = "account:", "account;"


def load_account(database: Database, id: str) -> Account:
    """Return the account of the session *id*; an empty one if there is none that can be read."""
    row = database.row("SELECT value FROM meta WHERE key = ?", (_KEY + id,))
    return Account() if row is None else Account.loads(row[0].partition(" ")[2])


def save_account(database: Database, id: str, account: Account, *, now: float) -> None:
    """Keep *account* for the session *id*, and forget those not touched for 30 days. Call it in a transaction."""
    text = f"{_stamp(now)} {account.dumps()}"
    if not database.run("UPDATE meta SET value = ? WHERE key = ?", (text, _KEY + id)):
        database.run("INSERT INTO meta (key, value) VALUES (?, ?)", (_KEY + id, text))
        database.run("DELETE FROM meta WHERE key > ? AND key < ? AND value < ?", (_KEY, _AFTER, _stamp(now - _KEPT)))


def _stamp(now: float) -> str:
    return f"{max(0, int(now)):012d}"
