from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from brim.activation import Context, Graph, activate, explain
from brim.behaviors import Behavior, Edge, Usage
from brim.errors import InputError
from tests.activation.making import NOW, cases, context_of, graph_of


def behavior(id: str, name: str = "plain", usage: Usage | None = None, **when: str) -> Behavior:
    return Behavior(id=id, name=name, kind="directive", canonical="Do it so.", when=when, usage=usage)


@given(cases())
def test_the_account_adds_up_to_the_activation(case: dict[str, Any]) -> None:
    graph, context = graph_of(case), context_of(case)
    found = {one.id: one.value for one in activate(graph, context, now=NOW)}
    for node in graph.nodes([one["id"] for one in case["behaviors"]]):
        explained = explain(graph, context, node.id, now=NOW)
        assert explained.value == found.get(node.id, 0.0)
        value = explained.seed
        for step in explained.steps:
            assert step.before == value
            value = max([value, *(flow.energy for flow in step.flows)])
            for flow in step.flows:
                value = max(0.0, value + flow.energy) if flow.energy < 0 else value
            assert step.after == value
        assert explained.raw == pytest.approx(value - explained.inhibition, abs=1e-15)
        assert explained.outcome.startswith("in: " if explained.value else "out: ")
        assert json.loads(json.dumps(explained.to_dict()))["value"] == explained.value
        assert all(line == line.rstrip() for line in str(explained).split("\n"))


def test_the_account_reads_as_lines() -> None:
    used = Usage(injected=4, last_used=NOW - 7200)
    some = [
        behavior("a", "use-marimba", used, language="python", branch="main"),
        behavior("b", task="sailing"),
        behavior("c"),
    ]
    edges = [
        Edge("a", "b", "requires", 0.5, last_activated=NOW - 36000),
        Edge("c", "a", "conflicts", 0.25),
    ]
    explained = explain(Graph(some, edges), Context(file="x.py", prompt="a marimba"), "a", now=NOW)
    assert str(explained).split("\n") == [
        "a: in: confirmed by language and words",
        "  branch      main: absent, the context does not say",
        "  language    python: confirmed, by python",
        "  words       marimba: confirmed",
        "  seed        0.583 x 1.132 (used 4 times, last 2.0 hours ago) = 0.660",
        "  step 1      0.660 to 0.482",
        "              - 0.178 conflicts c (weight 0.25)",
        "  raw         0.482",
        "  activation  0.860",
    ]
    assert "conflicts be-brief (" in explained.text({"c": "be-brief"})


@pytest.mark.parametrize(
    ("id", "outcome"),
    [
        ("always", "in: it has no conditions"),
        ("met", "in: confirmed by language"),
        ("reached", "in: reached by edges only"),
        ("wrong", "out: the context contradicts language"),
        ("alone", "out: nothing here says that it applies, and no rule that applies is connected with it"),
        ("pressed", "out: a rule that contradicts or replaces it applies"),
        ("faint", "out: too little, its activation is under 0.05"),
    ],
)
def test_it_says_in_one_sentence_why_it_is_in_or_out(id: str, outcome: str) -> None:
    some = [
        behavior("always"),
        behavior("met", language="python"),
        behavior("reached", task="sailing"),
        behavior("wrong", language="rust"),
        behavior("alone", task="sailing"),
        behavior("pressed", task="sailing"),
        behavior("faint", task="sailing"),
        behavior("far", size="any"),
    ]
    edges = [
        Edge("met", "reached", "requires"),
        Edge("always", "pressed", "overrides"),
        Edge("met", "pressed", "overrides"),
        Edge("met", "pressed", "similar-to", 0.05),
        Edge("always", "faint", "requires", last_activated=NOW - 400 * 3600),
    ]
    assert explain(Graph(some, edges), Context(language="python"), id, now=NOW).outcome == outcome


def test_what_is_not_live_has_no_account() -> None:
    gone = behavior("old").replace(status="forgotten")
    for id in ("old", "nowhere"):
        with pytest.raises(InputError, match="no live behavior has the id"):
            explain(Graph([gone]), Context(), id, now=NOW)
