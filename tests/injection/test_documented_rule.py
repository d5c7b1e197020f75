"""What demotion does is what the documentation says, whichever counter: against an implementation word by word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.behaviors import Behavior
from brim.injection import FORMATS, render
from brim.injection.fitting import MOST_BY_TEXT
from tests.injection.counters import COUNTERS, WordCounter
from tests.injection.making import behaviors, planned, rule
from tests.injection.reference import Reference

Pairs = list[tuple[Behavior, float]]


@pytest.mark.parametrize("strategy", ["lowest-first", "level"])
@given(
    pairs=behaviors(least=1),
    share=st.floats(0.05, 1),
    max_chars=st.one_of(st.none(), st.integers(1, 600)),
    counter=st.sampled_from(sorted(COUNTERS)),
    format=st.sampled_from(FORMATS),
)
def test_demotion_is_the_documented_rule(
    strategy: str, pairs: Pairs, share: float, max_chars: int | None, counter: str, format: str
) -> None:
    count = COUNTERS[counter]
    budget = max(1, round(share * planned(pairs, counter=count, format=format).total_tokens))
    plan = planned(pairs, strategy, budget=budget, max_chars=max_chars, counter=count, format=format)
    reference = Reference(pairs, count, format, (budget, max_chars))
    assert {item.id: int(item.tier) for item in plan.items} == reference.run(strategy)
    assert render(plan) == reference.text()


@given(
    pairs=behaviors(least=1, most=6), share=st.floats(0.05, 1), counter=st.sampled_from(["words", "bytes", "blocks"])
)
def test_optimal_is_never_worse_than_the_others_whatever_counts(pairs: Pairs, share: float, counter: str) -> None:
    count = COUNTERS[counter]
    budget = max(1, round(share * planned(pairs, counter=count).total_tokens))
    best = planned(pairs, "optimal", budget=budget, counter=count)
    for strategy in ("lowest-first", "level"):
        other = planned(pairs, strategy, budget=budget, counter=count)
        assert other.over_budget or (best.value >= other.value and not best.over_budget)


class AskedCounter(WordCounter):
    def __init__(self) -> None:
        self.characters = 0

    def count(self, text: str, /) -> int:  # type: ignore[override]
        self.characters += len(text)
        return super().count(text)


def test_a_counter_that_does_not_add_up_is_not_asked_for_every_step_of_many_behaviors() -> None:
    many = [(rule(f"r{n}", f"Rule {n} says a little.", summary=f"Rule {n}."), 0.9) for n in range(10 * MOST_BY_TEXT)]
    counter = AskedCounter()
    plan = planned(many, budget=100, counter=counter)
    assert plan.total_tokens <= 100
    whole = len(render(planned(many, counter=counter)))
    assert counter.characters <= 20 * whole


def test_what_switched_injection_off_is_named() -> None:
    plan = planned([(rule("r"), 0.9)], max_chars=0)
    assert plan.reasons == ("max_chars is 0: injection is off, constraints too",)
    assert plan.items[0].reason == "max_chars is 0: injection is off"


@pytest.mark.parametrize("strategy", ["lowest-first", "level", "optimal"])
def test_whoever_is_promoted_is_said_to_be(strategy: str) -> None:
    plan = planned([(rule("r", "Use uv.", summary="Uv."), 0.5)], strategy, budget=100, fill=True)
    assert plan.items[0].reason == "activation 0.50 is at least 0.3; promoted into spare budget"
