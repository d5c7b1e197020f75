from __future__ import annotations

from itertools import product
from math import exp, fsum
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.behaviors.behavior import Behavior, BehaviorKind, Status
from brim.injection.arrangement import Arrangement, Limits, level, lowest_first
from brim.injection.costs import CountedCosts
from brim.injection.optimal import optimal
from brim.injection.tiers import FIDELITY, Section, Tier, section_of
from brim.tokens import counter_for
from tests.injection.stand_ins import KINDS, TIERS, GivenCosts, behavior, random_arrangement, slot

NO_HEADINGS = dict.fromkeys(Section, (0, 0))


def brute_force(arrangement: Arrangement) -> float | None:
    """Return the value of the best of all choices that fit, counted from nothing; None if none does."""
    best = None
    for tiers in product(*(each.allowed for each in arrangement.slots)):
        spent = []
        opened = set()
        for each, tier in zip(arrangement.slots, tiers, strict=True):
            if tier is not Tier.OMITTED:
                spent.append(arrangement.costs.item(each.behavior, tier))
                opened.add(section_of(each.behavior.kind, each.behavior.status, tier))
        spent += [arrangement.costs.heading(section) for section in opened]
        spent += [arrangement.costs.frame(0)] if opened else []
        tokens, characters = sum(cost[0] for cost in spent), sum(cost[1] for cost in spent)
        limits = arrangement.limits
        if (limits.tokens is None or tokens <= limits.tokens) and (
            limits.characters is None or characters <= limits.characters
        ):
            value = fsum(each.activation * FIDELITY[tier] for each, tier in zip(arrangement.slots, tiers, strict=True))
            best = value if best is None else max(best, value)
    return best


def demoted(arrangement: Arrangement, steps: object, *, to_the_end: bool = False) -> list[Tier]:
    """Return where a step-by-step strategy leaves an arrangement, and put it back."""
    start = arrangement.tiers()
    while to_the_end or not arrangement.fits():
        if next(steps, None) is None:  # type: ignore[call-overload]
            break
    tiers = arrangement.tiers()
    arrangement.restore(start)
    return tiers


def check_against_brute_force(arrangement: Arrangement) -> None:
    best = brute_force(arrangement)
    cut = demoted(arrangement, lowest_first(arrangement), to_the_end=True)
    bound = optimal(arrangement)
    assert all(each.tier in each.allowed for each in arrangement.slots)
    if best is None:
        assert not arrangement.fits()
        assert arrangement.tiers() == cut
        assert bound == arrangement.value()
    else:
        assert arrangement.fits()
        assert arrangement.value() == pytest.approx(best, rel=1e-12)
        assert bound == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("hundred", range(4))
def test_optimal_is_what_brute_force_finds(hundred: int) -> None:
    for seed in range(hundred * 100, hundred * 100 + 100):
        check_against_brute_force(random_arrangement(Random(seed)))


@given(st.randoms(use_true_random=False))
@settings(deadline=None)
def test_optimal_is_what_brute_force_finds_for_any_few(random: Random) -> None:
    check_against_brute_force(random_arrangement(random, most=7))


@pytest.mark.parametrize("seed", range(12))
def test_optimal_is_what_brute_force_finds_for_real_texts(seed: int) -> None:
    random = Random(seed)
    words = ("never", "commit", "secrets;", "always run", "the tests", "with `uv`", "before a push", "unless", "it is")
    slots = []
    for number in range(6):
        text = " ".join(random.choices(words, k=random.randint(4, 60)))
        one = Behavior(f"b{number}", f"rule-{number}", random.choice(KINDS), text, summary=text[:40], tags=("git",))
        slots.append(slot(one, random.random()))
    costs = CountedCosts(counter_for("gpt-4o"), random.choice(("markdown", "xml", "plain")))
    limits = Limits(random.randint(40, 220), random.choice((None, random.randint(200, 900))))
    check_against_brute_force(Arrangement(slots, costs, limits))


def realistic(random: Random, number: int, tokens: int | None, characters: int | None = None) -> Arrangement:
    """Return behaviors as a store has them, with activations as the engine gives them."""
    slots = []
    items = {}
    for i in range(number):
        kind = random.choices(KINDS, (1, 6, 3, 3, 1, 2))[0] if i < 60 else random.choice(KINDS[1:])
        one = behavior(f"b{i:05}", kind, Status.PENDING if random.random() < 0.05 else Status.ACTIVE)
        activation = 1 / (1 + exp(-10 * (random.betavariate(2, 3) - 0.3)))
        made = slot(one, activation)
        highest = Tier.FULL if activation >= 0.7 else Tier.SUMMARY if activation >= 0.3 else Tier.NAME_ONLY
        made = slot(one, activation, [tier for tier in made.allowed if tier <= highest] or [made.allowed[-1]])
        slots.append(made)
        full = max(8, int(random.lognormvariate(3.6, 0.7)))
        for tier, units in zip(TIERS, (full, min(full, random.randint(9, 20)), random.randint(7, 14)), strict=False):
            items[one.id, tier] = units, int(units * random.uniform(3.5, 5))
    costs = GivenCosts(items, {section: (random.randint(3, 5), random.randint(12, 24)) for section in Section})
    return Arrangement(slots, costs, Limits(tokens, characters))


@pytest.mark.parametrize(("number", "tokens"), [(50, 100), (200, 300), (200, 1000), (200, 4000), (1000, 2000)])
@pytest.mark.parametrize("characters_of_a_token", [None, 3.9, 4.1])
def test_optimal_is_proven_on_what_a_store_holds(number: int, tokens: int, characters_of_a_token: float | None) -> None:
    characters = None if characters_of_a_token is None else int(tokens * characters_of_a_token)
    arrangement = realistic(Random(number + tokens), number, tokens, characters)
    others = []
    for steps in (lowest_first, level):
        tiers = demoted(arrangement, steps(arrangement))
        others.append(fsum(s.activation * FIDELITY[t] for s, t in zip(arrangement.slots, tiers, strict=True)))
    bound = optimal(arrangement)
    assert arrangement.fits()
    assert bound == arrangement.value() >= max(others)


def test_optimal_without_a_proof_is_still_within_its_bound_and_no_worse_than_the_others() -> None:
    gaps = 0
    for seed in range(300):
        arrangement = random_arrangement(Random(seed))
        best = brute_force(arrangement)
        if best is None:
            continue
        fitting = []
        for steps in (lowest_first, level):
            start = arrangement.tiers()
            arrangement.restore(demoted(arrangement, steps(arrangement)))
            fitting += [arrangement.value()] if arrangement.fits() else []
            arrangement.restore(start)
        bound = optimal(arrangement, effort=0)
        if arrangement.fits():
            assert arrangement.value() >= max(fitting, default=0.0)
            assert arrangement.value() <= best <= bound
            gaps += bound > arrangement.value()
        else:
            assert not fitting
    assert gaps, "the effort is never used up here"


def test_order_of_the_slots_decides_nothing() -> None:
    for seed in range(100):
        first = random_arrangement(Random(seed), most=12)
        slots = [slot(each.behavior, each.activation, each.allowed) for each in first.slots]
        Random(seed).shuffle(slots)
        second = Arrangement(slots, first.costs, first.limits)
        assert optimal(first) == optimal(second)
        assert {each.id: each.tier for each in first.slots} == {each.id: each.tier for each in second.slots}


def test_no_limit_leaves_everything_as_detailed_as_it_may_be() -> None:
    arrangement = realistic(Random(1), 40, None)
    start = arrangement.tiers()
    assert optimal(arrangement) == arrangement.value()
    assert arrangement.tiers() == start


def test_nothing_to_arrange_is_worth_nothing() -> None:
    assert optimal(Arrangement([], GivenCosts({}, NO_HEADINGS), Limits(0, None))) == 0


def test_what_adds_no_value_is_left_out_unless_it_must_be_there() -> None:
    idle, rule = behavior("idle"), behavior("rule", BehaviorKind.CONSTRAINT)
    items = {(id, tier): (tier.value, tier.value) for id in ("idle", "rule") for tier in TIERS[:3]}
    arrangement = Arrangement([slot(idle, 0.0), slot(rule, 0.0)], GivenCosts(items, NO_HEADINGS), Limits(100, None))
    optimal(arrangement)
    assert arrangement.tiers() == [Tier.OMITTED, Tier.SUMMARY]


def test_of_equal_values_the_cheaper_text_is_taken() -> None:
    items = {("a", Tier.FULL): (12, 50), ("b", Tier.FULL): (10, 40)}
    slots = [slot(behavior(id), 0.8, (Tier.FULL, Tier.OMITTED)) for id in "ab"]
    arrangement = Arrangement(slots, GivenCosts(items, NO_HEADINGS), Limits(15, None))
    assert optimal(arrangement) == 0.8
    assert arrangement.tiers() == [Tier.OMITTED, Tier.FULL]


def test_heading_is_paid_once_so_a_section_is_opened_for_two_but_not_for_one() -> None:
    items = {(id, Tier.FULL): (5, 20) for id in "abc"}
    headings = {**NO_HEADINGS, Section.DIRECTIVES: (10, 20)}
    kinds = {"a": BehaviorKind.DIRECTIVE, "b": BehaviorKind.DIRECTIVE, "c": BehaviorKind.EPISODIC}

    def chosen(tokens: int) -> list[bool]:
        slots = [slot(behavior(id, kind), 0.8, (Tier.FULL, Tier.OMITTED)) for id, kind in kinds.items()]
        slots[2].activation = 0.7
        arrangement = Arrangement(slots, GivenCosts(items, headings), Limits(tokens, None))
        assert optimal(arrangement) == arrangement.value()
        return [bool(each.tier) for each in arrangement.slots]

    assert chosen(14) == [False, False, True]
    assert sum(chosen(19)[:2]) == 1
    assert chosen(20)[:2] == [True, True]
    assert chosen(25) == [True, True, True]


@given(st.lists(st.floats(0, 1e12), min_size=1, max_size=5), st.integers(0, 60))
@settings(deadline=None)
def test_values_of_any_size_are_summed_exactly(activations: list[float], tokens: int) -> None:
    items = {(str(i), tier): (tier.value * 4 + i, 10) for i in range(len(activations)) for tier in TIERS[:3]}
    slots = [slot(behavior(str(i)), activation) for i, activation in enumerate(activations)]
    arrangement = Arrangement(slots, GivenCosts(items, NO_HEADINGS), Limits(tokens, None))
    best = brute_force(arrangement)
    assert optimal(arrangement) == pytest.approx(best, rel=1e-12)
    assert arrangement.value() == pytest.approx(best, rel=1e-12)
