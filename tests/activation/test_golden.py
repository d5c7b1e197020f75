"""Twenty graphs whose activations must never change by themselves."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brim.activation import activate, explain
from tests.activation.make_golden import GOLDEN, golden
from tests.activation.making import context_of, graph_of

CASES: list[dict[str, Any]] = json.loads(GOLDEN.read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_activations_are_those_of_the_golden_file(case: dict[str, Any]) -> None:
    found = {
        one.id: one.value
        for one in activate(graph_of(case), context_of(case), now=case["now"])
        if one.value
    }
    assert found == pytest.approx(case["activations"], abs=1e-12)


def test_the_golden_file_is_what_the_formula_gives() -> None:
    for made, case in zip(golden(), CASES, strict=True):
        assert {**made, "activations": 0} == {**case, "activations": 0}
        assert made["activations"] == pytest.approx(case["activations"], abs=1e-12)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_every_behavior_of_the_golden_file_can_be_explained(case: dict[str, Any]) -> None:
    graph, context = graph_of(case), context_of(case)
    found = {one.id: one.value for one in activate(graph, context, now=case["now"])}
    for one in case["behaviors"]:
        if one["id"] in graph:
            explained = explain(graph, context, one["id"], now=case["now"])
            assert explained.value == found.get(one["id"], 0.0)
            assert str(explained)


def test_there_are_twenty_of_them() -> None:
    assert len(CASES) == 20
