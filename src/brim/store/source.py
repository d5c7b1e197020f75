"""What activation asks of a file, answered by indexes: the cost follows what is found, not what there is."""

from __future__ import annotations

from brim.activation.source import Node
from brim.store.rows import EDGE_COLUMNS, edge_of, unreadable, used, when_of
from brim.store.triggers import triggers_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any

    from brim.behaviors.behavior import Edge
    from brim.store.database import Database

    Standing = tuple[bool, str, str]
    """Whether a behavior is live, its kind and its status, as the columns hold them."""

_NODE = "SELECT id, conditions, words, injected, confirmed, overridden, last_used, live, kind, status FROM behaviors"
_SEEDS = f"{_NODE} WHERE live AND number IN (SELECT behavior FROM triggers WHERE trigger IN ({{}}))"  # noqa: S608
_NODES = f"{_NODE} WHERE live AND id IN ({{}})"
_STANDING = "SELECT id, live, kind, status FROM behaviors WHERE id IN ({})"
_TOUCHING = (
    f"SELECT {EDGE_COLUMNS} FROM edges WHERE source IN ({{}}) "  # noqa: S608
    f"UNION ALL SELECT {EDGE_COLUMNS} FROM edges WHERE target IN ({{}})"
)


def seeds(
    database: Database,
    facts: Mapping[str, tuple[str, ...]],
    words: frozenset[str],
    known: dict[str, Standing | None] | None = None,
) -> list[Node]:
    """Return every live behavior that a situation may give a seed: some too many, none too few.

    How each stands is put into *known*: it lies in the same rows.
    """
    rows = database.rows_in(_SEEDS, sorted(triggers_in(facts, words)))
    if known is not None:
        known.update({row[0]: (bool(row[7]), row[8], row[9]) for row in rows})
    return list({row[0]: _node(row) for row in rows}.values())


def nodes(database: Database, ids: Collection[str]) -> list[Node]:
    """Return the live ones of *ids*."""
    return [_node(row) for row in database.rows_in(_NODES, dict.fromkeys(ids))]


def standing(database: Database, ids: Collection[str]) -> dict[str, Standing]:
    """Return how those of *ids* stand that are there."""
    rows = database.rows_in(_STANDING, dict.fromkeys(ids))
    return {id: (bool(live), kind, status) for id, live, kind, status in rows}


def edges_touching(database: Database, ids: Collection[str]) -> list[Edge]:
    """Return every edge with an end among *ids*, wherever the other end is."""
    few = few_edges(database, 4 * len(ids))
    return edges_looked_up(database, ids) if few is None else edges_among(few, ids)


def few_edges(database: Database, most: int) -> list[Any] | None:
    """Return the rows of all edges, None if there are more than *most*.

    To look at each of a few edges is faster than to look up each of many ids, twice.
    """
    rows = database.rows(f"SELECT {EDGE_COLUMNS} FROM edges LIMIT ?", (most + 1,))  # noqa: S608
    return rows if len(rows) <= most else None


def edges_among(rows: Iterable[Any], ids: Collection[str]) -> list[Edge]:
    """Return the edges of *rows* with an end among *ids*."""
    wanted = dict.fromkeys(ids)
    return [edge_of(row) for row in rows if row[0] in wanted or row[1] in wanted]


def edges_looked_up(database: Database, ids: Collection[str]) -> list[Edge]:
    """Return every edge with an end among *ids*, each found by an index."""
    rows = database.rows_in(_TOUCHING, dict.fromkeys(ids))
    return [edge_of(row) for row in {row[:3]: row for row in rows}.values()]


def live_ids(database: Database, ids: Collection[str]) -> set[str]:
    """Return which of *ids* are live behaviors of this file."""
    sql = "SELECT id FROM behaviors INDEXED BY behaviors_standing WHERE live AND id IN ({})"
    return {row[0] for row in database.rows_in(sql, ids)}


def _node(row: Any) -> Node:
    id, conditions, words = row[:3]
    try:
        injected, confirmed, overridden, last_used = used(*row[3:7])
        uses = injected + confirmed - overridden
        fields = (id, when_of(conditions), frozenset(words.split()), uses if uses > 0 else 0, last_used)
        return tuple.__new__(Node, fields)  # as its fields in order: a hook reads hundreds
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise unreadable(id, error) from None
