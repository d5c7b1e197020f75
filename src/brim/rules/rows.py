"""The tables of ``rules.db``, and how the rules of a source become rows of them."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass

from brim.record import PlainData
from brim.rules.compiled import KEYS_OF_SOURCE, VERSION, checksum_of_blocks
from brim.rules.compiling import RuleRow, compile_rule, count_bytes, count_exactly
from brim.rules.source_reading import SourceState

SCHEMA = """
CREATE TABLE sources (
    number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, stamp TEXT NOT NULL,
    content TEXT NOT NULL, read_at INTEGER NOT NULL, rules INTEGER NOT NULL,
    blocks INTEGER NOT NULL, checks INTEGER NOT NULL,
    tokens TEXT NOT NULL, waiting INTEGER NOT NULL, news TEXT NOT NULL, unread INTEGER NOT NULL
);
CREATE TABLE rules (
    number INTEGER PRIMARY KEY, source INTEGER NOT NULL, position INTEGER NOT NULL,
    name TEXT NOT NULL, digest TEXT NOT NULL, learned TEXT NOT NULL, must INTEGER NOT NULL,
    kind TEXT NOT NULL, protected INTEGER NOT NULL, condition TEXT NOT NULL, waits INTEGER NOT NULL,
    blocks TEXT NOT NULL, agreed INTEGER NOT NULL, scope TEXT NOT NULL, check_text TEXT NOT NULL,
    closing INTEGER NOT NULL, section TEXT NOT NULL, text TEXT NOT NULL,
    full TEXT NOT NULL, summary TEXT NOT NULL, short TEXT NOT NULL, costs TEXT NOT NULL,
    length INTEGER NOT NULL, line INTEGER NOT NULL, paragraph TEXT NOT NULL, written TEXT NOT NULL,
    checksum INTEGER NOT NULL, unread INTEGER NOT NULL
);
CREATE INDEX rules_in_order ON rules (source, waits, must, learned, position);
CREATE INDEX rules_by_name ON rules (name);
CREATE INDEX rules_by_section ON rules (source, section);
CREATE INDEX rules_at_the_end ON rules (source) WHERE closing;
CREATE TABLE blocks (
    kind TEXT NOT NULL, pattern TEXT NOT NULL, rule INTEGER NOT NULL,
    PRIMARY KEY (kind, pattern, rule)
) WITHOUT ROWID;
CREATE INDEX blocks_by_rule ON blocks (rule);
CREATE TABLE check_keys (
    key TEXT NOT NULL, rule INTEGER NOT NULL, PRIMARY KEY (key, rule)
) WITHOUT ROWID;
CREATE INDEX check_keys_by_rule ON check_keys (rule);
CREATE TABLE postings (
    term TEXT NOT NULL, rule INTEGER NOT NULL, weight INTEGER NOT NULL, PRIMARY KEY (term, rule)
) WITHOUT ROWID;
CREATE INDEX postings_by_rule ON postings (rule);
CREATE TABLE edges (
    rule INTEGER NOT NULL, kind TEXT NOT NULL, target TEXT NOT NULL, weight REAL NOT NULL,
    PRIMARY KEY (rule, kind, target)
) WITHOUT ROWID;
CREATE INDEX edges_by_target ON edges (target);
"""

COLUMNS = (
    "name",
    "digest",
    "learned",
    "must",
    "kind",
    "protected",
    "condition",
    "waits",
    "blocks",
    "agreed",
    "scope",
    "check_text",
    "closing",
    "section",
    "text",
    "full",
    "summary",
    "short",
    "costs",
    "length",
    "line",
    "paragraph",
    "written",
    "checksum",
    "unread",
)
"""The columns of a rule that are its own."""


def create_tables(database: sqlite3.Connection) -> None:
    """Make the tables of an empty index."""
    database.executescript(f"{SCHEMA}\nPRAGMA user_version = {VERSION};")


@dataclass(frozen=True)
class SourceRow(PlainData):
    """A source as the index has it, before its totals are known."""

    path: str
    kind: str
    stamp: str
    content: str
    """The digest of its files."""
    read_at: int


def write_source(
    database: sqlite3.Connection,
    source: SourceRow,
    state: SourceState,
    *,
    is_exact: bool = True,
    reads_words: bool = True,
) -> None:
    """Put the rules of *source* into the index in place of those that it has of it.

    A rule that hasn't changed isn't compiled again. Without *is_exact*, lines are charged their
    bytes and no tokenizer is loaded. *reads_words* is as in ``compile_rule``.
    """
    counting = count_exactly if is_exact else count_bytes
    old_numbers = _numbers_by_content(database, source.path, with_unread=not reads_words)
    compiled: list[RuleRow | None] = []
    for rule in state.rules:
        is_agreed = rule.digest not in state.proposed
        if (rule.name, rule.digest, is_agreed) in old_numbers:
            compiled.append(None)
        else:
            new_row = compile_rule(rule, counting, is_agreed=is_agreed, reads_words=reads_words)
            compiled.append(new_row)
    number = _insert_source(database, source, state)
    for position, (rule, row) in enumerate(zip(state.rules, compiled, strict=True)):
        if row is not None:
            _insert_rule(database, row, number, position)
            continue
        key = (rule.name, rule.digest, rule.digest not in state.proposed)
        database.execute(
            "UPDATE rules SET source = ?, position = ?, line = ? WHERE number = ?",
            (number, position, rule.line, old_numbers[key]),
        )
    _drop_source(database, source.path)
    database.execute("UPDATE sources SET path = ? WHERE number = ?", (source.path, number))
    _note_totals(database, number)


def _numbers_by_content(
    database: sqlite3.Connection, path: str, *, with_unread: bool
) -> dict[tuple[str, str, bool], int]:
    rows = database.execute(
        "SELECT rules.name, rules.digest, rules.agreed, rules.number FROM rules"
        " JOIN sources ON rules.source = sources.number"
        " WHERE sources.path = ? AND rules.unread <= ?",
        (path, with_unread),
    )
    numbers: dict[tuple[str, str, bool], int] = {}
    for name, digest, agreed, number in rows:
        numbers[name, digest, bool(agreed)] = number
    return numbers


def _insert_source(database: sqlite3.Connection, source: SourceRow, state: SourceState) -> int:
    """Add a row for *source* under another path; it gets its own when the old one is gone."""
    cursor = database.execute(
        "INSERT INTO sources (path, kind, stamp, content, read_at, rules, blocks, checks, tokens,"
        " waiting, news, unread) VALUES (?, ?, ?, ?, ?, 0, 0, 0, '[]', ?, ?, 0)",
        (
            f"{source.path}\n",
            source.kind,
            source.stamp,
            source.content,
            source.read_at,
            state.waiting,
            json.dumps(state.news),
        ),
    )
    return int(cursor.lastrowid or 0)


def _drop_source(database: sqlite3.Connection, path: str) -> None:
    row = database.execute("SELECT number FROM sources WHERE path = ?", (path,)).fetchone()
    if row is None:
        return
    rules = "SELECT number FROM rules WHERE source = ?"
    database.execute(f"DELETE FROM postings WHERE rule IN ({rules})", row)  # noqa: S608
    database.execute(f"DELETE FROM edges WHERE rule IN ({rules})", row)  # noqa: S608
    database.execute(f"DELETE FROM check_keys WHERE rule IN ({rules})", row)  # noqa: S608
    database.execute(f"DELETE FROM blocks WHERE rule IN ({rules})", row)  # noqa: S608
    database.execute("DELETE FROM rules WHERE source = ?", row)
    database.execute("DELETE FROM sources WHERE number = ?", row)


def _insert_rule(database: sqlite3.Connection, row: RuleRow, source: int, position: int) -> None:
    columns = ("source", "position", *COLUMNS)
    marks = ", ".join("?" * len(columns))
    values = [getattr(row, column) for column in COLUMNS]
    insert = f"INSERT INTO rules ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608
    cursor = database.execute(insert, (source, position, *values))
    number = cursor.lastrowid
    postings = [(term, number, weight) for term, weight in row.terms]
    database.executemany("INSERT INTO postings VALUES (?, ?, ?)", postings)
    keys = [(key, number) for key in row.check_keys]
    database.executemany("INSERT INTO check_keys VALUES (?, ?)", keys)
    blocks = [(*block.partition(" ")[::2], number) for block in json.loads(row.blocks)]
    database.executemany("INSERT INTO blocks VALUES (?, ?, ?)", blocks)
    edges = [(number, *edge) for edge in row.edges]
    database.executemany("INSERT OR REPLACE INTO edges VALUES (?, ?, ?, ?)", edges)


def _note_totals(database: sqlite3.Connection, number: int) -> None:
    """Note how many rules, checks and stems a source has, a checksum of its blocks, what telling
    all takes, and how many rules' words weren't read."""
    figures: list[list[int]] = []
    unread_count = 0
    rows = database.execute("SELECT costs, length, unread FROM rules WHERE source = ?", (number,))
    for costs, length, is_unread in rows:
        figures.append([*json.loads(costs)[0], length])
        unread_count += is_unread
    totals = [sum(column) for column in zip(*figures, strict=True)]
    keys = database.execute(KEYS_OF_SOURCE, (number,)).fetchone()[0]
    database.execute(
        "UPDATE sources SET rules = ?, blocks = ?, checks = ?, tokens = ?, unread = ?"
        " WHERE number = ?",
        (
            len(figures),
            checksum_of_blocks(database, number),
            keys,
            json.dumps(totals),
            unread_count,
            number,
        ),
    )
