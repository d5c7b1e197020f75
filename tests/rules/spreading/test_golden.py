"""Twenty graphs whose activations must never change by themselves."""

from __future__ import annotations

import json
from typing import Any

import pytest

from brim.rules import activate
from tests.rules.spreading.make_golden import GOLDEN, golden
from tests.rules.spreading.making import context_of, graph_of

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


def test_there_are_twenty_of_them() -> None:
    assert len(CASES) == 20
