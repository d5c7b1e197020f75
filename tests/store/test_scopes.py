"""Both files as one."""

from __future__ import annotations

from pathlib import Path

import pytest

from brim.behaviors import Edge
from brim.errors import StoreError
from brim.store import Scopes, open_scopes, open_store
from tests.store.making import behavior


class Places:
    """A project and a user's folder."""

    def __init__(self, root: Path) -> None:
        self.project, self.user = root / "project", root / "home" / ".brim"

    def open(self, *, trusted: bool = True, migrate: bool = True) -> Scopes:
        return open_scopes(str(self.project), str(self.user), trusted=trusted, migrate=migrate)


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
        with pytest.raises(StoreError, match="brim trust"):
            scopes.put(behavior("b", scope="project"), event="learned", now=1.0)


def test_a_hook_makes_no_file_of_either_scope(places: Places) -> None:
    with places.open(migrate=False) as scopes:
        with pytest.raises(StoreError) as caught:
            scopes.put(behavior(scope="user"), event="learned", now=1.0)
        assert caught.value.reason == "missing"
    assert not places.user.exists()


def test_an_id_in_both_files_is_the_projects(places: Places) -> None:
    with places.open() as scopes:
        scopes.put(behavior("a", canonical="The user's.", when={"task": "x"}), event="learned", now=1.0)
        scopes.put(behavior("a", canonical="The project's.", scope="project"), event="learned", now=1.0)
        assert [each.canonical for each in scopes.behaviors()] == ["The project's."]
        assert scopes.find("use-uv").scope == "project"
        assert len(scopes.nodes(["a"])) == 1
        assert len(scopes.seeds({"task": ("x",)}, frozenset())) == 1
        assert scopes.refusals() == []


def test_a_project_does_not_replace_a_constraint_of_the_users(places: Places) -> None:
    with places.open() as scopes:
        scopes.put(behavior("a", kind="constraint", canonical="Never push."), event="learned", now=1.0)
        scopes.put(behavior("a", canonical="Push!", scope="project", status="superseded"), event="learned", now=1.0)
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
            behavior("b", scope="project", canonical="Much longer than the other one."), event="learned", now=1.0
        )
        scopes.used(["a", "b", "nobody"], now=9.0)
        assert [each.usage.injected for each in scopes.behaviors()] == [1, 1]
        assert scopes.user is not None
        assert [each.usage.injected for each in scopes.user.behaviors()] == [1, 0]
        costs = scopes.line_costs(["a", "b"], "plain", "o200k_base")
        assert costs["b", 3] > costs["a", 3]


def test_sessions_are_in_the_users_file(places: Places) -> None:
    with places.open() as scopes:
        scopes.put(behavior("b", scope="project"), event="learned", now=1.0)
    with places.open(migrate=False) as scopes, pytest.raises(StoreError, match="is not there yet"):
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
