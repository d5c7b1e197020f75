from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.behaviors.behavior import LARGEST_TEXT, Behavior
from brim.behaviors.kinds import BehaviorKind, Status
from brim.behaviors.learning import AGENT_CONFIDENCE, id_of, learn
from brim.behaviors.when import When
from brim.errors import InputError
from tests.texts import ANY_TEXT

UV = learn("Use uv, not pip", now=1.0).behavior
RULES = st.sampled_from(
    ["Use uv, not pip", "Prefer uv over pip", "use UV, not  pip", "Never push to main", "Don't use tabs"]
)


@pytest.mark.parametrize("fields", [{"right": None}, {"right": 3}, {"right": "Use uv.", "wrong": None}])
def test_what_is_no_text_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(InputError, match="are texts, not"):
        learn(**fields, now=0.0)  # type: ignore[arg-type]


def test_new_rule_becomes_a_behavior_with_what_can_be_inferred() -> None:
    learned = learn("Never use pip", wrong="pip install x", file="src/a.py", task="testing", session="s1", now=7.0)
    behavior = learned.behavior
    assert (learned.merged_with, learned.changes) == (None, ("new",))
    assert (behavior.kind, behavior.name) == (BehaviorKind.CONSTRAINT, "never-use-pip")
    assert behavior.when == When(language="python", task="testing")
    assert "python" in behavior.tags
    assert (behavior.provenance.wrong, behavior.provenance.session, behavior.created_at) == ("pip install x", "s1", 7.0)
    assert (behavior.status, behavior.scope, behavior.summary) == (Status.ACTIVE, "user", "")


def test_what_is_given_is_not_inferred() -> None:
    learned = learn("Never use pip", kind="preference", name="x", tags=["t"], when={"branch": "main"}, now=1.0)
    assert learned.behavior.kind is BehaviorKind.PREFERENCE
    assert (learned.behavior.name, learned.behavior.tags, learned.behavior.when) == ("x", ("t",), When(branch="main"))


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
    imported = UV.changed(id="floop-1")
    assert learn("Use uv, not pip", now=2.0, existing=[imported]).behavior.id == "floop-1"


def test_another_wording_is_merged_and_neither_text_is_lost() -> None:
    learned = learn("Prefer uv over pip", wrong="pip", now=2.0, existing=[UV])
    assert learned.merged_with == UV
    assert learned.behavior.id == UV.id
    assert learned.behavior.canonical == UV.canonical
    assert learned.behavior.variants == ("Prefer uv over pip",)
    assert learned.behavior.supersedes == ()
    assert learned.changes[0] == f"another wording of {UV.id}"
    again = learn("Prefer uv over pip", now=3.0, existing=[learned.behavior])
    assert again.behavior.variants == ("Prefer uv over pip",)
    assert again.changes == (f"confirmed: known already as {UV.id}",)


def test_opposite_rule_is_a_new_one() -> None:
    assert learn("Use pip, not uv", now=2.0, existing=[UV]).merged_with is None


def test_rules_of_another_scope_are_left_alone() -> None:
    learned = learn("Prefer uv over pip", scope="project", now=2.0, existing=[UV])
    assert learned.merged_with is None
    assert learned.behavior.scope == "project"


def test_forgotten_rule_comes_back_when_a_person_teaches_it_again() -> None:
    forgotten = UV.changed(status=Status.FORGOTTEN)
    assert learn("Use uv, not pip", now=2.0, existing=[forgotten]).behavior.status is Status.ACTIVE
    by_agent = learn("Use uv, not pip", source="agent", now=2.0, existing=[forgotten])
    assert by_agent.behavior == forgotten


def test_superseded_text_confirms_what_took_its_place() -> None:
    new = learn("Install everything with uv", now=1.0).behavior
    old = UV.changed(status=Status.SUPERSEDED, superseded_by=new.id)
    learned = learn("Use uv, not pip", now=2.0, existing=[old, new])
    assert learned.merged_with == new


def test_superseded_ring_does_not_hang() -> None:
    a = UV.changed(status=Status.SUPERSEDED, superseded_by="b")
    b = UV.changed(id="b", canonical="Use b", status=Status.SUPERSEDED, superseded_by=UV.id)
    assert learn("Use uv, not pip", now=2.0, existing=[a, b]).behavior.live


def test_agent_teaches_a_pending_note_of_the_project_that_is_at_most_a_directive() -> None:
    note = learn("Never use pip", source="agent", scope="user", kind="constraint", now=1.0).behavior
    assert (note.status, note.kind, note.scope) == (Status.PENDING, BehaviorKind.DIRECTIVE, "project")
    assert note.confidence == AGENT_CONFIDENCE
    assert note.provenance.source == "agent"


@pytest.mark.parametrize("scope", ["project", "user"])
@pytest.mark.parametrize("text", ["Use uv, not pip", "Prefer uv over pip"])
def test_agent_never_changes_what_a_person_taught(scope: str, text: str) -> None:
    human = UV.changed(scope=scope)
    learned = learn(text, source="agent", tags=["x"], kind="preference", now=2.0, existing=[human])
    assert learned.behavior == human or (learned.behavior.id != human.id and learned.behavior.status is Status.PENDING)
    assert learned.merged_with in (None, human)


def test_person_who_says_the_same_as_a_note_confirms_it_in_their_own_words() -> None:
    note = learn("Prefer uv over pip", source="agent", when={"task": "git"}, now=1.0).behavior
    exact = learn("prefer uv over pip", scope="project", now=2.0, existing=[note]).behavior
    assert (exact.id, exact.status, exact.provenance.source) == (note.id, Status.ACTIVE, "human")
    other = learn("Use uv, not pip", scope="project", now=2.0, existing=[note]).behavior
    assert (other.id, other.status, other.canonical) == (note.id, Status.ACTIVE, "Use uv, not pip")
    assert (other.variants, other.when) == (("Prefer uv over pip",), When())


def test_secrets_are_masked_nuls_removed_and_surrogates_replaced() -> None:
    secret = "ghp_" + "a1B2" * 9
    learned = learn(f"Use \0the token {secret} \ud800", wrong=f"export GITHUB_TOKEN={secret}", now=1.0).behavior
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
def test_bad_input_is_an_error_that_says_so(text: str, fields: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        learn(text, now=1.0, **fields)  # type: ignore[arg-type]


@settings(max_examples=100, deadline=None)
@given(ANY_TEXT, ANY_TEXT)
def test_any_text_can_be_learned_twice_and_is_one_entry(text: str, wrong: str) -> None:
    if not text.strip("\0 \t\r\n") or not text.replace("\0", "").strip():
        return
    first = learn(text, wrong=wrong, now=1.0)
    again = learn(text, wrong=wrong, now=2.0, existing=[first.behavior])
    assert again.behavior.id == first.behavior.id
    assert again.merged_with == first.behavior
    first.behavior.canonical.encode()


@settings(max_examples=50, deadline=None)
@given(st.lists(RULES, max_size=8), st.randoms(use_true_random=False))
def test_every_text_that_was_taught_is_found_again_whatever_the_order(texts: list[str], chance: object) -> None:
    known: dict[str, Behavior] = {}
    for now, text in enumerate(texts):
        existing = list(known.values())
        chance.shuffle(existing)  # type: ignore[attr-defined]
        learned = learn(text, now=float(now), existing=existing)
        assert learned == learn(text, now=float(now), existing=existing[::-1])
        known[learned.behavior.id] = learned.behavior
    said = {" ".join(each.lower().split()) for one in known.values() for each in (one.canonical, *one.variants)}
    assert said == {" ".join(text.lower().split()) for text in texts}


def test_the_first_text_of_an_edited_behavior_can_be_learned_again() -> None:
    first = learn("Use uv.", now=1.0).behavior
    edited = first.changed(canonical="Deploy on Fridays only with a second pair of eyes.")
    again = learn("Use uv.", now=1.0, existing=[edited])
    assert again.merged_with is None
    assert again.behavior.id != first.id
    assert again.behavior.canonical == "Use uv."


def test_a_name_that_was_found_out_is_nobody_elses() -> None:
    first = learn("Never restart the importer while it runs.", now=1.0).behavior
    other = learn("Never restart the importer while it runs: wait for lock 7.", now=1.0, name=None).behavior
    second = learn(other.canonical, now=1.0, existing=[first.changed(name=other.name)]).behavior
    assert second.name == f"{other.name}-2"
    named = learn(other.canonical, now=1.0, name=first.name, existing=[first]).behavior
    assert named.name == first.name


def test_how_similar_is_the_same_can_be_said() -> None:
    known = learn("Always run the tests before you push.", now=1.0).behavior
    wording = "Run the tests before pushing."
    assert learn(wording, now=1.0, existing=[known]).merged_with == known
    assert learn(wording, now=1.0, existing=[known], near_duplicate=1).merged_with is None
