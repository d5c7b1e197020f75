"""Bringing what a session has spent into the ledger: each request once, whichever hook comes first.

A hook can't stand before a request, so the limit is checked between calls: the overshoot is at most
the calls in flight. One hook settles at a time; another that comes meanwhile leaves it to that one.

Only what is new is read: ``brim.spend.account.Account`` remembers how far the files were read. It
is written in the ledger's transaction: an older one would take requests for known that it hasn't
counted.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass

from brim.agents.call import Answer, HookCall
from brim.agents.events import RunTotal, Usage
from brim.agents.fields import parsed_line
from brim.agents.readers import AnyReader
from brim.agents.stream import subagent_files
from brim.config.retention import SESSIONS
from brim.errors import InputError, StoreError
from brim.files import locked
from brim.hooks.gate import (
    agent_scope,
    default_limit,
    limit_latch,
    limits_of,
    payer_place,
    session_scope,
    spent_of,
)
from brim.hooks.limit_words import limit_note, notify, status
from brim.hooks.state import FOLDER, HookWorkspace, file_id
from brim.hooks.transcript import size_of, whole_lines
from brim.models.price_list import PriceList
from brim.record import PlainData
from brim.spend.account import Account
from brim.spend.ledger import SETTLED, Reservation
from brim.spend.periods import Allowance
from brim.store.books import Scope
from brim.store.database import Database
from brim.store.ledger import SqliteLedger
from brim.store.project import branch as branch_of
from brim.tracking.notices import COST_LIMIT, COST_WARNING, Notice

UNATTRIBUTED = "unattributed:"
"""The beginning of the id of what no line shows; the session follows."""

MOST = 64 << 20
"""Bytes of one file that a hook reads; the rest waits for the next hook."""

SECONDS = 0.25
"""How long reading may take: a hook has a second."""

ENOUGH = 500
"""Reports after which the rest waits for the next hook: all of them are written in one
transaction."""

PLANS = "plans"
"""Under which it is kept what was told of a plan's windows; no session has this name."""


def settle(call: HookCall, workspace: HookWorkspace) -> tuple[list[Notice], list[str]]:
    """Record what the session of *call* has spent since the last time.

    Return what is to be told about it, and the models whose requests count as nothing because no
    price is known.
    """
    may = call.session and call.transcript and not workspace.only_injects
    database = workspace.user_database if may else None
    if database is None or database.readonly:
        return [], []
    folder = os.path.join(workspace.home, FOLDER)
    lock = os.path.join(folder, f"{file_id(call.session)}.spend.lock")
    try:
        with locked(lock, patience=0.0, prepare=lambda: os.makedirs(folder, 0o700, exist_ok=True)):
            return _settle(call, workspace, database)
    except StoreError as error:
        if error.reason == "busy":
            return [], []
        raise


def _settle(
    call: HookCall, workspace: HookWorkspace, database: Database
) -> tuple[list[Notice], list[str]]:
    id = file_id(call.session)
    account = load_account(database, id)
    before = dict(vars(account), offsets=dict(account.offsets))
    if account.offsets and all(
        size_of(path) == account.offsets.get(agent, 0) for agent, path in _files(call)
    ):
        return [], []  # nothing was written since
    anew, recorded, unpriced = account.anew, 0, account.unpriced
    if not call.agent.transcripts.resumes:  # read from the beginning, so every report comes again
        recorded, kin = account.offsets.get("", 0), account.kin
        if recorded > size_of(call.transcript):  # another file
            recorded = 0
        account, anew = Account(), True
        account.kin = kin
    events = list(new_reports(call, account, recorded=recorded))
    if not events:
        if vars(account) != before:
            with database.writing():
                save_account(database, id, account, now=workspace.now)
        return [], []

    notices: list[Notice] = []
    ledger = SqliteLedger(
        database, warn=workspace.config["spend.warn"], clock=lambda: workspace.now
    )
    ledger.subscribe(notices.append)
    database.run("PRAGMA synchronous = FULL")
    with database.writing():
        project = ledger.project(payer_place(call.session, workspace))
        ledger.limit(project, default_limit(call.session, workspace), default=True)
        recorded = 0 if unpriced else recorded  # what had no price may have one now
        branch = branch_of(workspace.project) or "" if workspace.project else ""
        batch = _Batch(
            call,
            project,
            branch,
            workspace,
            ledger,
            account,
            PriceList(),
            anew,
            recorded,
            dict(account.recent),
            [],
        )
        batch.take(events)
        save_account(database, id, account, now=workspace.now)
        if not before["offsets"]:  # once per session is often enough
            ledger.fold()
    return notices, [] if account.reported else batch.unpriced


@dataclass(frozen=True)
class _Batch(PlainData):
    """One batch of reports on its way into the ledger, inside one transaction."""

    call: HookCall
    project: str
    """The scope of the project that pays."""
    branch: str
    workspace: HookWorkspace
    ledger: SqliteLedger
    account: Account
    prices: PriceList
    anew: bool
    recorded: int
    seen: dict[str, int]
    """What each recent request cost."""
    unpriced: list[str]
    """Models that neither brim nor the client has a price for; a total of the client includes
    them."""

    def take(self, events: list[Usage | RunTotal]) -> None:
        """Take in *events*, and what the total has beyond them."""
        for event in events:
            self.account.see(event.time)
            if isinstance(event, Usage):
                self._use(event)
            elif not event.agent and (total := self.account.priced(event, self.prices)) is not None:
                self.account.settle(total, event.time)
        self.account.recent, self.account.unpriced = self.seen, bool(self.unpriced)
        self._unattributed()

    def _use(self, event: Usage) -> None:
        account = self.account
        time = event.time if event.time is not None else account.latest
        cost = self.prices.request(event.tokens, event.model, time)
        if cost is None and event.cost is None and event.model not in self.unpriced:
            self.unpriced.append(event.model)
        cost = event.cost or 0 if cost is None else cost
        key = event.request or f"{self.call.session}:{event.agent}:{event.at}"
        if key in self.seen and not event.final:
            return
        if event.at < self.recorded:  # an earlier hook has put it into the ledger
            cost, self.seen[key] = cost - self.seen.get(key, 0), cost
            account.add(cost, event.time)
            return
        try:
            known = self._known(key)
            key = known.request_id if known is not None else key
            project, session = self.project, self.call.session
            scope = known.scope if known is not None else agent_scope(session, project, event.agent)
            is_own = scope.startswith(f"{session_scope(session, project)}/")
            tokens = event.tokens.fresh
            if is_own and (
                known is None or known.state != SETTLED or _charged(known) != (cost, tokens)
            ):
                self.ledger.record(
                    scope, key, cost, tokens=tokens, at=time, model=event.model, branch=self.branch
                )
        except InputError:  # a key that no ledger takes
            return
        if not is_own:  # the session that this one was forked from has paid for it
            account.add_kin("/".join(scope.split("/")[:2]))
        counted = self.seen.get(key)
        if counted is None:
            counted = known.charged if known is not None and is_own and not self.anew else 0
        self.seen[key] = cost
        account.add(cost - counted, event.time)

    def _known(self, key: str) -> Reservation | None:
        """Return what the ledger has of the request. A line that lacks the second half of the key
        means the same."""
        found = self.ledger.reservation(key)
        half = key.partition(":")[0]
        return found if found is not None or half == key else self.ledger.reservation(half)

    def _unattributed(self) -> None:
        """Record what the client's total has beyond the requests, without what other sessions have
        paid of it."""
        rest = self.account.difference
        for scope in self.account.kin if rest else ():
            row = self.ledger.database.row(
                "SELECT coalesce(sum(charged), 0) FROM reservations WHERE scope = ? AND request_id >= ? "
                "AND request_id < ?",
                (scope, UNATTRIBUTED, UNATTRIBUTED[:-1] + ";"),
            )
            rest -= row[0]
        key = UNATTRIBUTED + file_id(self.call.session)
        known = self.ledger.reservation(key)
        if rest > 0 or known is not None:
            own = session_scope(self.call.session, self.project)
            scope = known.scope if known is not None else own
            self.ledger.record(scope, key, max(0, rest), at=self.workspace.now, branch=self.branch)


def _charged(known: Reservation) -> tuple[int, int]:
    return known.charged, known.charged_tokens


# What is known between two hooks ------------------------------------------------------------------

_KEY, _AFTER = "account:", "account;"


def load_account(database: Database, id: str) -> Account:
    """Return the account of the session *id*; an empty one if none can be read."""
    row = database.row("SELECT value FROM meta WHERE key = ?", (_KEY + id,))
    return Account() if row is None else Account.loads(row[0].partition(" ")[2])


def save_account(database: Database, id: str, account: Account, *, now: float) -> None:
    """Keep *account* for the session *id*, and forget those untouched for 30 days. Call it in a
    transaction."""
    text = f"{max(0, int(now)):012d} {account.dumps()}"
    if not database.run("UPDATE meta SET value = ? WHERE key = ?", (text, _KEY + id)):
        database.run("INSERT INTO meta (key, value) VALUES (?, ?)", (_KEY + id, text))
        database.run(
            "DELETE FROM meta WHERE key > ? AND key < ? AND value < ?",
            (_KEY, _AFTER, f"{max(0, int(now - SESSIONS)):012d}"),
        )


# Reading the session's files ----------------------------------------------------------------------


def new_reports(
    call: HookCall, account: Account, *, recorded: int = 0
) -> Iterator[Usage | RunTotal]:
    """Yield every report of the session of *call* that *account* doesn't have, and move it on.

    A file of Claude Code is read from where the last hook stopped, its sub-agents' before its own:
    their requests are in the total that its own ends with. Files of Codex and Gemini are read from
    the beginning, because a line there may mean something only after others. What lies before byte
    *recorded* is in the ledger: it is read however long it takes.
    """

    until, count = time.monotonic() + SECONDS, 0
    reader = AnyReader(writer=call.agent)
    for agent, path in _files(call):
        reader.agent = agent
        start = account.offsets.get(agent, 0) if call.agent.transcripts.resumes else 0
        for at, data in whole_lines(path, start, most=MOST):
            found = list(_reports(reader, call.agent.transcripts.needles, at, data))
            yield from found
            account.offsets[agent] = at + len(data)
            count += len(found) if at >= recorded else 0
            if at >= recorded and (time.monotonic() > until or count > ENOUGH):
                return
    account.anew = not call.agent.transcripts.resumes
    for event in reader.finish():
        if isinstance(event, Usage | RunTotal):
            yield event


def _reports(
    reader: AnyReader, needles: tuple[bytes, ...], start: int, data: bytes
) -> Iterator[Usage | RunTotal]:
    """Yield the reports in *data*; a line without a word about tokens isn't parsed."""

    at, needles = start, tuple([needle for needle in needles if needle in data])
    for line in data.split(b"\n") if needles else ():
        parsed = parsed_line(line) if any(needle in line for needle in needles) else None
        for event in reader.events(parsed, at) if isinstance(parsed, dict) else ():
            if isinstance(event, Usage | RunTotal):
                yield event
        at += len(line) + 1


def _files(call: HookCall) -> list[tuple[str, str]]:
    """Return every agent of the session and its file, the session's own last."""
    own = ("", call.transcript)
    folder = os.path.join(call.transcript.removesuffix(".jsonl"), "subagents")
    if not call.agent.transcripts.has_subagent_files or not os.path.isdir(folder):
        return [own]

    return [*subagent_files(call.transcript), own]


# What the human is told ---------------------------------------------------------------------------


def cost_note(call: HookCall, workspace: HookWorkspace) -> Answer | None:
    """Settle what was spent, and return what the human has to be told about it."""
    notices, unpriced = settle(call, workspace)
    if not notices and not unpriced:
        return None

    state = workspace.state(call.session)
    lines = [f"brim: {notice}" for notice in notices if notice.kind == COST_WARNING]
    for notice in notices:
        if notice.kind in (COST_WARNING, COST_LIMIT):
            tell_command(workspace, str(notice), reached=notice.kind == COST_LIMIT)
    if any(notice.kind == COST_LIMIT for notice in notices):
        lines += filter(None, [limits_reached(call, workspace).note])
    lines += [
        f"brim: The price of {model[:80] or 'a model without a name'} is not known: its requests count as nothing. "
        "Put it under 'models' in the configuration."
        for model in unpriced
        if state.tell_once(f"no price {model[:80]}")
    ]
    return Answer(note="\n".join(lines)) if lines else None


def limits_reached(call: HookCall, workspace: HookWorkspace) -> Answer:
    """Return what the human is told about limits that were reached, here or in another session;
    each once.

    Of a plan's window it also says that the limit is near: no settlement does.
    """
    state = workspace.state(call.session)
    limits = limits_of(call, workspace)
    spent = spent_of(limits)
    warn = workspace.config["spend.warn"]
    plans = [each for each in limits if each.unit == "percent" and each not in spent]
    near = [each for each in plans if each.spent >= warn * (each.limit.amount or 0)]
    told = [each for each in spent if state.tell_once(limit_latch(each))]
    warned = [each for each in near if state.tell_once(f"near {limit_latch(each)}")]
    if not told and not warned:
        return Answer()

    lines = [f"brim: {status(each, workspace.now)}" for each in warned]
    for each in [each for each in (*told, *warned) if each.unit == "percent"]:
        tell_of_plan(each, workspace, reached=each in told)
    return Answer(note="\n".join([*lines, *(limit_note(each, workspace) for each in told)]))


def tell_of_plan(about: Scope | Allowance, workspace: HookWorkspace, *, reached: bool) -> None:
    """Run the person's own command for a plan's window: once, whichever session sees it first."""
    latch = limit_latch(about) if reached else f"near {limit_latch(about)}"
    if workspace.config.yours["notify"] and workspace.state(PLANS).tell_once(latch):
        tell_command(workspace, status(about, workspace.now), reached=reached)


def tell_command(workspace: HookWorkspace, text: str, *, reached: bool) -> None:
    """Run the person's own command for a warning or a limit, if there is one."""
    command = workspace.config.yours["notify"]
    if command:
        notify(command, text, reached=reached, environ=workspace.environ)
