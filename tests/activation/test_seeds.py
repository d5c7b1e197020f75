from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.activation import Node
from brim.activation.parameters import DEFAULTS, Parameters
from brim.activation.seeds import Seed, base_level, confirming, seed_of
from brim.behaviors import When
from brim.errors import InputError

HOUR = 3600.0


def seed(met: int, unmet: int = 0, *, words: bool = False, wrong: int = 0) -> Seed:
    keys = [f"k{number}" for number in range(met + unmet + wrong)]
    facts = dict.fromkeys(keys[:met], ("yes",)) | dict.fromkeys(keys[met + unmet :], ("no",))
    node = Node("id", When(custom=dict.fromkeys(keys, "yes")), frozenset({"zebra"}), 0, None)
    return seed_of(node, facts, frozenset({"zebra"} if words else ()), 0.0, DEFAULTS)


@pytest.mark.parametrize(
    ("met", "value"), [(0, 0.3), (1, 0.4), (2, 0.6), (3, 0.8), (4, 0.9), (5, 1.0), (6, 1.0), (20, 1.0)]
)
def test_more_conditions_that_are_all_met_make_a_larger_seed(met: int, value: float) -> None:
    assert seed(met).value == pytest.approx(value)


@pytest.mark.parametrize(("met", "unmet", "value"), [(1, 1, 0.375), (1, 2, 0.15 + 0.65 / 3), (2, 2, 0.525)])
def test_absent_conditions_count_against_it(met: int, unmet: int, value: float) -> None:
    assert seed(met, unmet).value == pytest.approx(value)


def test_words_are_one_more_confirmed_condition() -> None:
    assert seed(0, words=True).value == pytest.approx(0.4)
    assert seed(1, words=True).value == pytest.approx(0.6)
    assert seed(0, 1, words=True).value == pytest.approx(0.375)
    assert seed(0, words=True).words == ("zebra",)


def test_nothing_confirmed_is_no_seed() -> None:
    assert seed(0, 2).value == 0
    assert seed(0, 2).absent == ("k0", "k1")


def test_one_contradicted_condition_is_out_whatever_else_is_met() -> None:
    assert seed(5, words=True, wrong=1).value == 0
    assert seed(5, wrong=1).contradicted == ("k5",)


@given(st.integers(0, 10**12), st.floats(-1e9, 1e12))
def test_the_base_level_is_from_0_to_1_whatever_the_times(uses: int, ago: float) -> None:
    assert 0 <= base_level(uses, -ago, 0.0, DEFAULTS) <= 1


@given(st.integers(1, 1000), st.floats(0.01, 1e5), st.floats(1.01, 100))
def test_more_often_and_more_recently_is_more(uses: int, hours: float, times: float) -> None:
    here = base_level(uses, -hours * HOUR, 0.0, DEFAULTS)
    assert base_level(uses + 1, -hours * HOUR, 0.0, DEFAULTS) > here
    assert base_level(uses, -hours * HOUR * times, 0.0, DEFAULTS) < here


def test_never_used_is_neither_praise_nor_blame() -> None:
    assert base_level(0, None, 0.0, DEFAULTS) == 0.5
    assert base_level(0, -HOUR, 0.0, DEFAULTS) == 0
    assert seed(1).factor == 1


def test_which_of_several_facts_confirm_is_known() -> None:
    when = When(file=["*.py", "docs/**"], language="python")
    assert confirming(when, "file", {"file": ("a.rs", "b.py", "docs/c.md")}) == ("b.py", "docs/c.md")
    assert confirming(when, "language", {"language": ("Python",)}) == ("Python",)


@pytest.mark.parametrize(
    "wrong",
    [
        {"steps": -1},
        {"steps": 2.5},
        {"steps": True},
        {"spread": float("nan")},
        {"decay": "0.7"},
        {"least_hours": 0},
        {"inhibition_breadth": 0},
        {"sigmoid_gain": float("inf")},
    ],
)
def test_a_constant_that_makes_no_sense_is_refused_by_name(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        Parameters(**wrong)  # type: ignore[arg-type]
