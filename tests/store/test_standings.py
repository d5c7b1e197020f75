"""What a plan needs to know of a behavior, without its texts."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from brim.behaviors import BehaviorKind, Edge, Status
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
    database.close()
    with Scopes({"user": paths["user"]}) as scopes, pytest.raises(StoreError, match="'a' cannot be read"):
        scopes.sketches(["a"])


def test_what_somebody_else_changes_is_seen_at_once(paths: dict[str, str]) -> None:
    with Scopes(paths) as scopes:
        for scope in ("user", "project"):
            scopes.store(scope).put(behavior(scope, when={"language": "go"}), event="learned", now=0)
        facts = {"language": ("go",)}
        ids = ["user", "project", "new"]
        assert {node.id for node in scopes.seeds(facts, frozenset())} == {"user", "project"}
        assert set(scopes.sketches(ids)) == {"user", "project"}
        assert scopes.edges(ids) == []
        with open_store(paths["user"]) as other:
            other.put(behavior("project", kind="constraint"), event="learned", now=0)
            other.put(behavior("new", status="pending"), event="learned", now=0)
            other.put_edges([Edge("user", "new", "requires")])
        found = scopes.sketches(ids)
        assert {id: (each.scope, each.kind, each.status) for id, each in found.items()} == {
            "user": ("user", BehaviorKind.DIRECTIVE, Status.ACTIVE),
            "project": ("user", BehaviorKind.CONSTRAINT, Status.ACTIVE),
            "new": ("user", BehaviorKind.DIRECTIVE, Status.PENDING),
        }
        assert [edge.target for edge in scopes.edges(ids)] == ["new"]
        with scopes.writing():
            scopes.put(behavior("new", scope="user", status="forgotten"), event="forgotten", now=0)
            assert not scopes.sketches(ids)["new"].live
            assert scopes.edges(ids) == []


def test_nothing_is_read_twice_while_nothing_changes(paths: dict[str, str]) -> None:
    with Scopes(paths) as scopes:
        for scope in ("user", "project"):
            scopes.store(scope).put(behavior(scope), event="learned", now=0)
        scopes.store("user").put_edges([Edge("user", "project", "requires")])
        asked: list[str] = []
        for store in (scopes.store("user"), scopes.store("project")):
            store.database._connection.set_trace_callback(asked.append)
        ids = [node.id for node in scopes.seeds({}, frozenset())]
        assert len(scopes.edges(ids)) == 1
        before = sum(sql.startswith("SELECT") for sql in asked)
        with scopes.writing():
            assert set(scopes.sketches(ids)) == {"user", "project"}
            assert len(scopes.edges(ids[:1])) == 1
        assert sum(sql.startswith("SELECT") for sql in asked) == before


def test_what_was_taken_back_is_not_remembered(paths: dict[str, str]) -> None:
    with Scopes(paths) as scopes:
        scopes.store("user").put(behavior("a"), event="learned", now=0)

        def fail() -> None:
            with scopes.writing():
                scopes.put(behavior("a", scope="user", status="forgotten"), event="forgotten", now=0)
                assert not scopes.sketches(["a"])["a"].live
                raise ValueError("changed my mind")

        with pytest.raises(ValueError, match="changed my mind"):
            fail()
        assert scopes.sketches(["a"])["a"].live


def test_what_could_not_be_read_once_is_read_the_next_time(paths: dict[str, str]) -> None:
    with Scopes({"user": paths["user"]}, timeout=0.0) as scopes:
        scopes.store("user").put(behavior("a"), event="learned", now=0)
        connection = scopes.store("user").database._connection
        connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_READ else 0)
        with pytest.raises(StoreError):
            scopes.sketches(["a"])
        connection.set_authorizer(None)
        assert set(scopes.sketches(["a"])) == {"a"}
