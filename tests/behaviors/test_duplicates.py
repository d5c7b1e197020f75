from __future__ import annotations

import tomllib
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.behaviors.behavior import Behavior, BehaviorKind, Provenance, Status, Usage
from brim.behaviors.duplicates import (
    NEAR_DUPLICATE,
    Texts,
    alike,
    likely_pairs,
    merge,
    near_duplicate,
    normalized,
    similarity,
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
LABELLED = Path(__file__).parents[2] / "bench" / "labelled" / "duplicates"
SAME = [(a, b) for label, a, b in PAIRS if label == "same"]
DIFFERENT = [(a, b) for label, a, b in PAIRS if label == "different"]
WORDS = ("use", "uv", "pip", "never", "not", "before", "tests", "run", "only", "if", "commit", "3", "`a.py`", ",", ".")
RULES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=10).map(" ".join)


def test_there_are_enough_labelled_pairs() -> None:
    assert min(len(SAME), len(DIFFERENT)) >= 40


def test_rules_that_differ_are_hardly_ever_taken_for_one() -> None:
    mistaken = [pair for pair in DIFFERENT if near_duplicate(*pair)]
    assert mistaken == []
    assert len([pair for pair in DIFFERENT if alike(*pair)]) <= 0.05 * len(DIFFERENT)


def test_most_wordings_of_one_rule_are_recognised() -> None:
    found = [pair for pair in SAME if near_duplicate(*pair)]
    assert len(found) >= 0.45 * len(SAME)
    assert len([pair for pair in SAME if near_duplicate(*pair) or alike(*pair)]) >= 0.9 * len(SAME)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Use pip", "Never use pip"),
        ("Use 2 spaces", "Use 4 spaces"),
        ("Edit src/a.py", "Edit src/b.py"),
        ("Use uv, not pip", "Use pip, not uv"),
        ("Lint before testing", "Test before linting"),
        ("Stop if it fails, retry", "Retry if it stops, fail"),
        ("Call A from B", "Call B from A"),
        ("Use tabs", "Use spaces"),
    ],
)
def test_texts_with_another_sense_are_never_near_duplicates(a: str, b: str) -> None:
    assert similarity(a, b) <= 0.75


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Don't push to main directly.", "Never push straight to the main branch."),
        ("Keep functions short, at most 40 lines.", "A function shouldn't be longer than 40 lines."),
        ("Tests must not access the network.", "No network access from tests."),
        ("Don't mock the database in integration tests.", "Integration tests talk to a real database, not a mock."),
        ("Lance les tests avant chaque commit.", "Avant de committer, il faut lancer les tests."),
        (
            "Migrations that are merged must never be changed.",
            "Don't edit existing migrations once they are merged; add new ones.",
        ),
        ("Tell the user what went wrong when an upload fails.", "Failed uploads report the problem to the user."),
        ("Flag changes need an update of the docs", "Update the docs if you change a flag"),
        ("Read the README before you start", "Start by reading the README"),
    ],
)
def test_paraphrases_are_offered_and_not_merged(a: str, b: str) -> None:
    assert alike(a, b)
    assert not near_duplicate(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Run the unit tests before you push", "Never run the unit tests before you push"),
        ("Keep functions under 40 lines", "Keep functions under 60 lines"),
        ("Target Python 3.11 in every service", "Target Python 3.12 in every service"),
        ("Store the sessions in Redis", "Store the sessions in Postgres"),
        ("Sort the imports of a module", "Sort the exports of a module"),
        ("Install frontend packages with pnpm, not npm", "For the web frontend, use npm for dependencies, not pnpm"),
        ("Support Python 3.11 and newer in every package", "Packages have to work with Python 3.12 or later"),
        ("Deploy the web app to Vercel from the main branch", "The web application is deployed from main to Netlify"),
        ("Log every failed request with its id", "Requests that fail must not be logged with their id"),
        ("Retry failed network calls 3 times", "Network requests that fail are repeated 5 times"),
        ("Ask the team lead before deleting a database table", "Never delete database tables in production"),
        ("Run the tests before you commit", "Run the tests after you commit"),
        ("Merge when the review is done", "Review when the merge is done"),
        ("Restart the worker if the queue is full", "Restart the worker unless the queue is full"),
        ("Lock the file while you write it", "Lock the file before you write it"),
    ],
)
def test_another_negation_number_version_name_or_object_is_never_offered(a: str, b: str) -> None:
    assert not alike(a, b)
    assert not near_duplicate(a, b)


def labelled(kind: str) -> list[list[str]]:
    return [pair for path in sorted(LABELLED.glob("*.toml")) for pair in tomllib.loads(path.read_text("utf-8"))[kind]]


def test_three_of_five_labelled_paraphrases_are_offered_and_hardly_a_look_alike() -> None:
    paraphrases, look_alikes = labelled("paraphrases"), labelled("look_alikes")
    assert len([pair for pair in paraphrases if near_duplicate(*pair) or alike(*pair)]) >= 0.6 * len(paraphrases)
    assert len([pair for pair in look_alikes if alike(*pair)]) <= 0.1 * len(look_alikes)
    assert not any(near_duplicate(*pair) for pair in look_alikes)


def test_pairs_of_a_store_are_some_that_comparing_each_with_each_finds() -> None:
    """A store leaves out those that share only what many of its rules speak of: hardly one of them says the same."""
    texts = [text for pair in labelled("paraphrases") for text in pair]
    rules = [behavior(f"b{at:03}", text) for at, text in enumerate(texts)]
    every = {(one.id, other.id) for one, other in combinations(rules, 2) if alike(one.canonical, other.canonical)}
    found = {(pair.one.id, pair.other.id) for pair in likely_pairs(rules)}
    same = {(one.id, other.id) for one, other in zip(rules[::2], rules[1::2], strict=True)}
    assert found <= every
    assert len(every & same - found) <= 0.07 * len(every & same)
    assert len(every - same - found) >= 0.3 * len(every - same)


def test_pairs_of_a_small_store_are_all_that_are_alike() -> None:
    for one, other in labelled("paraphrases"):
        pairs = likely_pairs([behavior("a", one), behavior("b", other)])
        assert len(pairs) == alike(one, other)


@settings(deadline=None)
@given(st.one_of(ANY_TEXT, RULES), st.one_of(ANY_TEXT, RULES))
def test_similarity_is_symmetric_and_between_0_and_1(a: str, b: str) -> None:
    assert 0 <= similarity(a, b) <= 1
    assert similarity(a, b) == similarity(b, a)
    assert (similarity(a, b) == 1) == (normalized(a) == normalized(b))


@settings(deadline=None)
@given(RULES, st.lists(RULES, max_size=5))
def test_near_duplicates_are_found_with_their_similarity(text: str, candidates: list[str]) -> None:
    found = Texts(candidates).like(text, NEAR_DUPLICATE)
    for each in found:
        assert each.similarity == similarity(text, candidates[each.index]) >= NEAR_DUPLICATE
    if text in candidates:
        assert 1 in [each.similarity for each in found]


@settings(deadline=None)
@given(st.one_of(ANY_TEXT, RULES), st.lists(st.one_of(ANY_TEXT, RULES), max_size=8))
def test_texts_find_what_comparing_with_each_would(text: str, known: list[str]) -> None:
    for a, b in SAME:
        known += [a] if text == b else []
    every = [(index, similarity(text, each)) for index, each in enumerate(known)]
    assert Texts(known).like(text, NEAR_DUPLICATE) == [each for each in every if each[1] >= NEAR_DUPLICATE]


def test_texts_lose_no_labelled_pair() -> None:
    for a, b in SAME:
        if near_duplicate(a, b):
            assert Texts([b]).like(a, NEAR_DUPLICATE)
            assert Texts([a]).like(b, NEAR_DUPLICATE)


def test_texts_say_how_alike_each_is() -> None:
    texts = Texts(["Use tabs", "Do not use pip", "Don't use pip", "never  use PIP", "Deploy on Fridays"])
    assert texts.like("Never use pip", NEAR_DUPLICATE) == [(1, 0.99), (2, 0.99), (3, 1.0)]
    assert Texts([]).like("Never use pip", 0.0) == []


NAMES = st.sampled_from(["a", "b", "c"])
WHENS = st.dictionaries(st.sampled_from(["language", "task", "branch"]), st.lists(NAMES, min_size=1, max_size=2))
FACTS = st.dictionaries(st.sampled_from(["language", "task", "branch"]), NAMES.map(lambda value: (value,)))


def behavior(id: str, canonical: str = "Use uv", **fields: object) -> Behavior:
    return Behavior(id=id, name=id, kind="directive", canonical=canonical).replace(**fields)


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
    usage=st.builds(Usage, st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.sampled_from([None, 1.0, 2.0])),
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
def test_survivor_goes_by_priority_confidence_age_and_id(mine: dict[str, object], other: dict[str, object]) -> None:
    a, b = behavior("a").replace(**mine), behavior("b").replace(**other)
    assert survivor(a, b) == survivor(b, a) == (a, b)


def test_other_wording_tags_and_uses_are_kept_and_it_says_what_it_did() -> None:
    kept = behavior("a", "Use uv", tags=("python",), usage=Usage(1, 2, 3, 10.0), when={"language": "python"})
    other = behavior(
        "b", "Prefer uv", tags=("pip",), usage=Usage(1, 0, 0, 20.0), when={"language": "toml", "task": "git"}
    )
    merged = merge(kept, other, 30.0)
    assert merged.kept.canonical == "Use uv"
    assert merged.kept.variants == ("Prefer uv",)
    assert merged.kept.tags == ("python", "pip")
    assert merged.kept.usage == Usage(2, 2, 3, 20.0)
    assert merged.kept.when == When(language=["python", "toml"])
    assert merged.kept.supersedes == ("b",)
    assert merged.superseded == other.replace(status=Status.SUPERSEDED, superseded_by="a", updated_at=30.0)
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
    a: Behavior, b: Behavior, facts: dict[str, tuple[str]]
) -> None:
    kept, other = survivor(a, b.replace(id="b"))
    merged = merge(kept, other, 9.0)
    texts = {merged.kept.canonical, merged.kept.summary, *merged.kept.variants}
    assert {a.canonical, b.canonical, a.summary, b.summary, *a.variants, *b.variants} - {""} <= texts
    assert (merged.kept.kind is BehaviorKind.CONSTRAINT) == (BehaviorKind.CONSTRAINT in (a.kind, b.kind))
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
