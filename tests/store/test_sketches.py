"""What a plan needs to know of a behavior, without its texts."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from brim.behaviors import BehaviorKind, Status
from brim.errors import StoreError
from brim.store import open_store
from brim.store.scopes import Scopes
from tests.store.making import behavior


@pytest.fixture
def paths(tmp_path: Path) -> dict[str, str]:
    return {scope: str(tmp_path / scope / "brim.db") for scope in ("user", "project")}


def test_a_sketch_says_the_same_as_the_behavior(paths: dict[str, str]) -> None:
    some = [
        behavior("a", kind="constraint", scope="user"),
        behavior("b", status="pending", scope="user"),
        behavior("c", status="forgotten", scope="user"),
    ]
    with open_store(paths["user"]) as store:
        store.put_many(some, event="learned", now=0)
    with Scopes({"user": paths["user"]}) as scopes:
        found = scopes.sketches(["a", "b", "c", "nowhere"])
    for each in some:
        sketch = found.pop(each.id)
        for name in ("id", "kind", "status", "scope", "live"):
            assert getattr(sketch, name) == getattr(each, name)
    assert found == {}


def test_of_two_files_each_comes_from_the_one_whose_it_is(paths: dict[str, str]) -> None:
    for scope, kind in (("user", "directive"), ("project", "procedure")):
        with open_store(paths[scope]) as store:
            store.put(behavior("both", kind=kind), event="learned", now=0)
            store.put(behavior(scope), event="learned", now=0)
            store.put(behavior("kept", kind="constraint" if scope == "user" else "directive"), event="learned", now=0)
    with Scopes(paths) as scopes:
        ids = ["both", "user", "project", "kept"]
        found, whole = scopes.sketches(ids), scopes.get_many(ids)
    assert {id: (each.scope, each.kind) for id, each in found.items()} == {
        id: (each.scope, each.kind) for id, each in whole.items()
    }
    assert (found["both"].kind, found["kept"].kind) == (BehaviorKind.PROCEDURE, BehaviorKind.CONSTRAINT)
    assert found["user"].status is Status.ACTIVE


def test_what_brim_cannot_have_written_is_an_error(paths: dict[str, str]) -> None:
    with open_store(paths["user"]) as store:
        store.put(behavior("a"), event="learned", now=0)
    with sqlite3.connect(paths["user"]) as database:
        database.execute("UPDATE behaviors SET kind = 'nonsense'")
    with Scopes({"user": paths["user"]}) as scopes, pytest.raises(StoreError, match="'a' cannot be read"):
        scopes.sketches(["a"])
