"""The tables of ``rules.db``."""

from __future__ import annotations

import sqlite3
import zlib

VERSION = 6
"""Of the index: another one is made again."""

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

KEYS_OF_SOURCE = (
    "SELECT count(*) FROM check_keys WHERE rule IN (SELECT number FROM rules WHERE source = ?)"
)
"""Counts what the checks of a source ask for."""

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


def checksum_of_blocks(database: sqlite3.Connection, source: int) -> int:
    """Return a checksum of the blocks of *source*, and of when they hold: a bit that flips in the
    file would lift one, and SQLite doesn't notice it."""
    rows = database.execute(
        "SELECT blocks.kind, blocks.pattern, rules.name, rules.condition FROM blocks"
        " JOIN rules ON rules.number = blocks.rule WHERE rules.source = ?"
        " ORDER BY blocks.kind, blocks.pattern, blocks.rule",
        (source,),
    )
    return checksum_of("\n".join(["\0".join(row) for row in rows]))


def checksum_of(text: str) -> int:
    """Return a checksum of *text*."""
    return zlib.crc32(text.encode("utf-8", "replace"))
