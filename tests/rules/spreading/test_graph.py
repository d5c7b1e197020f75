from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.errors import InputError
from brim.rules import Edge, Rule, RuleUsage, When
from brim.rules.activation import seed_of
from brim.rules.graph import Graph, filed_under, looked_up, node_of
from brim.rules.parameters import DEFAULTS
from tests.rules.spreading.making import NOW, behaviors_of, cases, context_of, edges_of, graph_of


def behavior(id: str, status: str = "active") -> Rule:
    return Rule(id=id, name="plain", kind="directive", canonical="Do it so.", status=status)


@given(cases())
def test_no_behavior_with_a_seed_is_missed(case: dict[str, Any]) -> None:
    context = context_of(case)
    found = {node.id for node in graph_of(case).seeds(context.facts, context.words)}
    for one in behaviors_of(case):
        if (
            one.live
            and seed_of(node_of(one), context.facts, context.words, NOW, DEFAULTS).value > 0
        ):
            assert one.id in found


@given(cases())
def test_asked_for_edges_each_comes_once_and_only_between_live_ones(case: dict[str, Any]) -> None:
    graph = graph_of(case)
    live = {one.id for one in behaviors_of(case) if one.live}
    asked = sorted(live)[::2]
    found = [(edge.source, edge.target, edge.kind) for edge in graph.edges(asked)]
    expected = {
        (edge.source, edge.target, edge.kind)
        for edge in edges_of(case)
        if {edge.source, edge.target} <= live and (edge.source in asked or edge.target in asked)
    }
    assert sorted(found) == sorted(expected)


def test_two_behaviors_with_one_id_are_an_error() -> None:
    with pytest.raises(InputError, match="two behaviors have the id 'a'"):
        Graph([behavior("a"), behavior("a", "forgotten")])


def test_dangling_edges_are_listed_and_carry_nothing() -> None:
    lost = [Edge("a", "nowhere", "requires"), Edge("gone", "a", "conflicts")]
    graph = Graph(
        [behavior("a"), behavior("old", "superseded")], [*lost, Edge("a", "old", "requires")]
    )
    assert graph.dangling == tuple(lost)
    assert list(graph.edges(["a", "nowhere", "gone", "old"])) == []


def test_of_two_edges_that_say_the_same_the_heavier_counts() -> None:
    light, heavy = Edge("a", "b", "requires", 0.2), Edge("a", "b", "requires", 0.7)
    two = [behavior("a"), behavior("b")]
    assert list(Graph(two, [light, heavy]).edges(["a"])) == [heavy]
    assert list(Graph(two, [heavy, light]).edges(["a"])) == [heavy]


def test_only_live_behaviors_are_in_it() -> None:
    some = [
        behavior("a"),
        behavior("b", "pending"),
        behavior("c", "superseded"),
        behavior("d", "forgotten"),
    ]
    graph = Graph(some)
    assert len(graph) == 2
    assert [node.id for node in graph.nodes(["a", "b", "c", "d", "e"])] == ["a", "b"]
    assert "a" in graph
    assert "c" not in graph


def test_a_node_knows_what_activation_asks_for() -> None:
    one = Rule(
        id="a",
        name="use-marimba",
        kind="directive",
        canonical="x",
        tags=("zebra",),
        usage=RuleUsage(injected=3, confirmed=1, overridden=2, last_used=5.0),
    )
    node = node_of(one)
    assert (node.id, node.uses, node.last_used, node.when) == ("a", 2, 5.0, one.when)
    assert {"marimba", "zebra"} <= node.words


def test_a_graph_says_how_large_it_is() -> None:
    graph = Graph(
        [behavior("a"), behavior("b"), behavior("c", "forgotten")], [Edge("a", "b", "requires")]
    )
    assert repr(graph) == "Graph(2 behaviors, 1 edges)"


FILES = st.text(alphabet="ab.*?[]!-/\\", min_size=1, max_size=12).filter(str.strip)
PATHS = st.text(alphabet="ab.-]/\\", min_size=1, max_size=12)


@given(st.sampled_from(("file", "branch")), PATHS, FILES)
@settings(max_examples=200)
def test_what_a_fact_confirms_is_among_what_it_looks_up(key: str, fact: str, value: str) -> None:
    if When(conditions=[(key, [value])]).match({key: (fact,)}).confirmed:
        assert filed_under(key, value) in looked_up(key, fact)


@pytest.mark.parametrize("fact", ["/main", "\\main", "./main", "main/", "main"])
def test_a_branch_is_found_however_it_is_written(fact: str) -> None:
    assert When(branch="main").match({"branch": (fact,)}).confirmed
    assert filed_under("branch", "main") in looked_up("branch", fact)


@given(st.text("aAßſSsİi", min_size=1, max_size=4), st.text("aAßſSsİi", min_size=1, max_size=4))
def test_plain_values_are_found_in_upper_and_lower_case(value: str, fact: str) -> None:
    if When(task=value).match({"task": (fact,)}).confirmed:
        assert filed_under("task", value) in looked_up("task", fact)


@pytest.mark.parametrize(
    ("pattern", "filed"),
    [
        ("**/*.py", "*.py"),
        ("src/app.py", "app.py"),
        ("src/", "src"),
        ("/src/", ""),
        ("/", ""),
        ("*.d.ts", "*.ts"),
        ("*rc", ""),
        ("x[.]py", ""),
        ("[ab].py", "*.py"),
        ("*.p?", ""),
        (".gitignore", ".gitignore"),
        ("src\\*.py", "*.py"),
    ],
)
def test_a_file_pattern_is_filed_under_the_end_of_it(pattern: str, filed: str) -> None:
    assert filed_under("file", pattern) == filed
