"""Both files as one."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.behaviors import Edge, Status
from brim.behaviors.behavior import POSITIVE, BehaviorKind, EdgeKind
from brim.errors import StoreError
from brim.store import open_scopes, open_store
from brim.store.scopes import InForce, Scopes, followed, in_force
from tests.store.making import behavior


class Places:
    """A project and a user's folder."""

    def __init__(self, root: Path) -> None:
        self.project, self.user = root / "project", root / "home" / ".brim"

    def open(self, *, trusted: bool = True, create: bool = True) -> Scopes:
        return open_scopes(str(self.project), str(self.user), trusted=trusted, create=create)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


def test_opening_and_reading_make_no_file(places: Places) -> None:
    with places.open() as scopes:
        assert scopes.behaviors() == []
        assert scopes.seeds({}, frozenset()) == []
        assert scopes.edges(["a"]) == []
        assert scopes.refusals() == []
        assert (scopes.user, scopes.project) == (None, None)
    assert not places.project.exists()
    assert not places.user.exists()


def test_each_scope_is_written_to_its_own_file(places: Places) -> None:
    with places.open() as scopes:
        scopes.put(behavior("a", scope="user"), event="learned", now=1.0)
        scopes.put(behavior("b", scope="project"), event="learned", now=1.0)
        assert [each.id for each in scopes.behaviors()] == ["a", "b"]
        assert {node.id for node in scopes.seeds({}, frozenset())} == {"a", "b"}
    with open_store(str(places.user / "brim.db")) as store:
        assert [each.id for each in store.behaviors()] == ["a"]
    with open_store(str(places.project / ".brim" / "brim.db")) as store:
        assert [each.id for each in store.behaviors()] == ["b"]


def test_an_untrusted_project_is_not_read_and_not_written(places: Places) -> None:
    with places.open() as scopes:
        scopes.put(behavior("theirs", scope="project"), event="learned", now=1.0)
        scopes.put(behavior("mine", scope="user"), event="learned", now=1.0)
    with places.open(trusted=False) as scopes:
        assert [each.id for each in scopes.behaviors()] == ["mine"]
        with pytest.raises(StoreError, match="brim rules trust"):
            scopes.put(behavior("b", scope="project"), event="learned", now=1.0)


def test_a_hook_makes_no_file_of_either_scope(places: Places) -> None:
    with places.open(create=False) as scopes:
        with pytest.raises(StoreError) as caught:
            scopes.put(behavior(scope="user"), event="learned", now=1.0)
        assert caught.value.reason == "missing"
    assert not places.user.exists()


def test_an_id_in_both_files_is_the_projects(places: Places) -> None:
    with places.open() as scopes:
        scopes.put(
            behavior("a", canonical="The user's.", when={"task": "x"}), event="learned", now=1.0
        )
        scopes.put(
            behavior("a", canonical="The project's.", scope="project"), event="learned", now=1.0
        )
        assert [each.canonical for each in scopes.behaviors()] == ["The project's."]
        assert scopes.find("use-uv").scope == "project"
        assert len(scopes.nodes(["a"])) == 1
        assert len(scopes.seeds({"task": ("x",)}, frozenset())) == 1
        assert scopes.refusals() == []


def test_a_project_does_not_replace_a_constraint_of_the_users(places: Places) -> None:
    with places.open() as scopes:
        scopes.put(
            behavior("a", kind="constraint", canonical="Never push."), event="learned", now=1.0
        )
        scopes.put(
            behavior("a", canonical="Push!", scope="project", status="superseded"),
            event="learned",
            now=1.0,
        )
        scopes.put(behavior("b", canonical="Push!", scope="project"), event="learned", now=1.0)
        scopes.store("project").put_edge(Edge("b", "a", "overrides"), now=1.0)
        found = scopes.get("a")
        assert found is not None
        assert (found.canonical, found.live) == ("Never push.", True)
        assert scopes.edges(["a", "b"]) == []
        assert [refusal.id for refusal in scopes.refusals()] == ["a", "a"]
        assert "overrides" in str(scopes.refusals()[1])


def test_a_behavior_in_the_projects_file_is_the_projects_whatever_it_says(places: Places) -> None:
    with open_store(str(places.project / ".brim" / "brim.db")) as store:
        store.put(behavior("a", scope="user", kind="constraint"), event="learned", now=1.0)
    with places.open() as scopes:
        assert [each.scope for each in scopes.behaviors()] == ["project"]
        assert scopes.find("a").scope == "project"
        assert scopes.get_many(["a"])["a"].scope == "project"


def test_edges_of_both_files_are_one_graph_across_both(places: Places) -> None:
    with places.open() as scopes:
        scopes.put(behavior("a"), event="learned", now=1.0)
        scopes.put(behavior("b"), event="learned", now=1.0)
        scopes.put(behavior("c", scope="project"), event="learned", now=1.0)
        scopes.put_edge(Edge("a", "b", "requires"), now=1.0)
        scopes.put_edge(Edge("b", "c", "requires"), now=1.0)
        assert {edge.target for edge in scopes.edges(["b"])} == {"b", "c"}
        assert scopes.user is not None
        assert scopes.project is not None
        assert [edge.target for edge in scopes.user.all_edges()] == ["b"]
        assert [edge.target for edge in scopes.project.all_edges()] == ["c"]
        assert scopes.remove_edge("b", "c", "requires", now=2.0) is True
        assert len(scopes.all_edges()) == 1


def test_uses_and_costs_are_those_of_the_file_whose_the_behavior_is(places: Places) -> None:
    with places.open() as scopes:
        scopes.put(behavior("a"), event="learned", now=1.0)
        scopes.put(behavior("b"), event="learned", now=1.0)
        scopes.put(
            behavior("b", scope="project", canonical="Much longer than the other one."),
            event="learned",
            now=1.0,
        )
        scopes.used(["a", "b", "nobody"], now=9.0)
        assert [each.usage.injected for each in scopes.behaviors()] == [1, 1]
        assert scopes.user is not None
        assert [each.usage.injected for each in scopes.user.behaviors()] == [1, 0]
        costs = scopes.line_costs(["a", "b"], "o200k_base")
        assert costs["b", 3] > costs["a", 3]


def test_sessions_are_in_the_users_file(places: Places) -> None:
    with places.open() as scopes:
        scopes.put(behavior("b", scope="project"), event="learned", now=1.0)
    with places.open(create=False) as scopes, pytest.raises(StoreError, match="doesn't exist yet"):
        scopes.session("s1").__enter__()
    with places.open() as scopes:
        with scopes.session("s1") as session:
            session.next_prompt()
        assert scopes.home is scopes.user


def test_writing_takes_both_files_back_on_an_error(places: Places) -> None:
    def fail(scopes: Scopes) -> None:
        with scopes.writing("user", "project"):
            scopes.put(behavior("a"), event="learned", now=1.0)
            scopes.put(behavior("b", scope="project"), event="learned", now=1.0)
            raise KeyError

    with places.open() as scopes:
        with pytest.raises(KeyError):
            fail(scopes)
        assert scopes.behaviors() == []


def test_a_project_whose_folder_is_the_users_is_no_project(tmp_path: Path) -> None:
    with open_scopes(str(tmp_path), str(tmp_path / ".brim"), trusted=True) as scopes:
        scopes.put(behavior("a"), event="learned", now=1.0)
        assert scopes.project is None
        assert len(scopes.behaviors()) == 1


def test_a_file_that_cannot_be_used_is_an_error_and_the_other_is_closed(places: Places) -> None:
    with places.open() as scopes:
        scopes.put(behavior("a"), event="learned", now=1.0)
    (places.project / ".brim").mkdir(parents=True)
    (places.project / ".brim" / "brim.db").write_bytes(b"not a database")
    with pytest.raises(StoreError, match="project"):
        places.open()


standings = st.dictionaries(
    st.sampled_from("abcd"),
    st.tuples(st.booleans(), st.sampled_from([kind.value for kind in BehaviorKind])),
)
some_edges = st.lists(
    st.builds(
        lambda ends, kind, weight: Edge(ends[0], ends[1], kind, weight),
        st.permutations("abcd"),
        st.sampled_from(list(EdgeKind)),
        st.sampled_from([0.25, 1.0]),
    ),
    max_size=6,
)


@pytest.mark.parametrize(
    ("user", "project", "expected"),
    [
        (None, None, None),
        ((True, "directive"), None, InForce("user", True, False)),
        (None, (True, "constraint"), InForce("project", True, False)),
        ((True, "directive"), (True, "directive"), InForce("project", True, False)),
        ((True, "directive"), (False, "directive"), InForce("project", False, False)),
        ((True, "constraint"), (True, "directive"), InForce("user", True, True)),
        ((True, "constraint"), (False, "constraint"), InForce("user", True, True)),
        ((False, "constraint"), (True, "directive"), InForce("project", True, False)),
    ],
)
def test_an_id_is_the_projects_unless_it_is_a_live_constraint_of_the_users(
    user: tuple[bool, str] | None, project: tuple[bool, str] | None, expected: InForce | None
) -> None:
    found = in_force(["a"], {"a": user} if user else {}, {"a": project} if project else {})
    assert found.get("a") == expected


FORCE = {
    "mine": InForce("user", True, True),
    "my-note": InForce("user", True, False),
    "theirs": InForce("project", True, False),
    "gone": InForce("user", False, False),
}


@pytest.mark.parametrize(
    "edge",
    [
        Edge("theirs", "mine", "overrides"),
        Edge("theirs", "mine", "conflicts"),
        Edge("mine", "theirs", "conflicts"),
    ],
)
def test_nothing_of_the_projects_weakens_a_constraint_of_the_users_in_whichever_file_it_is(
    edge: Edge,
) -> None:
    assert followed([], [edge], FORCE) == ([], [(edge, "mine")])
    assert followed([edge], [], FORCE) == ([], [(edge, "mine")])


def test_the_projects_file_cannot_set_the_users_own_rules_against_each_other() -> None:
    edge = Edge("my-note", "mine", "overrides")
    assert followed([], [edge], FORCE) == ([], [(edge, "mine")])
    assert followed([edge], [], FORCE) == ([edge], [])


@pytest.mark.parametrize(
    "edge",
    [
        Edge("mine", "theirs", "overrides"),
        Edge("theirs", "mine", "requires"),
        Edge("theirs", "my-note", "overrides"),
    ],
)
def test_edges_that_weaken_no_constraint_are_followed(edge: Edge) -> None:
    assert followed([], [edge], FORCE) == ([edge], [])


def test_edges_to_what_is_not_there_or_not_live_are_left_out_without_a_word() -> None:
    assert followed(
        [Edge("mine", "gone", "requires")], [Edge("mine", "nobody", "requires")], FORCE
    ) == ([], [])


def test_of_one_edge_in_both_files_the_projects_counts_unless_it_touches_a_constraint() -> None:
    mine, theirs = (
        Edge("my-note", "theirs", "requires", 1.0),
        Edge("my-note", "theirs", "requires", 0.1),
    )
    assert followed([mine], [theirs], FORCE)[0] == [theirs]
    mine, theirs = (
        Edge("my-note", "mine", "requires", 1.0),
        Edge("my-note", "mine", "requires", 0.1),
    )
    assert followed([mine], [theirs], FORCE)[0] == [mine]


@given(standings, standings, some_edges, some_edges)
def test_whatever_a_project_holds_the_users_constraints_stand(
    user: dict[str, tuple[bool, str]],
    project: dict[str, tuple[bool, str]],
    own: list[Edge],
    foreign: list[Edge],
) -> None:
    force = in_force("abcd", user, project)
    mine = {id for id, (live, kind) in user.items() if live and kind == "constraint"}
    assert all(force[id] == InForce("user", True, True) for id in mine)
    kept, _ = followed(own, foreign, force)
    against = [edge for edge in kept if edge.kind not in POSITIVE and edge.target in mine]
    against += [edge for edge in kept if edge.kind is EdgeKind.CONFLICTS and edge.source in mine]
    assert all(edge in own for edge in against)
    assert all(force[end].scope == "user" for edge in against for end in (edge.source, edge.target))


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
            store.put(
                behavior("kept", kind="constraint" if scope == "user" else "directive"),
                event="learned",
                now=0,
            )
    with Scopes(paths) as scopes:
        ids = ["both", "user", "project", "kept"]
        found, whole = scopes.sketches(ids), scopes.get_many(ids)
    assert {id: (each.scope, each.kind) for id, each in found.items()} == {
        id: (each.scope, each.kind) for id, each in whole.items()
    }
    assert (found["both"].kind, found["kept"].kind) == (
        BehaviorKind.PROCEDURE,
        BehaviorKind.CONSTRAINT,
    )
    assert found["user"].status is Status.ACTIVE


def test_what_brim_cannot_have_written_is_an_error(paths: dict[str, str]) -> None:
    with open_store(paths["user"]) as store:
        store.put(behavior("a"), event="learned", now=0)
    with sqlite3.connect(paths["user"]) as database:
        database.execute("UPDATE behaviors SET kind = 'nonsense'")
    database.close()
    with (
        Scopes({"user": paths["user"]}) as scopes,
        pytest.raises(StoreError, match="'a' can't be read"),
    ):
        scopes.sketches(["a"])


def test_what_somebody_else_changes_is_seen_at_once(paths: dict[str, str]) -> None:
    with Scopes(paths) as scopes:
        for scope in ("user", "project"):
            scopes.store(scope).put(
                behavior(scope, when={"language": "go"}), event="learned", now=0
            )
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
                scopes.put(
                    behavior("a", scope="user", status="forgotten"), event="forgotten", now=0
                )
                assert not scopes.sketches(["a"])["a"].live
                raise ValueError("changed my mind")

        with pytest.raises(ValueError, match="changed my mind"):
            fail()
        assert scopes.sketches(["a"])["a"].live


def test_what_could_not_be_read_once_is_read_the_next_time(paths: dict[str, str]) -> None:
    with Scopes({"user": paths["user"]}, timeout=0.0) as scopes:
        scopes.store("user").put(behavior("a"), event="learned", now=0)
        connection = scopes.store("user").database._connection
        connection.set_authorizer(
            lambda action, *_: sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_READ else 0
        )
        with pytest.raises(StoreError):
            scopes.sketches(["a"])
        connection.set_authorizer(None)
        assert set(scopes.sketches(["a"])) == {"a"}
