"""The cost of every line that a behavior can become, counted when it is written: a plan then needs no tokenizer."""

from __future__ import annotations

from brim.injection.headings import ENCODINGS
from brim.injection.lines import RENDERER_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from brim.behaviors.behavior import Behavior
    from brim.store.database import Database

_READ = """
    SELECT b.id, c.tier, c.tokens, c.chars FROM behaviors b JOIN line_costs c ON c.behavior = b.number
    WHERE b.id IN ({}) AND c.format = ? AND c.encoding = ? AND c.renderer = ?
"""


def read_costs(
    database: Database, ids: Collection[str], format: str, encoding: str
) -> dict[tuple[str, int], tuple[int, int]]:
    """Return tokens and characters by id and tier. What another renderer's version has written is left out.

    So is what no line costs: then the plan counts the line itself.
    """
    rows = database.rows_in(_READ, dict.fromkeys(ids), format, encoding, RENDERER_VERSION)
    return {
        (id, tier): (tokens, chars)
        for id, tier, tokens, chars in rows
        if type(tokens) is type(chars) is int and tokens > 0 and chars > 0
    }


def write_costs(database: Database, behaviors: Iterable[Behavior]) -> None:
    """Count and keep the lines of each of *behaviors*, which are in the file already."""
    for behavior in behaviors:
        (number,) = database.row("SELECT number FROM behaviors WHERE id = ?", (behavior.id,))
        database.run("DELETE FROM line_costs WHERE behavior = ?", (number,))
        database.run_many(
            "INSERT INTO line_costs (behavior, format, encoding, tier, renderer, tokens, chars) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(number, *cost) for cost in _counted(behavior)],
        )


def stale_ids(database: Database) -> list[str]:
    """Return the ids of the behaviors whose lines this renderer has not counted, all of them or some."""
    from brim.injection.sections import FORMATS

    rows = database.rows(
        "SELECT id FROM behaviors b WHERE (SELECT count(*) FROM line_costs c "
        "WHERE c.behavior = b.number AND c.renderer = ?) < ? ORDER BY id",
        (RENDERER_VERSION, 3 * len(FORMATS) * len(ENCODINGS)),
    )
    return [row[0] for row in rows]


def _counted(behavior: Behavior) -> list[tuple[object, ...]]:
    from brim.injection.lines import item_text
    from brim.injection.sections import FORMATS
    from brim.injection.tiers import Tier
    from brim.tokens.engines import encoding_counter
    from brim.tokens.vocabulary import load_table_counter

    found: list[tuple[object, ...]] = []
    for tier in (Tier.NAME_ONLY, Tier.SUMMARY, Tier.FULL):
        for format in FORMATS:
            text = item_text(behavior, tier, format)
            known: dict[int, int] = {}
            for encoding in ENCODINGS:
                # Two encodings of one vocabulary give one count.
                vocabulary = id(load_table_counter(encoding))
                if vocabulary not in known:
                    counter = encoding_counter(encoding)
                    known[vocabulary] = counter(text) if counter is not None else len(text.encode())
                found.append((format, encoding, int(tier), RENDERER_VERSION, known[vocabulary], len(text)))
    return found
