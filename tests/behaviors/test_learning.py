from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.behaviors.behavior import (
    LARGEST_TEXT,
    BehaviorKind,
    Rule,
    Status,
    checked_name,
    checked_tags,
)
from brim.behaviors.learning import (
    AGENT_CONFIDENCE,
    LONGEST_INFERRED_NAME,
    MOST_TAGS,
    confirmed,
    id_of,
    infer_kind,
    infer_name,
    infer_tags,
    infer_when,
    learn,
)
from brim.behaviors.when import When
from brim.errors import InputError
from tests.texts import ANY_TEXT

UV = learn("Use uv, not pip", now=1.0).behavior
RULES = st.sampled_from(
    [
        "Use uv, not pip",
        "Prefer uv over pip",
        "use UV, not  pip",
        "Never push to main",
        "Don't use tabs",
    ]
)


@pytest.mark.parametrize(
    "fields", [{"right": None}, {"right": 3}, {"right": "Use uv.", "wrong": None}]
)
def test_what_is_no_text_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(InputError, match="are texts, not"):
        learn(**fields, now=0.0)  # type: ignore[arg-type]


def test_new_rule_becomes_a_behavior_with_what_can_be_inferred() -> None:
    learned = learn(
        "Never use pip",
        wrong="pip install x",
        file="src/a.py",
        task="testing",
        session="s1",
        now=7.0,
    )
    behavior = learned.behavior
    assert (learned.merged_with, learned.changes) == (None, ("new",))
    assert (behavior.kind, behavior.name) == (BehaviorKind.CONSTRAINT, "never-use-pip")
    assert behavior.when == When(language="python", task="testing")
    assert "python" in behavior.tags
    assert (behavior.provenance.wrong, behavior.provenance.session, behavior.created_at) == (
        "pip install x",
        "s1",
        7.0,
    )
    assert (behavior.status, behavior.scope, behavior.summary) == (Status.ACTIVE, "user", "")


def test_what_is_given_is_not_inferred() -> None:
    learned = learn(
        "Never use pip", kind="preference", name="x", tags=["t"], when={"branch": "main"}, now=1.0
    )
    assert learned.behavior.kind is BehaviorKind.PREFERENCE
    assert (learned.behavior.name, learned.behavior.tags, learned.behavior.when) == (
        "x",
        ("t",),
        When(branch="main"),
    )


def test_same_text_again_confirms_and_makes_no_second_entry() -> None:
    again = learn("  use UV,\nnot pip ", wrong="pip", tags=["new"], now=2.0, existing=[UV])
    assert again.behavior.id == UV.id == id_of("USE uv, not pip")
    assert again.merged_with == UV
    assert again.behavior.confidence > UV.confidence
    assert again.behavior.usage.confirmed == 1
    assert again.behavior.tags == (*UV.tags, "new")
    assert again.behavior.provenance.wrong == "pip"
    assert again.behavior.canonical == UV.canonical


def test_same_text_under_another_id_is_the_same() -> None:
    imported = replace(UV, id="floop-1")
    assert learn("Use uv, not pip", now=2.0, existing=[imported]).behavior.id == "floop-1"


def test_opposite_rule_is_a_new_one() -> None:
    assert learn("Use pip, not uv", now=2.0, existing=[UV]).merged_with is None


def test_rules_of_another_scope_are_left_alone() -> None:
    learned = learn("Prefer uv over pip", scope="project", now=2.0, existing=[UV])
    assert learned.merged_with is None
    assert learned.behavior.scope == "project"


def test_forgotten_rule_comes_back_when_a_person_teaches_it_again() -> None:
    forgotten = replace(UV, status=Status.FORGOTTEN)
    assert learn("Use uv, not pip", now=2.0, existing=[forgotten]).behavior.status is Status.ACTIVE
    by_agent = learn("Use uv, not pip", source="agent", now=2.0, existing=[forgotten])
    assert by_agent.behavior == forgotten


def test_merged_wording_confirms_what_took_its_place() -> None:
    new = replace(
        learn("Install everything with uv", now=1.0).behavior, variants=("Use uv, not pip",)
    )
    old = replace(UV, status=Status.SUPERSEDED, superseded_by=new.id)
    learned = learn("Use uv, not pip", now=2.0, existing=[old, new])
    assert learned.merged_with == new


def test_replaced_rule_comes_back_as_the_newer_one_when_a_person_teaches_it_again() -> None:
    new = replace(learn("Use pip, not uv", now=2.0).behavior, supersedes=(UV.id,))
    old = replace(UV, status=Status.SUPERSEDED, superseded_by=new.id)
    learned = learn("Use uv, not pip", now=3.0, existing=[old, new])
    assert (learned.behavior.id, learned.behavior.status) == (UV.id, Status.ACTIVE)
    assert learned.behavior.taught_at > new.taught_at


def test_superseded_ring_does_not_hang() -> None:
    a = replace(UV, status=Status.SUPERSEDED, superseded_by="b")
    b = replace(UV, id="b", canonical="Use b", status=Status.SUPERSEDED, superseded_by=UV.id)
    assert learn("Use uv, not pip", now=2.0, existing=[a, b]).behavior.live


def test_agent_teaches_a_pending_note_of_the_project_that_is_at_most_a_directive() -> None:
    note = learn("Never use pip", source="agent", scope="user", kind="constraint", now=1.0).behavior
    assert (note.status, note.kind, note.scope) == (
        Status.PENDING,
        BehaviorKind.DIRECTIVE,
        "project",
    )
    assert note.confidence == AGENT_CONFIDENCE
    assert note.provenance.source == "agent"


@pytest.mark.parametrize("scope", ["project", "user"])
@pytest.mark.parametrize("text", ["Use uv, not pip", "Prefer uv over pip"])
def test_agent_never_changes_what_a_person_taught(scope: str, text: str) -> None:
    human = replace(UV, scope=scope)
    learned = learn(text, source="agent", tags=["x"], kind="preference", now=2.0, existing=[human])
    assert learned.behavior == human or (
        learned.behavior.id != human.id and learned.behavior.status is Status.PENDING
    )
    assert learned.merged_with in (None, human)


def test_person_who_says_the_same_as_a_note_confirms_it() -> None:
    note = learn("Prefer uv over pip", source="agent", when={"task": "git"}, now=1.0).behavior
    exact = learn("prefer uv over pip", scope="project", now=2.0, existing=[note]).behavior
    assert (exact.id, exact.status, exact.provenance.source) == (note.id, Status.ACTIVE, "human")


def test_secrets_are_masked_nuls_removed_and_surrogates_replaced() -> None:
    secret = "ghp_" + "a1B2" * 9
    learned = learn(
        f"Use \0the token {secret} \ud800", wrong=f"export GITHUB_TOKEN={secret}", now=1.0
    ).behavior
    assert secret not in repr(learned)
    assert "\0" not in learned.canonical
    assert learned.canonical.endswith("\ufffd")


@pytest.mark.parametrize(
    ("text", "fields", "message"),
    [
        ("", {}, "nothing to learn"),
        (" \n\0", {}, "nothing to learn"),
        ("x" * (LARGEST_TEXT + 1), {}, "at most 1,000,000 characters"),
        ("x", {"kind": "law"}, "unknown kind 'law'"),
        ("x", {"scope": "world"}, "unknown scope"),
        ("x", {"source": "oracle"}, "unknown source 'oracle'"),
        ("x", {"tags": ["a b"]}, "a tag has"),
        ("x", {"name": "a b"}, "a name has"),
    ],
)
def test_bad_input_is_an_error_that_says_so(
    text: str, fields: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        learn(text, now=1.0, **fields)  # type: ignore[arg-type]


@settings(deadline=None)
@given(ANY_TEXT, ANY_TEXT)
def test_any_text_can_be_learned_twice_and_is_one_entry(text: str, wrong: str) -> None:
    if not text.strip("\0 \t\r\n") or not text.replace("\0", "").strip():
        return
    first = learn(text, wrong=wrong, now=1.0)
    again = learn(text, wrong=wrong, now=2.0, existing=[first.behavior])
    assert again.behavior.id == first.behavior.id
    assert again.merged_with == first.behavior
    first.behavior.canonical.encode()


@settings(deadline=None)
@given(st.lists(RULES, max_size=8), st.randoms(use_true_random=False))
def test_every_text_that_was_taught_is_found_again_whatever_the_order(
    texts: list[str], chance: object
) -> None:
    known: dict[str, Rule] = {}
    for now, text in enumerate(texts):
        existing = list(known.values())
        chance.shuffle(existing)  # type: ignore[attr-defined]
        learned = learn(text, now=float(now), existing=existing)
        assert learned == learn(text, now=float(now), existing=existing[::-1])
        known[learned.behavior.id] = learned.behavior
    said = {
        " ".join(each.lower().split())
        for one in known.values()
        for each in (one.canonical, *one.variants)
    }
    assert said == {" ".join(text.lower().split()) for text in texts}


def test_the_first_text_of_an_edited_behavior_can_be_learned_again() -> None:
    first = learn("Use uv.", now=1.0).behavior
    edited = replace(first, canonical="Deploy on Fridays only with a second pair of eyes.")
    again = learn("Use uv.", now=1.0, existing=[edited])
    assert again.merged_with is None
    assert again.behavior.id != first.id
    assert again.behavior.canonical == "Use uv."


def test_a_name_that_was_found_out_is_nobody_elses() -> None:
    first = learn("Never restart the importer while it runs.", now=1.0).behavior
    other = learn(
        "Never restart the importer while it runs: wait for lock 7.", now=1.0, name=None
    ).behavior
    second = learn(other.canonical, now=1.0, existing=[replace(first, name=other.name)]).behavior
    assert second.name == f"{other.name}-2"
    named = learn(other.canonical, now=1.0, name=first.name, existing=[first]).behavior
    assert named.name == first.name


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Never push to main", "constraint"),
        ("**Never** push", "constraint"),
        ("Please don't use print", "constraint"),
        ("Don’t use print", "constraint"),
        ("You must not edit generated files", "constraint"),
        ("Files under gen/ must never be edited", "constraint"),
        ("Use uv. Do not use pip.", "constraint"),
        ("When tests fail, never push", "constraint"),
        ("Only merge green branches", "constraint"),
        ("1. Never skip a step\n2. Push", "constraint"),
        ("不要使用 pip", "constraint"),
        ("Niemals auf main pushen", "constraint"),
        ("N'utilise jamais pip", "constraint"),
        ("パスワードをログに書かないでください", "constraint"),
        ("Никогда не пиши в main", "constraint"),
        ("Prefer dataclasses over dicts", "preference"),
        ("I'd rather have short functions", "preference"),
        ("Avoid global state", "preference"),
        ("1. Run the tests\n2. Never mind warnings\n3. Push", "procedure"),
        ("First lint, then test", "procedure"),
        ("If the build fails, read the log and retry", "workflow"),
        ("When a release is tagged, then announce it", "workflow"),
        ("We tried redis and it was slow", "episodic"),
        ("Use uv, not pip", "directive"),
        ("Use UTC; local time never works", "directive"),
        ("Use the `only` marker", "directive"),
        ("Add type hints", "directive"),
    ],
)
def test_kind_of_a_correction(text: str, kind: str) -> None:
    assert infer_kind(text) == kind


def test_what_was_wrong_makes_no_episode() -> None:
    assert infer_kind("Last time it took an hour", "sleep 3600") is BehaviorKind.DIRECTIVE


def test_tags_are_the_language_of_the_file_and_the_topics_named() -> None:
    assert infer_tags("Use pytest fixtures", "tests/test_app.py") == ("python", "testing")
    assert infer_tags("Be brief", "web/card.tsx") == ("typescript",)
    assert infer_tags("Be kind") == ()


def test_there_are_at_most_eight_tags() -> None:
    text = "python rust docker aws git security logging api database react vue kubernetes terraform"
    assert len(infer_tags(text)) == MOST_TAGS
    assert "sql" in infer_tags(text, "x.sql")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Please always use uv, never pip.", "use-uv-never-pip"),
        ("Don't commit secrets to the repo", "dont-commit-secrets-to-repo"),
        ("1. Run tests\n2. Push", "run-tests-push"),
        ("Größe prüfen!", "grosse-prufen"),
        ("使用 pytest 运行测试", "使用-pytest-运行测试"),
        ("אין לדחוף ישירות לענף הראשי", "אין-לדחוף-ישירות-לענף-הראשי"),
        ("لا تستخدم npm في هذا المشروع", "لا-تستخدم-npm-في-هذا-المشروع"),
        ("Пишите чёткий код, пожалуйста", "пишите-чёткий-код-пожалуйста"),
        ("がんばって コメント", "がんばって-コメント"),
        ("커밋 전에 테스트", "커밋-전에-테스트"),
        ("Use Python 3.11 in app.py", "use-python-3.11-app.py"),
    ],
)
def test_name_is_made_of_the_first_words(text: str, name: str) -> None:
    assert infer_name(text) == name


def test_text_without_letters_gets_a_name_of_its_own() -> None:
    assert infer_name("🎉") != infer_name("🚀")
    assert infer_name("🎉") == infer_name("🎉")


@settings(deadline=None)
@given(ANY_TEXT)
def test_whatever_is_inferred_is_valid(text: str) -> None:
    assert checked_name(infer_name(text)) == infer_name(text)
    assert len(infer_name(text)) <= LONGEST_INFERRED_NAME
    assert checked_tags(infer_tags(text, text)) == tuple(sorted(infer_tags(text, text)))
    assert infer_kind(text) in BehaviorKind


def test_correction_in_one_file_is_meant_for_its_language() -> None:
    when = infer_when("src/app.py", "testing")
    assert when == When(language="python", task="testing")
    assert (
        when.match(
            {"language": ("python",), "file": ("other/b.py",), "task": ("testing",)}
        ).contradicted
        == ()
    )
    assert infer_when() == infer_when("notes.unknown", " ") == When()


RULE = Rule(id="a", name="a", kind="directive", canonical="Use uv")


def test_confirmation_raises_confidence_and_counts_as_a_use() -> None:
    after = confirmed(RULE, 5.0)
    assert after.confidence > RULE.confidence
    assert (after.usage.confirmed, after.usage.last_used, after.updated_at) == (1, 5.0, 5.0)


@given(st.integers(0, 60), st.floats(0, 1))
def test_confidence_stays_between_0_and_1(times: int, start: float) -> None:
    behavior = replace(RULE, confidence=start)
    for now in range(times):
        behavior = confirmed(behavior, float(now))
        assert 0 <= behavior.confidence <= 1


def test_clock_that_goes_back_does_not_undo_a_use() -> None:
    assert confirmed(confirmed(RULE, 9.0), 5.0).usage.last_used == 9.0
