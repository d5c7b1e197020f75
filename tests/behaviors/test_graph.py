"""What can be wrong with a graph is found, once, with what to do; a graph that is right has no
problems."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.behaviors import Edge, Rule
from brim.behaviors.graph import check, cycles, would_cycle


def behavior(id: str, **fields: object) -> Rule:
    return Rule(id, id, "directive", f"Do {id}.", **fields)  # type: ignore[arg-type]


ABC = [behavior(id) for id in "abc"]


def rules(behaviors: list[Rule], edges: list[Edge]) -> list[tuple[str, str]]:
    return [(problem.rule, " ".join(problem.ids)) for problem in check(behaviors, edges)]


def test_graph_that_is_right_has_no_problem() -> None:
    old = behavior("old", status="superseded", superseded_by="a")
    new = behavior("a", supersedes=["old"])
    edges = [Edge("a", "b", "requires"), Edge("b", "c", "requires"), Edge("a", "c", "conflicts")]
    assert check([old, new, *ABC[1:]], edges) == []
    assert check([], []) == []


def test_edge_that_leads_nowhere_is_found() -> None:
    (problem,) = check(ABC, [Edge("a", "gone", "requires")])
    assert str(problem) == (
        "dangling: a requires gone: there is no gone; remove the connection, or learn what is missing"
    )


def test_edge_that_is_there_twice_is_found() -> None:
    edges = [
        Edge("a", "b", "requires"),
        Edge("a", "b", "requires", 0.5),
        Edge("a", "b", "overrides"),
    ]
    assert rules(ABC, edges) == [("duplicate", "a b")]


@pytest.mark.parametrize("kind", ["conflicts", "similar-to", "co-activated"])
def test_edge_that_means_the_same_the_other_way_round_is_found(kind: str) -> None:
    assert rules(ABC, [Edge("b", "a", kind), Edge("a", "b", kind)]) == [("mirrored", "b a")]


@pytest.mark.parametrize("kind", ["requires", "overrides"])
def test_circle_is_found_once_with_the_smallest_id_first(kind: str) -> None:
    edges = [Edge("c", "a", kind), Edge("b", "c", kind), Edge("a", "b", kind)]
    (problem,) = check(ABC, edges)
    assert (problem.rule, problem.ids) == (f"{kind}-cycle", ("a", "b", "c"))
    assert problem.fix == f"remove one of them, such as c {kind} a"


def test_circles_of_other_kinds_are_allowed() -> None:
    edges = [Edge("a", "b", "learned-from"), Edge("b", "a", "learned-from")]
    assert check(ABC, edges) == []


def test_circle_of_two_kinds_is_none() -> None:
    assert check(ABC, [Edge("a", "b", "requires"), Edge("b", "a", "overrides")]) == []


def test_circles_that_share_a_node_are_both_found() -> None:
    after = {"a": ["b", "c"], "b": ["a"], "c": ["a"]}
    assert cycles(after) == [("a", "b"), ("a", "c")]


def test_pair_that_requires_and_conflicts_is_found_once() -> None:
    edges = [Edge("a", "b", "requires"), Edge("b", "a", "conflicts")]
    assert rules(ABC, edges) == [("requires-and-conflicts", "a b")]


@pytest.mark.parametrize("status", ["forgotten", "superseded"])
def test_live_behavior_that_requires_a_dead_one_is_found(status: str) -> None:
    dead = behavior("b", status=status)
    assert rules([ABC[0], dead], [Edge("a", "b", "requires")]) == [("requires-dead", "a b")]
    assert rules([ABC[0], dead], [Edge("b", "a", "requires"), Edge("a", "b", "similar-to")]) == []


def test_dead_one_that_has_an_heir_says_so() -> None:
    dead = behavior("b", status="superseded", superseded_by="c")
    heir = behavior("c", supersedes=["b"])
    (problem,) = check([ABC[0], dead, heir], [Edge("a", "b", "requires")])
    assert problem.fix == "let it require c"


@pytest.mark.parametrize(
    ("behaviors", "expected"),
    [
        ([behavior("a", superseded_by="gone")], [("superseded-by-dangling", "a gone")]),
        ([behavior("a", supersedes=["gone"])], [("supersedes-dangling", "a gone")]),
        ([behavior("a", supersedes=["b"]), behavior("b")], [("supersedes-one-sided", "a b")]),
        ([behavior("a", superseded_by="b"), behavior("b")], [("supersedes-one-sided", "a b")]),
        ([behavior("a", superseded_by="a", supersedes=["a"])], [("superseded-by-cycle", "a")]),
        (
            [
                behavior("a", superseded_by="b", supersedes=["b"]),
                behavior("b", superseded_by="a", supersedes=["a"]),
            ],
            [("superseded-by-cycle", "a b")],
        ),
    ],
)
def test_succession_that_does_not_hold_is_found(
    behaviors: list[Rule], expected: list[tuple[str, str]]
) -> None:
    assert rules(behaviors, []) == expected


def test_circle_of_ten_thousand_edges_is_found_without_recursion() -> None:
    names = [f"n{number:06}" for number in range(10_000)]
    after = {
        name: [following] for name, following in zip(names, [*names[1:], names[0]], strict=True)
    }
    assert cycles(after) == [tuple(names)]
    after[names[-1]] = []
    assert cycles(after) == []


def test_knot_of_very_many_edges_is_searched_in_bounded_work() -> None:
    names = [f"n{number:03}" for number in range(320)]
    found = cycles(dict.fromkeys(names, names))
    assert 1 <= len(found) <= 100
    assert found[0][0] == names[0]


def test_edge_that_would_close_a_circle_is_named_with_the_way_back() -> None:
    edges = [Edge("a", "b", "requires"), Edge("b", "c", "requires"), Edge("c", "a", "overrides")]
    assert would_cycle(edges, Edge("c", "a", "requires")) == ("c", "a", "b")
    assert would_cycle(edges, Edge("a", "c", "requires")) is None
    assert would_cycle(edges, Edge("c", "a", "conflicts")) is None
    assert would_cycle(edges, Edge("c", "b", "overrides")) is None


pairs = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")).filter(
        lambda pair: pair[0] != pair[1]
    ),
    max_size=12,
    unique=True,
)


@given(pairs)
def test_cutting_the_last_edge_of_every_circle_leaves_none(
    given_pairs: list[tuple[str, str]],
) -> None:
    after: dict[str, list[str]] = {}
    for source, target in sorted(given_pairs):
        after.setdefault(source, []).append(target)
    found = cycles(after)
    for circle in found:
        assert circle[0] == min(circle)
        assert all(
            target in after[source]
            for source, target in zip(circle, (*circle[1:], circle[0]), strict=True)
        )
    for circle in found:
        after[circle[-1]] = [each for each in after[circle[-1]] if each != circle[0]]
    assert cycles(after) == []
    assert len(set(found)) == len(found)


@given(pairs)
def test_edges_added_only_where_no_circle_closes_never_make_one(
    given_pairs: list[tuple[str, str]],
) -> None:
    edges: list[Edge] = []
    for source, target in given_pairs:
        edge = Edge(source, target, "requires")
        circle = would_cycle(edges, edge)
        if circle is None:
            edges.append(edge)
        else:
            assert circle[:2] == (source, target)
    behaviors = [behavior(id) for id in "abcdef"]
    assert check(behaviors, edges) == []
    random.Random(3).shuffle(edges)
    assert check(behaviors[::-1], edges) == []
