"""What activation asks of a file, answered by indexes: the cost follows what is found, not what there is."""

from __future__ import annotations

from brim.activation.source import Node
from brim.store.rows import EDGE_COLUMNS, edge_of, unreadable, used, when_of
from brim.store.triggers import triggers_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from brim.behaviors.edges import Edge
    from brim.store.database import Database

_NODE = "SELECT id, conditions, words, injected, confirmed, overridden, last_used FROM behaviors"
_SEEDS = f"{_NODE} WHERE live AND number IN (SELECT behavior FROM triggers WHERE trigger IN ({{}}))"  # noqa: S608
_NODES = f"{_NODE} WHERE live AND id IN ({{}})"
_TOUCHING = (
    f"SELECT {EDGE_COLUMNS} FROM edges WHERE source IN ({{}}) "  # noqa: S608
    f"UNION ALL SELECT {EDGE_COLUMNS} FROM edges WHERE target IN ({{}})"
)


def seeds(database: Database, facts: Mapping[str, tuple[str, ...]], words: frozenset[str]) -> list[Node]:
    """Return every live behavior that a situation may give a seed: some too many, none too few."""
    rows = database.rows_in(_SEEDS, sorted(triggers_in(facts, words)))
    return list({row[0]: _node(row) for row in rows}.values())


def nodes(database: Database, ids: Collection[str]) -> list[Node]:
    """Return the live ones of *ids*."""
    return [_node(row) for row in database.rows_in(_NODES, dict.fromkeys(ids))]


def edges_touching(database: Database, ids: Collection[str]) -> list[Edge]:
    """Return every edge with an end among *ids*, wherever the other end is."""
    wanted = dict.fromkeys(ids)
    most = 4 * len(wanted)
    rows = database.rows(f"SELECT {EDGE_COLUMNS} FROM edges LIMIT ?", (most + 1,))  # noqa: S608
    if len(rows) > most:
        rows = database.rows_in(_TOUCHING, wanted)
    else:  # to look at each of a few edges is faster than to look up each of many ids, twice
        rows = [row for row in rows if row[0] in wanted or row[1] in wanted]
    return [edge_of(row) for row in {row[:3]: row for row in rows}.values()]


def live_ids(database: Database, ids: Collection[str]) -> set[str]:
    """Return which of *ids* are live behaviors of this file."""
    sql = "SELECT id FROM behaviors INDEXED BY behaviors_standing WHERE live AND id IN ({})"
    return {row[0] for row in database.rows_in(sql, ids)}


def _node(row: Any) -> Node:
    id, conditions, words, *use = row
    try:
        injected, confirmed, overridden, last_used = used(*use)
        uses = max(0, injected + confirmed - overridden)
        return Node(id, when_of(conditions), frozenset(words.split()), uses, last_used)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise unreadable(id, error) from None
