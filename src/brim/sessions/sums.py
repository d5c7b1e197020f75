"""Every sum of cost in the index: no other module adds money up in SQL.

A limit is one range of ``sums``. A table of ``brim usage`` is one pass over the requests.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from brim.sessions.requests import QUARTER, quarter_of

FIRST_QUARTER = -(1 << 62)
_QUARTER = f"CAST(time / {QUARTER} AS INTEGER)"
"""How SQL spells ``quarter_of``."""
_COUNTS = "sum(input), sum(output), sum(cache_read), sum(write_5m), sum(write_1h)"
_COVERED = "kind = 'request' AND (?2 IS NULL OR time IS NULL OR time < ?2)"
"""Requests that a client's total includes: made before the first one after it."""
_COPIES = "(SELECT key FROM copies WHERE session = ?1)"
_OF_SESSION = (
    f"session = ?1 AND {_COVERED}",
    f"session <> ?1 AND {_COVERED} AND key IN {_COPIES}",
)
"""Conditions for a session's own requests, and for those that it shares: a fork begins with the
lines of its parent, and its total may go on from the other's."""


@dataclass(frozen=True, slots=True)
class SpentSum:
    """What was spent in a scope: micro-dollars, and tokens that weren't read from a cache."""

    cost: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class UsageCell:
    """The sum of requests that share a quarter hour and what a table is made by."""

    name: str
    agent: str
    project: str
    model: str
    kind: str
    session: str
    quarter: int | None
    requests: int
    unpriced: int
    cost: int
    estimated_cost: int
    input: int
    output: int
    cache_read: int
    write_5m: int
    write_1h: int
    first: float | None
    last: float | None


CELL_COLUMNS = ("agent", "project", "model", "session", "branch", "agent_type", "skill", "mcp")
"""Columns that a table may have a row for each value of."""


def spent(database: sqlite3.Connection, scope: str, since: float | None) -> SpentSum:
    """Return what was spent in *scope* since a moment; what lies in the future counts too."""
    first = FIRST_QUARTER
    if since is not None:
        first = quarter_of(since)
    cost, tokens = database.execute(
        "SELECT sum(cost), sum(tokens) FROM sums WHERE scope = ? AND quarter >= ?",
        (scope, first),
    ).fetchone()
    return SpentSum(cost or 0, tokens or 0)


def covered_by_model(
    database: sqlite3.Connection, session: str, until: float | None
) -> dict[str, list[int]]:
    """Return the tokens by model of the requests that the total of *session* includes."""
    covered: dict[str, list[int]] = {}
    for condition in _OF_SESSION:
        query = f"SELECT model, {_COUNTS} FROM requests WHERE {condition} GROUP BY 1"  # noqa: S608
        for model, *counts in database.execute(query, (session, until)):
            sums = covered.setdefault(model, [0] * len(counts))
            for column, count in enumerate(counts):
                sums[column] += count
    return covered


def covered_cost(database: sqlite3.Connection, session: str, until: float | None) -> int:
    """Return what the requests cost that the total of *session* includes."""
    cost = 0
    for condition in _OF_SESSION:
        query = f"SELECT sum(cost) FROM requests WHERE {condition}"  # noqa: S608
        (part,) = database.execute(query, (session, until)).fetchone()
        cost += part or 0
    return cost


def latest_covered(database: sqlite3.Connection, session: str, until: float | None) -> float | None:
    """Return when the last of these requests was made; None if none has a time."""
    times: list[float] = []
    for condition in _OF_SESSION:
        query = f"SELECT max(time) FROM requests WHERE {condition}"  # noqa: S608
        (time,) = database.execute(query, (session, until)).fetchone()
        if time is not None:
            times.append(time)
    return max(times, default=None)


def usage_cells(database: sqlite3.Connection, by: str) -> Iterator[UsageCell]:
    """Yield the sums of all requests by quarter hour, agent, project, model and the column *by*."""
    name = "''"
    if by in CELL_COLUMNS:
        name = by
    session = "CASE kind WHEN 'request' THEN '' ELSE session END"
    query = f"""
        SELECT {name} AS name, agent, project, model, kind, {session} AS of_session,
            {_QUARTER} AS quarter, count(*), sum(cost IS NULL),
            coalesce(sum(cost), 0), sum(estimated_cost), sum(input), sum(output),
            sum(cache_read), sum(write_5m), sum(write_1h), min(time), max(time)
        FROM requests GROUP BY name, agent, project, model, kind, of_session, quarter
    """  # noqa: S608 - names of columns
    for row in database.execute(query):
        yield UsageCell(*row)


def rebuild_sums(database: sqlite3.Connection) -> None:
    """Make all sums again from the requests, after prices or rows changed."""
    database.execute("DELETE FROM sums")
    quarter = f"coalesce({_QUARTER}, 0)"
    counted = "sum(coalesce(cost, 0) + estimated_cost), sum(fresh)"
    for scope, condition in _SCOPES:
        database.execute(
            f"INSERT INTO sums SELECT {scope}, {quarter}, {counted} "  # noqa: S608
            f"FROM requests WHERE {condition} GROUP BY 1, 2"
        )


_SCOPES = (
    ("'*'", "true"),
    ("'p:' || project", "true"),
    ("'s:' || session", "true"),
    ("'a:' || session || '/' || sub_agent", "sub_agent <> ''"),
)
"""How SQL spells ``IndexedRequest.scopes``."""
