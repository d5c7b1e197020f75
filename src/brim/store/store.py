"""``Store``: reads and writes one file.

Each call that writes is one transaction. ``with store.writing():`` makes several calls one
transaction and takes the lock before the first of them reads. So if two processes learn the same
rule at once, both end up in one row.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from brim.activation.relevance import section_of, terms_of
from brim.activation.source import Node
from brim.behaviors.behavior import Edge, EdgeKind, Rule, Status
from brim.behaviors.words import behavior_words
from brim.config.retention import SESSIONS
from brim.errors import InputError, StoreError
from brim.files import sha256_hex
from brim.masking import mask
from brim.record import PlainData
from brim.rules.blocks import checked_blocks
from brim.rules.costs import ENCODINGS
from brim.rules.session import Session
from brim.rules.text import RENDERER_VERSION
from brim.store.database import ALL, TIMEOUT, Closing, Database, closed_on_error, open_database
from brim.store.events import RuleEvent, add_event
from brim.store.rows import (
    DIGESTED,
    EDGE_COLUMNS,
    INDEX_VERSION,
    NODE_COLUMNS,
    SELECT,
    UPSERT,
    behavior_of,
    edge_of,
    edge_row,
    inferred_column,
    line_costs_of,
    node_of,
    row_of,
    triggers_in,
    without_secrets,
)
from brim.tokens.calibrate import Calibration

Standing = tuple[bool, str, str]
"""Whether a behavior is live, its kind and its status, as the columns hold them."""

_TOUCHING = (
    f"SELECT {EDGE_COLUMNS} FROM edges WHERE source IN ({{}}) "  # noqa: S608
    f"UNION ALL SELECT {EDGE_COLUMNS} FROM edges WHERE target IN ({{}})"
)
_FOUND = "live AND number IN (SELECT behavior FROM triggers WHERE trigger IN ({}))"
_POSTINGS = """
    SELECT t.trigger, group_concat(b.id, '\n'), group_concat(t.weight, ' ')
    FROM triggers t JOIN behaviors b ON b.number = t.behavior WHERE t.trigger IN ({}) GROUP BY t.trigger
"""
_ANY_SECTION = "SELECT 1 FROM behaviors WHERE section <> '' LIMIT 1"
_SECTIONS = """
    SELECT section, id FROM behaviors WHERE live AND section <> '' AND section IN (
        SELECT section FROM behaviors WHERE id IN ({})
    )
"""
_COSTS = """
    SELECT b.id, c.tier, c.tokens, c.chars FROM behaviors b JOIN line_costs c ON c.behavior = b.number
    WHERE b.id IN ({}) AND c.encoding = ? AND c.renderer = ?
"""


def open_store(
    path: str, *, create: bool = True, timeout: float = TIMEOUT, readonly: bool = False
) -> Store:
    """Open the file *path*.

    A missing file is made, unless *create* is False: then it raises ``StoreError``, as a damaged
    file or one of another version always does. *timeout* is how many seconds to wait for another
    writer.
    """
    store = Store(open_database(path, create=create, timeout=timeout, readonly=readonly))
    if create and not store.readonly:
        with closed_on_error(store):
            store.reindex_if_old()
    return store


class Store(Closing):
    """One file of behaviors, edges, events, sessions and facts about models.

    It is a ``brim.activation.Source``: ``activate(store, context, now=...)``.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self.database, self._clock = database, clock
        self.path = database.path
        """The file."""
        self.readonly = database.readonly
        """Whether the disk or the file is read-only, or was opened read-only."""
        self.learned = False
        """Whether rules were written here."""

    # What activation asks -------------------------------------------------------------------------

    def seeds(
        self,
        facts: Mapping[str, tuple[str, ...]],
        words: frozenset[str],
        known: dict[str, Standing | None] | None = None,
    ) -> list[Node]:
        """Return every live behavior that a situation may activate directly, and perhaps a few
        more.

        *known* gets their standings, which are in the same rows.
        """
        rows = self._node_rows(_FOUND, sorted(triggers_in(facts, words)), known)
        return list({row[0]: node_of(row) for row in rows}.values())

    def nodes(
        self, ids: Collection[str], known: dict[str, Standing | None] | None = None
    ) -> list[Node]:
        """Return the live behaviors among *ids*. *known* gets the standings of all of them."""
        if known is not None:
            known.update(dict.fromkeys(ids))
        return [
            node_of(row)
            for row in self._node_rows("id IN ({})", dict.fromkeys(ids), known)
            if row[7]
        ]

    def postings(self, terms: Collection[str]) -> dict[str, list[tuple[str, int]]]:
        """Return the live behaviors that each of *terms* finds, with their weights in
        hundredths."""
        # One row per term: a prompt finds thousands, and fetching as many rows takes longer than
        # finding them.
        rows = self.database.rows_in(_POSTINGS, terms)
        found = {}
        for term, ids, written in rows:
            weights = written.split()
            try:
                known = {weight: int(weight) for weight in set(weights)}
                found[term] = [*zip(ids.split("\n"), map(known.__getitem__, weights), strict=True)]
            except ValueError:
                what = (
                    f"an id of the rules for {term!r} has several lines, or a weight isn't a number"
                )
                raise StoreError(f"{self.path}: is damaged: {what}", "damaged") from None
        return found

    def count(self) -> int:
        """Return how many live behaviors there are."""
        (many,) = self.database.row(
            "SELECT count(*) FROM behaviors INDEXED BY behaviors_standing WHERE live"
        )
        return int(many)

    def sections(self, ids: Collection[str]) -> list[Any]:
        """Return section and id of every live behavior that shares a section with one of *ids*."""
        has_any = self.database.row(_ANY_SECTION) is not None
        return self.database.rows_in(_SECTIONS, ids) if has_any else []

    def _node_rows(
        self, where: str, values: Collection[str], known: dict[str, Standing | None] | None
    ) -> list[Any]:
        rows = self.database.rows_in(f"SELECT {NODE_COLUMNS} FROM behaviors WHERE {where}", values)  # noqa: S608
        if known is not None:
            known.update({row[0]: (bool(row[7]), row[8], row[9]) for row in rows})
        return rows

    def edges(self, ids: Collection[str]) -> list[Edge]:
        """Return the edges that touch one of *ids* and connect live behaviors of this file."""
        found = self.edges_touching(ids)
        sql = "SELECT id FROM behaviors INDEXED BY behaviors_standing WHERE live AND id IN ({})"
        live = {
            row[0]
            for row in self.database.rows_in(sql, {end for edge in found for end in edge.key[:2]})
        }
        return [edge for edge in found if edge.source in live and edge.target in live]

    # Behaviors ------------------------------------------------------------------------------------

    def behaviors(self, status: Status | str | Iterable[Status | str] | None = None) -> list[Rule]:
        """Return the behaviors, sorted by id: all, or those of one *status* or of several."""
        if status is None:
            return [behavior_of(row) for row in self.database.rows(f"{SELECT} ORDER BY id")]
        wanted = [status] if isinstance(status, str) else list(status)
        rows = self.database.rows_in(
            f"{SELECT} WHERE status IN ({{}})", [str(each) for each in wanted]
        )
        return sorted((behavior_of(row) for row in rows), key=lambda behavior: behavior.id)

    def get(self, id: str) -> Rule | None:
        """Return the behavior *id*, whatever its status, or None."""
        row = self.database.row(f"{SELECT} WHERE id = ?", (id,))
        return behavior_of(row) if row else None

    def get_many(self, ids: Collection[str]) -> dict[str, Rule]:
        """Return the behaviors with *ids*, by id."""
        rows = self.database.rows_in(f"{SELECT} WHERE id IN ({{}})", dict.fromkeys(ids))
        return {row[0]: behavior_of(row) for row in rows}

    def standing(self, ids: Collection[str]) -> dict[str, Standing]:
        """Return for each of *ids* that exists whether it is live, its kind and its status."""
        sql = "SELECT id, live, kind, status FROM behaviors WHERE id IN ({})"
        rows = self.database.rows_in(sql, dict.fromkeys(ids))
        return {id: (bool(live), kind, status) for id, live, kind, status in rows}

    def digests(self, ids: Collection[str] | None = None) -> dict[str, str]:
        """Return a digest of everything that agents can be told about *ids*, or about all live
        behaviors."""
        sql = f"SELECT {DIGESTED} FROM behaviors WHERE "  # noqa: S608
        rows = (
            self.database.rows(f"{sql} live")
            if ids is None
            else self.database.rows_in(f"{sql} id IN ({{}})", ids)
        )
        return {row[0]: sha256_hex(repr(row).encode("utf-8", "surrogatepass")) for row in rows}

    def agreed(self, project: str, ids: Collection[str]) -> dict[str, str]:
        """Return the digests of *ids* of *project* that the user has agreed to. Only the user's
        file has them."""
        start = f"agreed {project} "
        found = self.database.notes([f"{start}{id}" for id in ids])
        return {key.removeprefix(start): digest for key, digest in found.items()}

    def agree(self, project: str, digests: Mapping[str, str]) -> None:
        """Note that the user agrees to these *digests*, by id, of *project*."""
        with self.writing():
            self.database.note({f"agreed {project} {id}": digest for id, digest in digests.items()})

    def candidates(self, text: str) -> list[Rule]:
        """Return the behaviors with the id *text*, else with that name, else with an id or name
        that begins so."""
        begun = (text, f"{text}\U0010ffff")
        ways = (
            ("id = ?", (text,)),
            ("name = ? ORDER BY live DESC, id", (text,)),
            ("id > ? AND id < ? ORDER BY id", begun),
            ("name > ? AND name < ? ORDER BY id", begun),
        )
        for where, values in ways:
            if text and (rows := self.database.rows(f"{SELECT} WHERE {where}", values)):
                return [behavior_of(row) for row in rows]
        return []

    def find(self, text: str) -> Rule:
        """Return the behavior with the id or name *text*, or the only one whose id or name begins
        with it."""
        return chosen(self.candidates(text), text)

    def put(
        self, behavior: Rule, *, event: str, now: float, session: str = "", **detail: Any
    ) -> None:
        """Write *behavior*, replacing the one with its id, with the costs of its lines and an
        *event*."""
        self.put_many((behavior,), event=event, now=now, session=session, **detail)

    def put_many(
        self,
        behaviors: Iterable[Rule],
        *,
        event: str,
        now: float,
        session: str = "",
        **detail: Any,
    ) -> None:
        """Write *behaviors*, each as ``put`` does; all of them or none."""

        self.learned = True
        with self.writing():
            written = []
            for behavior in behaviors:
                masked = without_secrets(behavior)
                _check_blocks(behavior)
                row = row_of(masked, behavior_words(masked.name, masked.tags))
                self.database.run(UPSERT, row)
                written.append(behavior_of(row, new=True))
                self._write_triggers(written[-1])
                add_event(
                    self.database,
                    RuleEvent(event, now, behavior.id, session=session, detail=detail),
                )
            self._write_costs(written)  # not of *behaviors*: a masked secret changes the text

    def reindex_if_old(self) -> None:
        """Rebuild the index of stems and triggers if another version of brim wrote it."""
        if self.database.notes(["index"]) == {"index": INDEX_VERSION}:
            return

        with self.writing():
            for behavior in self.behaviors():
                words = " ".join(sorted(behavior_words(behavior.name, behavior.tags)))
                self.database.run(
                    "UPDATE behaviors SET words = ?, inferred = ?, section = ? WHERE id = ?",
                    (words, inferred_column(behavior), section_of(behavior), behavior.id),
                )
                self._write_triggers(behavior)
            self.database.note({"index": INDEX_VERSION})

    def _write_triggers(self, behavior: Rule) -> None:
        number = self._emptied("triggers", behavior)
        if behavior.live:
            rows = [(term, number, weight) for term, weight in sorted(terms_of(behavior).items())]
            self.database.run_many(
                "INSERT INTO triggers (trigger, behavior, weight) VALUES (?, ?, ?)", rows
            )

    def _emptied(self, table: str, behavior: Rule) -> int:
        """Delete the rows of *behavior* in *table*, and return its number."""
        (number,) = self.database.row("SELECT number FROM behaviors WHERE id = ?", (behavior.id,))
        self.database.run(f"DELETE FROM {table} WHERE behavior = ?", (number,))  # noqa: S608
        return int(number)

    def used(self, ids: Collection[str], *, now: float, session: str = "", **detail: Any) -> None:
        """Note that *ids* were injected together, and count one more use of each."""
        with self.writing():
            self.database.rows_in(
                "UPDATE behaviors SET injected = injected + 1, "
                "last_used = CASE WHEN last_used > ?1 THEN last_used ELSE ?1 END WHERE id IN ({})",
                dict.fromkeys(ids),
                before=(now,),
            )
            add_event(
                self.database,
                RuleEvent("injected", now, session=session, detail={"ids": list(ids), **detail}),
            )

    # Edges ----------------------------------------------------------------------------------------

    def all_edges(self) -> list[Edge]:
        """Return every edge, sorted by source, target and kind, even if a behavior at its end is
        missing."""
        rows = self.database.rows(f"SELECT {EDGE_COLUMNS} FROM edges ORDER BY source, target, kind")  # noqa: S608
        return [edge_of(row) for row in rows]

    def edges_touching(self, ids: Collection[str], few: list[Any] | None = None) -> list[Edge]:
        """Return every edge from or to one of *ids*, whatever is at its other end.

        *few* are the rows of all edges, if the caller has them from ``few_edges``.
        """
        wanted = dict.fromkeys(ids)
        few = self.few_edges(4 * len(ids)) if few is None else few
        if few is not None:
            return [edge_of(row) for row in few if row[0] in wanted or row[1] in wanted]
        rows = self.database.rows_in(_TOUCHING, wanted)
        return [edge_of(row) for row in {row[:3]: row for row in rows}.values()]

    def few_edges(self, most: int) -> list[Any] | None:
        """Return the rows of all edges, or None if there are more than *most*.

        Filtering a few edges is faster than looking up many ids twice.
        """
        rows = self.database.rows(f"SELECT {EDGE_COLUMNS} FROM edges LIMIT ?", (most + 1,))  # noqa: S608
        return rows if len(rows) <= most else None

    def put_edges(self, edges: Iterable[Edge]) -> None:
        """Write *edges*, each replacing one with the same ends and kind."""
        with self.writing():
            self.database.run_many(
                f"INSERT OR REPLACE INTO edges ({EDGE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",  # noqa: S608
                [edge_row(edge) for edge in edges],
            )

    def put_edge(self, edge: Edge, *, now: float) -> None:
        """Write *edge*, and an event ``connected``."""
        with self.writing():
            self.put_edges((edge,))
            self.record(
                RuleEvent(
                    "connected",
                    now,
                    edge.source,
                    detail={"target": edge.target, "kind": edge.kind.value},
                )
            )

    def remove_edge(self, source: str, target: str, kind: EdgeKind | str, *, now: float) -> bool:
        """Remove an edge, and record an event ``disconnected``; return whether it existed."""
        with self.writing():
            gone = self.database.run(
                "DELETE FROM edges WHERE source = ? AND target = ? AND kind = ?",
                (source, target, str(kind)),
            )
            if gone:
                self.record(
                    RuleEvent(
                        "disconnected", now, source, detail={"target": target, "kind": str(kind)}
                    )
                )
        return bool(gone)

    # Events, costs and facts about models ---------------------------------------------------------

    def record(self, event: RuleEvent) -> None:
        """Write *event* after all others, with its secrets masked."""
        with self.writing():
            add_event(self.database, event)

    def events(
        self,
        *,
        behavior: str | None = None,
        kind: str | None = None,
        session: str | None = None,
        limit: int | None = None,
    ) -> list[RuleEvent]:
        """Return the events, oldest first; of one *behavior*, *kind* or *session*; with *limit*
        only the newest."""
        asked = {"behavior": behavior, "kind": kind, "session": session}
        given = {name: value for name, value in asked.items() if value is not None}
        where = f"WHERE {' AND '.join(f'{name} = ?' for name in given)}" if given else ""
        sql = f"SELECT kind, time, behavior, session, detail FROM events {where} ORDER BY number DESC LIMIT ?"  # noqa: S608
        rows = self.database.rows(sql, (*given.values(), ALL if limit is None else limit))
        try:
            return [
                RuleEvent(row[0], row[1], row[2], row[3], json.loads(row[4]))
                for row in reversed(rows)
            ]
        except (ValueError, TypeError, RecursionError) as error:
            raise StoreError(f"{self.path}: an event cannot be read: {error}", "damaged") from None

    def line_costs(
        self, ids: Collection[str], encoding: str
    ) -> dict[tuple[str, int], tuple[int, int]]:
        """Return tokens and characters by id and tier, as far as this version of the renderer has
        counted them."""

        rows = self.database.rows_in(_COSTS, dict.fromkeys(ids), encoding, RENDERER_VERSION)
        return {
            (id, tier): (tokens, chars)
            for id, tier, tokens, chars in rows
            if type(tokens) is type(chars) is int
            and tokens > 0
            and chars > 0  # else the plan counts the line itself
        }

    def recost(self) -> int:
        """Count the lines of every behavior that this version hasn't counted yet; return how many
        there were."""
        with self.writing():
            stale = self.get_many(self.stale_ids())
            self._write_costs(stale.values())
        return len(stale)

    def stale_ids(self) -> list[str]:
        """Return the ids of behaviors with lines that this version of the renderer hasn't
        counted."""

        rows = self.database.rows(
            "SELECT id FROM behaviors b WHERE (SELECT count(*) FROM line_costs c "
            "WHERE c.behavior = b.number AND c.renderer = ?) < ? ORDER BY id",
            (RENDERER_VERSION, 3 * len(ENCODINGS)),
        )
        return [row[0] for row in rows]

    def _write_costs(self, behaviors: Iterable[Rule]) -> None:
        """Count the lines of *behaviors*, which are in the file already, so that plans need no
        tokenizer."""
        for behavior in behaviors:
            number = self._emptied("line_costs", behavior)
            self.database.run_many(
                "INSERT INTO line_costs (behavior, format, encoding, tier, renderer, tokens, chars) "
                "VALUES (?, 'markdown', ?, ?, ?, ?, ?)",
                [(number, *cost) for cost in line_costs_of(behavior)],
            )

    @property
    def calibrations(self) -> StoredCalibrations:
        """The learned ratios: a ``brim.tokens.CalibrationStore``."""
        return StoredCalibrations(self.database)

    @property
    def windows(self) -> StoredWindows:
        """The reported windows: a ``brim.models.WindowStore``."""
        return StoredWindows(self.database, self._clock)

    # Sessions -------------------------------------------------------------------------------------

    @contextmanager
    def session(self, session: str, agent: str = "", **limits: Any) -> Iterator[Session]:
        """Hand out a session with its *limits*, to be charged; what becomes of it is written,
        unless an error leaves.

        The file is locked meanwhile, so that two hooks can't both spend the last tokens: decide
        before, charge inside. A sub-agent (*agent*) has its own backoff and spends from the total
        of the session itself.
        """
        with self.writing():
            now = self._clock()
            main, mine = self._sessions(session, agent, limits)
            yield mine
            for name, state in {"": main, agent: mine}.items():
                self.database.run(
                    "INSERT OR REPLACE INTO sessions (session, agent, state, updated_at) VALUES (?, ?, ?, ?)",
                    (session, name, json.dumps(state.to_dict()), now),
                )
            self.database.run("DELETE FROM sessions WHERE updated_at < ?", (now - SESSIONS,))

    def session_seen(self, session: str, agent: str = "", **limits: Any) -> Session:
        """Return a session to look at. That takes no lock, and changes to it aren't kept."""
        return self._sessions(session, agent, limits)[1]

    def _sessions(
        self, session: str, agent: str, limits: dict[str, Any]
    ) -> tuple[Session, Session]:
        """Return the session itself, and that of *agent* in it, which is the same without an
        agent."""

        main = Session(**limits)
        mine = Session(**limits, parent=main) if agent else main
        rows = self.database.rows(
            "SELECT agent = '', state FROM sessions WHERE session = ?1 AND (agent = '' OR agent = ?2)",
            (session, agent),
        )
        try:
            for is_main, text in rows:
                state = json.loads(text)
                shown = [number for counts in state["shown"].values() for number in counts]
                if not all(
                    type(each) is int and each >= 0
                    for each in (state["prompts"], state["spent"], *shown)
                ):
                    raise ValueError("a total below 0 would give tokens away")
                (main if is_main else mine).load(state)
        except (TypeError, ValueError, KeyError, AttributeError, RecursionError):
            text = f"{self.path}: the state of the session {session[:80]!r} cannot be read"
            raise StoreError(text, "damaged") from None
        return main, mine

    # The file -------------------------------------------------------------------------------------

    def writing(self) -> AbstractContextManager[Database]:
        """Open a transaction that holds the lock from the start: all of it is written, or
        nothing."""
        return self.database.writing()

    def reading(self) -> AbstractContextManager[Database]:
        """Read one consistent state of the file inside."""
        return self.database.reading()

    def check(self) -> list[str]:
        """Read the whole file and return what SQLite finds wrong with it."""
        try:
            return self.database.problems()
        except StoreError as error:  # SQLite gives up where a page isn't one
            if error.reason != "damaged":
                raise
            return [str(error)]

    def __repr__(self) -> str:
        return f"Store({self.path!r})"


def _check_blocks(behavior: Rule) -> None:

    try:
        checked_blocks(behavior.blocks)
    except InputError as error:
        raise InputError(f"{behavior.name} ({behavior.id}): {error}") from None
    if any(mask(block) != block for block in behavior.blocks):
        raise InputError(
            f"{behavior.name} ({behavior.id}): a block can't hold a secret: put * in its place"
        )


def chosen(candidates: list[Rule], text: str) -> Rule:
    """Return the only candidate, or the only live one; otherwise raise an error that names them."""
    if not candidates:
        raise InputError(f"no rule has the id or the name {text[:80]!r}: 'brim rules' lists them")
    live = [behavior for behavior in candidates if behavior.live]
    if len(candidates) == 1 or len(live) == 1:
        return (live or candidates)[0]
    several = ", ".join(
        f"{each.id} ({each.scope}: {(each.summary or each.canonical)[:40]})"
        for each in candidates[:5]
    )
    more = f" and {len(candidates) - 5} more" if len(candidates) > 5 else ""
    raise InputError(f"{text[:80]!r} may mean {several}{more}: say which by its id")


@dataclass(frozen=True)
class StoredCalibrations(PlainData):
    """Learned ratios by model, in a file: a ``brim.tokens.CalibrationStore``."""

    database: Database

    def get(self, model: str, /) -> Calibration | None:
        """Return what was learned about *model*; None if there is nothing, or it can't be read."""
        row = self.database.row(
            "SELECT ratio, spread, samples FROM calibrations WHERE model = ?", (model,)
        )

        try:
            return Calibration(*row) if row else None
        except (TypeError, ValueError):
            return None

    def put(self, model: str, calibration: Calibration, /) -> None:
        """Store *calibration* for *model*, replacing an earlier one."""
        with self.database.writing():
            self.database.run(
                "INSERT OR REPLACE INTO calibrations (model, ratio, spread, samples) VALUES (?, ?, ?, ?)",
                (model, calibration.ratio, calibration.spread, calibration.samples),
            )


@dataclass(frozen=True)
class StoredWindows(PlainData):
    """Reported windows by model, in a file: a ``brim.models.WindowStore``. *clock* says when one
    was reported."""

    database: Database
    clock: Callable[[], float]

    def get(self, name: str, /) -> int | None:
        """Return the window that was last put for *name*."""
        row = self.database.row("SELECT tokens FROM windows WHERE model = ?", (name,))
        return row[0] if row else None

    def put(self, name: str, tokens: int, /) -> None:
        """Store *tokens* as the window of *name*, replacing an earlier one."""
        with self.database.writing():
            self.database.run(
                "INSERT OR REPLACE INTO windows (model, tokens, at) VALUES (?, ?, ?)",
                (name, tokens, self.clock()),
            )
