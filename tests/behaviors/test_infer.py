from __future__ import annotations

import pytest
from hypothesis import given, settings

from brim.behaviors.infer import LONGEST_NAME, MOST_TAGS, infer_kind, infer_name, infer_tags, infer_when
from brim.behaviors.kinds import BehaviorKind
from brim.behaviors.names import checked_name, checked_tags
from brim.behaviors.when import When
from tests.texts import ANY_TEXT


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
        ("使用 pytest 运行测试", "pytest"),
        ("Use Python 3.11 in app.py", "use-python-3.11-app.py"),
    ],
)
def test_name_is_made_of_the_first_words(text: str, name: str) -> None:
    assert infer_name(text) == name


def test_text_without_letters_of_ascii_gets_a_name_of_its_own() -> None:
    assert infer_name("規則一") != infer_name("規則二")
    assert infer_name("規則一") == infer_name("規則一")


@settings(max_examples=100, deadline=None)
@given(ANY_TEXT)
def test_whatever_is_inferred_is_valid(text: str) -> None:
    assert checked_name(infer_name(text)) == infer_name(text)
    assert len(infer_name(text)) <= LONGEST_NAME
    assert checked_tags(infer_tags(text, text)) == tuple(sorted(infer_tags(text, text)))
    assert infer_kind(text) in BehaviorKind


def test_correction_in_one_file_is_meant_for_its_language() -> None:
    when = infer_when("src/app.py", "testing")
    assert when == When(language="python", task="testing")
    assert when.match({"language": ("python",), "file": ("other/b.py",), "task": ("testing",)}).contradicted == ()
    assert infer_when() == infer_when("notes.unknown", " ") == When()
