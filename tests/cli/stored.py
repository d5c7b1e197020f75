"""Behaviors in the files that the command reads, written as the library writes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from brim.behaviors.behavior import Edge, Rule
from brim.behaviors.jsonl import dump
from brim.store.events import RuleEvent
from brim.store.store import open_store
from tests.cli.conftest import Brim

THEN = 1_700_000_000.0
"""When everything was learned."""
FRAME = "Rules your user set, kept by brim:\n"
"""What stands above the rules."""


def behavior(id: str, kind: str = "directive", text: str = "", **fields: Any) -> Rule:
    """A behavior whose name is ``name-ID`` and whose text says which one it is."""
    fields = {"name": f"name-{id}", "created_at": THEN, **fields}
    return Rule(id=id, kind=kind, canonical=text or f"The whole text of {id}.", **fields)


def file_of(brim: Brim, scope: str = "user") -> Path:
    """Where the file of *scope* is."""
    return (brim.home if scope == "user" else brim.cwd) / ".brim" / "brim.db"


def remember(brim: Brim, *behaviors: Rule, edges: Iterable[Edge] = (), scope: str = "user") -> None:
    """Write *behaviors* and *edges* to the file of *scope*; the project's makes the working folder
    a project."""
    with open_store(str(file_of(brim, scope))) as store:
        store.put_many(
            [replace(each, scope=scope) for each in behaviors], event="learned", now=THEN
        )
        store.put_edges(edges)


def recalled(brim: Brim, scope: str = "user") -> dict[str, Rule]:
    """What the file of *scope* holds, by id."""
    with open_store(str(file_of(brim, scope))) as store:
        return {each.id: each for each in store.behaviors()}


def edges_in(brim: Brim, scope: str = "user") -> list[Edge]:
    """The edges in the file of *scope*."""
    with open_store(str(file_of(brim, scope))) as store:
        return store.all_edges()


def events_in(brim: Brim, kind: str, scope: str = "user") -> list[RuleEvent]:
    """What happened, of *kind*."""
    with open_store(str(file_of(brim, scope))) as store:
        return store.events(kind=kind)


def store_of_another_version(brim: Brim, scope: str = "user") -> Path:
    """Make the file of *scope* as another version of brim left it; return where it is."""
    import sqlite3

    path = file_of(brim, scope)
    open_store(str(path)).close()
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()
    return path


def write_rules(brim: Brim, path: Path, scope: str = "user") -> None:
    """Write the rules of *scope* as JSON lines."""
    rules = [replace(each, scope="user") for each in recalled(brim, scope).values()]
    ids = {rule.id for rule in rules}
    edges = [edge for edge in edges_in(brim, scope) if {edge.source, edge.target} <= ids]
    path.write_text(dump(rules, edges), encoding="utf-8")
