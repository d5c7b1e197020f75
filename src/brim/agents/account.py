"""``Account``: what is known of a session's money between two hooks, so that each reads only what is new.

The requests themselves are in the ledger. Here is how far the files were read, and what the client's own total says:
what that has more than the requests (compactions, above all) is in no line. The rules are ``SpendMeter``'s.
"""

from __future__ import annotations

import os

from brim import _json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST_FILES = 512
_MOST_KIN = 16
_LARGEST = 1 << 18


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


def load_account(path: str) -> Account:
    """Return the account in the file *path*; an empty one if there is none that can be read."""
    account = Account()
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            found = _json.loads(os.read(handle, _LARGEST).decode())
        finally:
            os.close(handle)
    except (OSError, ValueError, RecursionError):
        return account
    if not isinstance(found, dict):
        return account
    offsets, kin = found.get("offsets"), found.get("kin")
    if isinstance(offsets, dict):
        account.offsets = {str(name): at for name, at in offsets.items() if _is_amount(at)}
    if isinstance(kin, list):
        account.kin = [scope for scope in kin if isinstance(scope, str)]
    for name in ("reported", "before", "after"):
        if _is_amount(found.get(name)):
            setattr(account, name, found[name])
    account.mark, account.latest = _time(found.get("mark")), _time(found.get("latest"))
    account.is_dated = found.get("is_dated") is True
    return account


def save_account(path: str, account: Account) -> None:
    """Put *account* into the file *path*, whole or not at all."""
    from brim._atomic import replace_file

    values = dict(vars(account))
    values["offsets"] = dict(list(account.offsets.items())[-_MOST_FILES:])
    replace_file(path, _json.dumps(values).encode("utf-8", "replace"), durable=False)


def _is_amount(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**62


def _time(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
