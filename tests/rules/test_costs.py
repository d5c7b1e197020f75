"""Costs that were stored are the costs that would be counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from brim.errors import InputError
from brim.rules import ActivationTierMapper, Section, StoredCosts, Tier, render
from brim.rules.costs import ENCODINGS, heading_costs
from brim.rules.text import item_text
from brim.tokens import ExactTokenCounter, counter_for
from brim.tokens.calibrate import ratio_for
from tests.rules.making import NASTY, rule

BEHAVIORS = [rule(f"r{n}", f"Rule {n}. {text}") for n, text in enumerate(NASTY)]
RESULTS = [(behavior.id, 0.95 - n / 30) for n, behavior in enumerate(BEHAVIORS)]


def stored(encoding: str) -> dict[tuple[str, int], tuple[int, int]]:
    counter = ExactTokenCounter(encoding=encoding)
    items = {}
    for behavior in BEHAVIORS:
        for tier in (Tier.FULL, Tier.SUMMARY, Tier.NAME_ONLY):
            text = item_text(behavior, tier)
            items[behavior.id, tier.value] = int(counter.count(text)), len(text)
    return items


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_headings_cost_what_the_table_says(encoding: str) -> None:
    counter = ExactTokenCounter(encoding=encoding)
    texts = {section: section.heading() for section in Section}
    assert heading_costs(encoding) == {
        section: (int(counter.count(text)), len(text)) for section, text in texts.items()
    }


def test_a_plan_from_stored_costs_is_the_plan_that_counts() -> None:
    costs = StoredCosts(stored("o200k_base"), encoding="o200k_base")
    for budget in range(20, 400, 60):
        plan = ActivationTierMapper().plan(RESULTS, BEHAVIORS, budget=budget, costs=costs)
        counted = ActivationTierMapper().plan(RESULTS, BEHAVIORS, budget=budget)
        assert replace(plan, counter="") == replace(counted, counter="")


def test_a_ratio_is_applied_once_and_rounded_up_once() -> None:
    ratio = ratio_for("claude-sonnet-4-5", "claude")
    costs = StoredCosts(stored("o200k_base"), encoding="o200k_base", ratio=ratio)
    plan = ActivationTierMapper().plan(RESULTS, BEHAVIORS, budget=200, costs=costs)
    assert plan.total_tokens == counter_for("claude-sonnet-4-5").count(render(plan)) <= 200
    assert plan.total_tokens.basis == "estimated"


def test_what_was_not_stored_is_charged_its_bytes() -> None:
    plan = ActivationTierMapper().plan(
        [("r", 0.9)], [rule("r", "naïve")], costs=StoredCosts({}, encoding="o200k_base")
    )
    assert plan.items[0].tokens == len("- naïve\n".encode())


def test_an_encoding_that_is_not_stored_is_named() -> None:
    with pytest.raises(InputError, match="o200k_base"):
        StoredCosts({}, encoding="p50k_base")
