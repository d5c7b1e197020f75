"""``Store``: what one file holds, to be read and written.

Each call that writes is one transaction. Several calls are one inside ``with store.writing():``, which takes the lock
before the first of them reads: so two processes that learn the same thing meet in one row, and neither is lost.
"""

from __future__ import annotations

import time

from brim.errors import InputError, StoreError
from brim.store import source
from brim.store.database import TIMEOUT
from brim.store.events import Event, add_event, read_events
from brim.store.opening import open_database
from brim.store.rows import EDGE_COLUMNS, SELECT, behavior_of, edge_of, edge_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from contextlib import AbstractContextManager
    from typing import Any, Self

    from brim.activation.source import Node
    from brim.behaviors.behavior import Behavior, Edge, EdgeKind, Status
    from brim.injection.session import Session
    from brim.store.database import Database
    from brim.store.remembered import StoredCalibrations, StoredWindows
    from brim.store.source import Standing


def open_store(path: str, *, migrate: bool = True, timeout: float = TIMEOUT, readonly: bool = False) -> Store:
    """Open the file *path*.

    It is made if it is missing, and brought up to date if it is older, unless *migrate* is False: then either is a
    ``StoreError``, as a damaged or newer file always is. *timeout* is how many seconds to wait for another writer.
    """
    store = Store(open_database(path, migrate=migrate, timeout=timeout, readonly=readonly))
    if migrate and not store.readonly:
        from brim.store.writing import reindex_if_old

        try:
            reindex_if_old(store.database)
        except BaseException:
            store.close()
            raise
    return store


class Store:
    """One file of behaviors, edges, events, sessions and what was learned of models.

    It is a ``brim.activation.Source``: ``activate(store, context, now=...)``.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self.database = database
        self._clock = clock

    @property
    def path(self) -> str:
        """The file."""
        return self.database.path

    @property
    def readonly(self) -> bool:
        """Whether nothing can be written: the disk or the file is read-only, or it was opened so."""
        return self.database.readonly

    # What activation asks ---------------------------------------------------------------------------------------

    def seeds(self, facts: Mapping[str, tuple[str, ...]], words: frozenset[str]) -> list[Node]:
        """Return every live behavior that a situation may give a seed: some too many, none too few."""
        return source.seeds(self.database, facts, words)

    def nodes(self, ids: Collection[str]) -> list[Node]:
        """Return the live ones of *ids*."""
        return source.nodes(self.database, ids)

    def edges(self, ids: Collection[str]) -> list[Edge]:
        """Return every edge that touches one of *ids* and has both ends live in this file."""
        found = source.edges_touching(self.database, ids)
        live = source.live_ids(self.database, {end for edge in found for end in (edge.source, edge.target)})
        return [edge for edge in found if edge.source in live and edge.target in live]

    # Behaviors --------------------------------------------------------------------------------------------------

    def behaviors(self, status: Status | str | Iterable[Status | str] | None = None) -> list[Behavior]:
        """Return the behaviors by id: all, or those of one *status* or of several."""
        if status is None:
            return [behavior_of(row) for row in self.database.rows(f"{SELECT} ORDER BY id")]
        wanted = [status] if isinstance(status, str) else list(status)
        rows = self.database.rows_in(f"{SELECT} WHERE status IN ({{}})", [str(each) for each in wanted])
        return sorted((behavior_of(row) for row in rows), key=lambda behavior: behavior.id)

    def get(self, id: str) -> Behavior | None:
        """Return the behavior *id*, whatever its status, or None."""
        row = self.database.row(f"{SELECT} WHERE id = ?", (id,))
        return behavior_of(row) if row else None

    def get_many(self, ids: Collection[str]) -> dict[str, Behavior]:
        """Return those of *ids* that are there, by id."""
        rows = self.database.rows_in(f"{SELECT} WHERE id IN ({{}})", dict.fromkeys(ids))
        return {row[0]: behavior_of(row) for row in rows}

    def standing(self, ids: Collection[str]) -> dict[str, Standing]:
        """Return for those of *ids* that are there whether they are live, their kind and their status."""
        return source.standing(self.database, ids)

    def candidates(self, text: str) -> list[Behavior]:
        """Return the behaviors that *text* may mean: of this id, else of this name, else whose id or name begins so."""
        ways = (
            ("id = ?", (text,)),
            ("name = ? ORDER BY live DESC, id", (text,)),
            ("id > ?1 AND id < ?1 || char(1114111) ORDER BY id", (text,)),
            ("name > ?1 AND name < ?1 || char(1114111) ORDER BY id", (text,)),
        )
        for where, values in ways:
            if text and (rows := self.database.rows(f"{SELECT} WHERE {where}", values)):
                return [behavior_of(row) for row in rows]
        return []

    def find(self, text: str) -> Behavior:
        """Return the behavior that *text* means: its id, its name, or a beginning of either that no other has."""
        return chosen(self.candidates(text), text)

    def put(self, behavior: Behavior, *, event: str, now: float, session: str = "", **detail: Any) -> None:
        """Write *behavior* in place of the one with its id, with the costs of its lines and an *event* about it."""
        self.put_many((behavior,), event=event, now=now, session=session, **detail)

    def put_many(
        self, behaviors: Iterable[Behavior], *, event: str, now: float, session: str = "", **detail: Any
    ) -> None:
        """Write *behaviors*, each as ``put`` does; all of them or none."""
        from brim.store.writing import write_behaviors

        written = list(behaviors)
        with self.writing():
            write_behaviors(self.database, written)
            for behavior in written:
                add_event(self.database, Event(event, now, behavior.id, session=session, detail=detail))

    def used(self, ids: Collection[str], *, now: float, session: str = "", **detail: Any) -> None:
        """Note that *ids* were injected together: each counts one use more."""
        with self.writing():
            self.database.rows_in(
                "UPDATE behaviors SET injected = injected + 1, last_used = max(coalesce(last_used, 0), ?) "
                "WHERE id IN ({})",
                dict.fromkeys(ids),
                before=(now,),
            )
            add_event(self.database, Event("injected", now, session=session, detail={"ids": list(ids), **detail}))

    # Edges ------------------------------------------------------------------------------------------------------

    def all_edges(self) -> list[Edge]:
        """Return every edge by source, target and kind, those that lead nowhere too."""
        rows = self.database.rows(f"SELECT {EDGE_COLUMNS} FROM edges ORDER BY source, target, kind")  # noqa: S608
        return [edge_of(row) for row in rows]

    def edges_touching(self, ids: Collection[str]) -> list[Edge]:
        """Return every edge with an end among *ids*, wherever the other end is and whether it is live or not."""
        return source.edges_touching(self.database, ids)

    def put_edges(self, edges: Iterable[Edge]) -> None:
        """Write *edges*, each in place of one with the same ends and kind."""
        with self.writing():
            self.database.run_many(
                f"INSERT OR REPLACE INTO edges ({EDGE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608
                [edge_row(edge) for edge in edges],
            )

    def put_edge(self, edge: Edge, *, now: float) -> None:
        """Write *edge*, and an event ``connected``."""
        with self.writing():
            self.put_edges((edge,))
            self.record(Event("connected", now, edge.source, detail={"target": edge.target, "kind": edge.kind.value}))

    def remove_edge(self, source: str, target: str, kind: EdgeKind | str, *, now: float) -> bool:
        """Remove an edge, with an event ``disconnected``; whether it was there."""
        with self.writing():
            gone = self.database.run(
                "DELETE FROM edges WHERE source = ? AND target = ? AND kind = ?", (source, target, str(kind))
            )
            if gone:
                self.record(Event("disconnected", now, source, detail={"target": target, "kind": str(kind)}))
        return bool(gone)

    # What happened, what it costs, what is known ----------------------------------------------------------------

    def record(self, event: Event) -> None:
        """Write *event* after all others, with its secrets masked."""
        with self.writing():
            add_event(self.database, event)

    def events(self, *, behavior: str | None = None, kind: str | None = None, limit: int | None = None) -> list[Event]:
        """Return the events, oldest first; of one *behavior* or *kind*; with *limit* only the newest so many."""
        return read_events(self.database, behavior=behavior, kind=kind, limit=limit)

    def line_costs(self, ids: Collection[str], format: str, encoding: str) -> dict[tuple[str, int], tuple[int, int]]:
        """Return tokens and characters by id and tier; what another renderer's version has written is left out."""
        from brim.store.costs import read_costs

        return read_costs(self.database, ids, format, encoding)

    def recost(self) -> int:
        """Count the lines of every behavior that this renderer has not counted yet; return how many there were."""
        from brim.store.costs import stale_ids, write_costs

        with self.writing():
            stale = self.get_many(stale_ids(self.database))
            write_costs(self.database, stale.values())
        return len(stale)

    @property
    def calibrations(self) -> StoredCalibrations:
        """The learned ratios: a ``brim.tokens.CalibrationStore``."""
        from brim.store.remembered import StoredCalibrations

        return StoredCalibrations(self.database)

    @property
    def windows(self) -> StoredWindows:
        """The reported windows: a ``brim.models.WindowStore``."""
        from brim.store.remembered import StoredWindows

        return StoredWindows(self.database, self._clock)

    def session(self, session: str, agent: str = "", **limits: Any) -> AbstractContextManager[Session]:
        """Hand out the state of a session, to be charged: see ``brim.store.sessions.session_in``."""
        from brim.store.sessions import session_in

        return session_in(self.database, session, agent, clock=self._clock, **limits)

    # The file ---------------------------------------------------------------------------------------------------

    def writing(self) -> AbstractContextManager[Database]:
        """Make everything inside one transaction, locked from its beginning: all of it is written, or nothing."""
        return self.database.writing()

    def reading(self) -> AbstractContextManager[Database]:
        """Let everything that is read inside be of one moment."""
        return self.database.reading()

    def check(self) -> list[str]:
        """Return what SQLite finds wrong with the file; nothing if it is sound. It reads all of it."""
        try:
            found = [str(row[0]) for row in self.database.rows("PRAGMA quick_check")]
        except StoreError as error:  # SQLite gives up where a page is no page at all
            if error.reason != "damaged":
                raise
            return [str(error)]
        return [] if found == ["ok"] else found

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({self.path!r})"


def chosen(candidates: list[Behavior], text: str) -> Behavior:
    """Return the only one of *candidates*, or the only live one; else raise, naming them."""
    if not candidates:
        raise InputError(f"no behavior has the id or the name {text[:80]!r}: 'brim list' shows them")
    live = [behavior for behavior in candidates if behavior.live]
    if len(candidates) == 1 or len(live) == 1:
        return (live or candidates)[0]
    several = ", ".join(behavior.id for behavior in candidates[:5])
    more = f" and {len(candidates) - 5} more" if len(candidates) > 5 else ""
    raise InputError(f"{text[:80]!r} may mean {several}{more}: say which by its id")
