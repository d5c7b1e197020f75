"""Rules that were learned before a command runs, and what it made of them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from brim.behaviors import Edge, Rule
from brim.store import RuleEvent, open_store
from tests.cli.conftest import Brim, Ran

DAY = 86_400.0
THEN = 1_700_000_000.0
"""2023-11-14 22:13:20 in UTC."""


def rule(id: str, text: str = "Use uv, never pip.", **fields: Any) -> Rule:
    """Return a behavior that was learned *THEN*, named after its id unless *fields* say
    otherwise."""
    given = {
        "name": f"name-{id}",
        "kind": "directive",
        "created_at": THEN,
        "updated_at": THEN,
        **fields,
    }
    return Rule(id=id, canonical=text, **given)


def database(brim: Brim, scope: str = "user") -> Path:
    """Return the file of *scope*; with ``project`` the working folder becomes one."""
    if scope == "project":
        (brim.cwd / ".git").mkdir(exist_ok=True)
    folder = (brim.cwd if scope == "project" else brim.home) / ".brim"
    folder.mkdir(exist_ok=True, mode=0o700)
    return folder / "brim.db"


def seed(brim: Brim, *things: Rule | Edge, scope: str = "user") -> None:
    """Store *things* as somebody would have, THEN."""
    with open_store(str(database(brim, scope))) as store:
        for thing in things:
            if isinstance(thing, Edge):
                store.put_edge(thing, now=THEN)
            else:
                store.put(replace(thing, scope=scope), event="learned", now=THEN)


def stored(brim: Brim, id: str, scope: str = "user") -> Rule:
    """Return the behavior *id* as it lies in the file."""
    with open_store(str(database(brim, scope))) as store:
        found = store.get(id)
    assert found is not None, id
    return found


def everything(brim: Brim, scope: str = "user") -> list[Rule]:
    """Return every behavior in the file."""
    with open_store(str(database(brim, scope))) as store:
        return store.behaviors()


def edges(brim: Brim, scope: str = "user") -> list[Edge]:
    """Return every edge in the file."""
    with open_store(str(database(brim, scope))) as store:
        return store.all_edges()


def events(brim: Brim, id: str, scope: str = "user") -> list[RuleEvent]:
    """Return what happened to the behavior *id*, oldest first."""
    with open_store(str(database(brim, scope))) as store:
        return store.events(behavior=id)


def refused(ran: Ran, *words: str, code: int = 2) -> None:
    """Assert that *ran* printed nothing and said each of *words* on standard error."""
    assert (ran.code, ran.out) == (code, ""), ran
    for word in words:
        assert re.sub(r"/\S*/home(?=/)", "~", word) in ran.err, ran.err
