"""Puts what files report into the index: each request once, and the sums with it.

All of it happens in one transaction that the caller holds. A report never lowers a request, so
files may be read again, in any order, by any process. The sums follow what a row became.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace

from brim.models.price_list import Prices
from brim.sessions.reading import FileReading
from brim.sessions.requests import (
    COLUMNS,
    ESTIMATE,
    REQUEST,
    REST,
    SELECT,
    ClientTotal,
    IndexedRequest,
    quarter_of,
    scopes_of,
)
from brim.sessions.rests import Rest, rest_of
from brim.sessions.sums import covered_by_model, covered_cost, latest_covered

PUT = f"INSERT OR REPLACE INTO requests VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608
ADD = (
    "INSERT INTO sums VALUES (?, ?, ?, ?) ON CONFLICT (scope, quarter) "
    "DO UPDATE SET cost = cost + excluded.cost, tokens = tokens + excluded.tokens"
)

NOBODY = ("", "")
"""Agent and project of a session without requests."""

_Place = tuple[str, str, str, int]
"""Project, session, sub-agent and quarter of a request: all that its sums depend on."""


class IndexWriter:
    """Adds readings to the index within one transaction; ``finish`` writes the sums."""

    def __init__(self, database: sqlite3.Connection, *, now: float | None = None) -> None:
        self._database = database
        self._now = now
        self._sums: dict[_Place, list[int]] = {}
        """What changes in the sums: micro-dollars and tokens."""
        self._changed_sessions: set[str] = set()
        self._owners: dict[str, tuple[str, str]] = {}
        self._was_empty = database.execute("SELECT 1 FROM requests LIMIT 1").fetchone() is None
        self._rows: dict[str, list[IndexedRequest]] = {}
        """The rows that this transaction has looked at, by message, as they are now."""
        self._changed_rows: dict[str, IndexedRequest] = {}

    def add(self, reading: FileReading, agent: str, project: str) -> None:
        """Add what a file reports. *agent* and *project* are those of the file."""
        for request in reading.requests.values():
            request.assign(agent, project)
            if request.time is None:
                request.time = self._now
            is_new = self._put(request)
            if is_new and reading.is_continued and not request.sub_agent:
                self._end_total(request)
        for total in reading.totals.values():
            self._put_total(total)
            self._note_owner(total.session, agent, project)

    def add_said_total(self, total: ClientTotal) -> None:
        """Add a total that stands in no line. One in a line says more, its tokens."""
        earlier = self._total(total.session)
        has_owner = self._owner(total.session) != NOBODY
        if has_owner and (earlier is None or not earlier.tokens):
            self._put_total(total)

    def finish(self) -> None:
        """Write the requests, what totals show beyond them, and the sums."""
        self._flush()
        for session in sorted(self._changed_sessions):
            self._settle(session)
        self._database.executemany(ADD, self._changed_sums())

    def _changed_sums(self) -> Iterator[tuple[str, int, int, int]]:
        """Yield scope, quarter, and what changes in the sum of both."""
        for (project, session, sub_agent, quarter), (cost, tokens) in self._sums.items():
            if cost or tokens:
                for scope in scopes_of(project, session, sub_agent):
                    yield scope, quarter, cost, tokens

    # Requests

    def _put(self, report: IndexedRequest) -> bool:
        """Put a request into the index; return whether it's a new one."""
        earlier = self._earlier(report)
        if earlier is None:
            self._write(report, None)
            return True
        if earlier.session != report.session:
            self._database.execute(
                "INSERT OR IGNORE INTO copies VALUES (?, ?)", (report.session, earlier.key)
            )
            self._changed_sessions.add(report.session)
        merged = earlier.merged(report)
        if merged != earlier:
            self._write(merged, earlier)
        return False

    def _earlier(self, report: IndexedRequest) -> IndexedRequest | None:
        """Return the row of the same request; None if it's new.

        One file may name a request by its message alone, another also by the request's own id. A
        sub-agent's file may replay the main thread's messages.
        """
        same_message = self._rows_of(report.message)
        for row in same_message:
            if row.key == report.key:
                return row
        for row in same_message:
            is_half_named = report.key == report.message or row.key == row.message
            if is_half_named or row.sub_agent or report.sub_agent:
                return row
        return None

    def _rows_of(self, message: str) -> list[IndexedRequest]:
        """Return the rows of requests that *message* answered."""
        if message not in self._rows:
            self._rows[message] = self._stored_rows(message)
        return self._rows[message]

    def _stored_rows(self, message: str) -> list[IndexedRequest]:
        if self._was_empty:
            return []
        # ":" is followed by ";": all keys that begin with the message and a colon lie between them.
        between = (message, f"{message}:", f"{message};")
        rows = self._database.execute(f"{SELECT} WHERE key = ? OR (key >= ? AND key < ?)", between)
        return [IndexedRequest(*row) for row in rows]

    def _write(self, row: IndexedRequest, earlier: IndexedRequest | None) -> None:
        rows = self._rows_of(row.message)
        if earlier is None:
            rows.append(row)
        else:
            rows[rows.index(earlier)] = row
            self._count(earlier, -1)
        self._count(row, 1)
        self._changed_rows[row.key] = row
        self._changed_sessions.add(row.session)

    def _flush(self) -> None:
        """Write the rows that have changed."""
        rows = sorted(row.to_row() for row in self._changed_rows.values())  # as the table is
        self._database.executemany(PUT, rows)
        self._changed_rows.clear()

    def _count(self, row: IndexedRequest, sign: int) -> None:
        place = (row.project, row.session, row.sub_agent, row.quarter)
        change = self._sums.get(place)
        if change is None:
            change = self._sums[place] = [0, 0]
        change[0] += sign * row.counted_cost
        change[1] += sign * row.fresh

    # Totals

    def _put_total(self, total: ClientTotal) -> None:
        """Keep a client's total, unless a larger one of the session is there."""
        earlier = self._total(total.session)
        if earlier is None or total.rank > earlier.rank:
            self._write_total(total)

    def _end_total(self, request: IndexedRequest) -> None:
        """Note that a session's total doesn't include *request*: it stands after it in the file."""
        if request.kind != REQUEST or request.time is None:
            return
        total = self._total(request.session)
        if total is not None and total.until is None:
            self._write_total(replace(total, until=request.time))

    def _total(self, session: str) -> ClientTotal | None:
        row = self._database.execute(
            "SELECT session, cost, tokens, until FROM totals WHERE session = ?", (session,)
        ).fetchone()
        if row is None:
            return None
        return ClientTotal(row[0], row[1], json.loads(row[2]), row[3])

    def _write_total(self, total: ClientTotal) -> None:
        tokens = json.dumps(dict(total.tokens), separators=(",", ":"))
        row = (total.session, total.cost, tokens, total.until)
        self._database.execute("INSERT OR REPLACE INTO totals VALUES (?, ?, ?, ?)", row)
        self._changed_sessions.add(total.session)

    def _note_owner(self, session: str, agent: str, project: str) -> None:
        """Remember whose file a total is in: its session may have no request of its own."""
        self._owners.setdefault(session, (agent, project))

    def _settle(self, session: str) -> None:
        """Make the rest of *session* what its client's total has beyond its requests."""
        total = self._total(session)
        if total is None:
            return
        covered = covered_cost(self._database, session, total.until)
        wanted = rest_of(total, covered_by_model(self._database, session, total.until), covered)
        rows = self._rows_of_kind(session, REST)
        latest = latest_covered(self._database, session, total.until)
        self._grow(session, wanted, rows, self._now if latest is None else latest)
        if total.cost is not None and total.cost >= covered:
            self._replace_estimates(session, total.until)

    def _grow(
        self, session: str, wanted: Rest, rows: list[IndexedRequest], time: float | None
    ) -> None:
        """Write what is new of a rest into the row of its quarter, and take what is too much from
        the newest rows."""
        missing = wanted.minus(rows)
        if missing.is_positive:
            row = self._rest_row(session, time, rows)
            self.rewrite(missing.added_to(row, has_cost=wanted.cost is not None), row)
            rows = self._rows_of_kind(session, REST)
        excess = missing.excess
        for row in sorted(rows, key=lambda row: row.key, reverse=True):
            smaller, excess = excess.taken_from(row)
            self.rewrite(smaller, row)

    def _rest_row(
        self, session: str, time: float | None, rows: list[IndexedRequest]
    ) -> IndexedRequest:
        blank = IndexedRequest(key=f"rest:{session}:{quarter_of(time):010}", kind=REST, time=time)
        for row in rows:
            if row.key == blank.key:
                return row
        agent, project = self._owner(session)
        return replace(blank, session=session, agent=agent, project=project)

    def _owner(self, session: str) -> tuple[str, str]:
        row = self._database.execute(
            "SELECT agent, project FROM requests WHERE session = ? ORDER BY time LIMIT 1",
            (session,),
        ).fetchone()
        if row is not None:
            return row[0], row[1]
        return self._owners.get(session, NOBODY)

    def rewrite(self, row: IndexedRequest, earlier: IndexedRequest) -> None:
        """Write a row whose numbers may fall: a rest, or an estimate."""
        if row == earlier:
            return
        self._database.execute(PUT, row.to_row())
        self._count(earlier, -1)
        self._count(row, 1)

    def reprice(self, prices: Prices) -> None:
        """Price every request again, and compare totals with the new costs. The sums are made
        again by the caller."""
        rows = self._database.execute(f"{SELECT} WHERE kind = ?", (REQUEST,)).fetchall()
        for values in rows:
            row = IndexedRequest(*values)
            priced = row.priced(prices)
            if priced != row:
                self._database.execute(PUT, priced.to_row())
        for (session,) in self._database.execute("SELECT session FROM totals").fetchall():
            self._settle(session)

    def _rows_of_kind(self, session: str, kind: str) -> list[IndexedRequest]:
        rows = self._database.execute(f"{SELECT} WHERE session = ? AND kind = ?", (session, kind))
        return [IndexedRequest(*row) for row in rows]

    def _replace_estimates(self, session: str, until: float | None) -> None:
        """Drop the estimates of compactions that the client's total includes."""
        for row in self._rows_of_kind(session, ESTIMATE):
            if until is None or row.time is None or row.time < until:
                self.rewrite(replace(row, estimated_cost=0), row)
