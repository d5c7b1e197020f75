"""What counts of two files: the project's, but never against a constraint of the user's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.behaviors import Edge
from brim.behaviors.behavior import POSITIVE, BehaviorKind, EdgeKind
from brim.store.precedence import InForce, followed, in_force

standings = st.dictionaries(
    st.sampled_from("abcd"), st.tuples(st.booleans(), st.sampled_from([kind.value for kind in BehaviorKind]))
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
    [Edge("theirs", "mine", "overrides"), Edge("theirs", "mine", "conflicts"), Edge("mine", "theirs", "conflicts")],
)
def test_nothing_of_the_projects_weakens_a_constraint_of_the_users_in_whichever_file_it_is(edge: Edge) -> None:
    assert followed([], [edge], FORCE) == ([], [(edge, "mine")])
    assert followed([edge], [], FORCE) == ([], [(edge, "mine")])


def test_the_projects_file_cannot_set_the_users_own_rules_against_each_other() -> None:
    edge = Edge("my-note", "mine", "overrides")
    assert followed([], [edge], FORCE) == ([], [(edge, "mine")])
    assert followed([edge], [], FORCE) == ([edge], [])


@pytest.mark.parametrize(
    "edge",
    [Edge("mine", "theirs", "overrides"), Edge("theirs", "mine", "requires"), Edge("theirs", "my-note", "overrides")],
)
def test_edges_that_weaken_no_constraint_are_followed(edge: Edge) -> None:
    assert followed([], [edge], FORCE) == ([edge], [])


def test_edges_to_what_is_not_there_or_not_live_are_left_out_without_a_word() -> None:
    assert followed([Edge("mine", "gone", "requires")], [Edge("mine", "nobody", "requires")], FORCE) == ([], [])


def test_of_one_edge_in_both_files_the_projects_counts_unless_it_touches_a_constraint() -> None:
    mine, theirs = Edge("my-note", "theirs", "requires", 1.0), Edge("my-note", "theirs", "requires", 0.1)
    assert followed([mine], [theirs], FORCE)[0] == [theirs]
    mine, theirs = Edge("my-note", "mine", "requires", 1.0), Edge("my-note", "mine", "requires", 0.1)
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
