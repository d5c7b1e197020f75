from __future__ import annotations

from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.injection.knapsack import Effort, Search
from brim.injection.relaxation import ceiling, prices

Option = tuple[int, int, int, int, int]
NOTHING = -1


def random_slots(random: Random) -> tuple[list[list[Option]], tuple[int, int]]:
    """Return slots with options made by chance, and a room that does not hold all of them."""
    slots = []
    for _ in range(random.randint(1, 6)):
        options = [
            (random.randint(0, 30), random.randint(0, 12), random.randint(0, 40), 1, tier)
            for tier in range(random.randint(1, 3), 0, -1)
        ]
        if random.random() < 0.8:
            options.append((0, 0, 0, 0, 0))
        slots.append(options)
    return slots, (random.randint(0, 30), random.randint(0, 100))


def brute_force(slots: list[list[Option]], room: tuple[int, int]) -> int:
    """Return the value of the best choice within *room*, or ``NOTHING``."""
    best = NOTHING
    for choice in product(*slots):
        if sum(o[1] for o in choice) <= room[0] and sum(o[2] for o in choice) <= room[1]:
            best = max(best, sum(o[0] for o in choice))
    return best


randoms = st.randoms(use_true_random=False)


@given(randoms, st.integers(0, 10), st.integers(0, 5))
@settings(max_examples=100, deadline=None)
def test_any_prices_give_a_ceiling(random: Random, price: int, rate: int) -> None:
    slots, room = random_slots(random)
    best = brute_force(slots, room)
    assert best == NOTHING or ceiling(slots, room, (price, rate)) >= best


@given(randoms, st.integers(0, 10), st.integers(0, 5), st.integers(-1, 40))
@settings(max_examples=100, deadline=None)
def test_search_finds_the_best_choice_at_any_prices_or_proves_that_none_is_above_the_floor(
    random: Random, price: int, rate: int, floor: int
) -> None:
    slots, room = random_slots(random)
    best = brute_force(slots, room)
    search = Search(slots, room, (price, rate), floor, Effort(1_000_000))
    assert search.found is (best > floor)
    assert search.floor == search.ceiling == max(best, floor)
    if search.found:
        choice = search.choice()
        assert all(option in options for option, options in zip(choice, slots, strict=True))
        assert sum(option[0] for option in choice) == best
        assert sum(option[1] for option in choice) <= room[0]
        assert sum(option[2] for option in choice) <= room[1]


@given(randoms, st.integers(0, 30))
@settings(max_examples=100, deadline=None)
def test_search_that_is_stopped_still_tells_the_truth(random: Random, effort: int) -> None:
    slots, room = random_slots(random)
    paid, _ = prices(slots, room, (True, True), NOTHING)
    search = Search(slots, room, paid, NOTHING, Effort(effort))
    assert search.floor <= brute_force(slots, room) <= search.ceiling
    assert search.ceiling <= max(search.floor, ceiling(slots, room, paid))


@given(randoms)
@settings(max_examples=100, deadline=None)
def test_choice_that_comes_with_prices_is_within_the_room(random: Random) -> None:
    slots, room = random_slots(random)
    paid, choice = prices(slots, room, (True, True), NOTHING)
    assert min(paid) >= 0
    if choice is not None:
        assert sum(option[1] for option in choice) <= room[0]
        assert sum(option[2] for option in choice) <= room[1]


@pytest.mark.parametrize("limited", [(True, False), (False, True)])
@pytest.mark.parametrize("seed", range(30))
def test_with_one_limit_prices_bring_a_choice_whenever_there_is_one(seed: int, limited: tuple[bool, bool]) -> None:
    slots, room = random_slots(Random(seed))
    slots = [[(o[0], o[1] * limited[0], o[2] * limited[1], o[3], o[4]) for o in options] for options in slots]
    room = room[0] * limited[0], room[1] * limited[1]
    _, choice = prices(slots, room, limited, NOTHING)
    assert (choice is not None) is (brute_force(slots, room) > NOTHING)
