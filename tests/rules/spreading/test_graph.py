from __future__ import annotations

import pytest

from brim.errors import InputError
from brim.rules import Edge, Rule
from brim.rules.activation import Graph


def behavior(id: str, status: str = "active") -> Rule:
    return Rule(id=id, name="plain", kind="directive", canonical="Do it so.", status=status)


def test_two_behaviors_with_one_id_are_an_error() -> None:
    with pytest.raises(InputError, match="two rules have the id 'a'"):
        Graph([behavior("a"), behavior("a", "forgotten")])


def test_dangling_edges_are_listed_and_carry_nothing() -> None:
    lost = [Edge("a", "nowhere", "requires"), Edge("gone", "a", "conflicts")]
    graph = Graph(
        [behavior("a"), behavior("old", "superseded")], [*lost, Edge("a", "old", "requires")]
    )
    assert graph.dangling == tuple(lost)
    assert graph.edges == ()


def test_of_two_edges_that_say_the_same_the_heavier_counts() -> None:
    light, heavy = Edge("a", "b", "requires", 0.2), Edge("a", "b", "requires", 0.7)
    two = [behavior("a"), behavior("b")]
    assert Graph(two, [light, heavy]).edges == (heavy,)
    assert Graph(two, [heavy, light]).edges == (heavy,)


def test_only_live_behaviors_are_in_it() -> None:
    some = [
        behavior("a"),
        behavior("b", "pending"),
        behavior("c", "superseded"),
        behavior("d", "forgotten"),
    ]
    graph = Graph(some)
    assert len(graph) == 2
    assert list(graph.rules) == ["a", "b"]
    assert "a" in graph
    assert "c" not in graph


def test_a_graph_says_how_large_it_is() -> None:
    graph = Graph(
        [behavior("a"), behavior("b"), behavior("c", "forgotten")], [Edge("a", "b", "requires")]
    )
    assert repr(graph) == "Graph(2 rules, 1 edges)"
