"""Brings what a session has spent into the ledger, each request once, whichever hook comes first.

A hook cannot stand before the call, so the limit is checked between calls: the overshoot is at most the calls in
flight. One hook settles at a time; another that comes meanwhile leaves it to that one.
"""

from __future__ import annotations

import os
import time

from brim.agents.account import load_account, save_account
from brim.agents.reports import is_current, new_reports
from brim.agents.spenders import agent_scope, project_scope, session_scope
from brim.agents.state import FOLDER, file_id
from brim.agents.transcript_file import size_of
from brim.agents.user_ledger import default_limit, user_database
from brim.errors import InputError, StoreError
from brim.spend.account import Account
from brim.spend.ledger import SETTLED
from brim.tracking.events import RunTotal, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from brim.agents.call import HookCall
    from brim.agents.place import Place
    from brim.spend.ledger import Reservation
    from brim.spend.money import Prices
    from brim.store.database import Database
    from brim.store.ledger import SqliteLedger
    from brim.tracking.notices import Notice

UNATTRIBUTED = "unattributed:"
"""How the id of what no line shows begins; the session follows."""


def settle(
    call: HookCall, place: Place, *, prices: Prices | None = None, clock: Callable[[], float] = time.monotonic
) -> tuple[list[Notice], list[str]]:
    """Record what the session of *call* has spent since the last time.

    Return what is to be told about it, and the models whose requests count as nothing because no price is known.
    """
    if place.only_injects or not call.session or not call.transcript:
        return [], []
    database = user_database(place)
    if database is None or database.readonly:
        return [], []
    from brim.files import locked

    folder = os.path.join(place.home, FOLDER)
    try:
        with locked(
            os.path.join(folder, f"{file_id(call.session)}.spend.lock"),
            patience=0.0,
            prepare=lambda: os.makedirs(folder, 0o700, exist_ok=True),
        ):
            return _settle(call, place, database, prices, clock=clock)
    except StoreError as error:
        if error.reason == "busy":
            return [], []
        raise


def _settle(
    call: HookCall,
    place: Place,
    database: Database,
    prices: Prices | None,
    *,
    clock: Callable[[], float],
) -> tuple[list[Notice], list[str]]:
    id = file_id(call.session)
    account = load_account(database, id)
    before = dict(vars(account), offsets=dict(account.offsets))
    if is_current(call, account):
        return [], []
    anew, recorded, unpriced = account.anew, 0, account.unpriced
    if call.agent != "claude":  # read from the beginning, so everything is told again
        recorded, kin = account.offsets.get("", 0), account.kin
        if recorded > size_of(call.transcript):  # another file
            recorded = 0
        account, anew = Account(), True
        account.kin = kin
    events = list(new_reports(call, account, recorded=recorded, clock=clock))
    if not events:
        if vars(account) != before:
            with database.writing():
                save_account(database, id, account, now=place.now)
        return [], []
    from brim.spend.money import PriceList
    from brim.store.ledger import SqliteLedger

    notices: list[Notice] = []
    ledger = SqliteLedger(database, warn=place.config["spend.warn"], clock=lambda: place.now)
    ledger.subscribe(notices.append)
    database.run("PRAGMA synchronous = FULL")
    with database.writing():
        ledger.limit(project_scope(place), default_limit(place), default=True)
        recorded = 0 if unpriced else recorded  # what had no price may have one now
        settling = _Settling(call, place, ledger, account, prices or PriceList(), anew=anew, recorded=recorded)
        settling.take(events)
        save_account(database, id, account, now=place.now)
    return notices, [] if account.reported else settling.unpriced


class _Settling:
    """One batch of reports on its way into the ledger, inside one transaction."""

    def __init__(
        self,
        call: HookCall,
        place: Place,
        ledger: SqliteLedger,
        account: Account,
        prices: Prices,
        *,
        anew: bool,
        recorded: int,
    ) -> None:
        self._call, self._place = call, place
        self._ledger, self._account, self._prices = ledger, account, prices
        self._scope = session_scope(call, place)
        self._seen = dict(account.recent)
        self._anew, self._recorded = anew, recorded
        self.unpriced: list[str] = []
        """Models of which neither brim nor the client has a price; a total of the client's has them."""

    def take(self, events: list[Usage | RunTotal]) -> None:
        """Take in *events*, and what the total has beyond them."""

        for event in events:
            self._account.see(event.time)
            if isinstance(event, Usage):
                self._use(event)
            elif not event.agent:
                self._total(event)
        self._account.recent, self._account.unpriced = self._seen, bool(self.unpriced)
        self._unattributed()

    def _use(self, event: Usage) -> None:
        account = self._account
        time = event.time if event.time is not None else account.latest
        cost = self._prices.request(event.tokens, event.model, time)
        if cost is None and event.cost is None and event.model not in self.unpriced:
            self.unpriced.append(event.model)
        cost = event.cost or 0 if cost is None else cost
        key = event.request or f"{self._call.session}:{event.agent}:{event.at}"
        if key in self._seen and not event.final:
            return
        if event.at < self._recorded:  # an earlier hook has put it into the ledger
            cost, self._seen[key] = cost - self._seen.get(key, 0), cost
            account.add(cost, event.time)
            return
        try:
            known = self._known(key)
            key = known.request_id if known is not None else key
            scope = known.scope if known is not None else agent_scope(self._call, self._place, event.agent)
            is_own = scope.startswith(f"{self._scope}/")
            if is_own and (known is None or known.charged != cost or known.state != SETTLED):
                self._ledger.record(scope, key, cost)
        except InputError:  # a key that no ledger takes
            return
        if not is_own:  # the session that this one was forked from has paid for it
            account.add_kin("/".join(scope.split("/")[:2]))
        counted = self._seen.get(key)
        if counted is None:
            counted = known.charged if known is not None and is_own and not self._anew else 0
        self._seen[key] = cost
        account.add(cost - counted, event.time)

    def _known(self, key: str) -> Reservation | None:
        """Return what the ledger has of the request. A line that lacks the second half of the key means the same."""
        found = self._ledger.reservation(key)
        half = key.partition(":")[0]
        return found if found is not None or half == key else self._ledger.reservation(half)

    def _total(self, event: RunTotal) -> None:
        total = self._account.priced(event, self._prices)
        if total is not None:
            self._account.settle(total, event.time)

    def _unattributed(self) -> None:
        """Record what the client's total has more than the requests, without what other sessions have paid of it."""
        rest = self._account.difference
        for scope in self._account.kin if rest else ():
            row = self._ledger.database.row(
                "SELECT coalesce(sum(charged), 0) FROM reservations WHERE scope = ? AND request_id >= ? "
                "AND request_id < ?",
                (scope, UNATTRIBUTED, UNATTRIBUTED[:-1] + ";"),
            )
            rest -= row[0]
        key = UNATTRIBUTED + file_id(self._call.session)
        known = self._ledger.reservation(key)
        if rest > 0 or known is not None:
            self._ledger.record(known.scope if known is not None else self._scope, key, max(0, rest))
