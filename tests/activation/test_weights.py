from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.activation.weights import (
    AFTER,
    BREADTH,
    HEAVIEST,
    RATE,
    co_activated,
    joint_pairs,
    touched,
)
from brim.behaviors import Edge, EdgeKind

NOW = 1000.0


def test_a_pair_gets_an_edge_only_after_several_times() -> None:
    pair = ("a", "b")
    assert co_activated(["b", "a"], [], NOW, joint={pair: AFTER - 1}) == []
    assert co_activated(["b", "a"], [], NOW) == []
    assert co_activated(["b", "a"], [], NOW, joint={pair: AFTER}) == [
        Edge("a", "b", "co-activated", RATE, created_at=NOW, last_activated=NOW)
    ]


@given(st.floats(0.001, 1.0), st.floats(0, 1))
def test_each_time_the_edge_gets_heavier_and_never_certain_by_itself(
    weight: float, rate: float
) -> None:
    (learned,) = co_activated(["a", "b"], [Edge("b", "a", "co-activated", weight)], NOW, rate=rate)
    assert (learned.source, learned.target, learned.last_activated) == ("b", "a", NOW)
    assert weight <= learned.weight <= max(HEAVIEST, weight)


@pytest.mark.parametrize("kind", [kind for kind in EdgeKind if kind is not EdgeKind.CO_ACTIVATED])
def test_a_pair_that_is_related_otherwise_is_left_as_it_is(kind: EdgeKind) -> None:
    assert co_activated(["a", "b"], [Edge("b", "a", kind)], NOW, joint={("a", "b"): 99}) == []


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=2), max_size=100))
def test_many_at_once_make_few_pairs(ids: list[str]) -> None:
    pairs = joint_pairs(ids)
    assert len(pairs) <= BREADTH * (BREADTH - 1) // 2
    assert all(one < other for one, other in pairs)
    assert len(co_activated(ids, [], NOW, joint=dict.fromkeys(pairs, AFTER))) == len(pairs)


def test_only_the_strongest_are_paired() -> None:
    assert joint_pairs(["c", "a", "c", "b"], breadth=2) == [("a", "c")]
    assert joint_pairs(["a"]) == joint_pairs([]) == []


@pytest.mark.parametrize(
    ("kind", "active", "carried"),
    [
        ("requires", "ab", True),
        ("requires", "a", False),
        ("conflicts", "a", True),
        ("conflicts", "b", True),
        ("overrides", "a", True),
        ("overrides", "b", False),
        ("overrides", "", False),
    ],
)
def test_an_edge_is_touched_if_energy_went_over_it(kind: str, active: str, carried: bool) -> None:
    edge = Edge("a", "b", kind, 0.5, last_activated=1.0)
    assert touched([edge], list(active), NOW) == (
        [replace(edge, last_activated=NOW)] if carried else []
    )


def test_time_never_runs_back_on_an_edge() -> None:
    assert touched([Edge("a", "b", "requires", last_activated=NOW + 1)], ["a", "b"], NOW) == []
