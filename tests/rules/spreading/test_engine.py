from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from brim.errors import InputError
from brim.rules import (
    Activation,
    Context,
    Edge,
    Graph,
    Parameters,
    Rule,
    RuleUsage,
    When,
    activate,
)
from brim.rules.activation import DEFAULTS, Seed, base_level, confirming, seed_of
from tests.rules.spreading.making import NOW, behaviors_of, cases, context_of, edges_of, graph_of
from tests.rules.spreading.reference import reference, settle


def behavior(id: str, **when: str) -> Rule:
    return Rule(id=id, name="plain", kind="directive", canonical="Do it so.", when=when)


def values(found: list[Activation]) -> dict[str, float]:
    return {one.id: one.value for one in found}


@given(cases())
@settings(max_examples=120)
def test_the_numbers_are_those_of_the_formula(case: dict[str, Any]) -> None:
    ranked = sorted((value for value in settle(case).values() if value > 0), reverse=True)
    # Two values that are equal but for rounding may change places at the border of the strongest.
    assume(len(ranked) <= 7 or ranked[6] == ranked[7] or ranked[6] - ranked[7] > 1e-9)
    expected = reference(case)
    found = values(activate(graph_of(case), context_of(case), now=case["now"]))
    for id in expected.keys() | found.keys():
        mine, theirs = found.get(id, 0.0), expected.get(id, 0.0)
        at_the_border = not (mine and theirs) and abs(max(mine, theirs) - 0.05) < 1e-9
        assert mine == pytest.approx(theirs, abs=1e-12) or at_the_border


@given(cases(), st.randoms(use_true_random=False))
def test_insertion_order_never_matters_to_the_last_bit(
    case: dict[str, Any], rng: random.Random
) -> None:
    behaviors, edges = behaviors_of(case), edges_of(case)
    first = activate(Graph(behaviors, edges), context_of(case), now=NOW)
    rng.shuffle(behaviors)
    rng.shuffle(edges)
    assert activate(Graph(behaviors, edges), context_of(case), now=NOW) == first


@given(cases())
def test_results_are_ranked_and_between_0_and_1(case: dict[str, Any]) -> None:
    found = activate(graph_of(case), context_of(case), now=NOW)
    assert found == sorted(found, key=lambda one: (-one.value, one.id))
    assert all(one.value == 0 or 0.05 <= one.value <= 1 for one in found)
    assert all(one.reasons for one in found)


def test_what_the_context_speaks_for_comes_even_if_nothing_is_left_of_it() -> None:
    weak = Rule("weak", "weak", "directive", "weak", when={"task": "t"})
    strong = Rule("strong", "strong", "directive", "strong", when={"task": "t", "language": "l"})
    silent = Rule("silent", "silent", "directive", "silent", when={"task": "u"})
    graph = Graph([weak, strong, silent], [Edge("strong", "weak", "overrides")])
    found = activate(graph, Context(task="t", language="l"), now=NOW)
    assert [one.id for one in found] == ["strong", "weak"]
    assert (found[1].value, found[1].reasons) == (0.0, ("task t", "weakened by 0.40"))


@given(cases())
def test_only_live_behaviors_that_nothing_contradicts_come_up(case: dict[str, Any]) -> None:
    context = context_of(case)
    found = values(activate(graph_of(case), context, now=NOW))
    for one in behaviors_of(case):
        if not one.live or one.when.match(context.facts).contradicted:
            assert one.id not in found


def test_a_contradicted_behavior_passes_nothing_on() -> None:
    chain = [
        behavior("a", language="python"),
        behavior("b", language="rust"),
        behavior("c", task="sailing"),
    ]
    edges = [Edge("a", "b", "requires"), Edge("b", "c", "requires")]
    assert [
        one.id for one in activate(Graph(chain, edges), Context(language="python"), now=NOW)
    ] == ["a"]


def test_what_a_contradicted_neighbour_would_get_goes_to_the_others() -> None:
    some = [
        behavior("a", language="python"),
        behavior("b", task="sailing"),
        behavior("out", language="rust"),
    ]
    alone = activate(Graph(some, [Edge("a", "b", "requires")]), Context(language="python"), now=NOW)
    both = [Edge("a", "b", "requires"), Edge("a", "out", "requires")]
    assert activate(Graph(some, both), Context(language="python"), now=NOW) == alone


def test_an_override_weakens_its_target_and_not_its_source() -> None:
    two = [behavior("new"), behavior("old")]
    found = values(activate(Graph(two, [Edge("new", "old", "overrides")]), Context(), now=NOW))
    assert found["new"] == 0.5
    assert found.get("old", 0) < 0.1


def test_nothing_gives_nothing() -> None:
    assert activate(Graph([], []), Context(), now=NOW) == []
    assert activate(Graph([behavior("a", task="sailing")]), Context(), now=NOW) == []


def test_reasons_name_conditions_words_and_the_strongest_edge() -> None:
    some = [
        Rule(
            id="a", name="use-marimba", kind="directive", canonical="x", when={"language": "python"}
        ),
        behavior("b", task="sailing"),
        behavior("c"),
    ]
    edges = [Edge("a", "b", "requires"), Edge("a", "c", "conflicts", 0.1)]
    context = Context(file=["one.rs", "two.py"], task="sailing", prompt="the marimba")
    reasons = {one.id: one.reasons for one in activate(Graph(some, edges), context, now=NOW)}
    assert reasons["a"][:2] == ("language python", "words marimba")
    assert "task sailing" in reasons["b"]
    assert "always" in activate(Graph(some), context, now=NOW)[-1].reasons
    far = Graph([some[0], behavior("b", branch="x")], [Edge("a", "b", "requires")])
    assert activate(far, context, now=NOW)[1].reasons == ("requires a",)


def test_every_constant_can_be_changed() -> None:
    some = [behavior("a", language="python"), behavior("b", task="sailing"), behavior("c")]
    some += [
        Rule(id="d", name="plain", kind="directive", canonical="x", when={"language": "python"})
    ]
    graph = Graph(
        some, [Edge("a", "b", "requires", last_activated=NOW - 7200), Edge("c", "d", "conflicts")]
    )
    context = Context(language="python")
    usual = activate(graph, context, now=NOW)
    changes: dict[str, Any] = {
        "always": 0.5,
        "one_condition": 0.5,
        "base_floor": 0.9,
        "base_range": 0.1,
        "never_used": 0.1,
        "steps": 1,
        "spread": 0.5,
        "decay": 0.5,
        "edge_fading": 0.5,
        "inhibition_breadth": 1,
        "sigmoid_gain": 5,
        "sigmoid_center": 0.5,
        "least": 0.6,
    }
    for name, value in changes.items():
        parameters = replace(Parameters(), **{name: value})
        assert activate(graph, context, now=NOW, parameters=parameters) != usual, name
    assert activate(graph, context, now=NOW, parameters=Parameters()) == usual


def test_no_steps_leave_the_seeds() -> None:
    graph = Graph([behavior("a"), behavior("b", task="x")], [Edge("a", "b", "requires")])
    found = activate(graph, Context(), now=NOW, parameters=Parameters(steps=0))
    assert [(one.id, one.value) for one in found] == [("a", 0.5)]


def test_a_time_with_its_zone_is_the_same_as_its_seconds() -> None:
    from datetime import UTC, datetime

    used = Rule("b", "b", "directive", "b", usage=RuleUsage(injected=3, last_used=NOW - 7200))
    moment = datetime.fromtimestamp(NOW, UTC)
    assert activate(Graph([used], []), Context(), now=moment) == activate(
        Graph([used], []), Context(), now=NOW
    )


HOUR = 3600.0


def seed(met: int, unmet: int = 0, *, words: bool = False, wrong: int = 0) -> Seed:
    keys = [f"k{number}" for number in range(met + unmet + wrong)]
    facts = dict.fromkeys(keys[:met], ("yes",)) | dict.fromkeys(keys[met + unmet :], ("no",))
    when = When(custom=dict.fromkeys(keys, "yes"))
    rule = Rule("id", "zebra", "directive", "Do it so.", when=when)
    return seed_of(rule, facts, frozenset({"zebra"} if words else ()), 0.0, DEFAULTS)


@pytest.mark.parametrize(
    ("met", "value"),
    [(0, 0.3), (1, 0.4), (2, 0.6), (3, 0.8), (4, 0.9), (5, 1.0), (6, 1.0), (20, 1.0)],
)
def test_more_conditions_that_are_all_met_make_a_larger_seed(met: int, value: float) -> None:
    assert seed(met).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("met", "unmet", "value"), [(1, 1, 0.375), (1, 2, 0.15 + 0.65 / 3), (2, 2, 0.525)]
)
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


def test_which_of_several_facts_confirm_is_known() -> None:
    when = When(file=["*.py", "docs/**"], language="python")
    assert confirming(when, "file", {"file": ("a.rs", "b.py", "docs/c.md")}) == (
        "b.py",
        "docs/c.md",
    )
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


HEAVY = {"logging", "pathlib", "hashlib"}


def test_activating_imports_nothing_heavy() -> None:
    code = (
        "import sys; before = set(sys.modules)\n"
        "from brim.rules import Context, Graph, activate\n"
        "from brim.rules import Rule, Edge\n"
        "some = [Rule(id=id, name='use-uv', kind='directive', canonical='x') for id in 'ab']\n"
        "context = Context(file='a.py', prompt='run the tests with uv', command='uv run pytest')\n"
        "assert len(activate(Graph(some, [Edge('a', 'b', 'requires')]), context, now=0.0)) == 2\n"
        "print(*set(sys.modules) - before)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    assert not HEAVY & set(done.stdout.split())
