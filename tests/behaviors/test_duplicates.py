from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.behaviors.behavior import BehaviorKind, Provenance, Rule, RuleUsage, Status
from brim.behaviors.duplicates import (
    merge,
    near_duplicate,
    near_pairs,
    survivor,
)
from brim.behaviors.when import When
from brim.errors import InputError
from tests.texts import ANY_TEXT

PAIRS = [
    line.replace("\\n", "\n").split("\t")
    for line in (Path(__file__).parent / "data" / "pairs.tsv").read_text("utf-8").splitlines()
    if not line.startswith("#")
]
DIFFERENT = [(a, b) for label, a, b in PAIRS if label == "different"]
WORDS = (
    "use",
    "uv",
    "pip",
    "never",
    "not",
    "before",
    "tests",
    "run",
    "only",
    "if",
    "commit",
    "3",
    "`a.py`",
    ",",
    ".",
)
RULES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=10).map(" ".join)


def test_rules_that_differ_are_never_taken_for_one() -> None:
    assert len(DIFFERENT) >= 40
    assert [pair for pair in DIFFERENT if near_duplicate(*pair)] == []


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Use pip", "Never use pip"),
        ("Use 2 spaces", "Use 4 spaces"),
        ("Edit src/a.py", "Edit src/b.py"),
        ("Use uv, not pip", "Use pip, not uv"),
        ("Lint before testing", "Test before linting"),
        ("Call A from B", "Call B from A"),
        ("Use tabs", "Use spaces"),
        ("Compare with ==", "Compare with ==="),
        ("Call `getUser`", "Call `getuser`"),
    ],
)
def test_texts_with_another_sense_are_never_near_duplicates(a: str, b: str) -> None:
    assert not near_duplicate(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Never use pip.", "never  use PIP"),
        ("Please run the tests.", "Run all tests"),
        ("Always pin versions", "Pin the version"),
        ("", " "),
    ],
)
def test_fillers_and_inflection_change_no_rule(a: str, b: str) -> None:
    assert near_duplicate(a, b)


@given(st.one_of(ANY_TEXT, RULES), st.one_of(ANY_TEXT, RULES))
def test_equal_texts_say_the_same(a: str, b: str) -> None:
    assert near_duplicate(a, a)
    assert near_duplicate(a, b) == near_duplicate(b, a)


def test_pairs_are_those_that_say_the_same() -> None:
    rules = [
        behavior(id, text)
        for id, text in (("c", "Use tabs"), ("a", "use tabs."), ("b", "Use spaces"))
    ]
    assert [(pair.one.id, pair.other.id) for pair in near_pairs(rules)] == [("a", "c")]


NAMES = st.sampled_from(["a", "b", "c"])
WHENS = st.dictionaries(
    st.sampled_from(["language", "task", "branch"]), st.lists(NAMES, min_size=1, max_size=2)
)
FACTS = st.dictionaries(
    st.sampled_from(["language", "task", "branch"]), NAMES.map(lambda value: (value,))
)


def behavior(id: str, canonical: str = "Use uv", **fields: Any) -> Rule:
    return replace(Rule(id=id, name=id, kind="directive", canonical=canonical), **fields)


BEHAVIORS = st.builds(
    behavior,
    st.just("a"),
    NAMES,
    kind=st.sampled_from(list(BehaviorKind)),
    summary=st.sampled_from(["", "short"]),
    tags=st.lists(NAMES).map(tuple),
    when=WHENS,
    scope=st.sampled_from(["user", "project"]),
    priority=st.integers(0, 1),
    confidence=st.sampled_from([0.2, 0.9]),
    usage=st.builds(
        RuleUsage,
        st.integers(0, 3),
        st.integers(0, 3),
        st.integers(0, 3),
        st.sampled_from([None, 1.0, 2.0]),
    ),
    variants=st.lists(NAMES).map(tuple),
    provenance=st.builds(Provenance, wrong=NAMES, note=NAMES, session=NAMES),
    created_at=st.sampled_from([None, 1.0, 2.0]),
)


@pytest.mark.parametrize(
    ("mine", "other"),
    [
        ({"priority": 2}, {"priority": 1, "confidence": 1.0}),
        ({"confidence": 0.9}, {"confidence": 0.8, "created_at": 1.0}),
        ({"created_at": 1.0}, {"created_at": 2.0}),
        ({"created_at": 1.0}, {"created_at": None}),
        ({}, {}),
        ({"status": Status.ACTIVE}, {"status": Status.PENDING, "priority": 9}),
        ({"kind": BehaviorKind.CONSTRAINT, "scope": "user"}, {"scope": "project", "priority": 9}),
    ],
)
def test_survivor_goes_by_priority_confidence_age_and_id(
    mine: dict[str, Any], other: dict[str, Any]
) -> None:
    a, b = replace(behavior("a"), **mine), replace(behavior("b"), **other)
    assert survivor(a, b) == survivor(b, a) == (a, b)


def test_other_wording_tags_and_uses_are_kept_and_it_says_what_it_did() -> None:
    kept = behavior(
        "a", "Use uv", tags=("python",), usage=RuleUsage(1, 2, 3, 10.0), when={"language": "python"}
    )
    other = behavior(
        "b",
        "Prefer uv",
        tags=("pip",),
        usage=RuleUsage(1, 0, 0, 20.0),
        when={"language": "toml", "task": "git"},
    )
    merged = merge(kept, other, 30.0)
    assert merged.kept.canonical == "Use uv"
    assert merged.kept.variants == ("Prefer uv",)
    assert merged.kept.tags == ("python", "pip")
    assert merged.kept.usage == RuleUsage(2, 2, 3, 20.0)
    assert merged.kept.when == When(language=["python", "toml"])
    assert merged.kept.supersedes == ("b",)
    assert merged.superseded == replace(
        other, status=Status.SUPERSEDED, superseded_by="a", updated_at=30.0
    )
    assert merged.changes == (
        "tags added: pip",
        "condition widened: language python or toml",
        "condition dropped, for only one of them had it: task git",
        "wordings kept as variants: 1",
        "b is superseded by a",
    )


@settings(deadline=None)
@given(BEHAVIORS, BEHAVIORS, FACTS)
def test_merge_loses_no_text_no_constraint_and_no_situation(
    a: Rule, b: Rule, facts: dict[str, tuple[str]]
) -> None:
    kept, other = survivor(a, replace(b, id="b"))
    merged = merge(kept, other, 9.0)
    texts = {merged.kept.canonical, merged.kept.summary, *merged.kept.variants}
    assert {a.canonical, b.canonical, a.summary, b.summary, *a.variants, *b.variants} - {
        ""
    } <= texts
    assert (merged.kept.kind is BehaviorKind.CONSTRAINT) == (
        BehaviorKind.CONSTRAINT in (a.kind, b.kind)
    )
    assert {*a.tags, *b.tags} == set(merged.kept.tags)
    for one in (a, b):
        assert one.provenance.wrong in merged.kept.provenance.wrong
        assert one.provenance.note in merged.kept.provenance.note
        if not one.when.match(facts).contradicted:
            assert not merged.kept.when.match(facts).contradicted
    assert merged.kept.live
    assert not merged.superseded.live
    assert merged.kept.usage.injected == a.usage.injected + b.usage.injected


def test_project_behavior_never_replaces_a_constraint_of_the_user() -> None:
    mine = behavior("a", kind=BehaviorKind.CONSTRAINT, scope="user")
    with pytest.raises(InputError, match="cannot replace your constraint"):
        merge(behavior("b", scope="project"), mine, 1.0)
    assert merge(mine, behavior("b", scope="project"), 1.0).kept.kind is BehaviorKind.CONSTRAINT


def test_unconfirmed_note_never_replaces_a_confirmed_behavior() -> None:
    with pytest.raises(InputError, match="accept it first"):
        merge(behavior("a", status=Status.PENDING), behavior("b"), 1.0)


def test_merge_with_itself_or_with_one_that_is_gone_is_an_error() -> None:
    with pytest.raises(InputError, match="itself"):
        merge(behavior("a"), behavior("a"), 1.0)
    with pytest.raises(InputError, match="forgotten"):
        merge(behavior("a"), behavior("b", status=Status.FORGOTTEN), 1.0)
