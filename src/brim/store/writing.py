"""How behaviors are written: with secrets masked, with what they are found by, and with what their lines cost."""

from __future__ import annotations

from brim.store.costs import write_costs
from brim.store.rows import SELECT, UPSERT, behavior_of, row_of
from brim.store.triggers import INDEX_VERSION, triggers_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from brim.behaviors.behavior import Behavior
    from brim.store.database import Database


def write_behaviors(database: Database, behaviors: Iterable[Behavior]) -> None:
    """Write *behaviors*, each in place of the one with its id. Call it inside ``writing``."""
    from brim.behaviors.words import behavior_words
    from brim.masking import mask

    written = [_without_secrets(behavior, mask) for behavior in behaviors]
    for behavior in written:
        words = behavior_words(behavior.name, behavior.tags)
        database.run(UPSERT, row_of(behavior, words, mask))
        _write_triggers(database, behavior, words)
    # What is costed is what was written: a text in which a secret was masked is another text.
    ids = [behavior.id for behavior in written]
    rows = database.rows_in(f"{SELECT} WHERE id IN ({{}})", ids)
    write_costs(database, [behavior_of(row, new=True) for row in rows])


def _without_secrets(behavior: Behavior, mask: Callable[[str], str]) -> Behavior:
    """Return *behavior* without a secret as its name or among its tags: both are found by their words."""
    name, *tags = ["masked" if mask(word) != word else word for word in (behavior.name, *behavior.tags)]
    return behavior if (name, *tags) == (behavior.name, *behavior.tags) else behavior.replace(name=name, tags=tags)


def reindex_if_old(database: Database) -> None:
    """Write the stems and triggers of every behavior anew if another version of them is in the file."""
    if database.row("SELECT 1 FROM meta WHERE key = 'index' AND value = ?", (INDEX_VERSION,)):
        return
    from brim.behaviors.words import behavior_words

    with database.writing():
        for behavior in [behavior_of(row) for row in database.rows(SELECT)]:
            words = behavior_words(behavior.name, behavior.tags)
            database.run("UPDATE behaviors SET words = ? WHERE id = ?", (" ".join(sorted(words)), behavior.id))
            _write_triggers(database, behavior, words)
        database.run("INSERT OR REPLACE INTO meta (key, value) VALUES ('index', ?)", (INDEX_VERSION,))


def _write_triggers(database: Database, behavior: Behavior, words: frozenset[str]) -> None:
    (number,) = database.row("SELECT number FROM behaviors WHERE id = ?", (behavior.id,))
    database.run("DELETE FROM triggers WHERE behavior = ?", (number,))
    if behavior.live:
        rows = [(trigger, number) for trigger in sorted(triggers_of(behavior.when, words))]
        database.run_many("INSERT INTO triggers (trigger, behavior) VALUES (?, ?)", rows)
